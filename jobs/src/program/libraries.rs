//! Finds the library to preload, and the libraries for MPIs in its directory.

use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use cartograph_shim::elf::{DynamicTables, FOLDER, KINDS, LIBRARY, Library, is_trusted};

use super::file::{own_path, tables};
use crate::error::Failure;

/// Why a program cannot run with a library.
pub enum Fault {
    /// It is not installed, or cannot be preloaded into this program: this holds in all processes of a job.
    NotInstalled(Failure),
    /// It is there, or may be, but this process cannot use it. Others of the job may use theirs.
    Unusable(Failure),
}

use Fault::{NotInstalled, Unusable};

impl Fault {
    /// The fault of a file that cannot be examined; `missing` is the failure if it does not exist.
    fn of(file: &Path, error: &Error, missing: impl FnOnce() -> Failure) -> Self {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => NotInstalled(missing()),
            _ => Unusable(Failure::new(format!("{}: {error}", file.display()))),
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        match fault {
            NotInstalled(failure) | Unusable(failure) => failure,
        }
    }
}

/// The directory of the library to preload.
pub struct LibraryDirectory {
    pub(super) directory: PathBuf,
    /// The user whose files are trusted, in addition to root.
    owner: u32,
}

impl LibraryDirectory {
    /// The directory that the user names, or `lib` next to the command's `bin`: if the command lies elsewhere, other
    /// users may put files next to it.
    pub fn find() -> Result<Self, Fault> {
        let own = env::var_os("CARTOGRAPH_LIB_DIR").filter(|path| !path.is_empty());
        let missing = || {
            Failure::new(format!(
                "no {LIBRARY} in ../lib of the command; run `make` and `make install`, or set CARTOGRAPH_LIB_DIR to \
                 its directory"
            ))
        };
        // The command's owner, even if its file is missing while it is reinstalled.
        let command = Path::new("/proc/self/exe");
        let (directory, owned) = match own {
            Some(path) => {
                let directory = std::path::absolute(&path);
                let directory =
                    directory.map_err(|error| Fault::of(path.as_ref(), &error, missing))?;
                let library = directory.join(LIBRARY);
                (directory, library)
            }
            None => {
                let path = own_path().map_err(|error| Fault::of(command, &error, missing))?;
                let bin = path.parent().filter(|folder| folder.ends_with("bin"));
                let prefix = bin.and_then(Path::parent).ok_or_else(|| NotInstalled(missing()))?;
                (prefix.join("lib"), command.to_owned())
            }
        };
        let owner = owned.metadata().map_err(|error| Fault::of(&owned, &error, missing))?.uid();
        let place = Self { directory, owner };
        place.check(&place.library(), missing)?;
        Ok(place)
    }

    /// Checks that a file exists, and that only trusted users can have written it; `missing` is the failure if not.
    fn check(&self, file: &Path, missing: impl FnOnce() -> Failure) -> Result<(), Fault> {
        match file.metadata() {
            Ok(found) if is_trusted(found.uid(), found.mode(), self.owner) => Ok(()),
            Ok(_) => Err(NotInstalled(missing())),
            Err(error) => Err(Fault::of(file, &error, missing)),
        }
    }

    /// True if a file exists and only trusted users can have written it.
    fn trusts(&self, file: &Path) -> bool {
        let trusted = |found: fs::Metadata| is_trusted(found.uid(), found.mode(), self.owner);
        file.metadata().is_ok_and(trusted)
    }

    /// The libraries that were built for MPIs: the names of their folders, and the facts in their files.
    pub fn libraries(&self) -> Vec<(String, Library)> {
        let folders = fs::read_dir(self.directory.join(FOLDER)).into_iter().flatten().flatten();
        let library = |folder: fs::DirEntry| {
            let path = folder.path().join(LIBRARY);
            let bytes = fs::read(&path).ok().filter(|_| self.trusts(&path))?;
            Some((folder.file_name().into_string().ok()?, Library::parse(&bytes)?))
        };
        let mut found: Vec<_> = folders.filter_map(library).collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }

    /// The halo exchanges for an MPI, each with the library that it needs: next to the MPI's library, or in a folder for
    /// each name that the MPI's own library has.
    pub fn halos(&self, mpi: &str) -> Vec<(String, PathBuf)> {
        let folder = self.directory.join(FOLDER).join(mpi);
        let below = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let halo = |folder: PathBuf| {
            let path = folder.join("halo");
            let needed = tables(&path).filter(|_| self.trusts(&path))?.needed();
            let mpi = needed.into_iter().find(|name| name.starts_with("libmpi"))?;
            Some((mpi, path))
        };
        let mut found: Vec<_> =
            [folder.clone()].into_iter().chain(below).filter_map(halo).collect();
        found.sort();
        found
    }

    /// The folder of the MPI that the user names.
    pub(super) fn of_mpi(&self, name: &str) -> Result<PathBuf, Fault> {
        let folder = self.directory.join(FOLDER).join(name);
        self.check(&folder.join(LIBRARY), || {
            let names: Vec<_> = self.libraries().into_iter().map(|(name, _)| name).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Failure::usage(format!("no library for --mpi {name} (available: {names})"))
        })?;
        Ok(folder)
    }

    /// Fails if no library is for the MPI with this file.
    pub(super) fn check_mpi(&self, mpi: &Path) -> Result<(), Failure> {
        let tables = tables(mpi);
        let soname = tables.as_ref().and_then(DynamicTables::soname);
        let is_for = |soname: &str| self.libraries().iter().any(|(_, one)| one.is_for(soname));
        match soname.filter(|soname| !is_for(soname)) {
            Some(soname) => Err(Failure::new(format!(
                "{} has no library for {soname}",
                self.directory.join(FOLDER).display()
            ))),
            None => Ok(()),
        }
    }

    /// The library to preload.
    pub fn library(&self) -> PathBuf {
        self.directory.join(LIBRARY)
    }

    /// The recorder to preload for the MPI to which one of its libraries or the MPI's own file belongs: one without
    /// functions that the MPI lacks, since programs may test for them. The first one if the file is unknown.
    pub(super) fn recorder(&self, of: Option<&Path>) -> Result<PathBuf, Fault> {
        let tables = of.and_then(tables);
        let has = |name: &str| tables.as_ref().is_some_and(|tables| tables.has_function(name));
        let (kind, _) = KINDS.iter().rev().find(|(_, name)| has(name)).unwrap_or(&KINDS[0]);
        let path = self.directory.join(FOLDER).join(format!("record-{kind}.so"));
        self.check(&path, || Failure::new(format!("{} not found", path.display())))?;
        Ok(path)
    }
}
