//! Receives and waits: MPI 4.1, 3.2, 3.7 to 3.9 and 4.2.

use std::ffi::{c_int, c_void};

use cartograph_shim::next::Next;

use crate::outermost::{self, Kind};
use crate::peers::bits;
#[allow(unused_imports, reason = "some are of functions that not every host declares")]
use crate::sys::{
    self, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Message, MPI_Request, MPI_Status,
};
use crate::tally::{keep_receive, not_done, post_receive, received, waited, waited_on};
use crate::ticks;

wrap! { TimedReceive
    // MPI_Mrecv's message was already matched.
    [MPI_Recv] [MPI_Recv_c]
    (
        buf: *mut c_void, count: Count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm,
        status: *mut MPI_Status
    ) => received(comm, source, tag);
    [MPI_Mprobe] []
    (
        source: c_int, tag: c_int, comm: MPI_Comm, message: *mut MPI_Message, status: *mut MPI_Status
    ) => received(comm, source, tag);
    [MPI_Probe] [] (source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status)
        => { let _ = tag; waited_on(comm, source) };
}

wrap! { Receive
    [MPI_Irecv] [MPI_Irecv_c]
    (
        buf: *mut c_void, count: Count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm,
        request: *mut MPI_Request
    ) => post_receive(*request, comm, source, tag);
    [MPI_Recv_init] [MPI_Recv_init_c]
    (
        buf: *mut c_void, count: Count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm,
        request: *mut MPI_Request
    ) => keep_receive(*request, comm, source, tag);
    [MPI_Precv_init] []
    (
        buf: *mut c_void, partitions: c_int, count: MPI_Count, datatype: MPI_Datatype, source: c_int,
        tag: c_int, comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request
    ) => keep_receive(*request, comm, source, tag);
}

/// The requests before a call, which replaces the handles of completed ones.
struct Requests {
    few: [usize; Self::FEW],
    many: Vec<usize>,
    count: usize,
}

impl Requests {
    const FEW: usize = 8;

    /// # Safety
    ///
    /// This number of requests, or none.
    #[inline]
    unsafe fn copy(count: c_int, requests: *const MPI_Request) -> Self {
        let count = if requests.is_null() { 0 } else { count.max(0) as usize };
        let mut copy = Self { few: [0; Self::FEW], many: Vec::new(), count };
        if count > Self::FEW {
            copy.many.resize(count, 0);
        }
        for (at, to) in copy.all_mut().iter_mut().enumerate() {
            // SAFETY: as the caller promises.
            *to = bits(unsafe { *requests.add(at) });
        }
        copy
    }

    fn all_mut(&mut self) -> &mut [usize] {
        if self.count > Self::FEW { &mut self.many } else { &mut self.few[..self.count] }
    }

    fn all(&self) -> &[usize] {
        if self.count > Self::FEW { &self.many } else { &self.few[..self.count] }
    }
}

/// The completed requests.
enum Done {
    All,
    /// All, if this is true.
    If(c_int),
    /// The one with this index, if any.
    One(c_int),
    /// Some of them: their number and indices.
    Some(c_int, *const c_int),
}

/// The host has returned from a call.
///
/// # Safety
///
/// The indices are valid.
#[inline]
unsafe fn answered(requests: &Requests, done: &Done, began: u64) {
    let requests = requests.all();
    match *done {
        Done::If(0) => not_done(),
        Done::All | Done::If(_) => waited(requests.iter().copied(), began),
        Done::One(index) => match requests.get(index as usize).filter(|_| index >= 0) {
            Some(request) => waited(std::iter::once(*request), began),
            None => not_done(),
        },
        Done::Some(count, _) if count <= 0 => not_done(),
        Done::Some(count, indices) => {
            // SAFETY: as the caller promises.
            let index = |at: usize| unsafe { *indices.add(at) } as usize;
            waited((0..count as usize).filter_map(|at| requests.get(index(at)).copied()), began);
        }
    }
}

/// Wraps functions that wait for requests: their number, the first of them, and which are complete.
macro_rules! wrap_waits {
    ($($name:ident ($($arg:ident: $ty:ty),*) $count:expr, $requests:expr => $done:expr;)*) => { $(
        const _: () = {
            type Function = unsafe extern "C" fn($($ty),*) -> c_int;

            #[inline(always)]
            unsafe fn call(next: &Next, $($arg: $ty),*) -> c_int {
                // SAFETY: mpi.h declares the function of this name with this type.
                let next: Function = unsafe { std::mem::transmute(next.get()) };
                let Some(outermost) = outermost::enter(Kind::Receive) else {
                    // SAFETY: the caller keeps the standard's contract for this call.
                    return unsafe { next($($arg),*) };
                };
                let began = ticks::now();
                // SAFETY: as above.
                let requests = unsafe { Requests::copy($count, $requests) };
                // SAFETY: as above.
                let code = unsafe { next($($arg),*) };
                outermost.returned();
                if code == sys::CR_SUCCESS {
                    #[allow(unused_unsafe, reason = "some look at no pointer")]
                    // SAFETY: the host has found the arguments to be right, and has answered.
                    unsafe { answered(&requests, &$done, began) };
                }
                code
            }
            cartograph_shim::names! { $name ($($arg: $ty),*) -> c_int, call }
        };
    )* };
}

wrap_waits! {
    MPI_Wait(request: *mut MPI_Request, status: *mut MPI_Status) 1, request => Done::All;
    MPI_Waitall(count: c_int, requests: *mut MPI_Request, statuses: *mut MPI_Status) count, requests => Done::All;
    MPI_Waitany(count: c_int, requests: *mut MPI_Request, index: *mut c_int, status: *mut MPI_Status)
        count, requests => Done::One(*index);
    MPI_Waitsome(
        incount: c_int, requests: *mut MPI_Request, outcount: *mut c_int, indices: *mut c_int,
        statuses: *mut MPI_Status
    ) incount, requests => Done::Some(*outcount, indices);
    MPI_Test(request: *mut MPI_Request, flag: *mut c_int, status: *mut MPI_Status) 1, request => Done::If(*flag);
    MPI_Testall(count: c_int, requests: *mut MPI_Request, flag: *mut c_int, statuses: *mut MPI_Status)
        count, requests => Done::If(*flag);
    MPI_Testany(
        count: c_int, requests: *mut MPI_Request, index: *mut c_int, flag: *mut c_int, status: *mut MPI_Status
    ) count, requests => if *flag == 0 { Done::If(0) } else { Done::One(*index) };
    MPI_Testsome(
        incount: c_int, requests: *mut MPI_Request, outcount: *mut c_int, indices: *mut c_int,
        statuses: *mut MPI_Status
    ) incount, requests => Done::Some(*outcount, indices);
}
