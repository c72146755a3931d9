//! The MPIs that a program may be for, told by a library's name or by what a launcher sets.

use std::fmt;

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

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mpich => "a launcher of the MPICH family",
            Self::OpenMpi => "Open MPI",
            Self::Abi => "an MPI of the standard ABI",
            Self::Smpi => "SimGrid",
        })
    }
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
