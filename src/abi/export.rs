//! `export!` and `query!`: the C names of a function.

/// Exports a function under its `MPI_` and its `PMPI_` name.
///
/// ```text
/// fn MPI_Cart_sub(comm: MPI_Comm, ...) = cart_sub, raising on Some(comm);
/// ```
///
/// `cart_sub` is the body, an `unsafe fn` with the same arguments; its result goes to
/// [`conclude`](crate::host::errors::conclude) with the communicator whose error handler is called. For functions that
/// not all hosts have, `declared if` gives the condition under which the host's header declares them.
macro_rules! export {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($arg:ident: $ty:ty),* $(,)?) = $body:path, raising on $comm:expr
            $(, declared if $declared:meta)?;
    )*) => { $(
        const _: () = {
            unsafe fn call($($arg: $ty),*) -> ::core::ffi::c_int {
                // SAFETY: the caller keeps the standard's contract for this call.
                $crate::host::errors::conclude(stringify!($name), || $comm, unsafe { $body($($arg),*) })
            }
            export!(@names $(#[$doc])* fn $name($($arg: $ty),*) = call $(, declared if $declared)?);
        };
    )* };
    (@names
        $(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) = $call:ident
            $(, declared if $declared:meta)?
    ) => {
        $(#[$doc])*
        #[unsafe(export_name = stringify!($name))]
        unsafe extern "C" fn named($($arg: $ty),*) -> ::core::ffi::c_int {
            // SAFETY: the caller keeps the standard's contract for this call.
            unsafe { $call($($arg),*) }
        }

        $(#[$doc])*
        #[unsafe(export_name = concat!("P", stringify!($name)))]
        unsafe extern "C" fn profiled($($arg: $ty),*) -> ::core::ffi::c_int {
            // SAFETY: the caller keeps the standard's contract for this call.
            unsafe { $call($($arg),*) }
        }

        // Compiles only if the host's mpi.h declares exactly this, const for const.
        $(#[cfg($declared)])?
        let _: unsafe extern "C" fn($($ty),*) -> ::core::ffi::c_int =
            $crate::host::sys::prototypes::$name;
    };
}

/// Exports a local query of a topology under its `MPI_` and its `PMPI_` name.
///
/// ```text
/// fn MPI_Cart_rank(comm: MPI_Comm, ...) = cart_rank, ByTopology;
/// ```
///
/// `cart_rank` is the body, an `unsafe fn` that has the topology (or, with `ByKind`, only its kind) in place of `comm`.
/// It may be called twice: first with the cached topology, inlined here. Only if the cache has none is it called again,
/// with the topology from the host, and errors are raised. So a cached query calls no function and saves no registers.
macro_rules! query {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($comm:ident: MPI_Comm, $($arg:ident: $ty:ty),* $(,)?) = $body:path, $by:ident;
    )*) => { $(
        const _: () = {
            #[cold]
            #[inline(never)]
            unsafe extern "C" fn anew($comm: MPI_Comm, $($arg: $ty),*) -> ::core::ffi::c_int {
                // SAFETY: the caller keeps the standard's contract for this call.
                let answer = unsafe {
                    $crate::abi::pointers::answer($comm, $crate::host::attributes::$by::found($comm), |found| $body(found, $($arg),*))
                };
                $crate::host::errors::conclude(stringify!($name), || Some($comm), answer)
            }

            #[inline(always)]
            unsafe fn call($comm: MPI_Comm, $($arg: $ty),*) -> ::core::ffi::c_int {
                // SAFETY: the caller keeps the standard's contract for this call.
                unsafe {
                    match $crate::host::attributes::$by::known($comm) {
                        Some(found) if $body(found, $($arg),*).is_ok() => $crate::host::sys::CG_SUCCESS,
                        _ => anew($comm, $($arg),*),
                    }
                }
            }
            export!(@names $(#[$doc])* fn $name($comm: MPI_Comm, $($arg: $ty),*) = call);
        };
    )* };
}
