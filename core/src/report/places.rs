//! The places of a topology's processes, for pictures.

use serde::{Deserialize, Serialize};

use crate::machine::{Level, Machine};
use crate::mapping::Plan;

/// The places of processes, as needed for a picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placements {
    /// The node of every rank of the old communicator.
    pub node_of: Vec<u32>,
    /// For each level above the nodes, the outermost first, the group of every rank of the old communicator.
    #[serde(default)]
    pub above: Vec<Vec<u32>>,
    /// The same for each level below the nodes.
    #[serde(default)]
    pub below: Vec<Vec<u32>>,
    /// The old rank of every new rank; `None` if every process kept its rank.
    pub old_rank: Option<Vec<i32>>,
}

impl Placements {
    /// The places of a layout's ranks in a plan.
    pub(super) fn of(machine: &Machine, plan: &Plan) -> Self {
        let groups = |levels: &[Level]| levels.iter().map(|l| l.group_of.to_vec()).collect();
        Self {
            node_of: machine.nodes().to_vec(),
            above: groups(machine.above()),
            below: groups(machine.below()),
            old_rank: plan.old_rank.as_ref().map(|old| old.to_vec()),
        }
    }

    /// The placement of the first `vertices` new ranks if every process kept its rank. `None` if there are fewer ranks.
    pub fn before(&self, vertices: usize) -> Option<VertexPlacement> {
        self.vertex_places(|groups| Some(groups.get(..vertices)?.to_vec()))
    }

    /// The placement of the first `vertices` new ranks as planned. `None` if there are fewer ranks, or an old rank is
    /// invalid.
    pub fn after(&self, vertices: usize) -> Option<VertexPlacement> {
        let Some(old_rank) = &self.old_rank else { return self.before(vertices) };
        self.vertex_places(|groups| {
            let group = |old: &i32| groups.get(usize::try_from(*old).ok()?).copied();
            old_rank.get(..vertices)?.iter().map(group).collect()
        })
    }

    fn vertex_places(
        &self,
        groups: impl Fn(&[u32]) -> Option<Vec<u32>>,
    ) -> Option<VertexPlacement> {
        let levels = |levels: &[Vec<u32>]| -> Option<Vec<Vec<u32>>> {
            levels.iter().map(|level| groups(level)).collect()
        };
        Some(VertexPlacement {
            nodes: groups(&self.node_of)?,
            above: levels(&self.above)?,
            below: levels(&self.below)?,
        })
    }
}

/// The places of a topology's vertices at each level, for a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VertexPlacement {
    /// The node of each vertex.
    pub nodes: Vec<u32>,
    /// Its group at each level above the nodes, the outermost first.
    pub above: Vec<Vec<u32>>,
    /// Its group at each level below the nodes.
    pub below: Vec<Vec<u32>>,
}

impl VertexPlacement {
    /// The places of vertices on these ranks of a layout.
    pub fn new(machine: &Machine, ranks: impl Iterator<Item = i32> + Clone) -> Self {
        let groups = |group_of: &[u32]| ranks.clone().map(|rank| group_of[rank as usize]).collect();
        let levels =
            |levels: &[Level]| levels.iter().map(|level| groups(&level.group_of)).collect();
        Self {
            nodes: groups(machine.nodes()),
            above: levels(machine.above()),
            below: levels(machine.below()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::NodeTraffic;
    use crate::mapping::{Csr, Distances};
    use crate::report::{Record, ReorderOrigin};
    use crate::topology::TopologySummary;

    #[test]
    fn traffic_counts_edges_from_row_to_column() {
        let graph = Csr::from_edges(4, [(0, 1, 1), (0, 2, 5), (3, 0, 2)].into_iter());
        let machine = Machine::blocks(&[2, 2]);
        let before = Plan::identity(&graph, &machine, &Distances::default(), |_| 0);
        let plan = Plan { old_rank: Some([0, 2, 1, 3].into()), ..before };
        let traffic = NodeTraffic::new(&graph, &machine, &plan);
        assert_eq!(traffic.before, [[1, 5], [2, 0]]);
        assert_eq!(traffic.after, [[5, 1], [2, 0]]);
        let record = Record::planned(
            "MPI_Graph_create",
            TopologySummary::Graph { nnodes: 4, edges: 3 },
            ReorderOrigin::Asked,
            &machine,
            &plan,
        );
        let places = record.places.as_ref().unwrap();
        assert_eq!(places.before(4).unwrap().nodes, [0, 0, 1, 1]);
        assert_eq!(places.after(4).unwrap().nodes, [0, 1, 0, 1]);
        assert_eq!(places.after(5), None);
        assert_eq!(record.traffic(traffic).drawn(), 4 + 4 + 8);
    }
}
