//! The results of the `MPI_*_map` functions.

use std::ffi::c_int;

use super::advisor::{HostAdvisor, history};
use super::settings::Settings;
use super::{HostComm, Result, machine, sys};
use crate::engine::arguments::Function;
use crate::engine::decision::ReorderRequest;
use crate::engine::policy::Reorder;
use crate::engine::{Advisor, Comm, MachineKnowledge};
use crate::machine::Machine;
use crate::mapping::{Options, Plan};

/// The rank that this constructor would give the calling process with `reorder = 1` and no recording (`MPI_Cart_map`,
/// `MPI_Graph_map`: MPI 4.1, 8.5.9); `MPI_UNDEFINED` if it is left out. Local: until a constructor has determined the
/// nodes of processes, ranks are kept.
pub(crate) fn new_rank(
    comm: &HostComm,
    function: Function,
    (vertices, dims): (c_int, Option<&[c_int]>),
    plan: impl FnOnce(&Machine, &Options) -> Plan,
) -> Result<c_int> {
    let rank = comm.rank()?;
    let or_none = |rank: Option<c_int>| rank.unwrap_or(sys::CG_UNDEFINED);
    let stay = or_none(Some(rank).filter(|rank| *rank < vertices));
    let settings = Settings::get().call_settings(function);
    if matches!(settings.reorder, Reorder::Off | Reorder::Known) || vertices == 0 {
        return Ok(stay);
    }
    Settings::get().complain_in_world();
    let advisor = HostAdvisor(comm);
    let (has_topology, options) = (advisor.has_topology(), settings.options);
    let request = ReorderRequest { reorder: true, distributed: false, has_topology, settings };
    let machine = machine::known(comm)?;
    let knowledge = match &machine {
        None => MachineKnowledge::Unknown,
        Some(runs) if runs.is_flat() => MachineKnowledge::OneNode,
        Some(_) => MachineKnowledge::Known,
    };
    let decision = request.decide_alone(knowledge);
    if !decision.moving {
        return Ok(stay);
    }
    if let Some(decided) = history::decided(comm, dims, decision)? {
        return Ok(or_none(decided.filter(|rank| *rank < vertices)));
    }
    let machine = match machine.filter(|runs| !runs.is_flat()) {
        Some(runs) => runs.machine(),
        // Random reordering ignores the nodes of processes.
        None if options.scramble.is_some() => Machine::one_node(comm.size()? as usize),
        None => return Ok(stay),
    };
    let plan = plan(&machine, &options);
    let Some(old_rank) = plan.old_rank else { return Ok(stay) };
    let found = (0..).zip(old_rank).find(|(_, old)| *old == rank);
    Ok(or_none(found.map(|(new, _)| new)))
}
