//! `MPI_NEIGHBOR_*` and `MPI_INEIGHBOR_*`. Fortran has large counts only in `mpi_f08`, whose procedures call the C
//! names.

use std::ffi::c_void;

use super::pointers::{Fint, buffer_from, comm_from, new_request, type_from, types_from};
use crate::abi::neighbor;
use crate::host::Result;
use crate::host::neighbor::{Neighborhood, Run, Start};
use crate::host::sys::{MPI_Aint, MPI_Comm};
use crate::topology::Direction;

/// Exports the procedures of one body: blocking, nonblocking, and persistent, the last under Open MPI 4's name as well.
macro_rules! neighbor {
    (@persistent $lower:ident | $name:ident = $body:ident($($arg:ident: $ty:ty),*)) => {
        fortran! {
            fn $lower | $name(
                $($arg: $ty,)* comm: *const Fint, info: *const Fint, request: *mut Fint,
            ) raising on Some(comm_from(comm)); {
                new_request(request, |made| {
                    let start = Start::Later(super::pointers::info_from(info));
                    $body($($arg,)* comm_from(comm), Run::Request(start, made))
                })
            }
        }
    };
    ($(
        $lower:ident | $name:ident, $ilower:ident | $iname:ident, $plower:ident | $pname:ident,
        $xlower:ident | $xname:ident
        = $body:ident($($arg:ident: $ty:ty),* $(,)?);
    )*) => { $(
        fortran! {
            fn $lower | $name($($arg: $ty,)* comm: *const Fint)
                raising on Some(comm_from(comm)); {
                $body($($arg,)* comm_from(comm), Run::Blocking)
            }

            fn $ilower | $iname($($arg: $ty,)* comm: *const Fint, request: *mut Fint)
                raising on Some(comm_from(comm)); {
                new_request(request, |made| {
                    $body($($arg,)* comm_from(comm), Run::Request(Start::Now, made))
                })
            }
        }
        neighbor! { @persistent $plower | $pname = $body($($arg: $ty),*) }
        neighbor! { @persistent $xlower | $xname = $body($($arg: $ty),*) }
    )* };
}

neighbor! {
    mpi_neighbor_allgather | MPI_Neighbor_allgather, mpi_ineighbor_allgather | MPI_Ineighbor_allgather,
    mpi_neighbor_allgather_init | MPI_Neighbor_allgather_init,
    mpix_neighbor_allgather_init | MPIX_Neighbor_allgather_init
    = allgather(
        sendbuf: *const c_void, sendcount: *const Fint, sendtype: *const Fint,
        recvbuf: *mut c_void, recvcount: *const Fint, recvtype: *const Fint,
    );

    mpi_neighbor_allgatherv | MPI_Neighbor_allgatherv, mpi_ineighbor_allgatherv | MPI_Ineighbor_allgatherv,
    mpi_neighbor_allgatherv_init | MPI_Neighbor_allgatherv_init,
    mpix_neighbor_allgatherv_init | MPIX_Neighbor_allgatherv_init
    = allgatherv(
        sendbuf: *const c_void, sendcount: *const Fint, sendtype: *const Fint,
        recvbuf: *mut c_void, recvcounts: *const Fint, displs: *const Fint, recvtype: *const Fint,
    );

    mpi_neighbor_alltoall | MPI_Neighbor_alltoall, mpi_ineighbor_alltoall | MPI_Ineighbor_alltoall,
    mpi_neighbor_alltoall_init | MPI_Neighbor_alltoall_init,
    mpix_neighbor_alltoall_init | MPIX_Neighbor_alltoall_init
    = alltoall(
        sendbuf: *const c_void, sendcount: *const Fint, sendtype: *const Fint,
        recvbuf: *mut c_void, recvcount: *const Fint, recvtype: *const Fint,
    );

    mpi_neighbor_alltoallv | MPI_Neighbor_alltoallv, mpi_ineighbor_alltoallv | MPI_Ineighbor_alltoallv,
    mpi_neighbor_alltoallv_init | MPI_Neighbor_alltoallv_init,
    mpix_neighbor_alltoallv_init | MPIX_Neighbor_alltoallv_init
    = alltoallv(
        sendbuf: *const c_void, sendcounts: *const Fint, sdispls: *const Fint,
        sendtype: *const Fint,
        recvbuf: *mut c_void, recvcounts: *const Fint, rdispls: *const Fint,
        recvtype: *const Fint,
    );

    mpi_neighbor_alltoallw | MPI_Neighbor_alltoallw, mpi_ineighbor_alltoallw | MPI_Ineighbor_alltoallw,
    mpi_neighbor_alltoallw_init | MPI_Neighbor_alltoallw_init,
    mpix_neighbor_alltoallw_init | MPIX_Neighbor_alltoallw_init
    = alltoallw(
        sendbuf: *const c_void, sendcounts: *const Fint, sdispls: *const MPI_Aint,
        sendtypes: *const Fint,
        recvbuf: *mut c_void, recvcounts: *const Fint, rdispls: *const MPI_Aint,
        recvtypes: *const Fint,
    );
}

/// The type of an argument of a body.
macro_rules! of_fortran {
    (sendbuf) => { *const c_void };
    (recvbuf) => { *mut c_void };
    ($kind:ident) => { *const Fint };
}

/// An argument as C passes it.
macro_rules! to_c {
    (sendbuf $arg:ident) => {
        buffer_from($arg)
    };
    (recvbuf $arg:ident) => {
        buffer_from($arg).cast_mut()
    };
    (number $arg:ident) => {
        *$arg
    };
    (array $arg:ident) => {
        $arg
    };
    (datatype $arg:ident) => {
        type_from($arg)
    };
}

/// The bodies that only pass their arguments, converted by kind, to the C body.
macro_rules! bodies {
    ($( $name:ident($($arg:ident: $kind:ident),* $(,)?); )*) => { $(
        /// # Safety
        ///
        /// Like the C body, by Fortran's conventions.
        unsafe fn $name($($arg: of_fortran!($kind),)* comm: MPI_Comm, run: Run) -> Result {
            // SAFETY: as the caller promises.
            unsafe { neighbor::$name($(to_c!($kind $arg),)* comm, run) }
        }
    )* };
}

bodies! {
    allgather(
        send: sendbuf, sendcount: number, sendtype: datatype,
        receive: recvbuf, recvcount: number, recvtype: datatype,
    );
    allgatherv(
        send: sendbuf, sendcount: number, sendtype: datatype,
        receive: recvbuf, recvcounts: array, displs: array, recvtype: datatype,
    );
    alltoall(
        send: sendbuf, sendcount: number, sendtype: datatype,
        receive: recvbuf, recvcount: number, recvtype: datatype,
    );
    alltoallv(
        send: sendbuf, sendcounts: array, sdispls: array, sendtype: datatype,
        receive: recvbuf, recvcounts: array, rdispls: array, recvtype: datatype,
    );
}

/// # Safety
///
/// Like [`neighbor::alltoallw`], by Fortran's conventions.
unsafe fn alltoallw(
    sendbuf: *const c_void,
    sendcounts: *const Fint,
    sdispls: *const MPI_Aint,
    sendtypes: *const Fint,
    recvbuf: *mut c_void,
    recvcounts: *const Fint,
    rdispls: *const MPI_Aint,
    recvtypes: *const Fint,
    comm: MPI_Comm,
    run: Run,
) -> Result {
    // SAFETY: as the caller promises. Handles of datatypes are numbers in Fortran, so the arrays are
    // converted; the body copies what a request needs longer.
    unsafe {
        let of = Neighborhood::of(comm)?;
        let sendtypes = types_from("sendtypes", sendtypes, of.degree(Direction::Send))?;
        let recvtypes = types_from("recvtypes", recvtypes, of.degree(Direction::Receive))?;
        neighbor::alltoallw(
            buffer_from(sendbuf),
            sendcounts,
            sdispls,
            sendtypes.as_ptr(),
            buffer_from(recvbuf).cast_mut(),
            recvcounts,
            rdispls,
            recvtypes.as_ptr(),
            comm,
            run,
        )
    }
}
