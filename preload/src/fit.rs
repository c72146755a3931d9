//! Finds which of the libraries that were built for MPIs fits the loaded one.

use cartograph_shim::elf::Library;

/// Rates a library for an MPI that is needed by the name `soname` and reports itself as `version`: the number of equal
/// parts of the version; `None` if it does not fit.
pub(crate) fn fit(library: &Library, soname: &str, version: &str) -> Option<usize> {
    const OPEN_MPI: &str = "Open MPI";
    if !library.is_for(soname) {
        return None;
    }
    // All MPIs with the standard ABI are alike.
    if library.built_for.starts_with("MPI ABI") {
        return Some(0);
    }
    let alike = core::iter::zip(number(&library.built_for), number(version))
        .take_while(|(built, runs)| built == runs)
        .count();
    let is_open_mpi = library.built_for.starts_with(OPEN_MPI);
    // MPICH and its derivatives have one binary interface, Open MPI has one for each major version.
    let fits = is_open_mpi == version.contains(OPEN_MPI) && (!is_open_mpi || alike > 0);
    fits.then_some(alike)
}

/// The parts of the first version number in a text.
fn number(text: &str) -> impl Iterator<Item = &str> {
    let mut words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.find(|word| word.contains('.')).unwrap_or_default().split('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_fit_by_name_and_version() {
        let fit = |built_for: &str, soname: &str, version| {
            let needed = ["libmpi.so.40".into(), "libmpi_abi.so.1".into()].into();
            super::fit(&Library { needed, built_for: built_for.into() }, soname, version)
        };
        let open = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4";
        assert_eq!(fit("Open MPI 4.1.4", "libmpi.so.40", open), Some(3));
        assert_eq!(fit("Open MPI 4.0.9", "libmpi.so.40", open), Some(1));
        assert_eq!(fit("Open MPI 5.0.11", "libmpi.so.40", open), None);
        assert_eq!(fit("Open MPI 4.1.4", "libmpi.so.12", open), None);
        assert_eq!(fit("Open MPI 4.1.4", "libmpi.so.40", "MPICH Version:      4.1.4"), None);
        assert_eq!(fit("MPICH 4.1.4", "libmpi.so.40", open), None);
        assert_eq!(fit("MPICH 4.0.2", "libmpi.so.40", "MPICH Version:      4.0.3"), Some(2));
        let intel = "Intel(R) MPI Library 2021.17 for Linux* OS";
        assert_eq!(fit("MPICH 5.0.2", "libmpi.so.40", intel), Some(0));
        assert_eq!(fit("MPI ABI 1.0", "libmpi_abi.so.1", intel), Some(0));
        assert_eq!(fit("MPI ABI 1.0", "libmpi_abi.so.1", ""), Some(0));
    }

    #[test]
    fn libraries_without_an_mpi_name_fit_by_kind() {
        let fit = |built_for: &str, soname: &str, version| {
            let needed = ["libm.so.6".into(), "libc.so.6".into()].into();
            super::fit(&Library { needed, built_for: built_for.into() }, soname, version)
        };
        let open = "Open MPI v5.0.11, package: Open MPI, ident: 5.0.11";
        assert_eq!(fit("MPICH 4.0.2", "libmpich.so.12", "MPICH Version:      3.4.1"), Some(0));
        assert_eq!(
            fit("MPICH 4.0.2", "libmpi_gnu_123.so.12", "MPI VERSION: CRAY MPICH 8.1"),
            Some(0)
        );
        assert_eq!(fit("MPICH 4.0.2", "libmpi_ilp64.so.4", "Intel(R) MPI Library 2021.17"), None);
        assert_eq!(fit("MPICH 4.0.2", "libmpi_abi.so.1", "MPICH Version:      5.0.2"), None);
        assert_eq!(fit("MPICH 4.0.2", "libmpi.so.12", "Open MPI v1.10.7, ident: 1.10.7"), None);
        assert_eq!(fit("Open MPI 5.0.11", "libmpi.so.40", open), Some(3));
        assert_eq!(fit("Open MPI 4.1.4", "libmpi.so.40", open), None);
        assert_eq!(fit("MPI ABI 1.0", "libmpi_abi.so.0", "MPICH Version:      5.0.2"), Some(0));
        assert_eq!(fit("MPI ABI 1.0", "libmpi.so.12", "MPICH Version:      5.0.2"), None);
        assert_eq!(fit("SMPI", "libsimgrid.so.3.32", "SMPI Version 3.32"), None);
    }
}
