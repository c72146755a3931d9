//! Moves processes at random, to test whether a program tolerates it.

use super::rng::Rng;
use crate::machine::Machine;
use crate::mapping::distance::distances::Distances;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::plan::{Plan, Scramble};

/// Every process gets a different rank, except rank 0 unless that moves as well. The result depends only on the seed
/// and the topology, not on the layout. A single process keeps its rank.
pub(super) fn scramble(graph: &impl Adjacency, machine: &Machine, how: Scramble) -> Plan {
    let plan = Plan::identity(graph, machine, &Distances::default(), |_| 0);
    let first = usize::from(!how.rank_zero);
    if graph.vertices() < 2 || machine.ranks() < first + 2 {
        return plan;
    }
    let mut seed = how.seed;
    let mut mix = |number: usize| seed = Rng::new(seed ^ number as u64).next();
    (0..graph.vertices()).for_each(|vertex| graph.for_each_edge(vertex, |to, _| mix(to)));
    let mut rng = Rng::new(seed);
    let mut old_rank: Vec<i32> = (0..machine.ranks() as i32).collect();
    // Sattolo's algorithm: a single cycle through all of them, so that none keeps its rank.
    for i in (first + 1..old_rank.len()).rev() {
        old_rank.swap(i, first + rng.below(i - first));
    }
    old_rank.truncate(graph.vertices());
    plan.with_order(graph, machine, old_rank.into(), "scramble")
}

#[cfg(test)]
mod tests {
    use crate::machine::Machine;
    use crate::mapping::tests::nearest;
    use crate::mapping::{Adjacency, Csr, Options, Scramble, plan_graph, plan_grid};

    fn order(dims: &[usize], machine: &Machine, seed: u64) -> Vec<i32> {
        scrambled(dims, machine, Scramble { seed, rank_zero: false })
    }

    fn scrambled(dims: &[usize], machine: &Machine, how: Scramble) -> Vec<i32> {
        let options = Options { scramble: Some(how), ..Options::default() };
        let plan = plan_grid(&nearest(dims, &vec![false; dims.len()]), machine, &options);
        assert_eq!(plan.algorithm, "scramble");
        plan.old_ranks().collect()
    }

    #[test]
    fn every_process_is_moved_and_none_is_lost() {
        for ranks in 2..40 {
            for (seed, rank_zero) in (0..40).map(|number| (number / 2, number % 2 == 1)) {
                if ranks == 2 && !rank_zero {
                    continue;
                }
                let machine = Machine::one_node(ranks);
                let order = scrambled(&[ranks], &machine, Scramble { seed, rank_zero });
                let stays = |(new, old): (i32, &i32)| new == *old;
                assert_eq!(
                    (0..).zip(&order).filter(|pair| stays(*pair)).count(),
                    usize::from(!rank_zero)
                );
                assert_eq!(order[0] == 0, !rank_zero, "{order:?}");
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..ranks as i32).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_order_depends_on_seed_and_topology_but_not_layout() {
        let one = Machine::one_node(12);
        let first = order(&[4, 3], &one, 7);
        assert_eq!(order(&[4, 3], &Machine::blocks(&[4, 4, 4]), 7), first);
        assert_ne!(order(&[4, 3], &one, 8), first);
        assert_ne!(order(&[3, 4], &one, 7), first);
        // If there are more processes than vertices, a random subset takes part.
        let some = order(&[4, 2], &one, 7);
        assert!(some.len() == 8 && some.iter().any(|old| *old >= 8), "{some:?}");
    }

    #[test]
    fn the_cost_is_reported() {
        let how = Scramble { seed: 1, rank_zero: false };
        let options = Options { scramble: Some(how), ..Options::default() };
        let machine = Machine::blocks(&[2, 2]);
        let graph = Csr::from_edges(4, [(0, 1, 5), (2, 3, 5)].into_iter());
        let plan = plan_graph(&graph, &machine, &options);
        let node_of: Vec<u32> = plan.old_ranks().map(|old| machine.nodes()[old as usize]).collect();
        assert_eq!((plan.before.inter_node_edges, plan.after), (0, graph.cost(&node_of)));
        for (dims, ranks) in [(&[1][..], 4), (&[2], 2)] {
            let alone = plan_grid(&nearest(dims, &[false]), &Machine::one_node(ranks), &options);
            assert_eq!(alone.old_rank, None);
        }
    }
}
