//! Keys of attributes, created when first needed.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

use crate::host::Result;
use crate::host::errors::{check, quiet};
use crate::host::sys::{self, MPI_Comm};

/// A delete callback (`MPI_Comm_delete_attr_function`): communicator, key, value, extra state.
pub(in crate::host) type Delete =
    unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int;
/// A copy callback (`MPI_Comm_copy_attr_function`), called when a communicator is duplicated.
pub(in crate::host) type Copy = unsafe extern "C" fn(
    MPI_Comm,
    c_int,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_int,
) -> c_int;

/// How a key is released.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::host) enum Retirement {
    /// Freed through the active host.
    Freed,
    /// Forgotten, since the host may have ended.
    Abandoned,
}

/// A key of communicator attributes, created when it is first needed.
pub(in crate::host) struct Key {
    number: AtomicI32,
    /// True while a thread is in [`put_if_absent`](Self::put_if_absent).
    taken: AtomicBool,
    copy: Copy,
    delete: Delete,
    is_lasting: bool,
}

impl Key {
    pub(in crate::host) const fn new(copy: Copy, delete: Delete) -> Self {
        let number = AtomicI32::new(sys::CG_KEYVAL_INVALID);
        Self { number, taken: AtomicBool::new(false), copy, delete, is_lasting: false }
    }

    /// A key whose attributes still exist while the host deletes those of the program.
    pub(in crate::host) const fn lasting(copy: Copy, delete: Delete) -> Self {
        Self { is_lasting: true, ..Self::new(copy, delete) }
    }

    /// The key's number (`keyval`), if the key exists.
    #[inline]
    pub(in crate::host) fn made(&self) -> Option<c_int> {
        let number = self.number.load(Ordering::Acquire);
        (number != sys::CG_KEYVAL_INVALID).then_some(number)
    }

    /// The key's number. Two threads may both create one; the second frees its key.
    fn make(&self) -> Result<c_int> {
        if let Some(number) = self.made() {
            return Ok(number);
        }
        let mut made = sys::CG_KEYVAL_INVALID;
        // SAFETY: the callbacks have the standard's signatures and live as long as the process: the
        // library is linked with -z nodelete.
        check(unsafe {
            let (copy, delete, made) = (Some(self.copy), Some(self.delete), &raw mut made);
            match self.is_lasting {
                true => sys::cg_comm_create_lasting_keyval(copy, delete, made),
                false => sys::PMPI_Comm_create_keyval(copy, delete, made, ptr::null_mut()),
            }
        })?;
        let invalid = sys::CG_KEYVAL_INVALID;
        match self.number.compare_exchange(invalid, made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(made),
            Err(other) => {
                // SAFETY: `made` is a key of ours that nothing uses.
                check(unsafe { sys::PMPI_Comm_free_keyval(&raw mut made) })?;
                Ok(other)
            }
        }
    }

    /// Caches a value. The attribute owns it from then on; `delete` returns it.
    pub(in crate::host) fn put(&self, comm: MPI_Comm, value: *mut c_void) -> Result {
        let number = self.make()?;
        // SAFETY: a key of ours, whose values are of the kind that its callbacks expect.
        check(unsafe { sys::PMPI_Comm_set_attr(comm, number, value) })
    }

    /// Caches a value unless the communicator has one, which another thread may be using: a second one would delete the
    /// first. Returns whether it did; if not, the caller still owns the value. Only for values that are dispensable: no
    /// handler is called if there is no room.
    ///
    /// One of two threads waits for the other, but not forever: a host may call back a program that calls us, holding a
    /// lock for which the other waits.
    pub(in crate::host) fn put_if_absent(
        &self,
        comm: MPI_Comm,
        value: *mut c_void,
    ) -> Result<bool> {
        const TRIES: usize = 10_000;
        for _ in 0..TRIES {
            if !self.taken.swap(true, Ordering::Acquire) {
                let put = self.get(comm).and_then(|found| match found {
                    Some(_) => Ok(false),
                    None => self.make().and_then(|number| {
                        // SAFETY: as in `put`.
                        quiet(unsafe { sys::cg_comm_set_attr_quietly(comm, number, value) })
                            .map(|()| true)
                    }),
                });
                self.taken.store(false, Ordering::Release);
                return put;
            }
            thread::yield_now();
        }
        Ok(false)
    }

    /// The value cached on a communicator.
    #[inline]
    pub(in crate::host) fn get(&self, comm: MPI_Comm) -> Result<Option<*mut c_void>> {
        let Some(number) = self.made() else { return Ok(None) };
        let (mut value, mut found): (*mut c_void, c_int) = (ptr::null_mut(), 0);
        // SAFETY: the host writes a pointer, which is what the values of our keys are, and a flag.
        check(unsafe {
            sys::PMPI_Comm_get_attr(comm, number, (&raw mut value).cast(), &raw mut found)
        })?;
        Ok((found != 0).then_some(value))
    }

    /// Releases the key; the next function that needs one creates another.
    pub(in crate::host) fn retire(&self, way: Retirement) {
        let mut number = self.number.swap(sys::CG_KEYVAL_INVALID, Ordering::AcqRel);
        if number != sys::CG_KEYVAL_INVALID && way == Retirement::Freed {
            // SAFETY: a key of ours. The host keeps it until the last callback has run.
            unsafe { sys::PMPI_Comm_free_keyval(&raw mut number) };
        }
    }
}

/// A copy callback for attributes that duplicates do not get.
pub(in crate::host) unsafe extern "C" fn no_copy(
    _comm: MPI_Comm,
    _keyval: c_int,
    _extra_state: *mut c_void,
    _value: *mut c_void,
    _copied: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the standard has `flag` point to an int.
    unsafe { flag.write(0) };
    sys::CG_SUCCESS
}

/// A delete callback for values that come from [`Arc::into_raw`] of a `T`.
pub(in crate::host) unsafe extern "C" fn drop_arc<T>(
    _comm: MPI_Comm,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: the value of a key with this callback, and its attribute is gone with this call.
    drop(unsafe { Arc::from_raw(value.cast_const().cast::<T>()) });
    sys::CG_SUCCESS
}
