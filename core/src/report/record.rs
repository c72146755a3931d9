//! One topology communicator: the request, the result, and the reason.

use std::borrow::Cow;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::effect::{Effect, NodeSizes};
use crate::engine::Reason;
use crate::machine::Machine;
use crate::mapping::Plan;
use crate::topology::TopologySummary;

/// The origin of the request to reorder ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReorderOrigin {
    /// The program passed 0.
    No,
    /// The program passed 1.
    Asked,
    /// The program passed 0, and `CARTOGRAPH_REORDER=always` overruled it.
    Forced,
}

/// One topology communicator in a report, or several equal ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The MPI function that created it.
    pub function: Cow<'static, str>,
    /// The number of these creations.
    pub count: u64,
    /// A summary of the topology.
    pub topology: TopologySummary,
    /// The number of processes of the old communicator.
    pub comm_size: i32,
    /// The origin of the request to reorder ranks.
    pub reorder: ReorderOrigin,
    /// The sizes of the nodes of the old communicator, if they are known.
    pub nodes: Option<NodeSizes>,
    /// Why every process kept its rank; `None` if a mapping was applied.
    pub kept: Option<Reason>,
    /// The effect of the mapping, if there is one.
    pub effect: Option<Effect>,
    /// The seconds for mapping, summed over all of them.
    pub mapping_seconds: f64,
    /// The seconds in the constructor, summed over all of them.
    pub seconds: f64,
    /// True if nonblocking and persistent neighborhood collectives are the host's native ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub host_graph: bool,
}

impl Record {
    /// A communicator for which no mapping was sought.
    pub fn new(
        function: &'static str,
        topology: impl Into<TopologySummary>,
        comm_size: i32,
        reorder: ReorderOrigin,
        kept: Reason,
    ) -> Self {
        Self {
            function: function.into(),
            count: 1,
            topology: topology.into(),
            comm_size,
            reorder,
            nodes: None,
            kept: Some(kept),
            effect: None,
            mapping_seconds: 0.0,
            seconds: 0.0,
            host_graph: false,
        }
    }

    /// A communicator that was reordered without knowledge of the nodes.
    pub fn moved(
        function: &'static str,
        topology: impl Into<TopologySummary>,
        comm_size: i32,
        reorder: ReorderOrigin,
    ) -> Self {
        Self { kept: None, ..Self::new(function, topology, comm_size, reorder, Reason::NoLayout) }
    }

    /// A communicator that was created by a plan for `layout`, which may have kept all ranks.
    pub fn planned(
        function: &'static str,
        topology: impl Into<TopologySummary>,
        reorder: ReorderOrigin,
        machine: &Machine,
        plan: &Plan,
    ) -> Self {
        let nodes = NodeSizes::from(machine);
        let why = if nodes.nodes() == 1 { Reason::OneNode } else { Reason::NothingToGain };
        let kept = plan.old_rank.is_none().then_some(why);
        let record = Self::new(function, topology, machine.ranks() as i32, reorder, Reason::Off);
        Self { nodes: Some(nodes), kept, effect: Some(Effect::of(machine, plan)), ..record }
    }

    /// The record with the reason why every process kept its rank. The effect remains that of the plan.
    #[must_use]
    pub fn kept(mut self, why: Reason) -> Self {
        self.kept = Some(why);
        self
    }

    /// The record with or without native nonblocking and persistent neighborhood collectives.
    #[must_use]
    pub fn host_graph(mut self, host_graph: bool) -> Self {
        self.host_graph = host_graph;
        self
    }

    /// The record with the seconds for mapping and for the whole constructor.
    #[must_use]
    pub fn took(mut self, mapping_seconds: f64, seconds: f64) -> Self {
        (self.mapping_seconds, self.seconds) = (mapping_seconds, seconds);
        self
    }

    /// The number of processes of the new communicator.
    pub fn vertices(&self) -> usize {
        match &self.topology {
            TopologySummary::Cart { dims, .. } => {
                dims.iter().fold(1, |cells: usize, side| cells.saturating_mul(*side as usize))
            }
            TopologySummary::Graph { nnodes, .. } => *nnodes as usize,
            TopologySummary::DistGraph { .. } => self.comm_size as usize,
        }
    }

    /// The key for equal records: everything except times. Records with equal keys are shown as one.
    pub(super) fn dedup_key(&self) -> impl Hash + Eq + '_ {
        let same = (&self.function, &self.topology, self.comm_size, self.reorder);
        (same, &self.nodes, &self.kept, &self.effect, self.host_graph)
    }
}
