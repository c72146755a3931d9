//! Placements for programs whose ranks choose the devices of their node by their numbers, such as `rank % devices`.

use super::rank_assignment::assign_ranks;
use super::refine::{Partition, swap_pairs};
use super::subject::Subject;
use crate::machine::Machine;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::objective::Goal;
use crate::mapping::plan::{Options, Plan};

/// The part of the usual time of a search that two of these searches take.
const TIME: f64 = 0.25;

/// True if each node has equally many ranks of each remainder by `devices`, or one more of some.
fn shares_devices(node_of: &[u32], devices: u32) -> bool {
    let nodes = node_of.iter().map(|node| *node as usize + 1).max().unwrap_or(0);
    let counts = Counts::new(node_of, nodes, devices.max(1) as usize);
    counts.counts.chunks(counts.devices).all(|counts| {
        let [least, most] = [counts.iter().min(), counts.iter().max()];
        least.zip(most).is_none_or(|(least, most)| most - least <= 1)
    })
}

/// [`keep_devices`](super::keep_devices), for grids as well.
pub(super) fn keep<S: Subject>(
    subject: &S,
    machine: &Machine,
    plan: Plan,
    options: &Options,
) -> Plan {
    let own = &machine.nodes()[..subject.vertices()];
    if options.devices < 2 || plan.old_rank.is_none() || !shares_devices(own, options.devices) {
        return plan;
    }
    let nodes = machine.node_sizes().len();
    let counts = Counts::new(own, nodes, options.devices as usize);
    let wanted: Vec<u32> = plan.old_ranks().map(|rank| machine.nodes()[rank as usize]).collect();
    if Counts::new(&wanted, nodes, options.devices as usize) == counts {
        return plan;
    }
    let seconds = options.seconds.unwrap_or_else(|| subject.seconds(None, nodes, false).0);
    let mut budget = Budget::seconds(TIME * seconds * S::STEP).until(options.stop);
    let Some(edges) = subject.edges(Budget::seconds(f64::MAX)) else { return plan.undone() };
    let starts = [counts.fill(&edges, own, &wanted), own.to_vec()];
    let plans = starts.into_iter().zip([2, 1]).map(|(start, parts)| {
        let mut share = budget.split(parts);
        let mut partition = Partition::new(&edges, start, nodes).within_classes(options.devices);
        swap_pairs(&mut partition, Goal::from(options.objective), &mut share);
        budget.put_back(share);
        let node_of = partition.into_node_of();
        let old_rank = assign_ranks(&edges, &node_of, machine, options.objective, &mut budget);
        plan.clone().with_order(subject, machine, old_rank, Plan::DEVICES)
    });
    Plan::least(plans.collect(), machine, options)
}

/// The number of vertices of each remainder on each node.
#[derive(PartialEq, Eq)]
struct Counts {
    devices: usize,
    counts: Vec<u32>,
}

impl Counts {
    fn new(node_of: &[u32], nodes: usize, devices: usize) -> Self {
        let mut found = Self { devices, counts: vec![0; nodes * devices] };
        for (vertex, node) in node_of.iter().enumerate() {
            found.counts[*node as usize * devices + vertex % devices] += 1;
        }
        found
    }

    /// Takes a place for a vertex on a node, if there is one.
    fn take(&mut self, vertex: usize, node: u32) -> Option<u32> {
        let left = &mut self.counts[node as usize * self.devices + vertex % self.devices];
        *left = left.checked_sub(1)?;
        Some(node)
    }

    /// Assigns vertices to nodes so that each node gets its required numbers of vertices: each vertex gets its wanted
    /// node if possible, and otherwise the node to which it has most edges. Vertex 0 stays on its own node, which swaps
    /// its vertices with the wanted one.
    fn fill(&self, graph: &impl Adjacency, own: &[u32], wanted: &[u32]) -> Vec<u32> {
        let mut left = Self { devices: self.devices, counts: self.counts.clone() };
        let (first, other) = (own[0], wanted[0]);
        let swapped = |node: u32| match node {
            node if node == other => first,
            node if node == first => other,
            node => node,
        };
        let mut node_of: Vec<Option<u32>> = Vec::with_capacity(wanted.len());
        node_of.extend((0..).zip(wanted).map(|(vertex, node)| left.take(vertex, swapped(*node))));
        // The first nodes with places for each remainder.
        let mut next = vec![0; self.devices];
        let mut weights = vec![0; left.counts.len() / self.devices];
        for vertex in 0..wanted.len() {
            if node_of[vertex].is_some() {
                continue;
            }
            let mut touched = Vec::new();
            graph.for_each_edge(vertex, |to, weight| {
                if let Some(node) = node_of[to] {
                    weights[node as usize] += weight;
                    touched.push(node);
                }
            });
            touched.sort_by_key(|node| std::cmp::Reverse(weights[*node as usize]));
            touched.iter().for_each(|node| weights[*node as usize] = 0);
            let mut found = touched.iter().find_map(|node| left.take(vertex, *node));
            let next = &mut next[vertex % self.devices];
            while found.is_none() {
                found = left.take(vertex, *next);
                *next += u32::from(found.is_none());
            }
            node_of[vertex] = found;
        }
        node_of.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mapping::{Csr, Grid, plan_graph, plan_grid};

    fn nodes(plan: &Plan, machine: &Machine) -> Vec<u32> {
        plan.node_of(machine)
    }

    #[test]
    fn nodes_keep_a_rank_of_each_device() {
        let grid = Grid::new(vec![8, 8], vec![false; 2], Grid::nearest_neighbors(&[1, 1]));
        let machine = Machine::blocks(&[8; 8]);
        let free = plan_grid(&grid, &machine, &Options::default());
        assert!(!shares_devices(&nodes(&free, &machine), 8));
        // A column of the grid has ranks of one remainder by 8, and two rows of four have each remainder by 4 twice.
        for (devices, expected) in
            [(4, free.after.inter_node_edges), (8, free.before.inter_node_edges)]
        {
            let plan = plan_grid(&grid, &machine, &Options::default().with_devices(devices));
            assert!(shares_devices(&nodes(&plan, &machine), devices), "{devices}");
            assert_eq!(plan.after.inter_node_edges, expected, "{devices}");
        }
    }

    #[test]
    fn devices_are_shared_evenly_if_counts_differ_by_one() {
        assert!(shares_devices(&[0, 0, 0, 1, 1, 1], 2));
        assert!(!shares_devices(&[0, 1, 0, 1], 2));
        assert!(shares_devices(&[], 2) && shares_devices(&[0, 0], 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn each_node_keeps_its_counts(
            (devices, sizes) in (2u32..5).prop_flat_map(|devices| {
                (Just(devices), prop::collection::vec((1..4usize).prop_map(move |k| k * devices as usize), 2..6))
            }),
            pairs in prop::collection::vec((any::<u32>(), any::<u32>(), 1..100i64), 1..200),
        ) {
            let machine = Machine::blocks(&sizes);
            let ranks = machine.ranks() as u32;
            let edges = pairs.iter().map(|(from, to, weight)| (from % ranks, to % ranks, *weight));
            let graph = Csr::from_edges(ranks as usize, edges);
            let options = Options::default().with_devices(devices);
            let plan = plan_graph(&graph, &machine, &options);
            let of = |node_of: &[u32]| Counts::new(node_of, sizes.len(), devices as usize).counts;
            prop_assert_eq!(of(&nodes(&plan, &machine)), of(machine.nodes()));
            prop_assert!(plan.after.inter_node_edges <= plan.before.inter_node_edges);
            prop_assert_eq!(plan.old_ranks().next(), Some(0));
        }
    }
}
