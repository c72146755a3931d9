//! The libraries beside this one, in `cartograph/HOST`: which was built for an MPI, and how to load it
//! so that it can use no other.

use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use core::ffi::{CStr, c_void};

use crate::file::{self, File};
use crate::loaded::{self, Handle};
use crate::mpi;
use crate::objects::Objects;

/// What is in a host's folder.
const FILE: &str = "libcartograph.so.0";

/// Loads the library for the object `mpi`, whose handle is given; or says why there is none.
pub(crate) fn open(objects: &Objects, mpi: usize, handle: &Handle) -> Result<Handle, String> {
    let object = &objects.0[mpi];
    let shown = object.shown();
    let version = mpi::version(handle).unwrap_or_default();
    let soname = object.soname.as_deref().ok_or_else(|| format!("{shown} has no soname"))?;
    if is_open_mpi(soname) == Some(mpi::open_mpi(&version).is_none()) {
        return Err(format!(
            "{shown} calls itself {}",
            version.lines().next().unwrap_or("nothing")
        ));
    }
    // The loader takes the first of a name, and what all code finds before it.
    if objects.named(soname) != Some(mpi) || !mpi::is_found_first(objects, mpi) {
        return Err(format!("{shown} is loaded behind another MPI"));
    }
    let folder = folder().ok_or("it cannot be seen where this library is")?;
    let mut fitting = file::names(&folder);
    fitting.sort_unstable();
    fitting.retain(|host| needs(&library_of(&folder, host), soname));
    let host = choose(&fitting, mpi::open_mpi(&version))
        .ok_or_else(|| format!("{} has no library for {soname}", folder.to_string_lossy()))?;
    let library = Handle::load(&library_of(&folder, host))?;
    if !mpi::is_used_by(&library, objects, mpi) {
        return Err(format!("the library for {host} uses another MPI than {shown}"));
    }
    Ok(library)
}

/// Whether this is a name of Open MPI's library; `None` if it is of the standard ABI, which all have.
fn is_open_mpi(soname: &str) -> Option<bool> {
    let (stem, version) = soname.split_once(".so")?;
    if stem == "libmpi_abi" {
        return None;
    }
    // Open MPI has been at 12 as MPICH is, ten years ago; 20, 40 and 80 came later.
    let version: u32 = version.trim_start_matches('.').split('.').next()?.parse().unwrap_or(0);
    Some(stem == "libmpi" && version >= 20)
}

/// The host whose name says Open MPI's version, or else the first by name.
fn choose<'a>(fitting: &'a [String], open_mpi: Option<&str>) -> Option<&'a String> {
    let named =
        |host: &&String| open_mpi.is_some_and(|version| **host == format!("openmpi{version}"));
    fitting.iter().find(named).or(fitting.first())
}

/// Where the library of a host is, if the folder has one.
fn library_of(folder: &CStr, host: &str) -> CString {
    let path = [folder.to_bytes(), b"/", host.as_bytes(), b"/", FILE.as_bytes()].concat();
    CString::new(path).unwrap_or_default()
}

/// Whether a library is there and needs another by this name.
fn needs(library: &CStr, soname: &str) -> bool {
    let Some(file) = File::open(library) else { return false };
    let Some(bytes) = file.map() else { return false };
    file::needed(bytes.as_ref()).is_some_and(|needed| needed.contains(&soname))
}

/// The folder with a folder for each host.
fn folder() -> Option<CString> {
    let own = folder as *const c_void;
    let (path, _) = loaded::file_of(own)?;
    // The loader keeps a relative name as it was, and the program may be in another directory by now.
    let path = match path.to_bytes().first() {
        Some(b'/') => file::real(&path)?,
        _ => mapped_file(own as usize)?,
    };
    let end = path.to_bytes().iter().rposition(|&byte| byte == b'/')?;
    CString::new([&path.to_bytes()[..end], b"/cartograph"].concat()).ok()
}

/// The file that is mapped at an address, as the system calls it.
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
    fn open_mpi_is_known_by_name() {
        for (soname, is) in [
            ("libmpi.so.40", Some(true)),
            ("libmpi.so.12", Some(false)),
            ("libmpich.so.12", Some(false)),
            ("libmpi_cray.so.12", Some(false)),
            ("libsimgrid.so.3.32", Some(false)),
            ("libmpi_abi.so.1", None),
        ] {
            assert_eq!(is_open_mpi(soname), is, "{soname}");
        }
    }

    #[test]
    fn hosts_are_chosen_by_version() {
        let both = ["openmpi".into(), "openmpi5".into()];
        assert_eq!(choose(&both, Some("4")).unwrap(), "openmpi");
        assert_eq!(choose(&both, Some("5")).unwrap(), "openmpi5");
        assert_eq!(choose(&both[1..], Some("4")).unwrap(), "openmpi5");
        assert_eq!(choose(&[], None), None);
    }

    #[test]
    fn this_file_is_found_by_its_mapping() {
        let mapped = mapped_file(library_of as *const () as usize).unwrap();
        assert_eq!(mapped, file::real(c"/proc/self/exe").unwrap());
    }
}
