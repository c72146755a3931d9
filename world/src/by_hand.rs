//! The functions that need more than a replaced handle, each with its reason.

use std::ffi::{c_int, c_void};

use crate::callbacks::{self, Copy, Delete, Given, Handler};
use crate::handle::{is_other, true_world};
use crate::sys::*;
use crate::world::{self, seen};

/// Wraps a function under both of its names: `by_hand! { NAME(ARGUMENTS) = |next| BODY }`, where `next` is the next
/// function. The wrapper exists on every host, whether or not mpi.h declares it; if it does, types are compared.
macro_rules! by_hand {
    ($name:ident($($arg:ident: $ty:ty),*) = |$next:ident| $body:expr) => {
        const _: () = {
            type Function = unsafe extern "C" fn($($ty),*) -> c_int;

            #[inline(always)]
            unsafe fn call(next: &cartograph_shim::next::Next, $($arg: $ty),*) -> c_int {
                // SAFETY: every function of this name is of this type.
                let $next: Function = unsafe { ::core::mem::transmute(next.get()) };
                // SAFETY: the caller keeps the standard's contract for this call.
                unsafe { $body }
            }
            cartograph_shim::names! { $name ($($arg: $ty),*) -> c_int, call }
        };
    };
}

/// The communicator that has an attribute: predefined attributes are only on the true MPI_COMM_WORLD.
#[inline]
fn with_key(comm: MPI_Comm, key: c_int) -> MPI_Comm {
    // SAFETY: only looks at the number.
    if comm == true_world() && unsafe { cw_is_predefined(key) } != 0 { comm } else { seen(comm) }
}

/// Gets an attribute of the host's from the true world if a communicator does not have it: Open MPI copies them from
/// MPI_COMM_WORLD to its duplicates, but W is not one.
///
/// # Safety
///
/// As of the function: `flag` can be read.
#[inline]
unsafe fn of_host(code: c_int, key: c_int, flag: *const c_int) -> bool {
    // SAFETY: the function has written it if it succeeded.
    code == CW_SUCCESS as c_int && unsafe { *flag == 0 && cw_is_predefined(key) != 0 } && is_other()
}

// W is created when the host has started.
by_hand! { MPI_Init(argc: *mut c_int, argv: *mut *mut *mut core::ffi::c_char) = |next| world::start(|| next(argc, argv)) }
by_hand! { MPI_Init_thread(argc: *mut c_int, argv: *mut *mut *mut core::ffi::c_char, required: c_int, provided: *mut c_int)
= |next| world::start(|| next(argc, argv, required, provided)) }

// The host's own attributes are those of the true world.
by_hand! { MPI_Comm_get_attr(comm: MPI_Comm, key: c_int, value: *mut c_void, flag: *mut c_int) = |next| {
    match next(with_key(comm, key), key, value, flag) {
        code if of_host(code, key, flag) => next(true_world(), key, value, flag),
        code => code,
    }
} }
by_hand! { MPI_Attr_get(comm: MPI_Comm, key: c_int, value: *mut c_void, flag: *mut c_int) = |next| {
    match next(with_key(comm, key), key, value, flag) {
        code if of_host(code, key, flag) => next(true_world(), key, value, flag),
        code => code,
    }
} }
// Setting or deleting one is an error, as it is without this library.
by_hand! { MPI_Comm_set_attr(comm: MPI_Comm, key: c_int, value: *mut c_void) = |next| next(with_key(comm, key), key, value) }
by_hand! { MPI_Attr_put(comm: MPI_Comm, key: c_int, value: *mut c_void) = |next| next(with_key(comm, key), key, value) }
by_hand! { MPI_Comm_delete_attr(comm: MPI_Comm, key: c_int) = |next| next(with_key(comm, key), key) }
by_hand! { MPI_Attr_delete(comm: MPI_Comm, key: c_int) = |next| next(with_key(comm, key), key) }

// The callbacks get MPI_COMM_WORLD.
by_hand! { MPI_Comm_create_keyval(copy: Option<Copy>, delete: Option<Delete>, key: *mut c_int, extra: *mut c_void) = |next| {
    let given = Given::new(copy, delete, extra);
    let code = next(given.copy, given.delete, key, given.extra);
    keep_last(&given, code, key);
    code
} }
by_hand! { MPI_Keyval_create(copy: Option<Copy>, delete: Option<Delete>, key: *mut c_int, extra: *mut c_void) = |next| {
    let given = Given::new(copy, delete, extra);
    let code = next(given.copy, given.delete, key, given.extra);
    keep_last(&given, code, key);
    code
} }

// Error handlers as well.
by_hand! { MPI_Comm_create_errhandler(function: Option<Handler>, handler: *mut MPI_Errhandler)
= |next| next(callbacks::handler(function), handler) }
by_hand! { MPI_Errhandler_create(function: Option<Handler>, handler: *mut MPI_Errhandler)
= |next| next(callbacks::handler(function), handler) }
// An error of a call without a communicator goes to the true world's handler, which only the host calls.
by_hand! { MPI_Comm_set_errhandler(comm: MPI_Comm, handler: MPI_Errhandler) = |next| {
    match next(seen(comm), handler) {
        code if code == CW_SUCCESS as c_int && comm == true_world() && is_other() => next(comm, handler),
        code => code,
    }
} }
by_hand! { MPI_Errhandler_set(comm: MPI_Comm, handler: MPI_Errhandler) = |next| {
    match next(seen(comm), handler) {
        code if code == CW_SUCCESS as c_int && comm == true_world() && is_other() => next(comm, handler),
        code => code,
    }
} }

// A name of MPI-1, which some hosts have without declaring it.
by_hand! { MPI_Errhandler_get(comm: MPI_Comm, handler: *mut MPI_Errhandler) = |next| next(seen(comm), handler) }

// The processes of the set of all are in W's order: replaced once, even though the next function may be Cartograph's,
// which calls this library again by the other name.
if_declared! { MPI_Group_from_session_pset
    thread_local! {
        static IN_GROUP: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
    }
    by_hand! { MPI_Group_from_session_pset(session: MPI_Session, name: *const core::ffi::c_char, group: *mut MPI_Group) = |next| {
        let is_nested = IN_GROUP.replace(true);
        let code = next(session, name, group);
        IN_GROUP.set(is_nested);
        let is_all = || core::ffi::CStr::from_ptr(name).to_bytes().eq_ignore_ascii_case(b"mpi://WORLD");
        if code == CW_SUCCESS as c_int && !is_nested && is_other() && is_all() { reorder(group) } else { code }
    } }
}

/// Replaces a group of all processes in the true order by one in W's order.
///
/// # Safety
///
/// A group of the size of the world.
#[allow(dead_code, reason = "only for hosts with sessions")]
unsafe fn reorder(group: *mut MPI_Group) -> c_int {
    let mut size = 0;
    // SAFETY: places for results, and groups of all processes, which are freed again.
    unsafe {
        let (mut other, mut all) = (cw_group_null, cw_group_null);
        let codes = [
            crate::host::PMPI_Comm_size(true_world(), &raw mut size),
            crate::host::PMPI_Comm_group(seen(true_world()), &raw mut other),
            crate::host::PMPI_Comm_group(true_world(), &raw mut all),
        ];
        if let Some(code) = codes.into_iter().find(|code| *code != CW_SUCCESS as c_int) {
            return code;
        }
        let ranks: Vec<c_int> = (0..size).collect();
        let mut old = vec![0; ranks.len()];
        let mut code = crate::host::PMPI_Group_translate_ranks(
            other,
            size,
            ranks.as_ptr(),
            all,
            old.as_mut_ptr(),
        );
        crate::host::PMPI_Group_free(&raw mut other);
        crate::host::PMPI_Group_free(&raw mut all);
        if code == CW_SUCCESS as c_int {
            let mut ordered = cw_group_null;
            code = crate::host::PMPI_Group_incl(*group, size, old.as_ptr(), &raw mut ordered);
            if code == CW_SUCCESS as c_int {
                crate::host::PMPI_Group_free(group);
                *group = ordered;
            }
        }
        code
    }
}

/// MPICH's libraries for Fortran call these in place of C's functions for attributes.
#[cfg(any(mpich, not(open_mpi)))]
mod mpich {
    use super::{MPI_Comm, c_int, c_void, of_host, true_world, with_key};
    use cartograph_shim::next::Next;

    #[unsafe(export_name = "MPII_Comm_get_attr")]
    unsafe extern "C" fn get(
        comm: MPI_Comm,
        key: c_int,
        value: *mut c_void,
        flag: *mut c_int,
        kind: c_int,
    ) -> c_int {
        static NEXT: Next = Next::new("MPII_Comm_get_attr\0");
        type Function =
            unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_int, c_int) -> c_int;
        // SAFETY: MPICH's function is of this type since 3.0, and the caller is MPICH's.
        unsafe {
            let next: Function = core::mem::transmute(NEXT.get());
            match next(with_key(comm, key), key, value, flag, kind) {
                code if of_host(code, key, flag) => next(true_world(), key, value, flag, kind),
                code => code,
            }
        }
    }

    #[unsafe(export_name = "MPII_Comm_set_attr")]
    unsafe extern "C" fn set(comm: MPI_Comm, key: c_int, value: *mut c_void, kind: c_int) -> c_int {
        static NEXT: Next = Next::new("MPII_Comm_set_attr\0");
        type Function = unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, c_int) -> c_int;
        // SAFETY: as above.
        unsafe {
            let next: Function = core::mem::transmute(NEXT.get());
            next(with_key(comm, key), key, value, kind)
        }
    }
}

/// Remembers the key that this thread created last.
#[cfg(not(mpich))]
fn keep_last(_given: &Given, _code: c_int, _key: *const c_int) {}

#[cfg(mpich)]
use languages::keep_last;

/// Keys whose callbacks are in Fortran or C++.
#[cfg(mpich)]
mod languages {
    use std::cell::Cell;

    use super::{CW_KEYVAL_INVALID, CW_SUCCESS, Given, c_int};
    use crate::callbacks::Attribute;
    use crate::callbacks::proxies::{self, CopyProxy, DeleteProxy};
    use cartograph_shim::next::Next;

    thread_local! {
        static LAST: Cell<(c_int, Option<&'static Attribute>)> =
            const { Cell::new((CW_KEYVAL_INVALID as c_int, None)) };
    }

    /// Remembers the key that this thread created last.
    pub(super) fn keep_last(given: &Given, code: c_int, key: *const c_int) {
        if code == CW_SUCCESS as c_int {
            // SAFETY: the host has written it.
            LAST.set((unsafe { *key }, given.attribute));
        }
    }

    // MPICH's libraries call this right after creating a key.
    #[unsafe(export_name = "MPII_Keyval_set_proxy")]
    unsafe extern "C" fn set_proxy(key: c_int, copy: CopyProxy, delete: DeleteProxy) {
        static NEXT: Next = Next::new("MPII_Keyval_set_proxy\0");
        type Function = unsafe extern "C" fn(c_int, CopyProxy, DeleteProxy);
        // SAFETY: MPICH's function is of this type since 3.0, and the caller is MPICH's.
        let next: Function = unsafe { core::mem::transmute(NEXT.get()) };
        let (copy, delete) = match LAST.get() {
            (last, Some(attribute)) if last == key => {
                attribute.keep(copy, delete);
                (proxies::copy as CopyProxy, proxies::delete as DeleteProxy)
            }
            _ => (copy, delete),
        };
        // SAFETY: as above.
        unsafe { next(key, copy, delete) }
    }
}

/// Open MPI's library for Fortran finds attributes and error handlers in the communicator itself, bypassing all C
/// names. So it is called with W's Fortran handle. Compilers on Linux write one or two underscores; `mpi_f08` calls the
/// last name.
#[cfg(open_mpi)]
mod fortran {
    use super::{MPI_Comm, c_int, seen, true_world, with_key};
    use cartograph_shim::next::Next;

    type Fint = c_int;

    /// The Fortran handle of a communicator.
    fn number(comm: MPI_Comm) -> Fint {
        // SAFETY: a communicator of the host's.
        unsafe { crate::host::PMPI_Comm_c2f(comm) }
    }

    /// Wraps procedures under all of their names: `fortran! { [PROCEDURES] ARGUMENTS = COMMUNICATOR }`, where
    /// COMMUNICATOR replaces MPI_COMM_WORLD.
    macro_rules! fortran {
        ([$($procedure:ident)*] $arguments:tt = $to:expr) => { $(
            fortran!(@one ["mpi_" $procedure "_"] $arguments = $to);
            fortran!(@one ["mpi_" $procedure "__"] $arguments = $to);
            fortran!(@one ["pmpi_" $procedure "_"] $arguments = $to);
            fortran!(@one ["pmpi_" $procedure "__"] $arguments = $to);
            fortran!(@one ["ompi_" $procedure "_f"] $arguments = $to);
        )* };
        (@one [$start:literal $procedure:ident $end:literal] ($comm:ident $(, $arg:ident)*) = $to:expr) => {
            const _: () = {
                #[unsafe(export_name = concat!($start, stringify!($procedure), $end))]
                unsafe extern "C" fn named($comm: *const Fint $(, $arg: *mut Fint)*) {
                    static NEXT: Next = Next::new(concat!($start, stringify!($procedure), $end, "\0"));
                    type Function = unsafe extern "C" fn(*const Fint $(, fortran!(@type $arg))*);
                    // SAFETY: Open MPI's procedures of this name take this number of addresses.
                    let next: Function = unsafe { core::mem::transmute(NEXT.get()) };
                    // SAFETY: Fortran passes the addresses of what the standard says.
                    unsafe {
                        if *$comm == number(true_world()) {
                            let to = number($to);
                            next(&raw const to $(, $arg)*)
                        } else {
                            next($comm $(, $arg)*)
                        }
                    }
                }
            };
        };
        (@type $arg:ident) => { *mut Fint };
    }

    fortran! { [comm_get_attr attr_get] (comm, key, value, flag, error) = with_key(true_world(), *key) }
    fortran! { [comm_set_attr attr_put] (comm, key, value, error) = with_key(true_world(), *key) }
    fortran! { [comm_call_errhandler] (comm, code, error) = seen(true_world()) }
}
