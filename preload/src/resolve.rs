//! Resolves a name for a caller.
//!
//! An MPI that was loaded with the program serves all callers, so each name is looked up once. An MPI that was loaded
//! later may be one of several: then each call looks up its caller's MPI, in a table of earlier results for its page of
//! code.
//!
//! No lock is held: a caller may hold the loader's lock, in a constructor of a library that is being loaded.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
#[cfg(not(feature = "record"))]
use core::ffi::c_int;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use crate::library::{self, Fault};
use crate::loaded::{self, Address, Handle};
use crate::message::{end, report, reports};
use crate::mpi::{self, LoadedMpi};
use crate::objects::Objects;
use crate::stubs::{COUNT, SLOTS, name};
use crate::unloading;
#[cfg(feature = "record")]
use crate::wraps;

/// The functions that serve the callers of one MPI. It is never freed, since MPI cannot be started twice.
struct Binding {
    /// The load address of the MPI; for one in the program, 0.
    base: usize,
    /// The MPI; `None` if it is in the program.
    mpi: Option<Handle>,
    /// The object in which its own functions are looked up.
    host: Host,
    /// The library that was built for it, or why none is installed.
    library: Result<Handle, String>,
    /// True once this reason was reported.
    said: AtomicBool,
    /// The addresses found, by index of the name.
    targets: [AtomicPtr<()>; COUNT],
}

/// The objects with the functions that would be called without this library.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Host {
    /// After this library, for all callers.
    AtStart,
    /// In the program.
    InProgram,
    /// In the MPI, or in objects loaded along with the caller: functions for Fortran are in a separate library.
    Later,
}

/// One for each MPI. A process has one, hardly ever two.
static BINDINGS: [AtomicPtr<Binding>; 8] = [const { AtomicPtr::new(ptr::null_mut()) }; 8];

/// The binding of the MPI that was loaded with the program.
static AT_START: AtomicPtr<Binding> = AtomicPtr::new(ptr::null_mut());

/// The target of the name with this index, for the code at `caller`.
pub(crate) extern "C" fn resolve(index: usize, caller: usize) -> *const () {
    // SAFETY: bindings are never freed.
    if let Some(binding) = unsafe { AT_START.load(Ordering::Acquire).as_ref() } {
        return for_all_callers(binding, index, caller);
    }
    let unloaded = unloading::count();
    if let Some(binding) = unloaded.and_then(|unloaded| Memo::find(caller, unloaded)) {
        return match binding.targets[index].load(Ordering::Acquire) {
            found if found.is_null() => target(binding, index, caller),
            found => found,
        };
    }
    find(index, caller, unloaded)
}

/// The binding for an address, by the loader.
#[cold]
#[inline(never)]
fn find(index: usize, caller: usize, unloaded: Option<u64>) -> *const () {
    let objects = Objects::mapped();
    let shown = name(index).to_string_lossy();
    match mpi::of(&objects, caller) {
        LoadedMpi::AtStart(mpi) => {
            let binding = bind(&objects, Some(mpi), Host::AtStart);
            for_all_callers(binding.unwrap_or_else(|why| end_alone(&why)), index, caller)
        }
        LoadedMpi::InProgram => {
            let binding = bind(&objects, None, Host::InProgram);
            for_all_callers(binding.unwrap_or_else(|why| end_alone(&why)), index, caller)
        }
        LoadedMpi::Later(mpi) => {
            let binding = bind(&objects, Some(mpi), Host::Later);
            let binding = binding.unwrap_or_else(|why| end_alone(&why));
            if let Some(unloaded) = unloaded {
                Memo::note(caller, binding, unloaded);
            }
            target(binding, index, caller)
        }
        // A stub library with a few MPI functions, or an error in the program.
        LoadedMpi::Nowhere => {
            let name = name(index);
            let found = loaded::find_next(name).or_else(|| along_with(caller)?.find(name));
            match found.filter(|found| !loaded::is_own(*found)) {
                Some(found) => {
                    say_without_pmpi(&found);
                    found.as_ptr().cast()
                }
                None => {
                    end(format_args!("undefined symbol: {shown}: no MPI is loaded in this process"))
                }
            }
        }
        LoadedMpi::Either(several) => {
            let several: Vec<String> = several.iter().map(|&mpi| objects.0[mpi].shown()).collect();
            let caller = objects
                .at(caller)
                .map_or("code outside any file".into(), |at| objects.0[at].shown());
            end(format_args!(
                "undefined symbol: {shown}: {caller} is not linked with an MPI, and several are loaded: {}",
                several.join(", ")
            ))
        }
    }
}

/// Reports once, if a report is requested, that a function is called which no library of ours can replace.
fn say_without_pmpi(function: &Address) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed)
        && let Some((file, _)) = loaded::file_of(function.as_ptr())
    {
        let (file, every) = (file.to_string_lossy(), mpi::EVERY.to_string_lossy());
        report(format_args!(
            "{file} has no PMPI_ functions such as {every}, which Cartograph calls; using the MPI's own functions"
        ));
    }
}

/// Ends the process, since its messages would differ from those of processes under Cartograph.
fn end_alone(why: &str) -> ! {
    end(format_args!(
        "{why}; this process ends, since others of its job may use Cartograph and would wait for it: repair this, or run \
         without Cartograph"
    ))
}

/// Loads the library if the MPI is loaded with the program. Later the program may have used up file descriptors or
/// memory, or see other files. If it fails, the program may never call these functions: the first call tries again.
#[cfg(not(test))]
extern "C" fn at_load() {
    if mpi::is_at_start() {
        load_early();
    }
}

#[cold]
#[inline(never)]
#[cfg(not(test))]
fn load_early() {
    let objects = Objects::mapped();
    if let LoadedMpi::AtStart(mpi) = mpi::of(&objects, at_load as *const () as usize)
        && let Ok(binding) = bind(&objects, Some(mpi), Host::AtStart)
    {
        AT_START.store(ptr::from_ref(binding).cast_mut(), Ordering::Release);
    }
}

#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

/// Loads the library of this process's MPI if no function was called, once MPI has ended: that library then reports
/// that no topology was created, if a report is requested.
extern "C" fn at_exit() {
    if !reports() {
        return;
    }
    let has_ended = |mpi: &Option<Handle>| mpi.as_ref().is_some_and(mpi::has_ended);
    // SAFETY: bindings are never freed.
    if let Some(binding) = unsafe { BINDINGS[0].load(Ordering::Acquire).as_ref() } {
        if has_ended(&binding.mpi) {
            binding.say_why_not();
        }
        return;
    }
    let objects = Objects::mapped();
    let (mpi, host) = match mpi::of(&objects, at_exit as *const () as usize) {
        LoadedMpi::AtStart(mpi) => (mpi, Host::AtStart),
        LoadedMpi::Later(mpi) => (mpi, Host::Later),
        _ => return,
    };
    if has_ended(&Handle::of_loaded(&objects.0[mpi].path))
        && let Ok(binding) = bind(&objects, Some(mpi), host)
    {
        binding.say_why_not();
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

impl Binding {
    /// Reports once, if a report is requested, why the MPI's own functions are used.
    fn say_why_not(&self) {
        if let Err(why) = &self.library
            && !self.said.swap(true, Ordering::Relaxed)
        {
            report(format_args!("{why}; using the MPI's own functions"));
        }
    }
}

/// The target of a name for all callers, from now on without a lookup.
#[inline(never)]
fn for_all_callers(binding: &'static Binding, index: usize, caller: usize) -> *const () {
    AT_START.store(ptr::from_ref(binding).cast_mut(), Ordering::Release);
    let found = target(binding, index, caller);
    SLOTS[index].store(found.cast_mut(), Ordering::Release);
    found
}

/// The target of a name for the callers of an MPI.
#[inline(never)]
fn target(binding: &Binding, index: usize, caller: usize) -> *const () {
    let known = binding.targets[index].load(Ordering::Acquire);
    if !known.is_null() {
        return known;
    }
    binding.say_why_not();
    let name = name(index);
    let ours = binding.library.as_ref().ok().and_then(|library| library.find(name));
    let hosts = || match binding.host {
        Host::AtStart => loaded::find_next(name),
        // Not for the program itself, which explicitly looked for the functions after this library.
        Host::InProgram => loaded::find_globally(name).filter(|found| {
            loaded::base_of(found.as_ptr()) != loaded::base_of(caller as *const c_void)
        }),
        Host::Later => binding
            .mpi
            .as_ref()
            .and_then(|mpi| mpi.find(name))
            .or_else(|| along_with(caller)?.find(name)),
    };
    let anothers = |found: &Address| !loaded::is_own(*found);
    let found = ours.filter(anothers).or_else(hosts).filter(anothers);
    let Some(found) = found else {
        #[cfg(not(feature = "record"))]
        if name.to_bytes().ends_with(b"_from_session_pset") || name == c"MPI_Session_finalize" {
            return no_session as *const ();
        }
        let mpi = match &binding.mpi {
            Some(mpi) => mpi::name(mpi),
            None => "which is linked into the program".into(),
        };
        let name = name.to_string_lossy();
        end(format_args!(
            "undefined symbol: {name}: the MPI of this process, {mpi}, does not have it"
        ));
    };
    binding.targets[index].store(found.as_ptr().cast(), Ordering::Release);
    found.as_ptr().cast()
}

/// Replaces functions that take a session, for an MPI without sessions: only a null session can be passed to them.
#[cfg(not(feature = "record"))]
extern "C" fn no_session() -> c_int {
    /// Of MPIs without sessions: `MPI_ERR_UNKNOWN` in MPICH and `MPI_ERR_ARG` in Open MPI.
    const ERROR: c_int = 13;
    ERROR
}

/// The object that contains an address, through which all objects loaded for it are found.
fn along_with(caller: usize) -> Option<Handle> {
    Handle::of_loaded(&loaded::file_of(caller as *const c_void)?.0)
}

/// The binding of an MPI, in an object or in the program; or why its library, which is there, cannot be used.
fn bind(objects: &Objects, mpi: Option<usize>, host: Host) -> Result<&'static Binding, String> {
    let base = mpi.map_or(0, |mpi| objects.0[mpi].range.start);
    let mut made: Option<Box<Binding>> = None;
    for place in &BINDINGS {
        let mut found = place.load(Ordering::Acquire);
        if found.is_null() {
            let own = match made.take() {
                Some(made) => made,
                None => make(objects, mpi, host)?,
            };
            let own = Box::into_raw(own);
            match place.compare_exchange(found, own, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: it is never freed any more.
                Ok(_) => return Ok(unsafe { &*own }),
                Err(other) => {
                    // SAFETY: no other code has seen it.
                    made = Some(unsafe { Box::from_raw(own) });
                    found = other;
                }
            }
        }
        // SAFETY: bindings are never freed.
        let binding = unsafe { &*found };
        if binding.base == base {
            return Ok(binding);
        }
    }
    end(format_args!("more than {} MPIs are loaded in this process", BINDINGS.len()))
}

fn make(objects: &Objects, mpi: Option<usize>, host: Host) -> Result<Box<Binding>, String> {
    let mut handle = None;
    let library = match mpi {
        Some(mpi) => {
            let shown = || format!("{} cannot be opened again", objects.0[mpi].shown());
            let mpi_handle = Handle::of_loaded(&objects.0[mpi].path).ok_or_else(shown)?;
            let library = match library::open(objects, mpi, &mpi_handle) {
                Ok(library) => Ok(library),
                Err(Fault::NotInstalled(why)) => Err(why),
                Err(Fault::Unusable(why)) => return Err(why),
            };
            handle = Some(mpi_handle);
            library
        }
        None => Err("the MPI is linked into the program; link libcartograph.a with it".into()),
    };
    #[cfg(feature = "record")]
    if let (Ok(library), Host::AtStart) = (&library, host) {
        wraps::hand_over(library);
    }
    let targets = [const { AtomicPtr::new(ptr::null_mut()) }; COUNT];
    Ok(Box::new(Binding {
        base: mpi.map_or(0, |mpi| objects.0[mpi].range.start),
        mpi: handle,
        host,
        library,
        said: AtomicBool::new(false),
        targets,
    }))
}

/// The MPIs of pages of code that were loaded later, valid as long as nothing was unloaded.
struct Memo;

/// Each entry is one number, so that it is read and written atomically: the page, the index of the binding plus one,
/// and the number of unloadings at the time.
static MEMO: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];

impl Memo {
    const BITS_OF_COUNT: u32 = 22;
    const BITS_OF_PLACE: u32 = 4;

    /// The entry for a page, and its contents except the index; `None` for addresses that are too large, which Linux
    /// returns only to programs that ask for them.
    fn entry(caller: usize, unloaded: u64) -> Option<(&'static AtomicU64, u64)> {
        let page = caller as u64 >> 12;
        let holds = page << (Self::BITS_OF_COUNT + Self::BITS_OF_PLACE)
            | unloaded & ((1 << Self::BITS_OF_COUNT) - 1);
        (page >> 36 == 0).then(|| (&MEMO[page as usize % MEMO.len()], holds))
    }

    fn find(caller: usize, unloaded: u64) -> Option<&'static Binding> {
        let (entry, holds) = Self::entry(caller, unloaded)?;
        let found = entry.load(Ordering::Acquire);
        let place = found >> Self::BITS_OF_COUNT & ((1 << Self::BITS_OF_PLACE) - 1);
        let place = (found ^ place << Self::BITS_OF_COUNT == holds).then_some(place as usize)?;
        // SAFETY: bindings are never freed.
        unsafe { BINDINGS.get(place.checked_sub(1)?)?.load(Ordering::Acquire).as_ref() }
    }

    fn note(caller: usize, binding: &'static Binding, unloaded: u64) {
        let is = |place: &AtomicPtr<Binding>| ptr::eq(place.load(Ordering::Relaxed), binding);
        let place = BINDINGS.iter().position(is);
        if let (Some((entry, holds)), Some(place)) = (Self::entry(caller, unloaded), place) {
            entry.store(holds | (place as u64 + 1) << Self::BITS_OF_COUNT, Ordering::Release);
        }
    }
}
