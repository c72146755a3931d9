//! The functions that only need the handle replaced.

use crate::sys::*;

/// Wraps a function under both of its names: `forward! { NAME [COMMUNICATORS] (ARGUMENTS) -> RESULT }`.
macro_rules! forward {
    ($name:ident [$($comm:ident)*] ($($arg:ident: $ty:ty),*) -> $result:ty) => {
        const _: () = {
            type Function = unsafe extern "C" fn($($ty),*) -> $result;

            #[inline(always)]
            unsafe fn call(next: &cartograph_shim::next::Next, $($arg: $ty),*) -> $result {
                $(let $comm = $crate::world::seen($comm);)*
                // SAFETY: every function of this name is of this type: it is what mpi.h declares.
                let next: Function = unsafe { ::core::mem::transmute(next.get()) };
                // SAFETY: the caller keeps the standard's contract for this call.
                unsafe { next($($arg),*) }
            }
            cartograph_shim::names! { $name ($($arg: $ty),*) -> $result, call }
        };
    };
}

include!(concat!(env!("OUT_DIR"), "/forward.rs"));
