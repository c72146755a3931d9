//! `cartograph halo`: finds the installed halo exchange for the MPI of a launcher.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use cartograph_core::launcher::{Kind, Launcher};
use goblin::elf::Elf;

use crate::exec::libraries::LibraryDirectory;
use crate::exec::program::{find_program, linked_mpi};
use crate::output::{self, Failure, Result};
use crate::runs::command::printed;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The launcher; default: mpiexec or mpirun, whichever is in PATH
    launcher: Option<OsString>,
}

/// The library folders of MPIs, relative to the directory whose `bin` has the launcher.
const FOLDERS: [&str; 3] = ["lib", "lib64", "lib/release"];

/// How a program is started, the best way first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// The loader finds the launcher's MPI.
    Found,
    /// The loader needs `LD_LIBRARY_PATH` for the launcher's MPI.
    WithPath(PathBuf),
    /// The loader finds an MPI in another place.
    Elsewhere,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let launcher = match &arguments.launcher {
        Some(name) => Some(find_program(name)?),
        None => ["mpiexec", "mpirun"].iter().find_map(|name| find_program(name.as_ref()).ok()),
    };
    let is_for = |mpi: &str| match launcher.as_deref().and_then(kind) {
        Some(Kind::Orterun | Kind::Prterun) => mpi == OPEN_MPI,
        Some(Kind::Hydra | Kind::IntelHydra | Kind::Pals) => mpi != OPEN_MPI,
        _ => true,
    };
    let prefix = launcher.as_deref().and_then(prefix);
    let programs = LibraryDirectory::find()?.programs();
    let mut found: Vec<_> = programs
        .into_iter()
        .filter_map(|program| {
            let mpi = needed_mpi(&program).filter(|mpi| is_for(mpi))?;
            let way = way(&program, &mpi, prefix.as_deref())?;
            Some((way, mpi.contains("abi"), program))
        })
        .collect();
    found.sort();
    let Some((way, _, program)) = found.first() else {
        let of =
            launcher.as_deref().map_or_else(String::new, |path| format!(" of {}", path.display()));
        return Err(Failure::new(format!(
            "no halo program is installed for the MPI{of}, or its library is not found; load the MPI's module, or \
             compile examples/halo.c"
        )));
    };
    let program = program.display();
    output::print(&match way {
        Way::WithPath(folder) => format!("env LD_LIBRARY_PATH={} {program}\n", folder.display()),
        _ => format!("{program}\n"),
    })
}

/// The name of Open MPI's library, of versions 4 and 5.
const OPEN_MPI: &str = "libmpi.so.40";

/// The kind of a launcher.
fn kind(launcher: &Path) -> Option<Kind> {
    let prints = || printed(launcher.as_os_str());
    let name = launcher.file_name().unwrap_or_default().to_string_lossy();
    Some(Launcher::of_command(&name, prints, None)?.0.kind)
}

/// The directory that has the launcher in its `bin`.
fn prefix(launcher: &Path) -> Option<PathBuf> {
    Some(launcher.canonicalize().ok()?.parent()?.parent()?.to_owned())
}

/// The name of the MPI library that a program needs.
fn needed_mpi(program: &Path) -> Option<String> {
    let bytes = fs::read(program).ok()?;
    let needed = Elf::parse(&bytes).ok()?.libraries;
    needed.into_iter().find(|name| name.starts_with("libmpi")).map(str::to_owned)
}

/// How to start a program that needs a library of this name; `None` if the library is not found.
fn way(program: &Path, mpi: &str, prefix: Option<&Path>) -> Option<Way> {
    let found = linked_mpi(program).and_then(|path| path.canonicalize().ok());
    if let (Some(found), Some(prefix)) = (&found, prefix)
        && found.starts_with(prefix)
    {
        return Some(Way::Found);
    }
    let folders = prefix.into_iter().flat_map(|prefix| FOLDERS.map(|folder| prefix.join(folder)));
    let beside = folders.into_iter().find(|folder| folder.join(mpi).exists());
    beside.map(Way::WithPath).or_else(|| found.map(|_| Way::Elsewhere))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launchers_own_mpi_is_preferred() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("lib64");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("libmpi.so.12"), "").unwrap();
        let program = Path::new("/proc/self/exe");
        let way = |mpi, prefix| way(program, mpi, prefix);
        assert_eq!(way("libmpi.so.12", Some(directory.path())), Some(Way::WithPath(folder)));
        assert_eq!(way("libmpi.so.40", Some(directory.path())), None);
        assert_eq!(way("libmpi.so.12", None), None);
        assert!(Way::Found < Way::WithPath(PathBuf::new()));
    }
}
