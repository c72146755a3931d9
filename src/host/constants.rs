//! Constants of the host. Some headers define them as variables, casts or calls.

use std::ffi::c_void;

use super::sys::{self, MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request};

macro_rules! constants {
    ($($name:ident: $type:ty = $value:expr;)*) => {$(
        #[inline]
        pub(crate) fn $name() -> $type {
            // SAFETY: a constant of the host, or a function of our C files that returns one.
            unsafe { $value }
        }
    )*};
}

constants! {
    comm_null: MPI_Comm = sys::cg_comm_null;
    comm_self: MPI_Comm = sys::cg_comm_self();
    comm_world: MPI_Comm = sys::cg_comm_world();
    request_null: MPI_Request = sys::cg_request_null;
    byte: MPI_Datatype = sys::cg_byte;
    min: MPI_Op = sys::cg_min;
    sum: MPI_Op = sys::cg_sum;
    bottom: *const c_void = sys::cg_bottom();
    in_place: *const c_void = sys::cg_in_place();
}
