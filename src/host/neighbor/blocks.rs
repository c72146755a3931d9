//! The description of a neighborhood collective: the blocks of both sides, its operation, and how it runs.

use std::ffi::c_void;
use std::ptr;

use crate::host::constants;
use crate::host::sys::{self, MPI_Datatype, MPI_Info, MPI_Request};
use crate::host::{Result, errors::check};

/// The block of one neighbor in a buffer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Block {
    /// Bytes from the start of the buffer.
    pub(crate) offset: isize,
    /// The number of elements; may be more than an int can count. The host rejects a negative number.
    pub(crate) count: i64,
    /// The type of an element.
    pub(crate) datatype: MPI_Datatype,
}

impl Block {
    /// The same block, `distance` bytes further on.
    pub(super) fn moved(self, distance: isize) -> Self {
        Self { offset: self.offset + distance, ..self }
    }
}

/// Equally sized and spaced blocks: two such lists are compared in O(1), whatever the degree.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Regular {
    /// The first neighbor's.
    pub(crate) first: Block,
    /// Bytes from one to the next.
    pub(crate) stride: isize,
}

impl Regular {
    fn block(self, number: usize) -> Block {
        self.first.moved(number as isize * self.stride)
    }

    /// The same blocks, `distance` bytes further on.
    fn moved(self, distance: isize) -> Self {
        Self { first: self.first.moved(distance), ..self }
    }
}

/// One side of a collective.
pub(crate) struct Side<F: Fn(usize) -> Block> {
    /// The start of the buffer, which may be `MPI_BOTTOM`.
    pub(super) buffer: *mut c_void,
    /// The block of each neighbor.
    pub(super) block: F,
    /// All blocks, if the collective is regular.
    pub(super) regular: Option<Regular>,
}

/// Blocks of one size at equal distances.
pub(crate) fn regular(buffer: *mut c_void, regular: Regular) -> Side<impl Fn(usize) -> Block> {
    Side { buffer, block: move |number| regular.block(number), regular: Some(regular) }
}

/// The blocks of both sides, if both are regular, each shifted by a number of bytes.
pub(super) fn both_regular(
    (send, send_distance): (&Side<impl Fn(usize) -> Block>, isize),
    (receive, receive_distance): (&Side<impl Fn(usize) -> Block>, isize),
) -> Option<[Regular; 2]> {
    Some([send.regular?.moved(send_distance), receive.regular?.moved(receive_distance)])
}

impl<F: Fn(usize) -> Block> Side<F> {
    /// Blocks that may all be different.
    pub(crate) fn new(buffer: *mut c_void, block: F) -> Self {
        Self { buffer, block, regular: None }
    }

    /// The base address for the MPI call, and the distance of the program's buffer from it in bytes. `MPI_BOTTOM` need
    /// not be address zero, and some hosts do not accept a null pointer as a buffer: `mark` replaces it.
    pub(super) fn base(&self, mark: usize) -> (*mut c_void, isize) {
        let bottom = constants::bottom();
        if !bottom.is_null() && self.buffer.cast_const() == bottom {
            return (ptr::without_provenance_mut(mark), -(mark as isize));
        }
        (self.buffer, 0)
    }
}

/// The kind of a collective, on which the pairing of blocks depends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Allgather,
    Allgatherv,
    Alltoall,
    /// For blocks of different sizes or types.
    AlltoallVaried,
}

/// The kind of a request: nonblocking or persistent.
#[derive(Clone, Copy)]
pub(crate) enum Start {
    /// Nonblocking: it is pending when the call returns.
    Now,
    /// Persistent, with the info of the call: it waits for `MPI_Start`.
    Later(MPI_Info),
}

/// How a collective runs.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// Blocking.
    Blocking,
    /// As a request, whose handle is written here.
    Request(Start, *mut MPI_Request),
}

/// The extent in bytes of a datatype that the host accepts.
pub(super) fn extent(datatype: MPI_Datatype) -> Result<isize> {
    let (mut lower, mut extent) = (0, 0);
    // SAFETY: the program's datatype, which the host checks, and two places for the result.
    check(unsafe { sys::PMPI_Type_get_extent(datatype, &raw mut lower, &raw mut extent) })?;
    Ok(bytes(extent))
}

/// A distance in bytes.
#[allow(clippy::unnecessary_cast, reason = "MPI_Aint is isize on some hosts and long on others")]
pub(crate) fn bytes(distance: sys::MPI_Aint) -> isize {
    distance as isize
}
