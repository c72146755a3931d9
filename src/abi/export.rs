//! `export!`: the C names of a function.

/// Exports a function under its `MPI_` and its `PMPI_` name.
///
/// ```text
/// fn MPI_Cart_rank(comm: MPI_Comm, ...) = cart_rank, raising on Some(comm);
/// ```
///
/// `cart_rank` is the body, an `unsafe fn` with the same arguments; what it returns goes to
/// [`conclude`](crate::host::errors::conclude) with the communicator whose error handler is meant.
macro_rules! export {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($arg:ident: $ty:ty),* $(,)?) = $body:path, raising on $comm:expr;
    )*) => { $(
        const _: () = {
            unsafe fn call($($arg: $ty),*) -> ::core::ffi::c_int {
                // SAFETY: the caller keeps the standard's contract for this call.
                $crate::host::errors::conclude(stringify!($name), || $comm, unsafe { $body($($arg),*) })
            }

            $(#[$doc])*
            #[unsafe(export_name = stringify!($name))]
            unsafe extern "C" fn named($($arg: $ty),*) -> ::core::ffi::c_int {
                // SAFETY: as above.
                unsafe { call($($arg),*) }
            }

            $(#[$doc])*
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            unsafe extern "C" fn profiled($($arg: $ty),*) -> ::core::ffi::c_int {
                // SAFETY: as above.
                unsafe { call($($arg),*) }
            }

            // Compiles only if the host's mpi.h declares exactly this, const for const.
            let _: unsafe extern "C" fn($($ty),*) -> ::core::ffi::c_int =
                $crate::host::sys::prototypes::$name;
        };
    )* };
}
