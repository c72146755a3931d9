//! The libraries next to this one, in `cartograph/HOST`: which one was built for an MPI, and how to load it so that it
//! can use only this MPI.

use alloc::borrow::Cow;
use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use core::cmp::Reverse;
use core::ffi::{CStr, c_void};

use cartograph_shim::elf::{FOLDER, Library, is_trusted};
use cartograph_shim::environment::variable;

use crate::file::{self, Errno, File};
use crate::fit::fit;
use crate::loaded::{self, Handle};
use crate::mpi;
use crate::objects::Objects;

/// The file in a host's folder.
#[cfg(not(feature = "record"))]
use cartograph_shim::elf::LIBRARY as FILE;
#[cfg(feature = "record")]
use cartograph_shim::elf::RECORDER as FILE;

/// Why a process has no library for its MPI.
pub(crate) enum Fault {
    /// None is installed for it, or none fits. So it is in all processes of a job, which use the MPI's own functions.
    NotInstalled(String),
    /// A library is installed, or may be, but cannot be used. Other processes may use theirs, so this one must end.
    Unusable(String),
}

use Fault::{NotInstalled, Unusable};

/// Loads the library for the object `mpi`, given its handle.
pub(crate) fn open(objects: &Objects, mpi: usize, handle: &Handle) -> Result<Handle, Fault> {
    let object = &objects.0[mpi];
    let shown = object.shown();
    let version = mpi::version(handle).unwrap_or_default();
    let soname = object.soname.as_deref();
    let soname = soname.ok_or_else(|| NotInstalled(format!("{shown} has no soname")))?;
    // The loader takes the first object of a name, after globally visible ones.
    if objects.named(soname) != Some(mpi) || !mpi::is_found_first(objects, mpi) {
        return Err(NotInstalled(format!("{shown} is loaded after another MPI")));
    }
    let pinned = variable(c"CARTOGRAPH_MPI").and_then(|name| name.to_str().ok());
    let pinned = pinned.filter(|name| *name != "auto");
    let mut installed = Installed::find()?;
    let mut found = installed.best(soname, &version, pinned)?;
    // MPICH can have its PMPI_ names in a separate library; programs and our libraries need the other one, which
    // depends on it.
    let mut needing = objects.needing(soname);
    while found.is_none()
        && let Some(other) = needing.next()
    {
        found = installed.best(other, &version, pinned)?;
    }
    let path = match (found, installed.unusable) {
        (Some(path), _) => path,
        // It may be the one for this MPI.
        (None, Some(why)) => return Err(Unusable(why)),
        (None, None) => {
            let pinned =
                pinned.map(|name| format!("CARTOGRAPH_MPI={name} does not match the MPI, or "));
            let (pinned, folder) = (pinned.unwrap_or_default(), installed.folder);
            return Err(NotInstalled(format!(
                "{pinned}{folder} has no library for {soname} of {}",
                mpi::name(handle)
            )));
        }
    };
    let library = Handle::load(&path).map_err(Unusable)?;
    if !mpi::is_used_by(&library, objects, mpi) {
        let path = path.to_string_lossy();
        return Err(NotInstalled(format!("{path} uses a different MPI than {shown}")));
    }
    Ok(library)
}

/// The libraries that are installed next to this one.
struct Installed {
    /// The directory with a folder for each host.
    folder: String,
    /// The user whose files are trusted, in addition to root: the owner of this library.
    trusted: u32,
    /// Why a file cannot be used, if any cannot.
    unusable: Option<String>,
}

impl Installed {
    fn find() -> Result<Self, Fault> {
        let own = own_file().map_err(Unusable)?;
        let path = own.to_string_lossy();
        let beside = path.rfind('/').map_or("", |end| &path[..end]);
        // Wrapping libraries are in the directory itself.
        let folder = match cfg!(feature = "record") {
            true => beside.into(),
            false => format!("{beside}/{FOLDER}"),
        };
        let status = File::open(&own).and_then(|own| own.status());
        let trusted = status.map_err(|why| Unusable(format!("{path}: {why}")))?.st_uid;
        Ok(Self { folder, trusted, unusable: None })
    }

    /// The library that fits an MPI best, among those that only root and the trusted user can have written; the first
    /// by name, if several fit equally.
    fn best(
        &mut self,
        soname: &str,
        version: &str,
        pinned: Option<&str>,
    ) -> Result<Option<CString>, Fault> {
        let folder = CString::new(self.folder.as_str()).unwrap_or_default();
        let names = match file::names(&folder) {
            Ok(names) => names,
            Err(why) if why.is_absence() => return Ok(None),
            Err(why) => return Err(Unusable(format!("{}: {why}", self.folder))),
        };
        let mut best = None;
        for host in names.iter().filter(|host| pinned.is_none_or(|name| name == *host)) {
            let Some((path, file)) = self.open(&format!("{host}/{FILE}"))? else { continue };
            let map = file.map().map_err(|why| Unusable(format!("{}: {why}", shown(&path))))?;
            let Some(library) = Library::parse(map.as_ref()) else {
                self.unusable = Some(format!("{}: not a library of Cartograph", shown(&path)));
                continue;
            };
            let Some(fit) = fit(&library, soname, version) else { continue };
            // A library that does not depend on an MPI cannot see one that was loaded privately. Next to it are empty
            // libraries, one for each name of an MPI, that depend on both.
            let both = match library.names_no_mpi() {
                true => self.open(&format!("{host}/for-{soname}/{FILE}"))?,
                false => None,
            };
            best = best.max(Some((fit, Reverse(host), both.map_or(path, |(both, _)| both))));
        }
        Ok(best.map(|(_, _, path)| path))
    }

    /// A file in the folder, if it exists and is trusted.
    fn open(&mut self, name: &str) -> Result<Option<(CString, File)>, Fault> {
        let folder = &self.folder;
        let Ok(path) = CString::new(format!("{folder}/{name}")) else { return Ok(None) };
        let opened = File::open(&path).and_then(|file| Ok((file.status()?, file)));
        match opened {
            Ok((status, file)) => {
                let trusts = is_trusted(status.st_uid, status.st_mode, self.trusted);
                Ok(trusts.then_some((path, file)))
            }
            Err(why) if why.is_absence() => Ok(None),
            Err(why) if why.is_denial() => {
                self.unusable = Some(format!("{}: {why}", shown(&path)));
                Ok(None)
            }
            Err(why) => Err(Unusable(format!("{}: {why}", shown(&path)))),
        }
    }
}

/// A path in a message.
fn shown(path: &CStr) -> Cow<'_, str> {
    path.to_string_lossy()
}

/// The file of this library, or why it is unknown.
fn own_file() -> Result<CString, String> {
    let own = own_file as *const c_void;
    let (path, _) = loaded::file_of(own).ok_or("the path of this library is unknown")?;
    // The loader keeps a relative name unchanged, and the program may be in another directory by now.
    let found = match path.to_bytes().first() {
        Some(b'/') => file::real(&path),
        _ => mapped_file(own as usize),
    };
    found.map_err(|why| format!("{}: {why}", shown(&path)))
}

/// The file that is mapped at an address, according to the system.
fn mapped_file(address: usize) -> file::Result<CString> {
    let maps = File::open(c"/proc/self/maps")?.read()?;
    let maps = String::from_utf8_lossy(&maps);
    let found = maps.lines().find_map(|line| {
        let (from, rest) = line.split_once('-')?;
        let (to, _) = rest.split_once(' ')?;
        let [from, to] = [from, to].map(|end| usize::from_str_radix(end, 16).unwrap_or(0));
        let path = &line[line.find('/')?..];
        (from..to).contains(&address).then(|| CString::new(path).ok())?
    });
    found.ok_or(Errno::ABSENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_file_is_found_by_its_mapping() {
        let mapped = mapped_file(own_file as *const () as usize).unwrap();
        assert_eq!(mapped, file::real(c"/proc/self/exe").unwrap());
    }
}
