//! Checks that the loaded MPI is of the kind for which this library was built.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, Ordering};

use super::process::eprint_line;
use super::sys;

/// Ends the process with a message if the loaded MPI is of another family than the one for which this library was
/// built: with another size of handles every later call would crash.
pub(crate) fn check_family() {
    static CHECKED: AtomicBool = AtomicBool::new(false);
    if CHECKED.load(Ordering::Relaxed) || CHECKED.swap(true, Ordering::Relaxed) {
        return;
    }
    if let Some([built, running]) = mismatch() {
        eprint_line!(
            "this library was built for {}, but the program runs on {}; \
             preload the library that `make lib HOST=...` builds for the program's MPI",
            name(built),
            name(running)
        );
        std::process::abort();
    }
}

/// The family for which the library was built and that of the loaded MPI, if they are known and differ.
fn mismatch() -> Option<[sys::cg_family; 2]> {
    // SAFETY: a constant of the shim.
    let families = [unsafe { sys::cg_family_built }, running()];
    let known = !families.contains(&sys::CG_FAMILY_UNKNOWN);
    (known && families[0] != families[1]).then_some(families)
}

/// True if this library was built for SMPI, which runs all ranks in one process.
pub(super) fn is_smpi() -> bool {
    // SAFETY: a constant of the shim.
    unsafe { sys::cg_family_built == sys::CG_FAMILY_SMPI }
}

/// The name and version of the loaded MPI.
fn library_version() -> Option<String> {
    // Another MPI than the one for which the library was built may have longer texts.
    const ROOM: usize = 16384;
    const { assert!(sys::CG_MAX_LIBRARY_VERSION_STRING as usize <= ROOM) };
    let mut version = vec![0 as c_char; ROOM];
    // SAFETY: a buffer that is large enough; allowed at any time.
    if unsafe { sys::cg_library_version(version.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: the host has written a string, and the buffer was zero before.
    let version = unsafe { CStr::from_ptr(version.as_ptr()) };
    Some(version.to_string_lossy().into_owned())
}

/// `MPI_Get_library_version` of the loaded MPI, on one line; empty if it returns none.
pub(super) fn version() -> String {
    let version = library_version().unwrap_or_default();
    let line = version.lines().next().unwrap_or_default();
    line.split(", ").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The family of the loaded MPI. One MPI may have its own binary interface and the standard one, in two libraries.
fn running() -> sys::cg_family {
    // SAFETY: queries the host's functions, which is allowed at any time.
    if unsafe { sys::cg_has_standard_abi() } != 0 {
        return sys::CG_FAMILY_ABI;
    }
    let Some(version) = library_version() else { return sys::CG_FAMILY_UNKNOWN };
    let calls_itself = |names: &[&str]| names.iter().any(|name| version.contains(name));
    if calls_itself(&["Open MPI"]) {
        sys::CG_FAMILY_OPEN_MPI
    } else if calls_itself(&["SMPI"]) {
        sys::CG_FAMILY_SMPI
    } else if calls_itself(&["MPICH", "Intel(R) MPI", "MVAPICH"]) {
        sys::CG_FAMILY_MPICH
    } else {
        sys::CG_FAMILY_UNKNOWN
    }
}

fn name(family: sys::cg_family) -> &'static str {
    match family {
        sys::CG_FAMILY_MPICH => "the MPICH ABI (MPICH, Intel MPI, MVAPICH)",
        sys::CG_FAMILY_OPEN_MPI => "Open MPI",
        sys::CG_FAMILY_ABI => "the MPI-5 standard ABI",
        sys::CG_FAMILY_SMPI => "SimGrid SMPI",
        _ => "an unknown MPI",
    }
}
