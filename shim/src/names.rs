//! Both names of a wrapped function.

/// Exports `MPI_NAME` and `PMPI_NAME`, defined by a `call` that gets the next function of that name and the arguments:
/// `names! { NAME (ARGUMENTS) -> RESULT, call }`. The crate has the macro `if_declared!`, which its build script
/// generates from mpi.h, and the host's `prototypes`.
#[expect(clippy::crate_in_macro_def, reason = "each library has the prototypes of its own host")]
#[macro_export]
macro_rules! names {
    ($name:ident ($($arg:ident: $ty:ty),*) -> $result:ty, $call:ident) => {
        #[unsafe(export_name = stringify!($name))]
        unsafe extern "C" fn named($($arg: $ty),*) -> $result {
            static NEXT: $crate::next::Next = $crate::next::Next::new(concat!(stringify!($name), "\0"));
            // SAFETY: the caller keeps the standard's contract for this call.
            unsafe { $call(&NEXT, $($arg),*) }
        }

        #[unsafe(export_name = concat!("P", stringify!($name)))]
        unsafe extern "C" fn profiled($($arg: $ty),*) -> $result {
            static NEXT: $crate::next::Next =
                $crate::next::Next::new(concat!("P", stringify!($name), "\0"));
            // SAFETY: the caller keeps the standard's contract for this call.
            unsafe { $call(&NEXT, $($arg),*) }
        }

        if_declared! { $name
            // Compiles only if the host's mpi.h declares exactly this, const for const.
            const _: unsafe extern "C" fn($($ty),*) -> $result = crate::prototypes::$name;
        }
    };
}
