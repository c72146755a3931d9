//! The host's functions that send a block with its own type to each process.

use std::ffi::c_void;

use super::blocks::Start;
use crate::host::sys::MPI_Comm;

/// The arguments that change from call to call.
pub(super) struct Call {
    pub(super) comm: MPI_Comm,
    pub(super) send: *mut c_void,
    pub(super) receive: *mut c_void,
    pub(super) start: Start,
}

/// Calls a function of the host with the arrays of both sides, preceded by the host's functions and followed by an info
/// object if it takes these.
macro_rules! call {
    ($function:path, [$($functions:expr)?], $call:expr, $arrays:expr, $datatypes:expr, [$($info:expr)?], $request:expr) => {
        // SAFETY: arrays with an entry for each process or neighbor; the program vouches for its buffers.
        unsafe {
            $function(
                $($functions,)?
                $call.send,
                $arrays.send.counts.as_ptr(),
                $arrays.send.displs.as_ptr(),
                $datatypes[0].as_ptr(),
                $call.receive,
                $arrays.receive.counts.as_ptr(),
                $arrays.receive.displs.as_ptr(),
                $datatypes[1].as_ptr(),
                $call.comm,
                $($info,)?
                &raw mut $request,
            )
        }
    };
}
