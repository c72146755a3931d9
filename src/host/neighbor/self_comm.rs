//! The communicator of the process alone, for its blocks to itself. Hosts have few communicators (MPICH 2,048 at once),
//! so there is one per process. It ends at the start of `MPI_Finalize`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::ends::Ends;
use crate::engine::Comm;
use crate::host::HostComm;
use crate::host::attributes::{TopologyAttribute, lifetime};
use crate::host::family::is_smpi;
use crate::host::sys::{self, MPI_Comm};

/// The communicator of the process, once it was created. Not used if several ranks share a process.
static MADE: Mutex<Option<Arc<SelfComm>>> = Mutex::new(None);

fn made() -> Option<Arc<SelfComm>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A communicator of this process alone. The object outlives the communicator: topologies of sessions may exist longer.
pub(crate) struct SelfComm {
    comm: MPI_Comm,
    ended: AtomicBool,
}

// SAFETY: the host's handle, which any thread of the process may use under MPI's rules.
unsafe impl Send for SelfComm {}
// SAFETY: the host's handle, which any thread of the process may use under MPI's rules; its mutable state is atomic.
unsafe impl Sync for SelfComm {}

impl SelfComm {
    /// The communicator of this process alone, which `may_make` it. Waits for no other process. `None` if there is no
    /// `MPI_COMM_SELF` to create it from, in a program that uses only sessions or after `MPI_Finalize`; under
    /// `MPI_THREAD_MULTIPLE`, where another thread may be in a collective call on `MPI_COMM_SELF`; if the host has no
    /// room for it; and on SMPI, which rejects messages from address zero, where datatypes with absolute addresses
    /// start.
    pub(crate) fn of_process(may_make: bool) -> Option<Arc<Self>> {
        // SAFETY: asks the host for its state, which is allowed at any time.
        let may = unsafe { sys::cg_is_active() != 0 && sys::cg_threads_may_meet() == 0 };
        if !may || is_smpi() {
            return None;
        }
        made().or_else(|| {
            // Nothing would free it if the end of the host went unnoticed.
            let may_make = may_make && lifetime::watch();
            let HostComm(comm) =
                may_make.then(|| HostComm::itself().private().unwrap_or(None)).flatten()?;
            lifetime::calls_at_the_end(end);
            let made = Arc::new(Self { comm, ended: AtomicBool::new(false) });
            *MADE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&made));
            Some(made)
        })
    }

    /// The communicator, until it has ended.
    #[inline]
    pub(crate) fn comm(&self) -> Option<HostComm> {
        (!self.ended.load(Ordering::Relaxed)).then_some(HostComm(self.comm))
    }
}

/// Creates the communicator for blocks of this process to itself, which collectives on a new topology need.
pub(in crate::host) fn prepare(attached: &TopologyAttribute) {
    let ends = Ends::new(&attached.topology, attached.rank());
    if !ends.own().is_empty() && attached.size() > 1 {
        SelfComm::of_process(true);
    }
}

/// Frees it, before the host ends.
fn end() {
    let made = MADE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(self_comm) = made {
        self_comm.ended.store(true, Ordering::Relaxed);
        // The host is ending, so a communicator that it fails to free ends with it.
        drop(HostComm(self_comm.comm).free());
    }
}
