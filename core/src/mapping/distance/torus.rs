//! The coordinates of nodes in a torus or mesh, and the load of its links.

use std::collections::HashMap;

use crate::machine::torus::{At, Torus};
use crate::machine::{LevelKind, Machine};
use crate::mapping::model::cost::{Adjacency, Cost};
use crate::mapping::model::csr::Csr;

/// A link: its torus, its start, and its direction.
pub(in crate::mapping) type Link = (u32, At, usize);

/// The coordinates of nodes, and the torus of each.
#[derive(Debug, Clone)]
pub(in crate::mapping) struct NodeCoordinates {
    pub(in crate::mapping) torus: Torus,
    pub(in crate::mapping) group_of: Vec<u32>,
}

impl NodeCoordinates {
    /// The coordinates of a machine, if it has some.
    pub(in crate::mapping) fn new(machine: &Machine) -> Option<Self> {
        let torus = machine.torus()?.clone();
        let mut group_of = vec![0; torus.at.len()];
        let is_torus = |kind: LevelKind| [LevelKind::Torus, LevelKind::Ring].contains(&kind);
        if let Some(level) = machine.above().iter().rfind(|level| is_torus(level.kind)) {
            let ranks = machine.nodes().iter().zip(&level.group_of);
            ranks.for_each(|(node, group)| group_of[*node as usize] = *group);
        }
        Some(Self { torus, group_of })
    }

    /// Calls `visit` with every loaded link and its load. Links between two tori are unknown.
    pub(in crate::mapping) fn for_each_load(
        &self,
        graph: &impl Adjacency,
        node_of: &[u32],
        mut visit: impl FnMut(Link, i64),
    ) {
        let between = Csr::contracted(graph, node_of, self.group_of.len());
        for from in 0..self.group_of.len() {
            let group = self.group_of[from];
            for (to, weight) in between.edges(from) {
                if self.group_of[to] == group {
                    let mut visit = |(at, direction)| visit((group, at, direction), weight);
                    self.torus.route(from as u32, to as u32, &mut visit);
                }
            }
        }
    }

    /// The weight of all edges, each times its hops, and the load of the busiest link.
    pub(in crate::mapping) fn cost(&self, graph: &impl Adjacency, node_of: &[u32]) -> Cost {
        let mut loads: HashMap<Link, i64> = HashMap::new();
        self.for_each_load(graph, node_of, |link, weight| {
            *loads.entry(link).or_insert(0) += weight
        });
        Cost::of_loads(&loads.into_values().collect::<Vec<_>>())
    }
}
