//! The ranks that a relay gives to the processes of a job.

use serde::{Deserialize, Serialize};

use super::mapping::Mapping;

/// The new rank of each process of a job, for nodes of one shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The new rank of each process, in the launcher's order.
    pub new_ranks: Vec<u32>,
    /// The node of each new rank.
    pub node_of_rank: Vec<u32>,
    /// True if the processes share one node, but must see themselves on these nodes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pretends: bool,
}

impl Order {
    /// The order in which ranks stay.
    pub fn same(mapping: &Mapping) -> Self {
        let node_of_rank = mapping.nodes().to_vec();
        let new_ranks = (0..node_of_rank.len() as u32).collect();
        Self { new_ranks, node_of_rank, pretends: false }
    }

    /// Reads a file with an order; `None` if it has none in which each rank occurs once, and rank 0 stays.
    pub fn parse(text: &str) -> Option<Self> {
        let order: Self = serde_json::from_str(text.trim()).ok()?;
        let size = order.new_ranks.len();
        let mut is_taken = vec![false; size];
        let all_differ = order.new_ranks.iter().all(|rank| {
            is_taken.get_mut(*rank as usize).is_some_and(|taken| !std::mem::replace(taken, true))
        });
        let is_right = all_differ && order.new_ranks.first() == Some(&0);
        (is_right && order.node_of_rank.len() == size).then_some(order)
    }

    /// The text that [`Order::parse`] reads.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("all keys are strings")
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.new_ranks.len()
    }

    /// True if the order was made for processes that share nodes as in this mapping.
    pub fn is_for(&self, mapping: &Mapping) -> bool {
        if self.pretends {
            return mapping.is_like(&vec![0; self.size()]);
        }
        let nodes = self.new_ranks.iter().map(|new| self.node_of_rank[*new as usize]);
        mapping.is_like(&nodes.collect::<Vec<_>>())
    }

    /// The process that has each new rank.
    pub fn old_ranks(&self) -> Vec<u32> {
        let mut old_ranks = vec![0; self.size()];
        for (old, new) in (0..).zip(&self.new_ranks) {
            old_ranks[*new as usize] = old;
        }
        old_ranks
    }

    /// The nodes of the new ranks, by the launcher's mapping of processes.
    pub fn mapping(&self, launched: &Mapping) -> Mapping {
        if self.pretends {
            return Mapping::new(self.node_of_rank.clone());
        }
        let nodes = launched.nodes();
        Mapping::new(self.old_ranks().iter().map(|old| nodes[*old as usize]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(new_ranks: &[u32], node_of_rank: &[u32]) -> Order {
        let (new_ranks, node_of_rank) = (new_ranks.to_vec(), node_of_rank.to_vec());
        Order { new_ranks, node_of_rank, pretends: false }
    }

    #[test]
    fn an_order_is_for_one_shape() {
        let order = order(&[0, 2, 1, 3], &[0, 1, 0, 1]);
        assert_eq!(Order::parse(&order.text()), Some(order.clone()));
        assert!(order.is_for(&Mapping::new(vec![0, 0, 1, 1])));
        assert!(order.is_for(&Mapping::new(vec![5, 5, 2, 2])));
        for other in [&[0, 1, 0, 1][..], &[0, 0, 1, 2], &[0, 0, 0, 1], &[0, 0, 1]] {
            assert!(!order.is_for(&Mapping::new(other.to_vec())), "{other:?}");
        }
        let placed = order.mapping(&Mapping::new(vec![5, 5, 2, 2]));
        assert_eq!(placed.nodes(), [5, 2, 5, 2]);
    }

    #[test]
    fn pretended_nodes_require_a_single_node() {
        let order = Order { pretends: true, ..order(&[0, 2, 1, 3], &[0, 1, 0, 1]) };
        assert_eq!(Order::parse(&order.text()), Some(order.clone()));
        assert!(!order.is_for(&Mapping::new(vec![0, 0, 1, 1])));
        let one = Mapping::new(vec![3; 4]);
        assert!(order.is_for(&one));
        assert_eq!(order.mapping(&one).nodes(), [0, 1, 0, 1]);
    }

    #[test]
    fn invalid_orders_are_refused() {
        for wrong in [
            order(&[0, 1, 1], &[0, 0, 1]),
            order(&[0, 1, 3], &[0, 0, 1]),
            order(&[1, 0], &[0, 1]),
            order(&[0, 1], &[0]),
            order(&[], &[]),
        ] {
            assert_eq!(Order::parse(&wrong.text()), None, "{wrong:?}");
        }
        assert_eq!(Order::parse("{}"), None);
    }
}
