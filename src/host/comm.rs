//! The host's communicators by their handles.

use std::ffi::c_int;

use super::sys::{self, MPI_Comm};
use super::{Result, errors::check};
use crate::engine::Comm;

/// A communicator of the host, by its handle; dropping this does not free it.
pub(crate) struct HostComm(pub(crate) MPI_Comm);

impl HostComm {
    /// `MPI_COMM_WORLD`.
    pub(super) fn world() -> Self {
        // SAFETY: a constant of the host.
        Self(unsafe { sys::cg_comm_world() })
    }

    /// `MPI_COMM_SELF`.
    pub(super) fn itself() -> Self {
        // SAFETY: a constant of the host.
        Self(unsafe { sys::cg_comm_self() })
    }

    /// A new communicator of the same processes for our own messages; `None` if the host has no room for it, which
    /// calls no error handler. Its errors come back as codes; the program's handler is called by
    /// [`conclude`](super::errors::conclude). Collective.
    pub(super) fn private(&self) -> Option<Self> {
        // SAFETY: a constant of the host.
        let mut made = unsafe { sys::cg_comm_null };
        // SAFETY: a place for the handle.
        let code = unsafe { sys::cg_comm_split_quietly(self.0, &raw mut made) };
        (code == sys::CG_SUCCESS).then_some(Self(made))
    }

    /// Makes a communicator that no other code has seen a [private](Self::private) one.
    pub(super) fn into_private(self) -> Result<Self> {
        // SAFETY: a communicator of ours, and a handler that every host has.
        check(unsafe { sys::PMPI_Comm_set_errhandler(self.0, sys::cg_errors_return) })?;
        Ok(self)
    }

    /// On rank 0 the words of all processes, in the order of ranks, the same number of each; nothing elsewhere.
    /// Collective.
    pub(super) fn gather_alike(&self, words: &[c_int]) -> Result<Vec<c_int>> {
        let processes = if self.rank()? == 0 { self.size()? as usize } else { 0 };
        let mut all = vec![0; processes * words.len()];
        // SAFETY: `words.len()` words of each process, with room for all on rank 0.
        check(unsafe {
            sys::PMPI_Gather(
                words.as_ptr().cast(),
                words.len() as c_int,
                sys::cg_int,
                all.as_mut_ptr().cast(),
                words.len() as c_int,
                sys::cg_int,
                0,
                self.0,
            )
        })?;
        Ok(all)
    }
}

/// Checks a communicator that a program passed, before any other use.
///
/// # Errors
///
/// Of class [`Class::Comm`](crate::topology::Class): null, or an inter-communicator.
pub(crate) fn intra(comm: MPI_Comm) -> Result<HostComm, crate::topology::Error> {
    // Before anything is asked of a host whose handles may be of another size.
    super::check_family();
    // SAFETY: a constant of the host.
    if comm == unsafe { sys::cg_comm_null } {
        return Err(crate::topology::Error::NullComm);
    }
    // SAFETY: asks the host about a communicator that the program vouches for.
    if unsafe { sys::cg_is_inter(comm) } != 0 {
        return Err(crate::topology::Error::InterComm);
    }
    Ok(HostComm(comm))
}
