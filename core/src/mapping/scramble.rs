//! Processes moved at random, to find out whether a program stands it.

use super::cost::Adjacency;
use super::csr::Csr;
use super::grid::Grid;
use super::layout::Layout;
use super::levels::Distances;
use super::plan::Plan;
use super::rng::Rng;

/// What can be scrambled.
pub(super) trait Scrambled: Adjacency {
    /// Numbers that differ between topologies which a program might take for each other.
    fn traits(&self) -> Vec<usize>;
}

impl Scrambled for Grid {
    fn traits(&self) -> Vec<usize> {
        let periodic = self.periodic().iter().map(|periodic| usize::from(*periodic));
        self.dims().iter().copied().chain(periodic).collect()
    }
}

impl Scrambled for Csr {
    fn traits(&self) -> Vec<usize> {
        vec![self.vertices(), self.len()]
    }
}

/// Every process gets another rank than its own, by the seed and the topology alone: not by where it
/// runs. One vertex alone stays.
pub(super) fn scramble(graph: &impl Scrambled, layout: &Layout, seed: u64) -> Plan {
    let plan = Plan::identity(graph, layout, &Distances::default(), |_| 0);
    if graph.vertices() < 2 {
        return plan;
    }
    let mix = |seed: u64, number: usize| Rng::new(seed ^ number as u64).next();
    let mut rng = Rng::new(graph.traits().into_iter().fold(seed, mix));
    let mut old_rank: Vec<i32> = (0..layout.ranks() as i32).collect();
    // Sattolo's: one circle through all ranks, so that none is on its own.
    for i in (1..old_rank.len()).rev() {
        old_rank.swap(i, rng.below(i));
    }
    old_rank.truncate(graph.vertices());
    plan.with(graph, layout, old_rank.into(), "scramble")
}

#[cfg(test)]
mod tests {
    use crate::mapping::{Adjacency, Csr, Grid, Layout, Options, plan_cart, plan_graph};

    fn grid(dims: &[usize]) -> Grid {
        let stencil = Grid::nearest_neighbors(&vec![1; dims.len()]);
        Grid::new(dims.to_vec(), vec![false; dims.len()], stencil)
    }

    fn order(dims: &[usize], layout: &Layout, seed: u64) -> Vec<i32> {
        let options = Options { scramble: Some(seed), ..Options::default() };
        let plan = plan_cart(&grid(dims), layout, &options);
        assert_eq!(plan.algorithm, "scramble");
        plan.old_ranks().collect()
    }

    #[test]
    fn every_process_is_moved_and_all_are_there() {
        for ranks in 2..40 {
            for seed in 0..20 {
                let order = order(&[ranks], &Layout::one_node(ranks), seed);
                assert!((0..).zip(&order).all(|(new, old)| new != *old), "{order:?}");
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..ranks as i32).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_seed_and_the_topology_decide_and_not_the_layout() {
        let one = Layout::one_node(12);
        let first = order(&[4, 3], &one, 7);
        assert_eq!(order(&[4, 3], &Layout::blocks(&[4, 4, 4]), 7), first);
        assert_ne!(order(&[4, 3], &one, 8), first);
        assert_ne!(order(&[3, 4], &one, 7), first);
        // Of more processes than vertices, some at random take part.
        let some = order(&[4, 2], &one, 7);
        assert!(some.len() == 8 && some.iter().any(|old| *old >= 8), "{some:?}");
    }

    #[test]
    fn what_it_costs_is_told() {
        let options = Options { scramble: Some(1), ..Options::default() };
        let layout = Layout::blocks(&[2, 2]);
        let graph = Csr::from_edges(4, [(0, 1, 5), (2, 3, 5)].into_iter());
        let plan = plan_graph(&graph, &layout, &options);
        let node_of: Vec<u32> = plan.old_ranks().map(|old| layout.nodes()[old as usize]).collect();
        assert_eq!((plan.before.inter_node_edges, plan.after), (0, graph.cost(&node_of)));
        let alone = plan_cart(&grid(&[1]), &Layout::one_node(4), &options);
        assert_eq!(alone.old_rank, None);
    }
}
