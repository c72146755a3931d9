//! Functions of the program that the host calls with a communicator: they get MPI_COMM_WORLD instead of W.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use crate::handle::shown;
use crate::sys::MPI_Comm;

/// A copy callback of an attribute.
pub(crate) type Copy = unsafe extern "C" fn(
    MPI_Comm,
    c_int,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_int,
) -> c_int;
/// A delete callback.
pub(crate) type Delete = unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int;

/// The callbacks of a key, with the program's extra state. The host gets the address of this instead.
pub(crate) struct Attribute {
    copy: Option<Copy>,
    delete: Option<Delete>,
    extra: *mut c_void,
    /// MPICH's own functions that call callbacks of Fortran and C++, or 0.
    #[cfg(mpich)]
    pub(crate) proxies: [AtomicUsize; 2],
}

/// The callbacks passed to the host, and their extra state.
pub(crate) struct Given {
    pub(crate) copy: Option<Copy>,
    pub(crate) delete: Option<Delete>,
    pub(crate) extra: *mut c_void,
    #[cfg(mpich)]
    pub(crate) attribute: Option<&'static Attribute>,
}

/// All of these, by their contents, so that a program that creates the same key repeatedly uses no more memory.
static ATTRIBUTES: LazyLock<Mutex<HashMap<[usize; 3], usize>>> = LazyLock::new(Mutex::default);

/// Callbacks below this are numbers that the standard's ABI has for its own (MPI_COMM_DUP_FN).
const LAST_NUMBER: usize = 4095;

impl Given {
    /// The callbacks for a new key.
    pub(crate) fn new(copy: Option<Copy>, delete: Option<Delete>, extra: *mut c_void) -> Self {
        let numbers = [
            copy.map_or(0, |function| function as usize),
            delete.map_or(0, |function| function as usize),
            extra as usize,
        ];
        let (copies, deletes) = (numbers[0] > LAST_NUMBER, numbers[1] > LAST_NUMBER);
        // A tool's wrapper of the MPI_ name calls the PMPI_ name, which is wrapped here as well.
        let ours = numbers[0] == copied as *const () as usize
            || numbers[1] == deleted as *const () as usize;
        if ours || !copies && !deletes {
            return Self {
                copy,
                delete,
                extra,
                // SAFETY: what was given with these callbacks.
                #[cfg(mpich)]
                attribute: ours.then(|| unsafe { &*extra.cast::<Attribute>() }),
            };
        }
        let mut attributes = ATTRIBUTES.lock().expect("nothing panics in here");
        let address = *attributes.entry(numbers).or_insert_with(|| {
            let made = Attribute {
                copy,
                delete,
                extra,
                #[cfg(mpich)]
                proxies: [const { AtomicUsize::new(0) }; 2],
            };
            std::ptr::from_mut(Box::leak(Box::new(made))) as usize
        });
        Self {
            copy: if copies { Some(copied) } else { copy },
            delete: if deletes { Some(deleted) } else { delete },
            extra: address as *mut c_void,
            // SAFETY: what was leaked above.
            #[cfg(mpich)]
            attribute: Some(unsafe { &*(address as *const Attribute) }),
        }
    }
}

unsafe extern "C" fn copied(
    comm: MPI_Comm,
    key: c_int,
    extra: *mut c_void,
    value: *mut c_void,
    copy: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the address that `Given::new` gave with this function.
    let attribute = unsafe { &*extra.cast::<Attribute>() };
    let function = attribute.copy.expect("given for a function only");
    // SAFETY: as the host calls it.
    unsafe { function(shown(comm), key, attribute.extra, value, copy, flag) }
}

unsafe extern "C" fn deleted(
    comm: MPI_Comm,
    key: c_int,
    value: *mut c_void,
    extra: *mut c_void,
) -> c_int {
    // SAFETY: the address that `Given::new` gave with this function.
    let attribute = unsafe { &*extra.cast::<Attribute>() };
    let function = attribute.delete.expect("given for a function only");
    // SAFETY: as the host calls it.
    unsafe { function(shown(comm), key, value, attribute.extra) }
}

/// MPICH's libraries for Fortran and C++ create a key with a callback of their language as if it were C's, and then
/// give the host a function that can call it. That function must get the program's callback, not ours.
#[cfg(mpich)]
pub(crate) mod proxies {
    use super::{Attribute, Ordering, c_int, c_void, shown};

    pub(crate) type CopyProxy = unsafe extern "C" fn(
        *mut c_void,
        c_int,
        c_int,
        *mut c_void,
        c_int,
        *mut c_void,
        *mut *mut c_void,
        *mut c_int,
    ) -> c_int;
    pub(crate) type DeleteProxy =
        unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, *mut c_void, *mut c_void) -> c_int;

    impl Attribute {
        pub(crate) fn keep(&self, copy: CopyProxy, delete: DeleteProxy) {
            self.proxies[0].store(copy as usize, Ordering::Release);
            self.proxies[1].store(delete as usize, Ordering::Release);
        }
    }

    /// Calls a copy callback through the stored function.
    pub(crate) unsafe extern "C" fn copy(
        _ours: *mut c_void,
        comm: c_int,
        key: c_int,
        extra: *mut c_void,
        kind: c_int,
        value: *mut c_void,
        copy: *mut *mut c_void,
        flag: *mut c_int,
    ) -> c_int {
        // SAFETY: the address that `Given::new` gave with the callback.
        let attribute = unsafe { &*extra.cast::<Attribute>() };
        // SAFETY: what `keep` has stored is of this type.
        let proxy: CopyProxy =
            unsafe { std::mem::transmute(attribute.proxies[0].load(Ordering::Acquire)) };
        let function = attribute.copy.map_or(std::ptr::null_mut(), |it| it as *mut c_void);
        // SAFETY: as the host calls it.
        unsafe { proxy(function, shown(comm), key, attribute.extra, kind, value, copy, flag) }
    }

    /// Calls a delete callback through the stored function.
    pub(crate) unsafe extern "C" fn delete(
        _ours: *mut c_void,
        comm: c_int,
        key: c_int,
        kind: c_int,
        value: *mut c_void,
        extra: *mut c_void,
    ) -> c_int {
        // SAFETY: the address that `Given::new` gave with the callback.
        let attribute = unsafe { &*extra.cast::<Attribute>() };
        // SAFETY: what `keep` has stored is of this type.
        let proxy: DeleteProxy =
            unsafe { std::mem::transmute(attribute.proxies[1].load(Ordering::Acquire)) };
        let function = attribute.delete.map_or(std::ptr::null_mut(), |it| it as *mut c_void);
        // SAFETY: as the host calls it.
        unsafe { proxy(function, shown(comm), key, kind, value, attribute.extra) }
    }
}

/// An error handler of the program. The arguments after the code depend on the host.
pub(crate) type Handler = unsafe extern "C" fn(*mut MPI_Comm, *mut c_int, ...);

/// The handler for the host. Some hosts pass more arguments, which are read from where they would be: the called
/// function knows what its host passes.
type Trampoline = unsafe extern "C" fn(*mut MPI_Comm, *mut c_int, *mut c_void, *mut c_void);

/// The program's handlers. The host passes no extra state to handlers, so each has a separate function; if a program
/// has more handlers, the others see W.
static HANDLERS: [AtomicUsize; 32] = [const { AtomicUsize::new(0) }; 32];

unsafe extern "C" fn handle<const PLACE: usize>(
    comm: *mut MPI_Comm,
    code: *mut c_int,
    third: *mut c_void,
    fourth: *mut c_void,
) {
    let handler = HANDLERS[PLACE].load(Ordering::Acquire);
    // SAFETY: a handler that the program gave.
    let handler: Handler = unsafe { std::mem::transmute(handler) };
    // SAFETY: the host passes a handle; for C++ on MPICH, an object, which begins with an address and is no handle's W.
    let given = unsafe { *comm };
    let mut own = shown(given);
    let place = if own == given { comm } else { &raw mut own };
    // SAFETY: as the host calls it.
    unsafe { handler(place, code, third, fourth) }
}

macro_rules! trampolines {
    ($($place:literal)*) => { [$(handle::<$place>),*] };
}
static TRAMPOLINES: [Trampoline; 32] = trampolines!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25
    26 27 28 29 30 31);

/// The function for the host that represents a handler of the program.
pub(crate) fn handler(own: Option<Handler>) -> Option<Handler> {
    let function = own? as usize;
    if TRAMPOLINES.iter().any(|trampoline| *trampoline as usize == function) {
        return own;
    }
    for (place, trampoline) in HANDLERS.iter().zip(&TRAMPOLINES) {
        let found = place.compare_exchange(0, function, Ordering::AcqRel, Ordering::Acquire);
        if found.is_ok() || found == Err(function) {
            // SAFETY: of a type that takes what hosts pass.
            return Some(unsafe { std::mem::transmute::<Trampoline, Handler>(*trampoline) });
        }
    }
    own
}
