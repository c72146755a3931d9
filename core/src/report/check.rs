//! Checks of reports: a report is read from a file, and its numbers are used as sizes
//! and indices.

use super::effect::NodeSizes;
use super::json::Document;
use super::places::Placements;
use super::record::Record;
use crate::engine::NodeTraffic;
use crate::topology::TopologySummary;

/// Counts up to this limit can be summed over any number of reports.
const MOST_TIMES: u64 = 1 << 48;

/// The most processes that a communicator can have.
const MOST_RANKS: usize = i32::MAX as usize;

type Result = std::result::Result<(), String>;

/// Fails with this text if an invariant does not hold.
fn ensure(holds: bool, words: impl FnOnce() -> String) -> Result {
    if holds { Ok(()) } else { Err(words()) }
}

impl Document {
    /// Finds an inconsistency and describes it.
    pub(super) fn check(&self) -> Result {
        if let Some(job) = &self.job {
            let nodes = job.nodes.as_ref().map_or(Ok(()), NodeSizes::check);
            nodes.map_err(|what| format!("job: {what}"))?;
        }
        for (number, record) in (1..).zip(&self.topologies) {
            record.check().map_err(|what| format!("topology {number}: {what}"))?;
        }
        let warned = self.warnings.iter().map(|warning| warning.count);
        ensure(warned.chain([self.not_recorded]).all(|count| count <= MOST_TIMES), || {
            format!("a count exceeds {MOST_TIMES}")
        })
    }
}

impl Record {
    fn check(&self) -> Result {
        ensure((1..=MOST_TIMES).contains(&self.count), || format!("count is {}", self.count))?;
        ensure(self.comm_size > 0, || format!("comm_size is {}", self.comm_size))?;
        self.topology.check()?;
        ensure(self.vertices() <= self.comm_size as usize, || {
            format!("{} does not fit {} processes", self.topology, self.comm_size)
        })?;
        self.nodes.as_ref().map_or(Ok(()), NodeSizes::check)?;
        self.places.as_ref().map_or(Ok(()), |places| places.check(self.vertices()))?;
        self.traffic.as_ref().map_or(Ok(()), NodeTraffic::check)
    }
}

impl TopologySummary {
    fn check(&self) -> Result {
        match self {
            Self::Cart { dims, periodic, weights } => {
                let given = weights.as_ref().map_or(dims.len(), Vec::len);
                ensure(dims.len() == given, || {
                    format!("{} dims, but {given} weights", dims.len())
                })?;
                ensure(dims.len() == periodic.len(), || {
                    format!("{} dims, but {} periodic", dims.len(), periodic.len())
                })?;
                let size = |size: i32, side: &i32| size.checked_mul(*side).filter(|_| *side > 0);
                ensure(dims.iter().try_fold(1, size).is_some(), || format!("dims are {dims:?}"))
            }
            Self::Graph { nnodes, .. } => {
                ensure(*nnodes >= 0, || format!("the graph has {nnodes} nodes"))
            }
            Self::DistGraph { .. } => Ok(()),
        }
    }
}

impl NodeSizes {
    fn check(&self) -> Result {
        let add = |sum: usize, (nodes, size): (usize, usize)| {
            nodes.checked_mul(size).and_then(|ranks| sum.checked_add(ranks)).filter(|_| size > 0)
        };
        let ranks = self.runs().try_fold(0, add);
        ensure(ranks.is_some_and(|ranks| ranks <= MOST_RANKS), || {
            "each node needs a process, and the job has at most 2147483647".to_owned()
        })
    }
}

impl Placements {
    /// Checks the placements of a topology of `vertices`.
    fn check(&self, vertices: usize) -> Result {
        let ranks = self.node_of.len();
        ensure(vertices <= ranks, || format!("places of {ranks} ranks, but {vertices} vertices"))?;
        // Nodes are numbered from 0 without gaps.
        if let Some(node) = self.node_of.iter().find(|node| **node as usize >= ranks) {
            return Err(format!("node_of has node {node}, but {ranks} ranks"));
        }
        for level in self.above.iter().chain(&self.below) {
            ensure(level.len() == ranks, || {
                format!("a level has groups for {} of {ranks} ranks", level.len())
            })?;
        }
        let Some(old_rank) = &self.old_rank else { return Ok(()) };
        ensure(old_rank.len() == vertices, || {
            format!("old_rank has {} entries for {vertices} vertices", old_rank.len())
        })?;
        let is_rank = |old: &i32| usize::try_from(*old).is_ok_and(|old| old < ranks);
        match old_rank.iter().find(|old| !is_rank(old)) {
            Some(old) => Err(format!("old_rank has rank {old} of {ranks}")),
            None => Ok(()),
        }
    }
}

impl NodeTraffic {
    fn check(&self) -> Result {
        let nodes = self.before.len();
        let rows = self.before.iter().chain(&self.after);
        ensure(self.after.len() == nodes && { rows }.all(|row| row.len() == nodes), || {
            "traffic needs a row and a column for each node".to_owned()
        })
    }
}
