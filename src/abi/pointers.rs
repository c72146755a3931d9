//! Converts raw pointers to slices: the only place that creates a slice from a caller's pointer.
//!
//! Sentinels are compared before a slice is created: in the MPI-5 ABI, `MPI_UNWEIGHTED` is the address 10.

use std::ffi::c_int;

use crate::engine::arguments::EdgeWeights;
use crate::host::attributes::TopologyAttribute;
use crate::host::sentinel::Sentinels;
use crate::host::sys::{self, MPI_Comm};
use crate::host::{Result, comm};
use crate::topology::{Error, Topology};

pub(crate) type CheckedResult<T = ()> = core::result::Result<T, Error>;

/// The topology of a communicator as its attribute; `None` if it has none.
pub(crate) type CachedTopology<'a> = Option<&'a TopologyAttribute>;

/// A length that a caller passed, which must not be negative.
#[inline]
pub(super) fn length(argument: &'static str, value: c_int) -> CheckedResult<usize> {
    usize::try_from(value).map_err(|_| Error::Negative { argument, value })
}

/// An array that a caller passed. The pointer is not read if the length is 0.
///
/// # Safety
///
/// `pointer` is null or has `length` entries, plain numbers or handles, for as long as the call lasts.
#[inline]
pub(super) unsafe fn input<'a, T>(
    argument: &'static str,
    pointer: *const T,
    length: usize,
) -> CheckedResult<&'a [T]> {
    match length {
        0 => Ok(&[]),
        _ if pointer.is_null() => Err(Error::NullPointer { argument }),
        // SAFETY: the caller's promise; arrays of C are aligned.
        _ => Ok(unsafe { std::slice::from_raw_parts(pointer, length) }),
    }
}

/// An array of truth values that a caller passed. Any number except 0 is true, as in C and with some Fortran compilers.
///
/// # Safety
///
/// As for [`input`].
pub(super) unsafe fn flags(
    argument: &'static str,
    pointer: *const c_int,
    length: usize,
) -> CheckedResult<Vec<bool>> {
    // SAFETY: as the caller promises.
    Ok(unsafe { input(argument, pointer, length)? }.iter().map(|flag| *flag != 0).collect())
}

/// An array for the caller's results. The pointer is not read if the length is 0.
///
/// # Safety
///
/// `pointer` is null or has room for `length` ints, which nothing else uses during the call.
#[inline(always)]
pub(super) unsafe fn output<'a>(
    argument: &'static str,
    pointer: *mut c_int,
    length: usize,
) -> CheckedResult<&'a mut [c_int]> {
    match length {
        0 => Ok(&mut []),
        _ if pointer.is_null() => Err(Error::NullPointer { argument }),
        // SAFETY: the caller's promise; ints of C are aligned, and any bits are an int.
        _ => Ok(unsafe { std::slice::from_raw_parts_mut(pointer, length) }),
    }
}

/// Copies numbers to an array of the same length.
#[inline(always)]
pub(super) fn copy(to: &mut [c_int], from: &[c_int]) {
    /// The first and the last `N`, which overlap where there are fewer than `2 * N`.
    #[inline(always)]
    fn ends<const N: usize>(to: &mut [c_int], from: &[c_int]) {
        let last = from.len() - N;
        to[..N].copy_from_slice(&from[..N]);
        to[last..].copy_from_slice(&from[last..]);
    }
    #[inline(never)]
    fn many(to: &mut [c_int], from: &[c_int]) {
        to.copy_from_slice(from);
    }
    debug_assert_eq!(to.len(), from.len());
    // Most processes have few neighbors: a call of memcpy would take longer than this.
    match from.len() {
        9.. => many(to, from),
        4.. => ends::<4>(to, from),
        2.. => ends::<2>(to, from),
        1 => ends::<1>(to, from),
        0 => {}
    }
}

/// A place for one result.
///
/// # Safety
///
/// `pointer` is null or can be written, and nothing else uses it during the call.
#[inline]
pub(super) unsafe fn out<'a, T>(
    argument: &'static str,
    pointer: *mut T,
) -> CheckedResult<&'a mut T> {
    // SAFETY: the caller's promise; results are ints and handles, for which any bits are valid.
    unsafe { pointer.as_mut() }.ok_or(Error::NullPointer { argument })
}

/// The weights of `length` edges.
///
/// # Safety
///
/// As for [`input`], or one of the sentinels.
pub(super) unsafe fn weights<'a>(
    argument: &'static str,
    pointer: *const c_int,
    length: usize,
) -> CheckedResult<EdgeWeights<'a>> {
    // SAFETY: constants of the host.
    let (unweighted, empty) = unsafe { (sys::cg_unweighted(), sys::cg_weights_empty()) };
    match length {
        _ if pointer == unweighted => Ok(EdgeWeights::Unweighted),
        0 if pointer.is_null() => Ok(EdgeWeights::Either),
        edges if edges > 0 && pointer == empty => Err(Error::EmptyWeights { argument, edges }),
        // SAFETY: not a sentinel that must not be read, so the caller's promise holds.
        _ => Ok(EdgeWeights::Given(unsafe { input(argument, pointer, length)? })),
    }
}

/// The array for weights; `None` for an empty array and for the sentinels, which ask for no weights.
///
/// # Safety
///
/// As for [`output`], or one of the sentinels.
#[inline(always)]
pub(super) unsafe fn weights_output<'a, const N: usize>(
    argument: &'static str,
    pointer: *mut c_int,
    length: usize,
    sentinels: &Sentinels<N>,
) -> CheckedResult<Option<&'a mut [c_int]>> {
    if length == 0 || sentinels.has(pointer) {
        return Ok(None);
    }
    // SAFETY: not a sentinel, so the caller's promise holds.
    unsafe { output(argument, pointer, length) }.map(Some)
}

/// Sets the handle of a new communicator to `MPI_COMM_NULL` on hosts of a family that do so if the call fails after
/// this point. Other hosts leave it unchanged.
///
/// # Safety
///
/// `place` is null or can be written.
pub(super) unsafe fn clear_on(family: sys::cg_family, place: *mut MPI_Comm) {
    // SAFETY: constants of the shim, and the caller's place for the result.
    unsafe {
        if sys::cg_family_built == family && !place.is_null() {
            place.write(sys::cg_comm_null);
        }
    }
}

/// The topology of a communicator, if it is of the kind that `pick` returns.
#[inline(always)]
pub(super) fn as_kind<'a, T>(
    found: CachedTopology<'a>,
    pick: fn(Option<&'a Topology>) -> CheckedResult<&'a T>,
) -> CheckedResult<&'a T> {
    pick(found.map(|attached| &*attached.topology))
}

/// The result of `body` for the topology of `comm`.
pub(crate) fn answer<F, T>(
    comm: MPI_Comm,
    found: Result<F>,
    body: impl FnOnce(F) -> CheckedResult<T>,
) -> Result<T> {
    match body(found?) {
        // A communicator without the wanted topology may be one that cannot have any.
        Err(error @ Error::NoTopology { .. }) => {
            Err(comm::intra(comm).err().unwrap_or(error).into())
        }
        answer => Ok(answer?),
    }
}
