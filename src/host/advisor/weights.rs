//! The weights of edges along the dimensions of a grid.

use std::ffi::c_int;
use std::sync::Once;

use super::traffic;
use crate::engine::Comm;
use crate::host::HostComm;
use crate::host::process::eprint_line;
use crate::host::settings::Settings;
use crate::mapping::Weights;

/// The weights of edges along the dimensions of a grid on `comm`: from `CARTOGRAPH_WEIGHTS`, otherwise from a recorded
/// run.
pub(super) fn weights(comm: &HostComm, dims: &[c_int]) -> Option<Vec<i64>> {
    weights_or(comm, dims, || traffic::weights(comm, dims))
}

/// Like [`weights`], for functions that every process of a communicator may call. Recordings are ignored: too many
/// processes would read them at once.
pub(crate) fn unrecorded_weights(comm: &HostComm, dims: &[c_int]) -> Option<Vec<i64>> {
    weights_or(comm, dims, || None)
}

/// If `CARTOGRAPH_WEIGHTS` has none for this number of dimensions, rank 0 reports it once.
fn weights_or(
    comm: &HostComm,
    dims: &[c_int],
    recorded: impl FnOnce() -> Option<Vec<i64>>,
) -> Option<Vec<i64>> {
    static SAID: Once = Once::new();
    let sides: Vec<usize> = dims.iter().map(|side| *side as usize).collect();
    let settings = Settings::get().weights.as_ref();
    let set = settings.and_then(|weights| weights.of(&sides)).map(<[i64]>::to_vec);
    let found = set.or_else(recorded);
    if found.is_none() && settings.is_some_and(Weights::are_general) && matches!(comm.rank(), Ok(0))
    {
        SAID.call_once(|| {
            eprint_line!(
                "CARTOGRAPH_WEIGHTS: no weights for a grid of {} dimensions; assuming equal weights",
                sides.len()
            );
        });
    }
    found
}
