//! The key of a program: it identifies the program and its build in any directory.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use cartograph_core::launcher::named;
use cartograph_core::machine::Machine;
use cartograph_shim::splitmix::digest;
use cartograph_traffic::printable;

use super::identity::{Identity, LONGEST_NAME, Unidentified, numbered};
use crate::launch::Launch;
use crate::learn::{Build, shape};
use crate::program::{find_program, linked_mpi, program_at};

/// The key of an entry: the program, its build, and the MPI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub(crate) program: String,
    pub(crate) build: u64,
    /// A number for the MPI's library.
    pub(crate) mpi: u64,
    /// True if another program of this name is another build of it.
    pub(crate) is_named: bool,
    /// A number for the program's path.
    pub(crate) place: u64,
}

impl Key {
    /// The start of the names of files about this build.
    pub(super) fn start(&self) -> String {
        format!("{}-{:016x}-{:08x}", start_of_name(&self.program), self.build, self.mpi >> 32)
    }

    /// The start of the names of files about this program, whatever the build.
    pub(super) fn start_of_entry(&self) -> String {
        let name = match start_of_name(&self.program) {
            name if self.is_named => name,
            name => format!("{name}_{:016x}", self.build),
        };
        format!("{name}-{:08x}", self.mpi >> 32)
    }

    /// The build for an entry.
    pub fn id(&self) -> Build {
        Build { id: self.build, place: self.place }
    }

    /// A number for nodes in the default order and the build.
    pub fn shape(&self, machine: &Machine) -> u64 {
        shape(machine.nodes(), self.build)
    }

    /// The key of a program, under the user's name for it, if any. Arguments and inputs do not count.
    ///
    /// # Errors
    ///
    /// Why the program cannot be distinguished from others.
    pub fn of(launch: &Launch, name: Option<&str>) -> Result<Self, Unidentified> {
        let found = Found::of(&launch.programs.first)?;
        // If the MPI's library is unknown, the launcher stands for the MPI.
        let is_launcher = |word: &&OsString| named(&word.to_string_lossy()).next().is_some();
        let launcher = || launch.launcher.iter().find(is_launcher).or(launch.launcher.first());
        let mpi = found.mpi.clone().or_else(|| find_program(launcher()?).ok());
        let mpi = mpi.ok_or(Unidentified::Unreadable)?;
        let mpi = digest(fs::canonicalize(&mpi).unwrap_or(mpi).as_os_str().as_encoded_bytes());
        if let Some(name) = name {
            let build = digest(numbered(name, &launch.programs.counts).as_bytes());
            let is_named = launch.programs.counts.is_empty();
            return Ok(Self { program: printable(name), build, mpi, is_named, place: build });
        }
        let Identity { name, build, is_named, place } = match &launch.programs.counts[..] {
            [] => found.identity?,
            counts => {
                let all = launch.programs.all().map(|program| Found::of(program)?.identity);
                Identity::of_all(&all.collect::<Result<Vec<_>, _>>()?, counts)
            }
        };
        Ok(Self { program: printable(&name), build, mpi, is_named, place })
    }
}

/// A program in a command line.
struct Found {
    /// The MPI's library with which it is linked.
    mpi: Option<PathBuf>,
    identity: Result<Identity, Unidentified>,
}

impl Found {
    fn of(words: &[OsString]) -> Result<Self, Unidentified> {
        let at = program_at(words).ok_or(Unidentified::Unreadable)?;
        let program = find_program(&words[at]).map_err(|_| Unidentified::Unreadable)?;
        let mpi = linked_mpi(&program);
        Ok(Self { identity: Identity::of(words, at, mpi.is_some()), mpi })
    }
}

/// The start of the names of files about the build of the program in a command line, with any MPI.
pub(super) fn start_of_build(words: &[OsString]) -> Option<String> {
    let Identity { name, build, .. } = Found::of(words).ok()?.identity.ok()?;
    Some(format!("{}-{build:016x}-", start_of_name(&printable(&name))))
}

/// The start of the names of files about a program of this name.
pub(super) fn start_of_name(program: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._+".contains(c) { c } else { '_' };
    let name: String = program.chars().take(LONGEST_NAME).map(plain).collect();
    name.trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::process::Command;

    use super::*;
    use crate::launch::Line;
    use crate::store::tests::launch;

    #[test]
    fn a_program_is_identified_although_the_loader_does_not_find_its_mpi() {
        let directory = tempfile::tempdir().unwrap();
        let [source, library, program] =
            ["a.c", "libmpi.so.none", "app"].map(|name| directory.path().join(name));
        fs::write(&source, "int MPI_Init(void) { return 0; }\n").unwrap();
        let cc = |words: &[&OsStr]| {
            assert!(Command::new("cc").args(words).status().unwrap().success());
        };
        let [shared, output, soname] =
            ["-shared", "-o", "-Wl,-soname,libmpi.so.none"].map(OsStr::new);
        let file = source.as_os_str();
        cc(&[shared, soname, file, output, library.as_os_str()]);
        fs::write(&source, "int MPI_Init(void); int main(void) { return MPI_Init(); }\n").unwrap();
        cc(&[file, library.as_os_str(), output, program.as_os_str()]);
        let variable = format!("LD_LIBRARY_PATH={}", directory.path().display());
        let words = ["env".into(), variable.into(), program.clone().into_os_string()];
        assert_eq!((linked_mpi(&program), program_at(&words)), (None, Some(2)));
        assert_eq!(Key::of(&launch(&words), None).unwrap().program, "app");
    }

    #[test]
    fn a_program_is_identified_by_its_content_at_any_path() {
        let directory = tempfile::tempdir().unwrap();
        let script = |folder: &str, text: &str| {
            let folder = directory.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            let file = folder.join("app");
            fs::write(&file, text).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(&file, mode).unwrap();
            file.into_os_string()
        };
        let of = |words: &[OsString], name: Option<&str>| Key::of(&launch(words), name).unwrap();
        let key = |words: &[OsString]| of(words, None);
        let first = key(&[script("one", "#!/bin/sh\necho 1\n")]);
        assert_eq!(first.program, "app");
        let input = script("input", "data").clone();
        let elsewhere = key(&[script("two", "#!/bin/sh\necho 1\n"), "-x".into(), input]);
        assert_eq!((first.build, first.mpi), (elsewhere.build, elsewhere.mpi));
        assert_ne!(first.place, elsewhere.place);
        let changed = key(&[script("one", "#!/bin/sh\necho 2\n")]);
        assert!(changed.build != first.build && changed.place == first.place);
        // Identified by its interpreter.
        let run = key(&["sh".into(), script("two", "echo 1\n"), "input".into()]);
        assert_eq!(run.program, "app");
        assert_ne!(run.build, key(&["sh".into(), script("two", "echo 2\n")]).build);
        let named = |text: &str| of(&[script("one", text)], Some("my run"));
        assert_eq!(named("echo 1\n"), named("echo 2\n"));
        script("two", "#!/bin/sh\necho 3\n");
        // Several programs, with their numbers of processes.
        let line = |text: &str, name| {
            let path = |folder: &str| format!("{}/{folder}/app", directory.path().display());
            let text = text.replace("ONE", &path("one")).replace("TWO", &path("two"));
            let words: Vec<_> = text.split(' ').map(OsString::from).collect();
            let prints = |_: &OsStr| "(OpenRTE) 4.1.4".to_owned();
            Key::of(&Line::read(&words, None, prints, None).unwrap().into(), name).unwrap()
        };
        let both = line("mpiexec -n 2 ONE : -n 6 TWO", None);
        assert_eq!(both.program, "app:2+app:6");
        for other in ["mpiexec -n 6 ONE : -n 2 TWO", "mpiexec -n 2 ONE : -n 6 ONE"] {
            assert_ne!(line(other, None).build, both.build, "{other}");
        }
        let other = "mpiexec -n 3 ONE : -n 5 TWO";
        assert_ne!(line(other, Some("a")), line("mpiexec -n 2 ONE : -n 6 TWO", Some("a")));
    }
}
