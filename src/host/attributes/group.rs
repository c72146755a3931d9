//! Determines for which communicator an attribute was created. Open MPI copies attributes in `MPI_Comm_create_group` as
//! well, to communicators of other processes or of the same in another order.

use std::ffi::{c_int, c_void};

use crate::host::sys::{self, MPI_Comm};

/// The processes of a communicator, as the host stores them. Null if they are not needed, because the host copies
/// attributes only to duplicates.
pub(in crate::host) struct Group(*mut c_void);

// SAFETY: a handle of the host, which is only read, and freed once. MPI allows that on any thread.
unsafe impl Send for Group {}
// SAFETY: a handle of the host, which is only read, on any thread.
unsafe impl Sync for Group {}

impl Group {
    /// The group of a communicator. O(1) if the host shares groups between communicators.
    pub(in crate::host) fn of(comm: MPI_Comm) -> Self {
        // SAFETY: a communicator on which the host is in a call.
        Self(unsafe { sys::cg_group_of(comm) })
    }

    /// True if a communicator of `size` processes has the same processes in the same order; the same on all of them.
    /// O(1) for a duplicate, otherwise O(processes). Local.
    pub(in crate::host) fn is_of(&self, comm: MPI_Comm, size: c_int) -> bool {
        // SAFETY: the group is not freed yet, and the caller is in a call on the communicator.
        unsafe { sys::cg_is_group_of(self.0, comm, size) != 0 }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the group from `of`, which nothing else frees.
            unsafe { sys::cg_group_free(self.0) }
        }
    }
}
