//! What constructors are told of the program's and the user's wishes, and what the `MPI_*_map`
//! functions answer.

use std::ffi::{CStr, c_char, c_int};
use std::sync::Once;

use super::settings::Settings;
use super::sys::{self, MPI_Info};
use super::{HostComm, Result, layout};
use crate::engine::Comm;
use crate::engine::policy::{Terms, Verdict};
use crate::mapping::{Layout, Objective, Options, Plan};

/// Of a constructor without an info object.
pub(crate) fn terms() -> Terms {
    let settings = Settings::get();
    settings.complain_in_world();
    settings.terms()
}

/// Of a constructor with an info object, of which three keys are ours: `cartograph_reorder` is `true` or
/// `false`, `cartograph_objective` `sum` or `max`, `cartograph_reorder_seconds` a number. Other keys, and other values, are ignored, as the
/// standard has it.
pub(crate) fn terms_with(info: MPI_Info) -> Terms {
    let mut terms = terms();
    terms.info = match info_value(info, c"cartograph_reorder").as_deref() {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    let options = &mut terms.options;
    match info_value(info, c"cartograph_objective").as_deref() {
        Some("sum") => options.objective = Objective::Sum,
        Some("max") => options.objective = Objective::Max,
        _ => {}
    }
    let seconds = info_value(info, c"cartograph_reorder_seconds");
    let seconds = seconds.and_then(|text| text.trim().parse::<f64>().ok());
    options.seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    terms
}

fn info_value(info: MPI_Info, key: &CStr) -> Option<String> {
    let mut value = [0 as c_char; sys::CG_INFO_ROOM as usize];
    // SAFETY: an info object of the program, a string, and room for the value.
    if unsafe { sys::cg_info_get(info, key.as_ptr(), value.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: the host has written a string into what was zero before.
    Some(unsafe { CStr::from_ptr(value.as_ptr()) }.to_string_lossy().trim().to_ascii_lowercase())
}

/// The rank that a constructor with `reorder = 1` would give the caller: `MPI_UNDEFINED` if it is
/// left out. Local: where nobody has asked yet where processes run, everybody stays.
pub(crate) fn new_rank(
    comm: &HostComm,
    vertices: c_int,
    plan: impl FnOnce(&Layout, &Options) -> Plan,
) -> Result<c_int> {
    let rank = comm.rank()?;
    let stay = if rank < vertices { rank } else { sys::CG_UNDEFINED };
    if !Settings::get().may_move() || vertices == 0 {
        return Ok(stay);
    }
    let options = terms().options;
    let layout = match layout::known(comm)?.filter(|runs| !runs.is_flat()) {
        Some(runs) => runs.layout(),
        // At random processes are moved wherever they run.
        None if options.scramble.is_some() => Layout::one_node(comm.size()? as usize),
        None => return Ok(stay),
    };
    let plan = plan(&layout, &options);
    let Some(old_rank) = plan.old_rank else { return Ok(stay) };
    let found = (0..).zip(old_rank).find(|(_, old)| *old == rank);
    Ok(found.map_or(sys::CG_UNDEFINED, |(new, _)| new))
}

/// Says once, on rank 0 of a communicator, that processes were moved although the program passed 0.
pub(super) fn say_if_forced(function: &str, verdict: Verdict) {
    static SAID: Once = Once::new();
    if verdict == (Verdict::Applied { forced: true }) {
        SAID.call_once(|| {
            eprintln!(
                "cartograph: {function}: processes were moved though the program passed reorder = 0, as \
                 CARTOGRAPH_REORDER=always says; results are wrong if it keeps its old ranks"
            );
        });
    }
}

/// What edges along the dimensions of a grid weigh, by `CARTOGRAPH_WEIGHTS`. That none of it is for so many
/// dimensions is said once.
pub(crate) fn weights(dims: &[c_int]) -> Option<Vec<i64>> {
    static SAID: Once = Once::new();
    let weights = Settings::get().weights.as_ref()?;
    let sides: Vec<usize> = dims.iter().map(|side| *side as usize).collect();
    let found = weights.of(&sides).map(<[i64]>::to_vec);
    if found.is_none() && weights.are_general() {
        SAID.call_once(|| {
            eprintln!(
                "cartograph: CARTOGRAPH_WEIGHTS: there are no weights for a grid of {} dimensions; they are \
                 taken as equal",
                sides.len()
            );
        });
    }
    found
}
