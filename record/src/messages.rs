//! Messages from one process to another: MPI 4.1, chapters 3 and 4.

use std::ffi::{c_int, c_void};

use crate::sent::to;
#[allow(unused_imports, reason = "some are of functions that not every host declares")]
use crate::sys::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Request, MPI_Status};
use crate::tally::{exchange, forget, keep, send, started};

wrap! { Call
    // MPI 4.1, 3.2 and 3.4.
    [MPI_Send MPI_Bsend MPI_Ssend MPI_Rsend] [MPI_Send_c MPI_Bsend_c MPI_Ssend_c MPI_Rsend_c]
    (buf: *const c_void, count: Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm)
        => send(to(comm, dest, count, datatype), tag, None);

    // MPI 4.1, 3.7.2.
    [MPI_Isend MPI_Ibsend MPI_Issend MPI_Irsend]
    [MPI_Isend_c MPI_Ibsend_c MPI_Issend_c MPI_Irsend_c]
    (
        buf: *const c_void, count: Count, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm, request: *mut MPI_Request
    ) => send(to(comm, dest, count, datatype), tag, Some(*request));

    // MPI 4.1, 3.9.
    [MPI_Send_init MPI_Bsend_init MPI_Ssend_init MPI_Rsend_init]
    [MPI_Send_init_c MPI_Bsend_init_c MPI_Ssend_init_c MPI_Rsend_init_c]
    (
        buf: *const c_void, count: Count, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm, request: *mut MPI_Request
    ) => keep(*request, to(comm, dest, count, datatype), Some(tag));
    [MPI_Start] [] (request: *mut MPI_Request) => started(*request);
    [MPI_Startall] [] (count: c_int, requests: *mut MPI_Request)
        => (0..count.max(0) as usize).for_each(|at| started(*requests.add(at)));

    // MPI 4.1, 4.2.1. All partitions are one message, whenever they are ready.
    [MPI_Psend_init] []
    (
        buf: *const c_void, partitions: c_int, count: MPI_Count, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request
    ) => keep(*request, to(comm, dest, count.saturating_mul(partitions.into()), datatype), Some(tag));

    [MPI_Isendrecv] [MPI_Isendrecv_c]
    (
        sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int,
        recvbuf: *mut c_void, recvcount: Count, recvtype: MPI_Datatype, source: c_int, recvtag: c_int,
        comm: MPI_Comm, request: *mut MPI_Request
    ) => exchange(to(comm, dest, sendcount, sendtype), sendtag, (comm, source, recvtag), Some(*request));
    [MPI_Isendrecv_replace] [MPI_Isendrecv_replace_c]
    (
        buf: *mut c_void, count: Count, datatype: MPI_Datatype, dest: c_int, sendtag: c_int,
        source: c_int, recvtag: c_int, comm: MPI_Comm, request: *mut MPI_Request
    ) => exchange(to(comm, dest, count, datatype), sendtag, (comm, source, recvtag), Some(*request));
}

wrap! { TimedCall
    // MPI 4.1, 3.10.
    [MPI_Sendrecv] [MPI_Sendrecv_c]
    (
        sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int,
        recvbuf: *mut c_void, recvcount: Count, recvtype: MPI_Datatype, source: c_int, recvtag: c_int,
        comm: MPI_Comm, status: *mut MPI_Status
    ) => exchange(to(comm, dest, sendcount, sendtype), sendtag, (comm, source, recvtag), None);
    [MPI_Sendrecv_replace] [MPI_Sendrecv_replace_c]
    (
        buf: *mut c_void, count: Count, datatype: MPI_Datatype, dest: c_int, sendtag: c_int,
        source: c_int, recvtag: c_int, comm: MPI_Comm, status: *mut MPI_Status
    ) => exchange(to(comm, dest, count, datatype), sendtag, (comm, source, recvtag), None);
}

/// MPI 4.1, 3.7.3. After the free, another request may get its handle.
const _: () = {
    unsafe fn call(next: &cartograph_shim::next::Next, request: *mut MPI_Request) -> c_int {
        // SAFETY: every MPI_Request_free is of this type.
        let next: unsafe extern "C" fn(*mut MPI_Request) -> c_int =
            unsafe { std::mem::transmute(next.get()) };
        let outermost = crate::outermost::enter(crate::outermost::Kind::Call);
        if outermost.is_some() && !request.is_null() {
            // SAFETY: the caller's request.
            forget(unsafe { *request });
        }
        // SAFETY: the caller keeps the standard's contract for this call.
        unsafe { next(request) }
    }
    cartograph_shim::names! { MPI_Request_free (request: *mut MPI_Request) -> c_int, call }
};
