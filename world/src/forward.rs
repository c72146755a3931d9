//! The functions for which the exchange of the handle is all.

use crate::sys::*;

/// Wraps a function by both of its names: `forward! { NAME [COMMUNICATORS] (ARGUMENTS) -> RESULT }`.
macro_rules! forward {
    ($name:ident [$($comm:ident)*] ($($arg:ident: $ty:ty),*) -> $result:ty) => {
        const _: () = {
            type Function = unsafe extern "C" fn($($ty),*) -> $result;

            #[inline(always)]
            unsafe fn call(next: &$crate::next::Next, $($arg: $ty),*) -> $result {
                $(let $comm = $crate::world::seen($comm);)*
                // SAFETY: every function of this name is of this type: it is what mpi.h declares.
                let next: Function = unsafe { ::core::mem::transmute(next.get()) };
                // SAFETY: the caller keeps the standard's contract for this call.
                unsafe { next($($arg),*) }
            }
            $crate::forward::names!($name ($($arg: $ty),*) -> $result, call);
        };
    };
}

/// The two names of a function whose `call` takes what is next and the arguments.
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
            // SAFETY: as above.
            unsafe { $call(&NEXT, $($arg),*) }
        }
    };
}
pub(crate) use names;

include!(concat!(env!("OUT_DIR"), "/forward.rs"));
