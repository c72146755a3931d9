//! The weights of edges along the dimensions of a grid.

use std::ffi::{CStr, c_int};
use std::sync::Once;

use super::traffic;
use crate::engine::Comm;
use crate::host::process::eprint_line;
use crate::host::settings::Settings;
use crate::host::{HostComm, info};
use crate::mapping::Weights;

/// The key of a communicator's hints with the weights of dimensions.
const WEIGHTS: &CStr = c"cartograph_weights";

/// The weights of edges along the dimensions of a grid on `comm`: from `CARTOGRAPH_WEIGHTS`; if that has none for the
/// grid, from a recorded run; otherwise from `cartograph_weights` among the communicator's hints, if the host keeps it.
/// If the former has none for this number of dimensions, or the latter is invalid, rank 0 reports it once.
pub(super) fn weights(comm: &HostComm, dims: &[c_int]) -> Option<Vec<i64>> {
    weights_or(comm, dims, || traffic::weights(comm, dims))
}

/// Like [`weights`], for functions that every process of a communicator may call. Recordings are ignored: too many
/// processes would read them at once.
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

/// The weights from the communicator's hints.
fn hinted(comm: &HostComm, sides: &[usize]) -> Option<Vec<i64>> {
    static SAID: Once = Once::new();
    let text = info::of_comm(comm, WEIGHTS)?;
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
