//! The order of the ranks of a node: those that exchange most get the CPUs of one NUMA domain.

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Csr, Options, plan_graph};

use super::arms::Arm;

/// For each node, the NUMA domain of each of its processes, in the order of ranks by default. Domains of different nodes have
/// different numbers.
pub(crate) type Domains = [Vec<u64>];

/// A smaller saving of bytes between domains is not worth a job.
const FEWER_BYTES: f64 = 0.95;

/// For larger jobs, no such order is searched for.
const MOST: usize = 1 << 14;

/// The seconds of the search on all nodes.
const SECONDS: f64 = 0.5;

/// The end of the names of such placements.
const SUFFIX: &str = ", NUMA domains";

/// The name of the placement that such a placement is made of: ranks are on the same nodes, and keep their order there. `None`
/// for the name of any other placement.
pub(crate) fn base(order: &str) -> Option<&str> {
    order.strip_suffix(SUFFIX)
}

/// The placement in which the ranks of each node have other CPUs of it, if that saves bytes between NUMA domains. The edges
/// of the graph are the bytes between ranks.
pub(super) fn ordered(arm: &Arm, graph: &Csr, domains: &Domains) -> Option<Arm> {
    let mut ranks_of = vec![Vec::new(); domains.len()];
    for (rank, node) in arm.node_of.iter().enumerate() {
        ranks_of.get_mut(*node as usize)?.push(rank);
    }
    let is_same = |(ranks, domains): (&Vec<usize>, &Vec<u64>)| ranks.len() == domains.len();
    if arm.node_of.len() > MOST || !ranks_of.iter().zip(domains).all(is_same) {
        return None;
    }
    let options = Options::default().with_seconds(Some(SECONDS / domains.len() as f64));
    let mut slots = vec![0; arm.node_of.len()];
    let (mut before, mut after) = (0, 0);
    for (ranks, domains) in ranks_of.iter().zip(domains) {
        let number = |rank: usize| ranks.binary_search(&rank).ok();
        let edges: Vec<(u32, u32, i64)> = (0u32..)
            .zip(ranks)
            .flat_map(|(from, rank)| {
                let edges = graph.edges(*rank);
                edges.filter_map(move |(other, bytes)| Some((from, number(other)? as u32, bytes)))
            })
            .filter(|(from, to, _)| from < to)
            .collect();
        let graph = Csr::from_edges(ranks.len(), edges.iter().copied());
        let plan = plan_graph(&graph, &Machine::from_ids(domains), &options);
        before += plan.before.inter_node_edges;
        after += plan.after.inter_node_edges;
        for (rank, slot) in ranks.iter().zip(plan.old_ranks()) {
            slots[*rank] = u32::try_from(slot).ok()?;
        }
    }
    let saves = (after as f64) < before as f64 * FEWER_BYTES;
    let order = arm.order.clone() + SUFFIX;
    saves.then(|| Arm { order, slots, ..arm.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_exchange_most_share_a_domain() {
        // Open MPI's default: the ranks of a node take turns in two domains. Neighbors in a chain exchange messages.
        let domains = [vec![0, 1, 0, 1], vec![2, 3, 2, 3]];
        let chain: Vec<_> = (0..7).map(|rank| (rank, rank + 1, 100)).collect();
        let graph = Csr::from_edges(8, chain.iter().copied());
        let blocks = Arm {
            order: "default order".into(),
            predicted: Some(1.0),
            busiest: None,
            node_of: vec![0, 0, 0, 0, 1, 1, 1, 1],
            slots: Vec::new(),
        };
        let found = ordered(&blocks, &graph, &domains).unwrap();
        assert_eq!(
            (&*found.order, &found.node_of),
            ("default order, NUMA domains", &blocks.node_of)
        );
        assert_eq!(base(&found.order), Some(&*blocks.order));
        let domain =
            |rank: usize| domains[found.node_of[rank] as usize][found.slots[rank] as usize];
        let crossed = (0..7).filter(|rank| domain(*rank) != domain(rank + 1)).count();
        // One edge within each node, and the edge between the nodes.
        assert_eq!(crossed, 3);
        for ranks in [0..4, 4..8] {
            let mut slots = found.slots[ranks].to_vec();
            slots.sort_unstable();
            assert_eq!(slots, [0, 1, 2, 3]);
        }
        // In block order, such ranks already share a domain; and a node with another number of processes is unknown.
        assert!(ordered(&blocks, &graph, &[vec![0, 0, 1, 1], vec![2, 2, 3, 3]]).is_none());
        assert!(ordered(&blocks, &graph, &[vec![0, 1, 0], vec![2, 3, 2, 3]]).is_none());
        assert!(ordered(&blocks, &graph, &domains[..1]).is_none());
    }
}
