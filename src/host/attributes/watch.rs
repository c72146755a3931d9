//! Warns once if the program keeps using its old ranks on a reordered grid.

use std::env;
use std::ffi::c_int;
use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::engine::Comm;
use crate::host::process::eprint_line;
use crate::host::{HostComm, sys};

/// The old rank of a process that watches, until the program first asks for coordinates.
pub(crate) struct Watch(AtomicI32);

/// The value of a process that does not watch.
const NOBODY: c_int = -1;

impl Watch {
    pub(super) const fn nobody() -> Self {
        Self(AtomicI32::new(NOBODY))
    }

    /// Watches for this rank.
    pub(in crate::host) fn set(&self, old_rank: c_int) {
        self.0.store(old_rank, Ordering::Relaxed);
    }

    /// True if this process watches.
    #[inline(always)]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != NOBODY
    }

    /// Notes that the program asks for the coordinates of a rank; only the first query counts.
    pub(crate) fn notice(&self, rank: c_int) {
        static SAID: Once = Once::new();
        if self.0.swap(NOBODY, Ordering::Relaxed) != rank {
            return;
        }
        SAID.call_once(|| {
            // SAFETY: asks the host for its state, which is allowed at any time.
            let is_active = unsafe { sys::cg_is_active() != 0 };
            let is_of_world = is_active && HostComm::world().rank().is_ok_and(|own| own == rank);
            let of = if is_of_world { "MPI_COMM_WORLD" } else { "the old communicator" };
            let program = env::args_os().next().or(env::current_exe().ok().map(Into::into));
            let program = program.unwrap_or_default();
            eprint_line!(
                "{} uses its rank in {of} on a reordered grid; results may be wrong; CARTOGRAPH_REORDER=off",
                program.display()
            );
        });
    }
}
