//! `wrap!` and `wrap_collectives!`: functions of MPI that count their messages.

/// Wraps functions of one signature, each under its `MPI_` and its `PMPI_` name, if mpi.h declares it.
///
/// ```text
/// Call
/// [MPI_Send MPI_Ssend] [MPI_Send_c MPI_Ssend_c]
/// (buf: *const c_void, count: Count, ..., comm: MPI_Comm) => count(to(comm, dest, count, datatype));
/// ```
///
/// The [`Kind`](crate::outermost::Kind) of the functions comes first. `Count` and `Displ` are the types of counts and
/// displacements: `c_int`, and for the second list, of functions with large counts, `MPI_Count` and `MPI_Aint`. The
/// code after the arrow runs after the function has succeeded, unless another wrapped function called it.
macro_rules! wrap {
    ($kind:ident $( [$($name:ident)*] [$($large:ident)*] $args:tt => $then:expr; )*) => { $(
        $( wrap!(@one $kind, $name, ::core::ffi::c_int, ::core::ffi::c_int, $args, $then); )*
        $( wrap!(@one $kind, $large, $crate::sys::MPI_Count, $crate::sys::MPI_Aint, $args, $then); )*
    )* };
    (@one $kind:ident, $name:ident, $count:ty, $displ:ty, ($($arg:ident: $ty:ty),*), $then:expr) => {
        if_declared! { $name
            const _: () = {
                #[allow(dead_code, reason = "not all functions have counts or displacements")]
                type Count = $count;
                #[allow(dead_code, reason = "as above")]
                type Displ = $displ;
                type Function = unsafe extern "C" fn($($ty),*) -> ::core::ffi::c_int;

                #[inline(always)]
                unsafe fn call(next: &cartograph_shim::next::Next, $($arg: $ty),*) -> ::core::ffi::c_int {
                    // SAFETY: every function of this name is of this type: it is what mpi.h declares.
                    let next: Function = unsafe { ::core::mem::transmute(next.get()) };
                    let outermost = $crate::outermost::enter($crate::outermost::Kind::$kind);
                    // SAFETY: the caller keeps the standard's contract for this call.
                    let code = unsafe { next($($arg),*) };
                    outermost.iter().for_each($crate::outermost::Outermost::returned);
                    if outermost.is_some() && code == $crate::sys::CR_SUCCESS {
                        #[allow(unused_unsafe, reason = "some look at no pointer")]
                        // SAFETY: the host has accepted the arguments, and the memory that they point to is the
                        // caller's for the time of the call.
                        unsafe { $then };
                    }
                    code
                }
                cartograph_shim::names! { $name ($($arg: $ty),*) -> ::core::ffi::c_int, call }
            };
        }
    };
}

/// Wraps a collective: blocking, nonblocking and persistent, each without and with large counts.
///
/// ```text
/// [MPI_Bcast MPI_Bcast_c] [MPI_Ibcast MPI_Ibcast_c] [MPI_Bcast_init MPI_Bcast_init_c]
/// (buffer: *mut c_void, ..., comm: MPI_Comm) => calls("MPI_Bcast");
/// ```
macro_rules! wrap_collectives {
    ($(
        [$name:ident $large:ident] [$nonblocking:ident $large_nonblocking:ident]
        [$persistent:ident $large_persistent:ident] ($($arg:ident: $ty:ty),*) => $sent:expr;
    )*) => {
    wrap! { TimedCall $(
        [$name] [$large] ($($arg: $ty),*) => $crate::tally::collective($sent);
    )* }
    wrap! { Call $(
        [$nonblocking] [$large_nonblocking] ($($arg: $ty,)* request: *mut MPI_Request)
            => { let _ = request; $crate::tally::count($sent) };
        [$persistent] [$large_persistent] ($($arg: $ty,)* info: MPI_Info, request: *mut MPI_Request)
            => { let _ = info; $crate::tally::keep(*request, $sent, None) };
    )* } };
}
