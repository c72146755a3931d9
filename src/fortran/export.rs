//! `fortran!` and `fortran_query!`: the Fortran names of a procedure.

/// Exports a procedure under the names that Fortran compilers give it: `x_` and `x__`, each also with
/// the `p` of the profiling interface.
///
/// Names without an underscore, `x` and `X`, are left to the host, whose procedures call the C names: a program may
/// define C functions with these names, as R's Rmpi does, and a preloaded library would replace them.
///
/// ```text
/// fn mpi_cart_rank | MPI_Cart_rank(comm: *const Fint, ...) raising on comm {
///     cart::cart_rank(comm_from(comm), coords, rank)
/// }
/// ```
///
/// The second name is used in error messages. The braces contain the call of the body; a last argument `ierror` is
/// added, which may be null: the standard's `mpi_f08` lets programs omit it.
macro_rules! fortran {
    ($(
        fn $lower:ident | $name:ident($($arg:ident: $ty:ty),* $(,)?)
            raising on $comm:expr; $body:block
    )*) => { $(
        const _: () = {
            unsafe fn call($($arg: $ty,)* ierror: *mut $crate::fortran::pointers::Fint) {
                // SAFETY: the caller keeps the standard's contract for this call; Fortran passes
                // the address of every argument.
                let body = || -> $crate::host::Result { unsafe { $body } };
                #[allow(unused_unsafe, reason = "without a communicator nothing is converted")]
                // SAFETY: the caller keeps the standard's contract for this call; Fortran passes the address of every
                // argument.
                let comm = || unsafe { $comm };
                let code = $crate::host::errors::conclude(stringify!($name), comm, body());
                if !ierror.is_null() {
                    // SAFETY: the caller's INTEGER.
                    unsafe { ierror.write(code) };
                }
            }
            fortran!(@names call, $lower, ($($arg: $ty),*));
        };
    )* };
    (@names $call:ident, $lower:ident, $args:tt) => {
        fortran!(@name $call, concat!(stringify!($lower), "_"), $args);
        fortran!(@name $call, concat!(stringify!($lower), "__"), $args);
        fortran!(@name $call, concat!("p", stringify!($lower), "_"), $args);
        fortran!(@name $call, concat!("p", stringify!($lower), "__"), $args);
    };
    (@name $call:ident, $symbol:expr, ($($arg:ident: $ty:ty),*)) => {
        const _: () = {
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn named($($arg: $ty,)* ierror: *mut $crate::fortran::pointers::Fint) {
                // SAFETY: as the procedure itself.
                unsafe { $call($($arg,)* ierror) }
            }
        };
    };
}

/// Exports a local query of a topology under its Fortran names, like `query!` for the C names.
///
/// ```text
/// fn mpi_cart_rank | MPI_Cart_rank(comm: *const Fint, ...) ByTopology;
///     |found: CachedTopology| { cart::cart_rank(found, coords, rank) }
/// ```
macro_rules! fortran_query {
    ($(
        fn $lower:ident | $name:ident(
            $comm:ident: *const Fint, $($arg:ident: $ty:ty),* $(,)?
        ) $by:ident; |$found:ident: $what:ty| $body:block
    )*) => { $(
        const _: () = {
            #[inline(always)]
            unsafe fn body(
                $found: $what,
                $($arg: $ty),*
            ) -> $crate::abi::pointers::CheckedResult {
                // SAFETY: the caller keeps the standard's contract for this call; Fortran passes
                // the address of every argument.
                unsafe { $body }
            }

            /// # Safety
            ///
            /// `ierror` is null or can be written.
            #[inline(always)]
            unsafe fn tell(ierror: *mut $crate::fortran::pointers::Fint, code: ::core::ffi::c_int) {
                if !ierror.is_null() {
                    // SAFETY: as the caller promises.
                    unsafe { ierror.write(code) };
                }
            }

            #[cold]
            #[inline(never)]
            unsafe extern "C" fn anew(
                $comm: *const Fint,
                $($arg: $ty,)*
                ierror: *mut $crate::fortran::pointers::Fint,
            ) {
                // SAFETY: the caller keeps the standard's contract for this call; Fortran passes the address of every
                // argument.
                unsafe {
                    let comm = comm_from($comm);
                    let answer = $crate::abi::pointers::answer(
                        comm, $crate::host::attributes::$by::found(comm), |found| body(found, $($arg),*),
                    );
                    let name = stringify!($name);
                    tell(ierror, $crate::host::errors::conclude(name, || Some(comm), answer));
                }
            }

            #[inline(always)]
            unsafe fn call(
                $comm: *const Fint,
                $($arg: $ty,)*
                ierror: *mut $crate::fortran::pointers::Fint,
            ) {
                // SAFETY: the caller keeps the standard's contract for this call; Fortran passes the address of every
                // argument.
                unsafe {
                    match $crate::host::attributes::$by::known(comm_from($comm)) {
                        Some(found) if body(found, $($arg),*).is_ok() => {
                            tell(ierror, $crate::host::sys::CG_SUCCESS);
                        }
                        _ => anew($comm, $($arg,)* ierror),
                    }
                }
            }
            fortran!(@names call, $lower, ($comm: *const Fint, $($arg: $ty),*));
        };
    )* };
}
