//! The libraries that were built or installed, and which of them fits.

use std::path::PathBuf;
use std::{env, fs};

use super::elf;

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

/// MPIs with one binary interface each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Mpich,
    OpenMpi,
    Abi,
    Smpi,
}

impl Family {
    /// The family of an MPI library, by its name; `None` if it is no MPI's.
    pub(crate) fn of(soname: &str) -> Option<Self> {
        let (stem, version) = soname.split_once(".so")?;
        let version = version.trim_start_matches('.').split('.').next().unwrap_or_default();
        match stem {
            "libmpi_abi" => Some(Self::Abi),
            "libsimgrid" => Some(Self::Smpi),
            "libmpich" => Some(Self::Mpich),
            // Open MPI has been at 12 as well, ten years ago; 20, 40 and 80 came later.
            "libmpi" if version.parse::<u32>().is_ok_and(|version| version >= 20) => {
                Some(Self::OpenMpi)
            }
            "libmpi" => Some(Self::Mpich),
            // Cray's, one a compiler.
            _ if ["libmpi_cray", "libmpi_gnu", "libmpi_intel"]
                .iter()
                .any(|own| stem.starts_with(own)) =>
            {
                Some(Self::Mpich)
            }
            _ => None,
        }
    }
}

impl Library {
    pub(crate) fn family(&self) -> Option<Family> {
        Family::of(self.mpi.as_deref()?)
    }
}

/// Where libraries may be, in a directory for each host: what the user says, what is installed beside
/// the command, what was built beside it.
pub(crate) fn places() -> Vec<PathBuf> {
    let own = env::var_os("CARTOGRAPH_LIB_DIR").map(PathBuf::from);
    let command = env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    let prefix = command.and_then(|path| Some(path.parent()?.parent()?.to_owned()));
    let beside = prefix.iter().flat_map(|prefix| [prefix.join("lib/cartograph"), prefix.clone()]);
    own.into_iter().chain(beside).collect()
}

/// All libraries, one a host: the first that is found.
pub(crate) fn all() -> Vec<Library> {
    let mut found: Vec<Library> = Vec::new();
    for place in places() {
        let Ok(hosts) = fs::read_dir(&place) else { continue };
        let mut hosts: Vec<PathBuf> = hosts.filter_map(|entry| Some(entry.ok()?.path())).collect();
        hosts.sort();
        for directory in hosts {
            let Some(host) = directory.file_name().and_then(|name| name.to_str()) else { continue };
            // As installed, and as built.
            let files = ["libcartograph.so", "lib/libcartograph.so"];
            let path = files.iter().map(|file| directory.join(file)).find(|path| path.is_file());
            if let Some(path) = path
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

/// The MPI whose launcher started this process, with Open MPI's major version, by the environment.
pub(crate) fn started_by(value: impl Fn(&str) -> Option<String>) -> Option<(Family, Option<u32>)> {
    if value("OMPI_COMM_WORLD_SIZE").is_some() {
        // Version 4 does not tell.
        let version = value("OMPI_VERSION").and_then(|text| text.split('.').next()?.parse().ok());
        return Some((Family::OpenMpi, Some(version.unwrap_or(4))));
    }
    let launched =
        ["PMI_RANK", "PMI_SIZE", "I_MPI_MPIRUN"].iter().any(|name| value(name).is_some());
    launched.then_some((Family::Mpich, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(host: &str, mpi: &str) -> Library {
        Library { host: host.into(), path: host.into(), mpi: Some(mpi.into()) }
    }

    #[test]
    fn names_tell_families() {
        let families = [
            ("libmpi.so.40", Some(Family::OpenMpi)),
            ("libmpi.so.12", Some(Family::Mpich)),
            ("libmpich.so.12", Some(Family::Mpich)),
            ("libmpi_cray.so.12", Some(Family::Mpich)),
            ("libmpi_abi.so.1", Some(Family::Abi)),
            ("libsimgrid.so.3.32", Some(Family::Smpi)),
            ("libmpifort.so.12", None),
            ("libmpi_mpifh.so.40", None),
            ("libm.so.6", None),
        ];
        for (name, family) in families {
            assert_eq!(Family::of(name), family, "{name}");
        }
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

    #[test]
    fn launchers_are_known_by_what_they_set() {
        let started = |set: &[(&str, &str)]| {
            started_by(|name| set.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
        };
        assert_eq!(started(&[]), None);
        assert_eq!(started(&[("PMI_RANK", "0")]), Some((Family::Mpich, None)));
        let open = ("OMPI_COMM_WORLD_SIZE", "4");
        assert_eq!(started(&[open]), Some((Family::OpenMpi, Some(4))));
        assert_eq!(started(&[open, ("OMPI_VERSION", "5.0.11")]), Some((Family::OpenMpi, Some(5))));
    }
}
