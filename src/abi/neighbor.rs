//! Neighborhood collectives: `MPI_Neighbor_*` and `MPI_Ineighbor_*`.
//!
//! Five bodies, one per operation. Each runs as a blocking call, or as a nonblocking or persistent request, with counts
//! that are `int` or `MPI_Count`: up to six functions per body.

use std::ffi::{c_int, c_void};

use super::pointers::input;
use crate::host::Result;
use crate::host::neighbor::{self, Block, Neighborhood, Operation, Regular, Run, Side, bytes};
use crate::host::sys::{MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Request};
use crate::topology::Direction;

/// The type of counts: `int`, or `MPI_Count` in functions whose names end in `_c`.
pub(crate) trait Count: Copy {
    /// The matching type of displacements, in `v` operations.
    type Displacement: Copy;

    /// As a number of elements.
    fn wide(self) -> i64;
    /// As a number of elements.
    fn distance(displacement: Self::Displacement) -> isize;
}

impl Count for c_int {
    type Displacement = c_int;

    fn wide(self) -> i64 {
        self.into()
    }

    fn distance(displacement: c_int) -> isize {
        displacement as isize
    }
}

impl Count for crate::host::sys::MPI_Count {
    type Displacement = MPI_Aint;

    fn wide(self) -> i64 {
        self
    }

    fn distance(displacement: MPI_Aint) -> isize {
        bytes(displacement)
    }
}

/// Exports the functions of one body, whether or not the host declares them: programs also look them up by name. `C`
/// stands for the type of counts, and `D` for that of displacements. The last name is that of the persistent function
/// in Open MPI 4, from before MPI 4.
macro_rules! neighbor {
    ($(
        $(#[$doc:meta])*
        $blocking:ident, $nonblocking:ident, $persistent:ident,
        $blocking_c:ident, $nonblocking_c:ident, $persistent_c:ident, $extension:ident
        = $body:ident($($arg:ident: $ty:ty),* $(,)?);
    )*) => { $(
        neighbor! { @counts c_int, $(#[$doc])*
            $blocking if all(), $nonblocking if all(), $body($($arg: $ty),*) }
        neighbor! { @persistent c_int, $(#[$doc])* $persistent if mpi_neighbor_init, $body($($arg: $ty),*) }
        neighbor! { @persistent c_int, $(#[$doc])* $extension if any(), $body($($arg: $ty),*) }
        neighbor! { @counts crate::host::sys::MPI_Count, $(#[$doc])*
            $blocking_c if mpi_large_count, $nonblocking_c if mpi_large_count, $body($($arg: $ty),*) }
        neighbor! { @persistent crate::host::sys::MPI_Count, $(#[$doc])*
            $persistent_c if mpi_neighbor_init_large_count, $body($($arg: $ty),*) }
    )* };
    (@counts $count:ty, $(#[$doc:meta])*
        $blocking:ident if $blocking_declared:meta, $nonblocking:ident if $nonblocking_declared:meta,
        $body:ident($($arg:ident: $ty:ty),*)
    ) => {
        const _: () = {
            type C = $count;
            #[allow(dead_code, reason = "only some operations have displacements")]
            type D = <C as Count>::Displacement;

            unsafe fn blocking($($arg: $ty,)* comm: MPI_Comm) -> Result {
                // SAFETY: the caller keeps the standard's contract for this call.
                unsafe { $body::<C>($($arg,)* comm, Run::Blocking) }
            }
            unsafe fn nonblocking(
                $($arg: $ty,)* comm: MPI_Comm, request: *mut MPI_Request,
            ) -> Result {
                // SAFETY: the caller keeps the standard's contract for this call.
                unsafe { $body::<C>($($arg,)* comm, Run::Request(neighbor::Start::Now, request)) }
            }
            export! {
                $(#[$doc])*
                fn $blocking($($arg: $ty,)* comm: MPI_Comm) = blocking, raising on Some(comm),
                    declared if $blocking_declared;
                $(#[$doc])*
                fn $nonblocking($($arg: $ty,)* comm: MPI_Comm, request: *mut MPI_Request)
                    = nonblocking, raising on Some(comm), declared if $nonblocking_declared;
            }
        };
    };
    (@persistent $count:ty, $(#[$doc:meta])*
        $persistent:ident if $declared:meta, $body:ident($($arg:ident: $ty:ty),*)
    ) => {
        const _: () = {
            type C = $count;
            #[allow(dead_code, reason = "only some operations have displacements")]
            type D = <C as Count>::Displacement;

            unsafe fn persistent(
                $($arg: $ty,)* comm: MPI_Comm, info: crate::host::sys::MPI_Info, request: *mut MPI_Request,
            ) -> Result {
                // SAFETY: the caller keeps the standard's contract for this call.
                unsafe { $body::<C>($($arg,)* comm, Run::Request(neighbor::Start::Later(info), request)) }
            }
            export! {
                $(#[$doc])*
                fn $persistent(
                    $($arg: $ty,)* comm: MPI_Comm, info: crate::host::sys::MPI_Info, request: *mut MPI_Request,
                ) = persistent, raising on Some(comm), declared if $declared;
            }
        };
    };
}

neighbor! {
    /// Every process sends one block to all its neighbors. MPI 4.1, 8.6.1. Collective.
    MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init,
    MPI_Neighbor_allgather_c, MPI_Ineighbor_allgather_c, MPI_Neighbor_allgather_init_c,
    MPIX_Neighbor_allgather_init
    = allgather(
        sendbuf: *const c_void, sendcount: C, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: C, recvtype: MPI_Datatype,
    );

    /// Every process sends one block to all its neighbors; received blocks have different sizes. MPI 4.1, 8.6.1.
    /// Collective.
    MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init,
    MPI_Neighbor_allgatherv_c, MPI_Ineighbor_allgatherv_c, MPI_Neighbor_allgatherv_init_c,
    MPIX_Neighbor_allgatherv_init
    = allgatherv(
        sendbuf: *const c_void, sendcount: C, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: *const C, displs: *const D, recvtype: MPI_Datatype,
    );

    /// Every process sends a block to each neighbor. MPI 4.1, 8.6.2. Collective.
    MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init,
    MPI_Neighbor_alltoall_c, MPI_Ineighbor_alltoall_c, MPI_Neighbor_alltoall_init_c,
    MPIX_Neighbor_alltoall_init
    = alltoall(
        sendbuf: *const c_void, sendcount: C, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: C, recvtype: MPI_Datatype,
    );

    /// Every process sends each neighbor its own block; blocks have different sizes. MPI 4.1, 8.6.2. Collective.
    MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init,
    MPI_Neighbor_alltoallv_c, MPI_Ineighbor_alltoallv_c, MPI_Neighbor_alltoallv_init_c,
    MPIX_Neighbor_alltoallv_init
    = alltoallv(
        sendbuf: *const c_void, sendcounts: *const C, sdispls: *const D, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: *const C, rdispls: *const D, recvtype: MPI_Datatype,
    );

    /// Every process sends each neighbor its own block; blocks have different types, at displacements in bytes. MPI
    /// 4.1, 8.6.2. Collective.
    MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init,
    MPI_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw_c, MPI_Neighbor_alltoallw_init_c,
    MPIX_Neighbor_alltoallw_init
    = alltoallw(
        sendbuf: *const c_void, sendcounts: *const C, sdispls: *const MPI_Aint,
        sendtypes: *const MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: *const C, rdispls: *const MPI_Aint,
        recvtypes: *const MPI_Datatype,
    );
}

/// Blocks of one size, one after the other.
fn regular<C: Count>(
    buffer: *mut c_void,
    count: C,
    datatype: MPI_Datatype,
    extent: isize,
) -> Side<impl Fn(usize) -> Block> {
    let count = count.wide();
    let stride = count as isize * extent;
    let first = Block { offset: 0, count, datatype };
    neighbor::regular(buffer, Regular { first, stride })
}

/// The same block for all.
fn same<C: Count>(
    buffer: *const c_void,
    count: C,
    datatype: MPI_Datatype,
) -> Side<impl Fn(usize) -> Block> {
    let first = Block { offset: 0, count: count.wide(), datatype };
    neighbor::regular(buffer.cast_mut(), Regular { first, stride: 0 })
}

/// Blocks of given sizes at given distances, both in elements.
fn indexed<C: Count>(
    buffer: *mut c_void,
    counts: &[C],
    displs: &[C::Displacement],
    datatype: MPI_Datatype,
    extent: isize,
) -> Side<impl Fn(usize) -> Block> {
    let block = move |i: usize| Block {
        offset: C::distance(displs[i]) * extent,
        count: counts[i].wide(),
        datatype,
    };
    Side::new(buffer, block)
}

/// The body of `MPI_Neighbor_allgather`, of its nonblocking and persistent forms, and of the variants with large
/// counts, as selected by `run`. For C and Fortran.
///
/// # Safety
///
/// The standard's: buffers as large as the arguments say.
pub(crate) unsafe fn allgather<C: Count>(
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    run: Run,
) -> Result {
    // SAFETY: the communicator is the caller's for the time of the call.
    let neighborhood = unsafe { Neighborhood::of(comm)? };
    let receive = regular(recvbuf, recvcount, recvtype, neighbor::extent(&neighborhood, recvtype)?);
    neighbor::run(
        &neighborhood,
        Operation::Allgather,
        same(sendbuf, sendcount, sendtype),
        receive,
        run,
    )
}

/// The body of `MPI_Neighbor_allgatherv`, of its nonblocking and persistent forms, and of the variants with large
/// counts, as selected by `run`. For C and Fortran.
///
/// # Safety
///
/// The standard's: arrays with an entry for each source, and buffers as large as the arguments say.
pub(crate) unsafe fn allgatherv<C: Count>(
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const C,
    displs: *const C::Displacement,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    run: Run,
) -> Result {
    // SAFETY: the communicator is the caller's for the time of the call.
    let neighborhood = unsafe { Neighborhood::of(comm)? };
    let sources = neighborhood.degree(Direction::Receive);
    // SAFETY: the caller's arrays.
    let (recvcounts, displs) =
        unsafe { (input("recvcounts", recvcounts, sources)?, input("displs", displs, sources)?) };
    let receive =
        indexed(recvbuf, recvcounts, displs, recvtype, neighbor::extent(&neighborhood, recvtype)?);
    neighbor::run(
        &neighborhood,
        Operation::Allgatherv,
        same(sendbuf, sendcount, sendtype),
        receive,
        run,
    )
}

/// The body of `MPI_Neighbor_alltoall`, of its nonblocking and persistent forms, and of the variants with large counts,
/// as selected by `run`. For C and Fortran.
///
/// # Safety
///
/// The standard's: buffers as large as the arguments say.
pub(crate) unsafe fn alltoall<C: Count>(
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    run: Run,
) -> Result {
    // SAFETY: the communicator is the caller's for the time of the call.
    let neighborhood = unsafe { Neighborhood::of(comm)? };
    let [send_extent, receive_extent] = neighbor::extents(&neighborhood, sendtype, recvtype)?;
    let send = regular(sendbuf.cast_mut(), sendcount, sendtype, send_extent);
    let receive = regular(recvbuf, recvcount, recvtype, receive_extent);
    neighbor::run(&neighborhood, Operation::Alltoall, send, receive, run)
}

/// The body of `MPI_Neighbor_alltoallv`, of its nonblocking and persistent forms, and of the variants with large
/// counts, as selected by `run`. For C and Fortran.
///
/// # Safety
///
/// The standard's: arrays with an entry for each destination and for each source, and buffers as
/// large as the arguments say.
pub(crate) unsafe fn alltoallv<C: Count>(
    sendbuf: *const c_void,
    sendcounts: *const C,
    sdispls: *const C::Displacement,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const C,
    rdispls: *const C::Displacement,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    run: Run,
) -> Result {
    // SAFETY: the communicator is the caller's for the time of the call.
    let neighborhood = unsafe { Neighborhood::of(comm)? };
    let destinations = neighborhood.degree(Direction::Send);
    let sources = neighborhood.degree(Direction::Receive);
    // SAFETY: the caller's arrays.
    let (sendcounts, sdispls, recvcounts, rdispls) = unsafe {
        (
            input("sendcounts", sendcounts, destinations)?,
            input("sdispls", sdispls, destinations)?,
            input("recvcounts", recvcounts, sources)?,
            input("rdispls", rdispls, sources)?,
        )
    };
    let [send_extent, receive_extent] = neighbor::extents(&neighborhood, sendtype, recvtype)?;
    let send = indexed(sendbuf.cast_mut(), sendcounts, sdispls, sendtype, send_extent);
    let receive = indexed(recvbuf, recvcounts, rdispls, recvtype, receive_extent);
    neighbor::run(&neighborhood, Operation::AlltoallVaried, send, receive, run)
}

/// The body of `MPI_Neighbor_alltoallw`, of its nonblocking and persistent forms, and of the variants with large
/// counts, as selected by `run`. For C and Fortran.
///
/// # Safety
///
/// As [`alltoallv`].
pub(crate) unsafe fn alltoallw<C: Count>(
    sendbuf: *const c_void,
    sendcounts: *const C,
    sdispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const C,
    rdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
    run: Run,
) -> Result {
    // SAFETY: the communicator is the caller's for the time of the call.
    let neighborhood = unsafe { Neighborhood::of(comm)? };
    let destinations = neighborhood.degree(Direction::Send);
    let sources = neighborhood.degree(Direction::Receive);
    // SAFETY: the caller's arrays.
    let (sendcounts, sdispls, sendtypes, recvcounts, rdispls, recvtypes) = unsafe {
        (
            input("sendcounts", sendcounts, destinations)?,
            input("sdispls", sdispls, destinations)?,
            input("sendtypes", sendtypes, destinations)?,
            input("recvcounts", recvcounts, sources)?,
            input("rdispls", rdispls, sources)?,
            input("recvtypes", recvtypes, sources)?,
        )
    };
    let block = |i: usize| Block {
        offset: bytes(sdispls[i]),
        count: sendcounts[i].wide(),
        datatype: sendtypes[i],
    };
    let send = Side::new(sendbuf.cast_mut(), block);
    let block = |i: usize| Block {
        offset: bytes(rdispls[i]),
        count: recvcounts[i].wide(),
        datatype: recvtypes[i],
    };
    neighbor::run(&neighborhood, Operation::AlltoallVaried, send, Side::new(recvbuf, block), run)
}
