//! The places of a topology's processes, for pictures.

use crate::machine::{Level, Machine};

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
