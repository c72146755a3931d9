//! The levels of a layout, and the kinds of their groups.

use std::fmt;

/// The kinds of groups, from the largest to the smallest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LevelKind {
    /// Groups of nodes of an unknown kind.
    Group,
    /// Tori of nodes, as in Slurm's topology/torus3d.
    Torus,
    /// Rings of nodes.
    Ring,
    /// Blocks of nodes, as in Slurm's topology/block.
    Block,
    /// Switches, and the nodes below them.
    Switch,
    /// Nodes: their processes share memory.
    Node,
    /// Packages: the processors in one socket.
    Package,
    /// NUMA domains.
    Numa,
    /// The cores that share a cache of the third level.
    Cache,
}

impl LevelKind {
    /// All kinds, the outermost first.
    pub const ALL: [Self; 9] = [
        Self::Group,
        Self::Torus,
        Self::Ring,
        Self::Block,
        Self::Switch,
        Self::Node,
        Self::Package,
        Self::Numa,
        Self::Cache,
    ];
}

/// In the plural: "switches".
impl fmt::Display for LevelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Group => "groups",
            Self::Torus => "tori",
            Self::Ring => "rings",
            Self::Block => "blocks",
            Self::Switch => "switches",
            Self::Node => "nodes",
            Self::Package => "packages",
            Self::Numa => "NUMA domains",
            Self::Cache => "L3 caches",
        })
    }
}

/// The largest number of levels of a layout, including the nodes: no machine has more, and the memory for each
/// process grows with them.
pub const MOST_LEVELS: usize = 12;

/// One level of a [`Machine`](super::Machine).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Level {
    /// The kind of its groups.
    pub kind: LevelKind,
    /// The group of each rank, numbered from 0.
    pub group_of: Box<[u32]>,
}

impl Level {
    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.group_of.iter().max().map_or(0, |most| *most as usize + 1)
    }

    /// The number of ranks that each group has, none of them 0.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = Vec::new();
        // Ranks next to each other are usually in the same group.
        for run in self.group_of.chunk_by(|a, b| a == b) {
            let group = run[0] as usize;
            sizes.resize(sizes.len().max(group + 1), 0);
            sizes[group] += run.len();
        }
        sizes
    }
}
