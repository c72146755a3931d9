//! `fortran!`: the Fortran names of a procedure.

/// Exports a procedure under the names that Fortran compilers give it: `x_`, `x__`, `x` and `X`,
/// each also with the `p` of the profiling interface.
///
/// ```text
/// fn mpi_cart_rank | MPI_CART_RANK | MPI_Cart_rank(comm: *const Fint, ...) raising on comm {
///     cart::cart_rank(comm_from(comm), coords, rank)
/// }
/// ```
///
/// The third name is the one in error messages. The braces hold the call of the body; a last
/// argument `ierror` is added, which may be null: the standard's `mpi_f08` lets programs leave it out.
macro_rules! fortran {
    ($(
        fn $lower:ident | $upper:ident | $name:ident($($arg:ident: $ty:ty),* $(,)?)
            raising on $comm:expr; $body:block
    )*) => { $(
        const _: () = {
            unsafe fn call($($arg: $ty,)* ierror: *mut $crate::fortran::edge::Fint) {
                // SAFETY: the caller keeps the standard's contract for this call; Fortran passes
                // the address of every argument.
                let body = || -> $crate::host::Result { unsafe { $body } };
                #[allow(unused_unsafe, reason = "without a communicator nothing is converted")]
                // SAFETY: as above.
                let comm = || unsafe { $comm };
                let code = $crate::host::errors::conclude(stringify!($name), comm, body());
                if !ierror.is_null() {
                    // SAFETY: the caller's INTEGER.
                    unsafe { ierror.write(code) };
                }
            }
            fortran!(@name call, stringify!($lower), ($($arg: $ty),*));
            fortran!(@name call, concat!(stringify!($lower), "_"), ($($arg: $ty),*));
            fortran!(@name call, concat!(stringify!($lower), "__"), ($($arg: $ty),*));
            fortran!(@name call, stringify!($upper), ($($arg: $ty),*));
            fortran!(@name call, concat!("p", stringify!($lower)), ($($arg: $ty),*));
            fortran!(@name call, concat!("p", stringify!($lower), "_"), ($($arg: $ty),*));
            fortran!(@name call, concat!("p", stringify!($lower), "__"), ($($arg: $ty),*));
            fortran!(@name call, concat!("P", stringify!($upper)), ($($arg: $ty),*));
        };
    )* };
    (@name $call:ident, $symbol:expr, ($($arg:ident: $ty:ty),*)) => {
        const _: () = {
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn named($($arg: $ty,)* ierror: *mut $crate::fortran::edge::Fint) {
                // SAFETY: as the procedure itself.
                unsafe { $call($($arg,)* ierror) }
            }
        };
    };
}
