//! Distances on a machine with levels above the nodes: the cost of edges between any two nodes, and the time of an
//! exchange.
//!
//! An exchange takes as long as its busiest link. The load of a node's link counts with the step of distance from
//! inside a node to another node, and the load of a group's links, divided by its number of nodes, with the step at its
//! level: a job's share of a switch's links is in proportion to its nodes there. So distances describe how the network
//! tapers: with 1:10:19 there is as much capacity above the switches as below, with 1:10:28 half of it.

use super::distances::Distances;
use super::torus::NodeCoordinates;
use crate::machine::Machine;
use crate::mapping::model::cost::{Adjacency, Cost};
use crate::mapping::model::objective::Objective;

/// The nodes of a layout and the levels above them, for mapping.
#[derive(Debug, Clone)]
pub(in crate::mapping) struct DistanceModel {
    nodes: usize,
    /// For each level above the nodes, the outermost first, the group of each node.
    groups: Vec<Vec<u32>>,
    /// The additional cost of an edge that crosses a level, for each level above, the outermost first, and for the
    /// nodes.
    level_costs: Vec<i64>,
    /// The cost of every edge.
    least: i64,
    /// For each level above, the outermost first, the number of nodes of each group.
    members: Vec<Vec<u32>>,
    /// The coordinates of nodes, if they are known.
    coordinates: Option<NodeCoordinates>,
}

/// The cost of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mapping) struct TreeCost {
    /// The edges at each level, the outermost first and the nodes last.
    pub(in crate::mapping) levels: Vec<Cost>,
    /// The load of a torus: the weight of all edges, each times its hops, and the load of the busiest link.
    pub(in crate::mapping) links: Cost,
    /// The time of an exchange, in [`UNIT`]s; 0 without levels above the nodes and coordinates.
    pub(in crate::mapping) time: i128,
}

/// An edge of weight 1, on a link on which it takes the time 1.
const UNIT: i128 = 1 << 16;

impl DistanceModel {
    /// The model of a layout with these distances.
    pub(in crate::mapping) fn new(machine: &Machine, distances: &Distances) -> Self {
        Self::by(machine, &distances.of(machine.above().len()))
    }

    /// The model with one distance for each of its levels.
    pub(in crate::mapping) fn by(machine: &Machine, distances: &[i64]) -> Self {
        let nodes = machine.node_sizes().len();
        let of_level = |level: &crate::machine::Level| {
            let mut groups = vec![0; nodes];
            let mut first = 0;
            for run in machine.nodes().chunk_by(|a, b| a == b) {
                groups[run[0] as usize] = level.group_of[first];
                first += run.len();
            }
            groups
        };
        let groups: Vec<_> = machine.above().iter().map(of_level).collect();
        let level_costs = match groups.is_empty() {
            // There is no alternative: two equal distances must not hide edges between nodes.
            true => vec![1],
            false => distances.windows(2).rev().map(|pair| pair[1] - pair[0]).collect(),
        };
        let members = groups.iter().map(|groups: &Vec<u32>| {
            let mut members = vec![0; groups.iter().max().map_or(0, |most| *most as usize + 1)];
            groups.iter().for_each(|group| members[*group as usize] += 1);
            members
        });
        let members = members.collect();
        let coordinates = NodeCoordinates::new(machine);
        Self { nodes, groups, level_costs, least: distances[0], members, coordinates }
    }

    /// The coordinates of nodes, if they are known.
    pub(in crate::mapping) fn coordinates(&self) -> Option<&NodeCoordinates> {
        self.coordinates.as_ref()
    }

    /// True if there is no level above the nodes.
    pub(in crate::mapping) fn is_trivial(&self) -> bool {
        self.groups.is_empty()
    }

    /// The number of nodes.
    pub(in crate::mapping) fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of levels above the nodes.
    pub(in crate::mapping) fn depth(&self) -> usize {
        self.groups.len()
    }

    /// The group of a node at a level above, 0 the outermost.
    pub(in crate::mapping) fn group(&self, level: usize, node: u32) -> u32 {
        self.groups[level][node as usize]
    }

    /// The groups and distances of some of the nodes: node `i` of the result is `nodes[i]` here.
    pub(in crate::mapping) fn select(&self, nodes: &[u32]) -> Self {
        let select = |groups: &Vec<u32>| nodes.iter().map(|node| groups[*node as usize]).collect();
        let groups = self.groups.iter().map(select).collect();
        Self {
            nodes: nodes.len(),
            groups,
            level_costs: self.level_costs.clone(),
            least: self.least,
            members: Vec::new(),
            coordinates: None,
        }
    }

    /// The additional cost of an edge that joins two nodes.
    pub(in crate::mapping) fn node_step(&self) -> i64 {
        self.level_costs[self.groups.len()]
    }

    /// The sum over all edges of the distance between their ends, from the weight of all edges and of those that cross
    /// each level, the outermost first and the nodes last.
    pub(in crate::mapping) fn weighted(
        &self,
        edges: i128,
        crossing: impl Iterator<Item = i64>,
    ) -> i128 {
        let crossing = crossing
            .zip(&self.level_costs)
            .map(|(edges, step)| i128::from(edges) * i128::from(*step));
        i128::from(self.least) * edges + crossing.sum::<i128>()
    }

    /// The [key](Self::key_of) of a mapping.
    pub(in crate::mapping) fn key(
        &self,
        graph: &impl Adjacency,
        node_of: &[u32],
        objective: Objective,
    ) -> Key {
        self.key_of(&self.cost(graph, node_of), objective)
    }

    /// The key by which mappings are compared; smaller is better: first the time, the distances of all edges, or the
    /// busiest node, depending on the objective. Without levels above and coordinates, as in [`Cost::key`].
    pub(in crate::mapping) fn key_of(&self, cost: &TreeCost, objective: Objective) -> Key {
        let most = cost.levels[self.depth()].max_node_edges.into();
        let sum = self.sum(cost);
        let rules = objective.rules();
        let (first, second) = rules.order(sum, most);
        match rules.by_time {
            true => [cost.time, cost.links.inter_node_edges.into(), first, second],
            false => [first, second, cost.time, 0],
        }
    }

    /// The distances of all edges, without the cost of each inside a node.
    pub(in crate::mapping) fn sum(&self, cost: &TreeCost) -> i128 {
        self.weighted(0, cost.levels.iter().map(|cost| cost.inter_node_edges))
    }

    /// True if a mapping does not save time at the expense of a larger sum than another's.
    pub(in crate::mapping) fn spares(
        &self,
        cost: &TreeCost,
        than: &TreeCost,
        objective: Objective,
    ) -> bool {
        !objective.rules().by_time || self.sum(cost) <= self.sum(than)
    }

    /// The most edges that may leave a node in an exchange of the same time.
    pub(in crate::mapping) fn most_of_node(&self, time: i128) -> i64 {
        (time / UNIT).checked_div(self.node_step().into()).map_or(i64::MAX, |most| most as i64)
    }

    /// The cost of a mapping.
    pub(in crate::mapping) fn cost(&self, graph: &impl Adjacency, node_of: &[u32]) -> TreeCost {
        let links = self
            .coordinates
            .as_ref()
            .map_or(Cost::default(), |coordinates| coordinates.cost(graph, node_of));
        let of_links = i128::from(links.max_node_edges) * i128::from(self.node_step()) * UNIT;
        if self.is_trivial() {
            return TreeCost { levels: vec![graph.cost(node_of)], links, time: of_links };
        }
        let loads = graph.loads(node_of, &self.groups);
        let time = |(level, loads): (usize, &Vec<i64>)| {
            let of_group = |(group, load): (usize, &i64)| {
                let members = self.members.get(level).map_or(1, |members| members[group]);
                i128::from(*load) * i128::from(self.level_costs[level]) * UNIT / i128::from(members)
            };
            loads.iter().enumerate().map(of_group).max().unwrap_or(0)
        };
        TreeCost {
            time: loads.iter().enumerate().map(time).max().unwrap_or(0).max(of_links),
            links,
            levels: loads.iter().map(|loads| Cost::of_loads(loads)).collect(),
        }
    }
}

/// A mapping found by the search.
pub(in crate::mapping) struct Mapping {
    /// The node of each vertex.
    pub(in crate::mapping) node_of: Vec<u32>,
    /// The cost.
    pub(in crate::mapping) cost: TreeCost,
    /// The name of the algorithm that found it.
    pub(in crate::mapping) algorithm: &'static str,
}

impl Mapping {
    /// Adds the cost.
    pub(in crate::mapping) fn new(
        model: &DistanceModel,
        graph: &impl Adjacency,
        node_of: Vec<u32>,
        algorithm: &'static str,
    ) -> Self {
        Self { cost: model.cost(graph, &node_of), node_of, algorithm }
    }
}

/// The key by which two mappings are compared; smaller is better.
pub(in crate::mapping) type Key = [i128; 4];
