//! The settings of the program and the user for constructors, and the results of the `MPI_*_map` functions.

pub(super) mod history;
pub(super) mod traffic;

use std::ffi::{CStr, c_char, c_int};
use std::sync::Once;

use super::process::eprint_line;
use super::settings::Settings;
use super::sys::{self, MPI_Info};
use super::{HostComm, Result, machine};
use crate::engine::arguments::Function;
use crate::engine::decision::{CallSettings, ReorderOutcome, ReorderRequest};
use crate::engine::policy::Reorder;
use crate::engine::{Comm, MachineKnowledge};
use crate::machine::Machine;
use crate::mapping::{Objective, Options, Plan, Weights};
use crate::settings::{COMBINE, LEVEL_WEIGHTS};

/// The settings for a constructor without an info object.
pub(crate) fn call_settings(function: Function) -> CallSettings {
    let settings = Settings::get();
    settings.complain_in_world();
    settings.call_settings(function)
}

/// The settings for a constructor with an info object, of which five keys are ours: `cartograph_reorder` is `true` or
/// `false`, `cartograph_objective` `time`, `sum` or `max`, `cartograph_reorder_seconds` a number,
/// `cartograph_level_weights` as `CARTOGRAPH_LEVEL_WEIGHTS`, `cartograph_combine` as `CARTOGRAPH_COMBINE`. Other
/// keys, and other values, are ignored, as the
/// standard has it.
pub(crate) fn call_settings_with_info(function: Function, info: MPI_Info) -> CallSettings {
    let mut settings = call_settings(function);
    settings.info = match info_value(info, c"cartograph_reorder").as_deref() {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    let options = &mut settings.options;
    match info_value(info, c"cartograph_objective").as_deref() {
        Some("time") => options.objective = Objective::Time,
        Some("sum") => options.objective = Objective::Sum,
        Some("max") => options.objective = Objective::Max,
        _ => {}
    }
    let combine = info_value(info, c"cartograph_combine");
    if let Some(combine) = combine.and_then(|text| COMBINE.parse(&text).ok()) {
        settings.combine = combine;
    }
    let distances = info_value(info, c"cartograph_level_weights");
    if let Some(distances) = distances.and_then(|text| LEVEL_WEIGHTS.parse(&text).ok()) {
        options.distances = distances;
    }
    let seconds = info_value(info, c"cartograph_reorder_seconds");
    let seconds = seconds.and_then(|text| text.trim().parse::<f64>().ok());
    options.seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    settings
}

/// The key of a communicator's hints for the weights of dimensions.
const WEIGHTS: &CStr = c"cartograph_weights";

fn info_value(info: MPI_Info, key: &CStr) -> Option<String> {
    // SAFETY: an info object of the program.
    value(|key, room| unsafe { sys::cg_info_get(info, key, room) }, key)
}

/// The value under a key; `read` says whether there is something and writes it.
fn value(read: impl FnOnce(*const c_char, *mut c_char) -> c_int, key: &CStr) -> Option<String> {
    let mut value = [0 as c_char; sys::CG_INFO_ROOM as usize];
    if read(key.as_ptr(), value.as_mut_ptr()) == 0 {
        return None;
    }
    // SAFETY: the host has written a string into what was zero before.
    Some(unsafe { CStr::from_ptr(value.as_ptr()) }.to_string_lossy().trim().to_ascii_lowercase())
}

/// The rank that this constructor would give the calling process with `reorder = 1` and no recording (`MPI_Cart_map`,
/// `MPI_Graph_map`: MPI 4.1, 8.5.9); `MPI_UNDEFINED` if it is left out. Local: while no constructor has asked
/// where processes run, all keep their ranks.
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
    if settings.reorder == Reorder::Off || vertices == 0 {
        return Ok(stay);
    }
    Settings::get().complain_in_world();
    let (has_topology, options) = (comm.has_topology(), settings.options);
    let request = ReorderRequest { reorder: true, distributed: false, has_topology, settings };
    let layout = machine::known(comm)?;
    let knowledge = match &layout {
        None => MachineKnowledge::Unknown,
        Some(runs) if runs.is_flat() => MachineKnowledge::OneNode,
        Some(_) => MachineKnowledge::Known,
    };
    let decision = request.decide_alone(knowledge, || comm.incompatible_program());
    if !decision.moving {
        return Ok(stay);
    }
    if let Some(decided) = history::decided(comm, dims, decision)? {
        return Ok(or_none(decided.filter(|rank| *rank < vertices)));
    }
    let layout = match layout.filter(|runs| !runs.is_flat()) {
        Some(runs) => runs.machine(),
        // At random processes are moved wherever they run.
        None if options.scramble.is_some() => Machine::one_node(comm.size()? as usize),
        None => return Ok(stay),
    };
    let plan = plan(&layout, &options);
    let Some(old_rank) = plan.old_rank else { return Ok(stay) };
    let found = (0..).zip(old_rank).find(|(_, old)| *old == rank);
    Ok(or_none(found.map(|(new, _)| new)))
}

/// Says once, on rank 0 of a communicator, that processes were moved although the program passed `reorder = 0`.
pub(super) fn say_if_forced(function: &str, outcome: ReorderOutcome) {
    static SAID: Once = Once::new();
    if outcome == (ReorderOutcome::Applied { forced: true }) {
        SAID.call_once(|| {
            eprint_line!(
                "{function}: ranks reordered despite reorder = 0 (CARTOGRAPH_REORDER=always); results are \
                 wrong if the program keeps its old ranks"
            );
        });
    }
}

/// The weights of edges along the dimensions of a grid on `comm`: by `CARTOGRAPH_WEIGHTS`; where that has none for it,
/// by what a recorded run sent; and else by `cartograph_weights` among the communicator's hints, as far as the host
/// keeps it. If none of the former is for this number of dimensions, or the latter has a fault, rank 0 reports it once.
pub(crate) fn weights(comm: &HostComm, dims: &[c_int]) -> Option<Vec<i64>> {
    weights_or(comm, dims, || traffic::weights(comm, dims))
}

/// As [`weights`], where each process of a communicator may ask. Recordings are left out: too many processes would read
/// them at once.
pub(crate) fn unrecorded_weights(comm: &HostComm, dims: &[c_int]) -> Option<Vec<i64>> {
    weights_or(comm, dims, || None)
}

fn weights_or(
    comm: &HostComm,
    dims: &[c_int],
    recorded: impl FnOnce() -> Option<Vec<i64>>,
) -> Option<Vec<i64>> {
    static SAID: Once = Once::new();
    let sides: Vec<usize> = dims.iter().map(|side| *side as usize).collect();
    let settings = Settings::get().weights.as_ref();
    let set = settings.and_then(|weights| weights.of(&sides));
    let set = set.map(<[i64]>::to_vec).or_else(recorded);
    if let Some(found) = set.or_else(|| hinted(comm, &sides)) {
        return Some(found);
    }
    if settings.is_some_and(Weights::are_general) && matches!(comm.rank(), Ok(0)) {
        SAID.call_once(|| {
            eprint_line!(
                "CARTOGRAPH_WEIGHTS: no weights for a grid of {} dimensions; assuming equal weights",
                sides.len()
            );
        });
    }
    None
}

/// The weights by the communicator's hints.
fn hinted(comm: &HostComm, sides: &[usize]) -> Option<Vec<i64>> {
    static SAID: Once = Once::new();
    // SAFETY: a communicator of the program, which is the caller's for the time of the call.
    let text = value(|key, room| unsafe { sys::cg_comm_info_get(comm.0, key, room) }, WEIGHTS)?;
    match Weights::parse(&text) {
        Ok(weights) => weights.of(sides).map(<[i64]>::to_vec),
        Err(error) => {
            if matches!(comm.rank(), Ok(0)) {
                SAID.call_once(|| {
                    eprint_line!(
                        "the communicator's info key cartograph_weights: {error}; assuming equal weights"
                    );
                });
            }
            None
        }
    }
}
