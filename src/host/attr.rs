//! Topologies are cached on their communicators, by the host's own attributes.
//!
//! The value of the attribute is a boxed [`Attached`]. The copy callback makes another one for a
//! duplicate, which shares the topology; the delete callback drops it.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::sys::{self, MPI_Comm};
use super::{HostComm, Result, errors::check, neighbor};
use crate::engine::Comm;
use crate::topology::Topology;

/// How many communicators carry a topology of ours.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// The key of our attribute, made with the first topology of the process.
static KEYVAL: AtomicI32 = AtomicI32::new(sys::CG_KEYVAL_INVALID);

/// What a communicator carries.
pub(crate) struct Attached {
    /// Its topology, shared with its duplicates.
    pub(crate) topology: Arc<Topology>,
    /// How many processes the communicator has that the topology was made for.
    size: c_int,
    /// Whether this communicator is known to have as many. Some hosts copy attributes to
    /// communicators of other groups as well (Open MPI in `MPI_Comm_create_group`).
    fits: AtomicBool,
    /// A communicator of the same processes for our own messages, if there has been need of it. It
    /// is not shared: calls on a communicator and on its duplicate may come in any order.
    private: OnceLock<MPI_Comm>,
    /// What neighborhood collectives have worked out, if there were any.
    pub(super) neighbors: neighbor::Known,
}

impl Attached {
    fn new(topology: Arc<Topology>, size: c_int, fits: bool) -> Self {
        let (private, neighbors) = (OnceLock::new(), neighbor::Known::default());
        Self { topology, size, fits: AtomicBool::new(fits), private, neighbors }
    }

    /// The private communicator. Collective over `comm` when it is first asked for.
    pub(crate) fn private(&self, comm: MPI_Comm) -> Result<HostComm> {
        if let Some(private) = self.private.get() {
            return Ok(HostComm(*private));
        }
        let comm = HostComm(comm);
        let made = comm.private()?;
        // Of the threads of a process only one may be in a collective call on a communicator.
        Ok(HostComm(*self.private.get_or_init(|| made.0)))
    }

    #[cold]
    fn check_fit(&self, comm: MPI_Comm) -> Result<bool> {
        let fits = HostComm(comm).size()? == self.size;
        self.fits.store(fits, Ordering::Relaxed);
        Ok(fits)
    }
}

/// What a communicator carries, or `None` if it has no topology of ours.
///
/// # Safety
///
/// The communicator is not freed by another thread while the reference lives. MPI forbids
/// programs to free what they still use, so this holds for the time of one MPI call on it.
#[inline]
pub(crate) unsafe fn attached<'a>(comm: MPI_Comm) -> Result<Option<&'a Attached>> {
    let keyval = KEYVAL.load(Ordering::Acquire);
    if keyval == sys::CG_KEYVAL_INVALID {
        return Ok(None);
    }
    let mut value: *const Attached = ptr::null();
    let mut found = 0;
    // SAFETY: the host writes a pointer, which is what the attribute's values are, and a flag.
    let code = unsafe {
        sys::PMPI_Comm_get_attr(comm, keyval, (&raw mut value).cast::<c_void>(), &raw mut found)
    };
    check(code)?;
    if found == 0 {
        return Ok(None);
    }
    // SAFETY: a value of our key comes from `put` or `copy`, and lives until `delete`.
    let attached = unsafe { &*value };
    let fits = attached.fits.load(Ordering::Relaxed) || attached.check_fit(comm)?;
    Ok(fits.then_some(attached))
}

/// The topology of a communicator, or `None` if it has none of ours.
///
/// # Safety
///
/// As [`attached`].
#[inline]
pub(crate) unsafe fn get<'a>(comm: MPI_Comm) -> Result<Option<&'a Topology>> {
    // SAFETY: as the caller promises.
    Ok(unsafe { attached(comm)? }.map(|attached: &'a Attached| &*attached.topology))
}

/// Gives a new communicator its topology. On failure the topology is dropped.
pub(crate) fn put(comm: &HostComm, topology: Topology) -> Result {
    let keyval = keyval()?;
    let value = Box::into_raw(Box::new(Attached::new(Arc::new(topology), comm.size()?, true)));
    // SAFETY: the attribute now owns the box; `delete` gives it back.
    let set = check(unsafe { sys::PMPI_Comm_set_attr(comm.0, keyval, value.cast()) });
    match set {
        Ok(()) => {
            LIVE.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the host refused the value, so the box is still ours.
        Err(_) => drop(unsafe { Box::from_raw(value) }),
    }
    set
}

/// The key, made if there is none. Two threads may both make one; the second gives its own back.
fn keyval() -> Result<c_int> {
    const INVALID: i32 = sys::CG_KEYVAL_INVALID;
    let known = KEYVAL.load(Ordering::Acquire);
    if known != INVALID {
        return Ok(known);
    }
    let mut made = INVALID;
    // SAFETY: the callbacks have the standard's signatures and live as long as the process: the
    // library is linked with -z nodelete.
    check(unsafe {
        sys::PMPI_Comm_create_keyval(Some(copy), Some(delete), &raw mut made, ptr::null_mut())
    })?;
    match KEYVAL.compare_exchange(INVALID, made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(made),
        Err(other) => {
            // SAFETY: `made` is a key of ours that nothing uses.
            check(unsafe { sys::PMPI_Comm_free_keyval(&raw mut made) })?;
            Ok(other)
        }
    }
}

/// The host calls this when a communicator is duplicated.
unsafe extern "C" fn copy(
    _comm: MPI_Comm,
    _keyval: c_int,
    _extra_state: *mut c_void,
    value: *mut c_void,
    copied: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: `value` comes from `put` or from here, and its attribute still holds it. The standard
    // has `copied` point to a pointer, and `flag` to an int.
    unsafe {
        let original = &*value.cast::<Attached>();
        let duplicate = Attached::new(Arc::clone(&original.topology), original.size, false);
        let duplicate = Box::into_raw(Box::new(duplicate));
        copied.cast::<*mut Attached>().write(duplicate);
        flag.write(1);
    }
    LIVE.fetch_add(1, Ordering::Relaxed);
    sys::CG_SUCCESS
}

/// The host calls this when a communicator is freed.
unsafe extern "C" fn delete(
    _comm: MPI_Comm,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: `value` comes from `put` or `copy`, and its attribute is gone with this call.
    let attached = unsafe { Box::from_raw(value.cast::<Attached>()) };
    if LIVE.fetch_sub(1, Ordering::Relaxed) == 1 {
        retire_key();
    }
    match attached.private.get() {
        // All processes free the communicator, so all free the private one.
        Some(private) => match HostComm(*private).free() {
            Err(super::Error::Host(code)) => code,
            _ => sys::CG_SUCCESS,
        },
        None => sys::CG_SUCCESS,
    }
}

/// A program of sessions alone may end its last session and start another, and then the host may
/// give the number of our key to someone else. All our communicators are gone before: so, without
/// the world model, the key goes with the last of them, and the next topology makes another. So do
/// error codes.
fn retire_key() {
    // SAFETY: asks the host for its state, which is allowed at any time.
    if unsafe { sys::cg_world_is_initialized() } != 0 {
        return;
    }
    super::errors::forget_codes();
    let mut key = KEYVAL.swap(sys::CG_KEYVAL_INVALID, Ordering::AcqRel);
    if key != sys::CG_KEYVAL_INVALID {
        // SAFETY: a key of ours. The host keeps it until the callback that calls this is done.
        unsafe { sys::PMPI_Comm_free_keyval(&raw mut key) };
    }
}
