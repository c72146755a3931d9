//! The libraries that were built or installed, and which of them fits.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use super::elf;
use super::family::Family;

/// A libcartograph.so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Library {
    /// The host it was built for, by the name of its directory.
    pub(crate) host: String,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The MPI library that it is linked with, such as `libmpi.so.40`.
    pub(crate) mpi: Option<String>,
}

impl Library {
    pub(crate) fn family(&self) -> Option<Family> {
        Family::of(self.mpi.as_deref()?)
    }
}

/// How libraries lie in a directory that has a folder for each host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `HOST/libcartograph.so`: by `make install`.
    Installed,
    /// `HOST/lib/libcartograph.so`: by `make`.
    Built,
}

impl Form {
    fn library(self, host: &Path) -> PathBuf {
        host.join(match self {
            Self::Installed => "libcartograph.so",
            Self::Built => "lib/libcartograph.so",
        })
    }
}

/// A directory with a folder for each host.
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    forms: &'static [Form],
    /// Whose files are taken, beside those of root; `None`: any user's, since the place was named.
    owner: Option<u32>,
}

/// What `make` writes beside `bin` where it builds: nothing else says that a directory holds libraries.
const MARK: &str = "cartograph-build";
const MARKED: &str = "Libraries that make built for `cartograph exec`: HOST/lib/libcartograph.so\n";

impl Place {
    /// Places that the command may take libraries from: what the user says, what is installed with it,
    /// and what was built with it. Both must be beside a directory `bin`; other users may put something
    /// beside a command that lies elsewhere.
    pub(crate) fn all() -> Vec<Self> {
        let own = env::var_os("CARTOGRAPH_LIB_DIR").filter(|path| !path.is_empty());
        let own = own.map(|path| Self {
            path: path.into(),
            forms: &[Form::Installed, Form::Built],
            owner: None,
        });
        own.into_iter().chain(Self::beside_the_command().into_iter().flatten()).collect()
    }

    fn beside_the_command() -> Option<Vec<Self>> {
        let command = env::current_exe().ok()?.canonicalize().ok()?;
        let directory = command.parent()?;
        if directory.file_name()? != "bin" {
            return None;
        }
        let prefix = directory.parent()?;
        let owner = Some(command.metadata().ok()?.uid());
        let installed = prefix.join("lib/cartograph");
        let mut places = vec![Self { path: installed, forms: &[Form::Installed], owner }];
        let built = Self { path: prefix.to_owned(), forms: &[Form::Built], owner };
        let mark = prefix.join(MARK);
        if built.trusts(&mark) && fs::read_to_string(&mark).is_ok_and(|text| text == MARKED) {
            places.push(built);
        }
        Some(places)
    }

    /// Whether a file is there, and only its owner, whose command this is, can have written it.
    fn trusts(&self, file: &Path) -> bool {
        const WRITABLE_BY_ALL: u32 = 0o002;
        let Ok(found) = file.metadata() else { return false };
        let is_theirs = |owner| found.uid() == owner || found.uid() == 0;
        found.is_file()
            && self.owner.is_none_or(|o| is_theirs(o) && found.mode() & WRITABLE_BY_ALL == 0)
    }

    /// The library for the host whose folder this is.
    fn library(&self, host: &Path) -> Option<PathBuf> {
        self.forms.iter().map(|form| form.library(host)).find(|file| self.trusts(file))
    }
}

/// All libraries, one a host: the first that is found.
pub(crate) fn all() -> Vec<Library> {
    let mut found: Vec<Library> = Vec::new();
    for place in Place::all() {
        let Ok(hosts) = fs::read_dir(&place.path) else { continue };
        let mut hosts: Vec<PathBuf> = hosts.filter_map(|entry| Some(entry.ok()?.path())).collect();
        hosts.sort();
        for directory in hosts {
            let Some(host) = directory.file_name().and_then(|name| name.to_str()) else { continue };
            if let Some(path) = place.library(&directory)
                && found.iter().all(|library| library.host != host)
            {
                found.push(Library { host: host.to_owned(), mpi: elf::mpi_of(&path), path });
            }
        }
    }
    found
}

/// The library for an MPI of this name; `version` is that of Open MPI, whose versions share a name.
pub(crate) fn fitting(all: Vec<Library>, mpi: &str, version: Option<u32>) -> Option<Library> {
    let same = all.into_iter().filter(|library| library.mpi.as_deref() == Some(mpi)).collect();
    choose(same, version)
}

/// The library that fits Open MPI's version, or the only one there is.
pub(crate) fn one_of(fitting: Vec<Library>, version: Option<u32>) -> Option<Library> {
    match fitting.len() {
        1 => fitting.into_iter().next(),
        _ => version.and_then(|version| choose(fitting, Some(version))),
    }
}

/// The library of the host whose name says the version, or else the first by name, which says none.
fn choose(mut same: Vec<Library>, version: Option<u32>) -> Option<Library> {
    same.sort_by(|one, other| one.host.cmp(&other.host));
    let named = |library: &Library| {
        version.is_some_and(|version| library.host == format!("openmpi{version}"))
    };
    let at = same.iter().position(named).unwrap_or(0);
    (!same.is_empty()).then(|| same.swap_remove(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(host: &str, mpi: &str) -> Library {
        Library { host: host.into(), path: host.into(), mpi: Some(mpi.into()) }
    }

    #[test]
    fn libraries_fit_by_name_and_version() {
        let all = vec![
            library("abi", "libmpi_abi.so.1"),
            library("mpich", "libmpich.so.12"),
            library("mpich5", "libmpi.so.12"),
            library("openmpi", "libmpi.so.40"),
            library("openmpi5", "libmpi.so.40"),
        ];
        let host = |mpi, version| fitting(all.clone(), mpi, version).map(|library| library.host);
        assert_eq!(host("libmpi.so.40", Some(4)).unwrap(), "openmpi");
        assert_eq!(host("libmpi.so.40", Some(5)).unwrap(), "openmpi5");
        assert_eq!(host("libmpi.so.40", None).unwrap(), "openmpi");
        assert_eq!(host("libmpi.so.12", None).unwrap(), "mpich5");
        assert_eq!(host("libmpich.so.12", None).unwrap(), "mpich");
        assert_eq!(host("libmpi.so.13", None), None);
        let open: Vec<Library> = all[3..].to_vec();
        assert_eq!(one_of(open.clone(), Some(5)).unwrap().host, "openmpi5");
        assert_eq!(one_of(open[1..].to_vec(), Some(4)).unwrap().host, "openmpi5");
        assert_eq!(one_of(all[1..3].to_vec(), None), None);
    }
}
