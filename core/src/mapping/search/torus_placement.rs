//! The placement of a mapping's parts on the nodes of a torus.
//!
//! Parts swap places by simulated annealing, to minimize the sum of hops.

use std::collections::HashMap;

use super::rng::Rng;
use crate::machine::torus::{At, MOST_DIMS};
use crate::mapping::budget::Budget;
use crate::mapping::distance::torus::NodeCoordinates;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::Csr;

/// The number of swaps that are tried for each part.
const MOVES: usize = 6000;

/// The temperatures at the start and at the end of these swaps, in hops of an edge of average weight.
const WARM: f64 = 2.0;
const COLD: f64 = 0.05;

/// Moves parts to other nodes, each to one whose part has the same size, in the same torus; the part on node 0 stays.
/// `graph` is symmetric.
pub(super) fn place_on_torus(
    coordinates: &NodeCoordinates,
    graph: &impl Adjacency,
    node_of: &[u32],
    budget: &mut Budget,
) -> Vec<u32> {
    let nodes = coordinates.group_of.len();
    let mut takes = vec![0; nodes];
    node_of.iter().for_each(|node| takes[*node as usize] += 1);
    let between = Csr::contracted(graph, node_of, nodes);
    let own: Vec<u32> = (0..nodes as u32).collect();
    let mut placement = TorusPlacement {
        coordinates,
        between: &between,
        takes: &takes,
        node_of_part: own.clone(),
        part_on: own,
    };
    placement.exchange(budget);
    node_of.iter().map(|part| placement.node_of_part[*part as usize]).collect()
}

struct TorusPlacement<'a> {
    coordinates: &'a NodeCoordinates,
    /// The edges between parts. A part has the number of its original node.
    between: &'a Csr,
    takes: &'a [u32],
    node_of_part: Vec<u32>,
    part_on: Vec<u32>,
}

impl TorusPlacement<'_> {
    fn at(&self, node: u32) -> At {
        self.coordinates.torus.at[node as usize]
    }

    fn hops(&self, a: u32, b: u32) -> i64 {
        self.coordinates.torus.hops(a, b)
    }

    /// The edges of a part to others, each times its hops, if the part is on a node.
    fn sum(&self, part: u32, node: u32) -> i64 {
        let torus = self.coordinates.group_of[node as usize];
        let edges =
            self.between.edges(part as usize).map(|(to, weight)| (self.node_of_part[to], weight));
        let inside = edges.filter(|(to, _)| self.coordinates.group_of[*to as usize] == torus);
        inside.map(|(to, weight)| weight * self.hops(node, to)).sum()
    }

    /// Swaps parts, accepting ever fewer swaps that increase the sum of hops, so that parts come near those to which
    /// they send.
    fn exchange(&mut self, budget: &mut Budget) {
        let group_of = &self.coordinates.group_of;
        let alike = |a: u32, b: u32| {
            let (a, b) = (a as usize, b as usize);
            self.takes[a] == self.takes[b] && group_of[a] == group_of[b]
        };
        let used: Vec<u32> =
            (0..self.takes.len() as u32).filter(|node| self.takes[*node as usize] > 0).collect();
        let place_of: HashMap<(u32, At), u32> =
            used.iter().map(|node| ((group_of[*node as usize], self.at(*node)), *node)).collect();
        let edges: Vec<i64> = used
            .iter()
            .flat_map(|part| self.between.edges(*part as usize).map(|(_, weight)| weight))
            .collect();
        // As many as the budget allows: an annealing that does not get cold is no better than its start.
        let steps = 8 * edges.len() / used.len().max(1) + 8;
        let moves = (MOVES * used.len()).min(budget.left() as usize / steps);
        let mut random = Rng::new(1);
        let mean = edges.iter().sum::<i64>() as f64 / edges.len().max(1) as f64;
        let start = self.node_of_part.clone();
        let mut change = 0;
        for at in 0..moves {
            let temperature = mean * (WARM - (WARM - COLD) * at as f64 / moves as f64);
            let part = used[random.below(used.len())];
            let neighbors = self.between.row(part as usize);
            // A node next to one of its neighbors, if there is one; occasionally any node.
            let near = (!neighbors.is_empty() && random.below(8) > 0).then(|| {
                let (to, _) = neighbors[random.below(neighbors.len())];
                let to = self.node_of_part[to as usize];
                let beside =
                    self.coordinates.torus.beside(self.at(to), random.below(2 * MOST_DIMS));
                place_of.get(&(group_of[to as usize], beside)).copied()
            });
            let node = near.flatten().unwrap_or_else(|| used[random.below(used.len())]);
            let (own, other) = (self.node_of_part[part as usize], self.part_on[node as usize]);
            if node == own || !alike(node, own) || part == 0 || other == 0 {
                budget.spend(8);
                continue;
            }
            let both = [part, other].map(|part| self.between.row(part as usize).len());
            budget.spend(4 * (both[0] + both[1]) + 8);
            let before = self.sum(part, own) + self.sum(other, node);
            self.swap(part, other);
            let more = self.sum(part, node) + self.sum(other, own) - before;
            if more as f64 <= temperature * random.exponential() {
                change += more;
            } else {
                self.swap(part, other);
            }
        }
        if change > 0 {
            self.node_of_part = start;
        }
    }

    /// Swaps the coordinates of two parts.
    fn swap(&mut self, a: u32, b: u32) {
        self.node_of_part.swap(a as usize, b as usize);
        for part in [a, b] {
            self.part_on[self.node_of_part[part as usize] as usize] = part;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use crate::machine::Machine;
    use crate::machine::torus::At;
    use crate::mapping::search::rng::Rng;
    use crate::mapping::tests::{SPENT, nearest, planned_cart};
    use crate::mapping::{Grid, LevelCost, Options, Plan, Stop};

    fn grid(dims: &[usize]) -> Grid {
        nearest(dims, &vec![true; dims.len()])
    }

    /// Nodes of this number of processes in a torus of 4 x 4, in random order.
    fn round_robin(sizes: &[usize]) -> Machine {
        let mut at: Vec<Option<At>> = (0..16).map(|i| Some([i / 4, i % 4, 0])).collect();
        Rng::new(1).shuffle(&mut at);
        Machine::blocks(sizes).with_torus([4, 4, 0], &at)
    }

    fn planned(grid: &Grid, machine: &Machine) -> Plan {
        let plan = planned_cart(grid, machine, &Options::default());
        // The reported load of links is the cost of the order.
        let again = Plan::identity(grid, machine, &Options::default().distances, |_| 0);
        let again = again.with_order(grid, machine, plan.old_ranks().collect(), "");
        assert_eq!(again.links.after, plan.links.after);
        plan
    }

    #[test]
    fn neighbors_are_placed_on_neighbors() {
        let plan = planned(&grid(&[16, 16]), &round_robin(&[16; 16]));
        // Squares of 4 x 4, each next to its four neighbors.
        let LevelCost { before, after, .. } = plan.links;
        assert_eq!(plan.after.inter_node_edges, 256);
        assert_eq!((after.inter_node_edges, after.max_node_edges), (256, 4));
        assert!(before.max_node_edges > 20, "{before:?}");
    }

    #[test]
    fn a_stopped_search_places_nothing() {
        static STOPPED: AtomicBool = AtomicBool::new(true);
        let (grid, machine) = (grid(&[16, 16]), round_robin(&[16; 16]));
        let steps = |stop| {
            SPENT.set(0);
            planned_cart(&grid, &machine, &Options { stop, ..Options::default() });
            SPENT.get()
        };
        let (all, stopped) = (steps(Stop::default()), steps(Stop(Some(&STOPPED))));
        assert!(100 * stopped < all, "{stopped} of {all} steps");
    }

    #[test]
    fn groups_are_moved_if_no_other_move_gains() {
        // Rows are whole nodes: no mapping has fewer edges between nodes.
        let plan = planned(&grid(&[16, 4]), &round_robin(&[4; 16]));
        let LevelCost { before, after, .. } = plan.links;
        assert_eq!(plan.before.inter_node_edges, plan.after.inter_node_edges);
        assert!(2 * after.inter_node_edges < before.inter_node_edges, "{before:?} {after:?}");
        assert!(2 * after.max_node_edges < before.max_node_edges, "{before:?} {after:?}");
    }

    #[test]
    fn nodes_of_different_sizes_keep_their_sizes() {
        let sizes: Vec<usize> = (0..16).map(|node| 12 + 8 * (node % 2)).collect();
        let plan = planned(&grid(&[16, 16]), &round_robin(&sizes));
        assert!(plan.links.after.max_node_edges <= plan.links.before.max_node_edges);
        assert!(2 * plan.links.after.inter_node_edges < plan.links.before.inter_node_edges);
    }

    #[test]
    fn links_lose_nothing_for_any_weights_if_these_are_unknown() {
        let (machine, grid) = (round_robin(&[16; 16]), grid(&[16, 16]).with_unknown_weights());
        let plan = planned(&grid, &machine);
        assert!(plan.links.after.inter_node_edges < plan.links.before.inter_node_edges);
        for weights in [[1, 4], [4, 1], [1, 1], [4, 4]] {
            let grid = grid.weighing(&weights);
            let stay = Plan::identity(&grid, &machine, &Options::default().distances, |_| 0);
            let order = plan.old_ranks().collect();
            let moved = stay.clone().with_order(&grid, &machine, order, "");
            assert!(moved.links.after.max_node_edges <= stay.links.before.max_node_edges);
        }
    }
}
