//! Plans: which process of a communicator takes which vertex, and what that gains.

use crate::machine::{Level, Machine};
use crate::mapping::budget::Stop;
use crate::mapping::distance::distance_model::{DistanceModel, TreeCost};
use crate::mapping::distance::distances::Distances;
use crate::mapping::model::cost::{Adjacency, Cost};
use crate::mapping::model::objective::Objective;

/// The least fraction of all edges between nodes, or of the busiest node's, that a reordering must save, for a grid
/// with known weights.
const LEAST_GAIN: f64 = 0.05;

/// A random reordering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scramble {
    /// The seed of the random numbers.
    pub seed: u64,
    /// True if the process of rank 0 moves as well, which no mapping does.
    pub rank_zero: bool,
}

/// The options of a search for a mapping; later versions may have more.
///
/// ```
/// use cartograph_core::mapping::{Objective, Options};
/// let options = Options::default().with_objective(Objective::Max).with_seconds(Some(0.1));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The cost that is minimized first.
    pub objective: Objective,
    /// Seconds that the search may take on a current machine, counted in steps rather than by a clock, so that the same
    /// arguments always give the same plan. `None`: a default that depends on the size.
    pub seconds: Option<f64>,
    /// A random reordering in place of a mapping, to test whether a program works with other ranks.
    pub scramble: Option<Scramble>,
    /// The cost of an edge by the outermost level that it crosses; used if there are levels above the nodes.
    pub distances: Distances,
    /// The number of devices of each node, if ranks choose them by their numbers: then each node has as many ranks of
    /// each remainder as in rank order, if these are equally many. 0 or 1 if that does not matter.
    pub devices: u32,
    /// The flag that ends the search early.
    pub stop: Stop,
}

impl Options {
    /// These options with another [`objective`](Self::objective).
    #[must_use]
    pub fn with_objective(self, objective: Objective) -> Self {
        Self { objective, ..self }
    }

    /// These options with another [`seconds`](Self::seconds).
    #[must_use]
    pub fn with_seconds(self, seconds: Option<f64>) -> Self {
        Self { seconds, ..self }
    }

    /// These options with another [`scramble`](Self::scramble).
    #[must_use]
    pub fn with_scramble(self, scramble: Option<Scramble>) -> Self {
        Self { scramble, ..self }
    }

    /// These options with another [`distances`](Self::distances).
    #[must_use]
    pub fn with_distances(self, distances: Distances) -> Self {
        Self { distances, ..self }
    }

    /// These options with another number of [`devices`](Self::devices).
    #[must_use]
    pub fn with_devices(self, devices: u32) -> Self {
        Self { devices, ..self }
    }

    /// These options with another [`stop`](Self::stop).
    #[must_use]
    pub fn with_stop(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }
}

/// The cost of a mapping at one level of a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelCost {
    /// A lower bound for the edges between groups of the level, in any mapping.
    pub lower_bound: i64,
    /// The cost if every process keeps its rank: all edges between different groups of the level, and those
    /// that leave the worst group.
    pub before: Cost,
    /// The cost of the plan.
    pub after: Cost,
}

/// The sum over all edges of the distance between their ends: all levels together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighted {
    /// The distance inside a node, between two nodes of the same group, and so on outward.
    pub distances: Vec<i64>,
    /// A lower bound for any mapping.
    pub lower_bound: i128,
    /// With every process keeping its rank.
    pub before: i128,
    /// As planned.
    pub after: i128,
}

/// The process for each vertex of a grid or graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// `old_rank[v]` is the rank in the old communicator of the process that takes vertex `v`, which becomes rank `v`;
    /// `None` if every process keeps its rank, because no other order is better.
    pub old_rank: Option<Box<[i32]>>,
    /// The number of vertices; the old communicator may have more processes.
    pub vertices: i32,
    /// A lower bound for the edges between nodes, in any mapping.
    pub lower_bound: i64,
    /// With every process keeping its rank.
    pub before: Cost,
    /// As planned.
    pub after: Cost,
    /// The cost at each level of the layout, the outermost first, including the nodes.
    pub levels: Vec<LevelCost>,
    /// All levels together, if there are some above the nodes.
    pub weighted: Option<Weighted>,
    /// The load of a torus if nodes have coordinates: all edges, each times its hops, and those over the busiest link.
    /// Otherwise `None`.
    pub links: LevelCost,
    /// The time of an exchange by the load of the busiest link, before and after, in arbitrary units.
    pub times: [i128; 2],
    /// The name of the algorithm that found it, for reports.
    pub algorithm: &'static str,
    /// The cost of a mapping that gains if all dimensions weigh the same, but was not applied because that is unknown
    /// and it could increase the cost otherwise.
    pub rejected_as_risky: Option<Cost>,
}

impl Plan {
    /// The algorithm of a plan that leaves every process on its node, and changes only places there.
    pub const INSIDE_NODES: &str = "inside nodes";

    /// The algorithm of a plan that differs from the best one because ranks choose devices by their numbers.
    pub const DEVICES: &str = "balanced devices";

    /// Every process keeps its rank; those beyond the last vertex are left out. `bound` gives a lower bound for
    /// mappings to groups of this number of ranks.
    pub fn identity(
        graph: &impl Adjacency,
        machine: &Machine,
        distances: &Distances,
        bound: impl Fn(&[usize]) -> i64,
    ) -> Self {
        let vertices = graph.vertices();
        let model = DistanceModel::new(machine, distances);
        let TreeCost { levels: outer, links, time } =
            model.cost(graph, &machine.nodes()[..vertices]);
        let below = machine.below().iter().map(|level| graph.cost(&level.group_of[..vertices]));
        let level = |(level, cost): (&Level, Cost)| LevelCost {
            lower_bound: bound(&level.sizes()),
            before: cost,
            after: cost,
        };
        let costs = outer.into_iter().chain(below);
        let levels: Vec<LevelCost> = machine.levels().iter().zip(costs).map(level).collect();
        let nodes = &levels[machine.above().len()];
        let weighted = (!machine.above().is_empty()).then(|| {
            let edges = graph.total();
            let outer = || levels[..=machine.above().len()].iter();
            let before = model.weighted(edges, outer().map(|level| level.before.inter_node_edges));
            Weighted {
                distances: distances.of(machine.above().len()),
                lower_bound: model.weighted(edges, outer().map(|level| level.lower_bound)),
                before,
                after: before,
            }
        });
        Self {
            old_rank: None,
            vertices: vertices as i32,
            lower_bound: nodes.lower_bound,
            before: nodes.before,
            after: nodes.before,
            levels,
            weighted,
            links: LevelCost { lower_bound: 0, before: links, after: links },
            times: [time; 2],
            algorithm: "none",
            rejected_as_risky: None,
        }
    }

    /// A lower bound on the weighted cost of any mapping, without the constant part of each edge.
    pub(super) fn beyond_edges(&self, model: &DistanceModel) -> i128 {
        model.weighted(0, self.levels.iter().map(|level| level.lower_bound))
    }

    /// The same problem, solved by keeping every rank.
    pub(super) fn undone(mut self) -> Self {
        self.levels.iter_mut().for_each(|level| level.after = level.before);
        if let Some(weighted) = &mut self.weighted {
            weighted.after = weighted.before;
        }
        self.links.after = self.links.before;
        self.times[1] = self.times[0];
        let after = self.before;
        Self { old_rank: None, after, algorithm: "none", rejected_as_risky: None, ..self }
    }

    /// The same problem, solved with these old ranks.
    pub fn with_order(
        self,
        graph: &impl Adjacency,
        machine: &Machine,
        old_rank: Box<[i32]>,
        algorithm: &'static str,
    ) -> Self {
        let nodes: Vec<u32> = old_rank.iter().map(|rank| machine.nodes()[*rank as usize]).collect();
        let model = match &self.weighted {
            Some(weighted) => DistanceModel::by(machine, &weighted.distances),
            None => DistanceModel::new(machine, &Distances::default()),
        };
        let cost = model.cost(graph, &nodes);
        self.with_cost(graph, machine, cost, old_rank, algorithm)
    }

    /// The same, with known costs at the level of the nodes and those above.
    pub(super) fn with_cost(
        self,
        graph: &impl Adjacency,
        machine: &Machine,
        outer: TreeCost,
        old_rank: Box<[i32]>,
        algorithm: &'static str,
    ) -> Self {
        let cost = |level: &Level| {
            let group = |rank: &i32| level.group_of[*rank as usize];
            graph.cost(&old_rank.iter().map(group).collect::<Vec<u32>>())
        };
        let mut levels = self.levels;
        let costs = outer.levels.into_iter().chain(machine.below().iter().map(cost));
        for (known, cost) in levels.iter_mut().zip(costs) {
            known.after = cost;
        }
        let above = &levels[..=machine.above().len()];
        let gained = |distances: &[i64]| -> i128 {
            let steps = distances.windows(2).rev().map(|pair| i128::from(pair[1] - pair[0]));
            let change = |level: &LevelCost| {
                i128::from(level.after.inter_node_edges) - i128::from(level.before.inter_node_edges)
            };
            above.iter().map(change).zip(steps).map(|(change, step)| change * step).sum()
        };
        let weighted = self.weighted.map(|weighted| Weighted {
            after: weighted.before + gained(&weighted.distances),
            ..weighted
        });
        let after = levels[machine.above().len()].after;
        let links = LevelCost { after: outer.links, ..self.links };
        let times = [self.times[0], outer.time];
        Self { old_rank: Some(old_rank), after, levels, weighted, links, times, algorithm, ..self }
    }

    /// The costs at the level of the nodes and those above, before and after.
    pub(super) fn tree_costs(&self, machine: &Machine) -> [TreeCost; 2] {
        let outer = &self.levels[..=machine.above().len()];
        let (before, after) = outer.iter().map(|level| (level.before, level.after)).unzip();
        [
            TreeCost { levels: before, links: self.links.before, time: self.times[0] },
            TreeCost { levels: after, links: self.links.after, time: self.times[1] },
        ]
    }

    /// The cheapest of one or more plans for one graph. A plan is skipped if it costs more than rank order or, without
    /// levels above the nodes, has a node with more edges to others than the busiest one had.
    pub fn least(plans: Vec<Self>, machine: &Machine, options: &Options) -> Self {
        let model = DistanceModel::new(machine, &options.distances);
        let key = |plan: &Self| {
            let [before, after] = plan.tree_costs(machine);
            [&before, &after].map(|cost| model.key_of(cost, options.objective))
        };
        let is_better = |plan: &&Self| {
            let [before, after] = key(plan);
            let spares = plan.after.max_node_edges <= plan.before.max_node_edges;
            after < before && (spares || !model.is_trivial())
        };
        let found = plans.iter().filter(is_better).min_by_key(|plan| key(plan)[1]).cloned();
        let unmoved = || plans.iter().find(|plan| plan.algorithm == Self::INSIDE_NODES).cloned();
        found
            .or_else(unmoved)
            .unwrap_or_else(|| plans.into_iter().next().expect("one plan").undone())
    }

    /// True if processes move between nodes, but neither all edges nor those of the busiest group of any level decrease
    /// by [`LEAST_GAIN`].
    pub(super) fn gains_little(&self, machine: &Machine) -> bool {
        let little =
            |before: i64, after: i64| (before - after) as f64 <= LEAST_GAIN * before as f64;
        let outer = &self.levels[..=machine.above().len()];
        self.old_rank.is_some()
            && self.algorithm != Self::INSIDE_NODES
            && outer.iter().chain([&self.links]).all(|LevelCost { before, after, .. }| {
                little(before.max_node_edges, after.max_node_edges)
                    && little(before.inter_node_edges, after.inter_node_edges)
            })
    }

    /// For each vertex, the old rank of the process that takes it.
    pub fn old_ranks(&self) -> impl Iterator<Item = i32> + '_ {
        (0..self.vertices).map(|v| self.old_rank.as_ref().map_or(v, |old| old[v as usize]))
    }

    /// The node on which to start each rank: those of the plan, then the remaining processes.
    pub fn node_of(&self, machine: &Machine) -> Vec<u32> {
        let nodes = machine.nodes();
        let mut placed = vec![false; nodes.len()];
        let mut node_of: Vec<u32> = Vec::with_capacity(nodes.len());
        for old in self.old_ranks() {
            placed[old as usize] = true;
            node_of.push(nodes[old as usize]);
        }
        let others = placed.iter().zip(nodes).filter(|(placed, _)| !**placed);
        node_of.extend(others.map(|(_, node)| *node));
        node_of
    }
}
