//! The order of MPI_COMM_WORLD that brings ranks to their nodes if the launcher cannot place them.

use cartograph_core::machine::Machine;
use serde::Serialize;

use crate::predict::old_ranks;

/// An order of the world, the second line of a profile's file.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct WorldOrder {
    /// The new rank of each process, in start order.
    pub(super) new_ranks: Vec<u32>,
    /// The node of each new rank.
    pub(super) node_of_rank: Vec<u32>,
}

impl WorldOrder {
    /// The order that puts ranks on these nodes of a machine; `None` if a node has too few processes.
    ///
    /// Rank 0 stays in place. If it belongs on another node, that node and its own node swap ranks or, if their sizes
    /// differ, rank 0 swaps with the first rank of its own node.
    pub(super) fn new(machine: &Machine, node_of: &[u32]) -> Option<Self> {
        let mut node_of_rank = node_of.to_vec();
        let (own, wanted) = (*machine.nodes().first()?, *node_of.first()?);
        let sizes = machine.node_sizes();
        if sizes.get(own as usize)? == sizes.get(wanted as usize)? {
            for node in &mut node_of_rank {
                *node = match *node {
                    node if node == own => wanted,
                    node if node == wanted => own,
                    node => node,
                };
            }
        } else {
            let other = node_of_rank.iter().position(|node| *node == own)?;
            node_of_rank.swap(0, other);
        }
        let old = old_ranks(machine, &node_of_rank)?;
        let mut new_ranks = vec![0; old.len()];
        for (new, old) in (0..).zip(&old) {
            *new_ranks.get_mut(*old as usize)? = new;
        }
        Some(Self { new_ranks, node_of_rank })
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("all keys are strings")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_zero_stays() {
        let order = |sizes: &[usize], node_of: &[u32]| {
            WorldOrder::new(&Machine::blocks(sizes), node_of).map(|order| order.new_ranks)
        };
        assert_eq!(order(&[2, 2], &[0, 1, 0, 1]), Some(vec![0, 2, 1, 3]));
        // The two nodes swap.
        assert_eq!(order(&[2, 2], &[1, 0, 0, 1]), Some(vec![0, 3, 1, 2]));
        // Ranks 0 and 1 swap.
        assert_eq!(order(&[1, 3], &[1, 0, 1, 1]), Some(vec![0, 1, 2, 3]));
        assert_eq!(order(&[2, 2], &[1, 1, 1, 0]), None);
        let round_robin = Machine::from_ids(&[0, 1, 0, 1]);
        let order = WorldOrder::new(&round_robin, &[0, 0, 1, 1]).unwrap();
        assert_eq!(order.new_ranks, [0, 2, 1, 3]);
        assert_eq!(order.node_of_rank, [0, 0, 1, 1]);
    }
}
