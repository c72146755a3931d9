//! The weights of edges along the dimensions of a grid.

use std::ffi::c_int;
use std::sync::Once;

use crate::engine::Comm;
use crate::host::HostComm;
use crate::host::process::eprint_line;
use crate::host::settings::Settings;

/// The weights of edges along the dimensions of a grid on `comm`, from `CARTOGRAPH_WEIGHTS`. If that has none for this
/// number of dimensions, rank 0 reports it once.
pub(crate) fn weights(comm: &HostComm, dims: &[c_int]) -> Option<Vec<i64>> {
    static SAID: Once = Once::new();
    let sides: Vec<usize> = dims.iter().map(|side| *side as usize).collect();
    let settings = Settings::get().weights.as_ref()?;
    let found = settings.of(&sides).map(<[i64]>::to_vec);
    if found.is_none() && settings.are_general() && matches!(comm.rank(), Ok(0)) {
        SAID.call_once(|| {
            eprint_line!(
                "CARTOGRAPH_WEIGHTS: no weights for a grid of {} dimensions; assuming equal weights",
                sides.len()
            );
        });
    }
    found
}
