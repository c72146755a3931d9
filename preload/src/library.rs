//! The libraries next to this one, in `cartograph/HOST`: which one was built for an MPI, and how to load it so that it
//! can use only this MPI.

use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use core::cmp::Reverse;
use core::ffi::{CStr, c_void};

use cartograph_shim::elf::{FOLDER, Library, is_trusted};

use crate::file::{self, File};
use crate::fit::fit;
use crate::loaded::{self, Handle};
use crate::message::variable;
use crate::mpi;
use crate::objects::Objects;

/// The file in a host's folder.
#[cfg(not(feature = "wraps"))]
use cartograph_shim::elf::LIBRARY as FILE;
#[cfg(feature = "record")]
use cartograph_shim::elf::RECORDER as FILE;
#[cfg(feature = "world")]
use cartograph_shim::elf::WORLD as FILE;

/// Loads the library for the object `mpi`, given its handle; or returns why no library fits.
pub(crate) fn open(objects: &Objects, mpi: usize, handle: &Handle) -> Result<Handle, String> {
    let object = &objects.0[mpi];
    let shown = object.shown();
    let version = mpi::version(handle).unwrap_or_default();
    let soname = object.soname.as_deref().ok_or_else(|| format!("{shown} has no soname"))?;
    // The loader takes the first object of a name, after globally visible ones.
    if objects.named(soname) != Some(mpi) || !mpi::is_found_first(objects, mpi) {
        return Err(format!("{shown} is loaded after another MPI"));
    }
    let own = own_file().ok_or("the path of this library is unknown")?;
    let pinned = variable(c"CARTOGRAPH_MPI").and_then(|name| name.to_str().ok());
    let pinned = pinned.filter(|name| *name != "auto");
    let (folder, mut found) = best(&own, soname, &version, pinned);
    // MPICH can have its PMPI_ names in a separate library; programs and our libraries need the other one, which
    // depends on it.
    let mut needing = objects.needing(soname);
    while found.is_none()
        && let Some(other) = needing.next()
    {
        found = best(&own, other, &version, pinned).1;
    }
    let path = found.ok_or_else(|| {
        let pinned =
            pinned.map(|name| format!("CARTOGRAPH_MPI={name} does not match the MPI, or "));
        let pinned = pinned.unwrap_or_default();
        format!("{pinned}{folder} has no library for {soname} of {}", mpi::name(handle))
    })?;
    let library = Handle::load(&path)?;
    if !mpi::is_used_by(&library, objects, mpi) {
        return Err(format!("{} uses a different MPI than {shown}", path.to_string_lossy()));
    }
    Ok(library)
}

/// The directory with a folder for each host, and the library in it that fits an MPI best, among those that only root
/// and the owner of the library at `own` can have written; the first by name, if several fit equally.
fn best(
    own: &CStr,
    soname: &str,
    version: &str,
    pinned: Option<&str>,
) -> (String, Option<CString>) {
    let own_path = own.to_string_lossy();
    let beside = own_path.rfind('/').map_or("", |end| &own_path[..end]);
    // Wrapping libraries are in the directory itself.
    let folder = match cfg!(feature = "wraps") {
        true => beside.into(),
        false => format!("{beside}/{FOLDER}"),
    };
    let trusted = File::open(own).and_then(|own| own.status()).map_or(0, |own| own.st_uid);
    let names = CString::new(folder.as_str()).map(|folder| file::names(&folder));
    let open = |path: &str| {
        let path = CString::new(path).ok()?;
        let file = File::open(&path)?;
        let status = file.status()?;
        is_trusted(status.st_uid, status.st_mode, trusted).then_some((path, file))
    };
    let fitting = names.iter().flatten().filter_map(|host| {
        if pinned.is_some_and(|name| name != host) {
            return None;
        }
        let (path, file) = open(&format!("{folder}/{host}/{FILE}"))?;
        let library = Library::parse(file.map()?.as_ref())?;
        let fit = fit(&library, soname, version)?;
        // A library that does not depend on an MPI cannot see one that was loaded privately. Next to it are empty
        // libraries, one for each name of an MPI, that depend on both.
        let both =
            library.names_no_mpi().then(|| open(&format!("{folder}/{host}/for-{soname}/{FILE}")));
        Some((fit, Reverse(host), both.flatten().map_or(path, |(both, _)| both)))
    });
    let found = fitting.max().map(|(_, _, path)| path);
    (folder, found)
}

/// The file of this library.
fn own_file() -> Option<CString> {
    let own = own_file as *const c_void;
    let (path, _) = loaded::file_of(own)?;
    // The loader keeps a relative name unchanged, and the program may be in another directory by now.
    match path.to_bytes().first() {
        Some(b'/') => file::real(&path),
        _ => mapped_file(own as usize),
    }
}

/// The file that is mapped at an address, according to the system.
fn mapped_file(address: usize) -> Option<CString> {
    let maps = File::open(c"/proc/self/maps")?.read();
    let maps = String::from_utf8_lossy(&maps);
    maps.lines().find_map(|line| {
        let (from, rest) = line.split_once('-')?;
        let (to, _) = rest.split_once(' ')?;
        let [from, to] = [from, to].map(|end| usize::from_str_radix(end, 16).unwrap_or(0));
        let path = &line[line.find('/')?..];
        (from..to).contains(&address).then(|| CString::new(path).ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_file_is_found_by_its_mapping() {
        let mapped = mapped_file(best as *const () as usize).unwrap();
        assert_eq!(mapped, file::real(c"/proc/self/exe").unwrap());
    }
}
