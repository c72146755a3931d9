//! The handle of the communicator that is MPI_COMM_WORLD for the program.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::host;
use crate::sys::{MPI_Comm, cw_world};

/// W, or the true world if ranks are kept; 0 until that is decided. Handles are numbers or addresses, never 0.
static WORLD: AtomicUsize = AtomicUsize::new(0);

/// MPI_COMM_WORLD's own handle.
#[inline(always)]
pub(crate) fn true_world() -> MPI_Comm {
    // SAFETY: a constant of the shim.
    unsafe { cw_world }
}

/// W or the true world, once that is decided.
#[inline(always)]
pub(crate) fn settled() -> Option<MPI_Comm> {
    match WORLD.load(Ordering::Relaxed) {
        0 => None,
        world => Some(world as MPI_Comm),
    }
}

/// Decides which communicator is the program's world.
pub(crate) fn settle(world: MPI_Comm) {
    WORLD.store(world as usize, Ordering::Release);
}

/// The handle to pass to a callback of the program: MPI_COMM_WORLD for W.
pub(crate) fn shown(comm: MPI_Comm) -> MPI_Comm {
    if settled() == Some(comm) { true_world() } else { comm }
}

/// True if MPI_COMM_WORLD is W.
pub(crate) fn is_other() -> bool {
    settled().is_some_and(|world| world != true_world())
}

/// Makes MPI_COMM_WORLD the true one again when W is freed, in `MPI_Finalize`. Callbacks that run while its attributes
/// are deleted still get MPI_COMM_WORLD.
pub(crate) fn end() {
    if let Some(mut world) = settled().filter(|world| *world != true_world()) {
        // SAFETY: W was made in MPI_Init, and the host still runs.
        unsafe { host::PMPI_Comm_free(&raw mut world) };
        settle(true_world());
    }
}
