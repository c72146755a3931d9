//! Finds the MPI that a caller uses, among those that the process has loaded.
//!
//! The MPI is the one that the loader finds for the caller's other MPI functions, so that handles belong together:
//! globally visible objects come first, then objects that were loaded along with the caller.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int};

use crate::loaded::{self, Handle};
use crate::objects::Objects;

/// A function that every MPI defines, and no other object: tools define the `MPI_` names, and libraries preloaded next
/// to this one have functions that send or take a communicator.
pub(crate) const EVERY: &CStr = c"PMPI_Type_get_extent";

/// True if an MPI is visible to all code when this library is loaded. The loader has looked that up along with its other
/// relocations, which costs less than asking it, and leaves no error behind for the program to find.
pub(crate) fn is_at_start() -> bool {
    let found: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads an address that the loader has written; zero if there is no such symbol.
    unsafe {
        core::arch::asm!(
            ".weak PMPI_Type_get_extent",
            "mov {}, qword ptr [rip + PMPI_Type_get_extent@GOTPCREL]",
            out(reg) found,
            options(nostack, readonly, preserves_flags),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            ".weak PMPI_Type_get_extent",
            "adrp {0}, :got:PMPI_Type_get_extent",
            "ldr {0}, [{0}, :got_lo12:PMPI_Type_get_extent]",
            out(reg) found,
            options(nostack, readonly, preserves_flags),
        );
    }
    found != 0
}

/// The MPI of a caller.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LoadedMpi {
    /// In this object, which was loaded with the program: all callers use it.
    AtStart(usize),
    /// In this object, which was loaded later: other callers may use another.
    Later(usize),
    /// In the program itself.
    InProgram,
    /// Nowhere.
    Nowhere,
    /// In one of these; it is unknown in which.
    Either(Vec<usize>),
}

/// The MPI that the code at `caller` uses.
pub(crate) fn of(objects: &Objects, caller: usize) -> LoadedMpi {
    let global = loaded::find_globally(EVERY).and_then(|found| objects.at(found.as_ptr() as usize));
    match global {
        Some(0) => return LoadedMpi::InProgram,
        Some(mpi) if mpi < objects.at_start() => return LoadedMpi::AtStart(mpi),
        _ => {}
    }
    let all = all(objects);
    if let [only] = all[..] {
        return LoadedMpi::Later(only);
    }
    let caller = objects.at(caller);
    let near = caller.and_then(|caller| objects.in_scope(caller, &all));
    match (global, near) {
        // A globally visible MPI hides those loaded later.
        (Some(global), Some(near)) if caller < Some(global) => LoadedMpi::Later(near),
        (Some(global), _) => LoadedMpi::Later(global),
        (None, Some(near)) => LoadedMpi::Later(near),
        (None, None) if all.is_empty() => LoadedMpi::Nowhere,
        (None, None) => LoadedMpi::Either(all),
    }
}

/// All loaded MPIs.
fn all(objects: &Objects) -> Vec<usize> {
    let objects = objects.0.iter().enumerate().skip(1);
    let is = objects.filter(|(_, object)| {
        // Avoids examining each of hundreds of objects.
        object.names().any(|name| name.contains("mpi") || name.contains("simgrid"))
            && Handle::of_loaded(&object.path)
                .is_some_and(|handle| loaded::lies_in(handle.find(EVERY), &object.range))
    });
    is.map(|(index, _)| index).collect()
}

/// True if all code finds this object's functions or no MPI's: a library that is loaded now will use it.
pub(crate) fn is_found_first(objects: &Objects, mpi: usize) -> bool {
    loaded::find_globally(EVERY)
        .is_none_or(|found| loaded::lies_in(Some(found), &objects.0[mpi].range))
}

/// True if a library's own calls go to this object, which may be globally visible.
pub(crate) fn is_used_by(library: &Handle, objects: &Objects, mpi: usize) -> bool {
    let found = loaded::find_globally(EVERY).or_else(|| library.find(EVERY));
    loaded::lies_in(found, &objects.0[mpi].range)
}

/// True if a program has called `MPI_Finalize`. A child that it forked earlier has not, and prints nothing when it
/// ends.
pub(crate) fn has_ended(mpi: &Handle) -> bool {
    type Function = unsafe extern "C" fn(*mut c_int) -> c_int;
    let Some(function) = mpi.find(c"PMPI_Finalized") else { return false };
    let mut flag = 0;
    // SAFETY: every MPI's is of this type, and may be called at any time.
    let code = unsafe {
        core::mem::transmute::<*mut core::ffi::c_void, Function>(function.as_ptr())(&raw mut flag)
    };
    code == 0 && flag != 0
}

/// The name and version of an MPI, as reported by it; `None` if it reports none.
pub(crate) fn version(mpi: &Handle) -> Option<String> {
    /// Larger than any MPI's MPI_MAX_LIBRARY_VERSION_STRING.
    const ROOM: usize = 16384;
    type Function = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    let function = mpi.find(c"PMPI_Get_library_version")?;
    let mut text = vec![0u8; ROOM];
    let mut length = 0;
    // SAFETY: every MPI's is of this type, and may be called at any time.
    let code = unsafe {
        let function = core::mem::transmute::<*mut core::ffi::c_void, Function>(function.as_ptr());
        function(text.as_mut_ptr().cast(), &raw mut length)
    };
    let text = CStr::from_bytes_until_nul(&text).ok()?;
    (code == 0).then(|| text.to_string_lossy().into_owned())
}

/// The same, abbreviated.
pub(crate) fn name(mpi: &Handle) -> String {
    let version = version(mpi).unwrap_or_default();
    let line = version.lines().next().and_then(|line| line.split(',').next()).unwrap_or_default();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_mpi_has_none() {
        let objects = Objects::mapped();
        assert_eq!(of(&objects, of as *const () as usize), LoadedMpi::Nowhere);
        assert!(!is_at_start());
    }
}
