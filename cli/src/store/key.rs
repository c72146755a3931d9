//! The key of a program: it identifies the program and its build in any directory.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use cartograph_core::launcher::named;
use cartograph_core::learn::digest;
use goblin::elf::Elf;
use goblin::elf::note::NT_GNU_BUILD_ID;

use crate::exec::program::{find_program, linked_mpi, needs_mpi};
use crate::runs::command::Launch;

/// The key of an entry: the program, its build, and the MPI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) program: String,
    pub(crate) build: u64,
    /// A number for the MPI's library.
    pub(crate) mpi: u64,
}

impl Key {
    /// The start of the names of this program's files.
    pub(super) fn start(&self) -> String {
        const MOST: usize = 60;
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._+".contains(c) { c } else { '_' };
        let name: String = self.program.chars().take(MOST).map(plain).collect();
        format!("{}-{:016x}-{:08x}", name.trim_start_matches('.'), self.build, self.mpi >> 32)
    }

    /// The key of a program, under the user's name for it, if any. For a script, its interpreter counts as well;
    /// arguments and inputs do not. `None` if the program cannot be read.
    pub(crate) fn of(launch: &Launch, name: Option<&str>) -> Option<Self> {
        let words = &launch.program;
        let at = program_at(words)?;
        let program = find_program(&words[at]).ok()?;
        let linked = linked_mpi(&program);
        let script = words[at + 1..].iter().map(PathBuf::from).find(|word| word.is_file());
        let script = script.filter(|_| linked.is_none() && is_interpreter(&program));
        let own = script.as_ref().unwrap_or(&program).clone();
        let mut files = vec![program.clone()];
        if linked.is_none() {
            files.extend(interpreter(&program));
            files.extend(script);
        }
        let build = files.iter().try_fold(0u64, |so_far, file| {
            Some(digest(&[so_far.to_le_bytes(), build(file)?.to_le_bytes()].concat()))
        })?;
        // If the MPI's library is unknown, the launcher stands for the MPI.
        let is_launcher = |word: &&OsString| named(&word.to_string_lossy()).next().is_some();
        let launcher = || launch.launcher.iter().find(is_launcher).or(launch.launcher.first());
        let mpi = linked.or_else(|| find_program(launcher()?).ok())?;
        let mpi = fs::canonicalize(&mpi).unwrap_or(mpi);
        let own = own.file_name().unwrap_or_default().to_string_lossy();
        let name = name.unwrap_or(&own);
        Some(Self {
            program: cartograph_traffic::printable(name),
            build: if name == own { build } else { digest(name.as_bytes()) },
            mpi: digest(mpi.as_os_str().as_encoded_bytes()),
        })
    }
}

/// The index of the program in a command line: the first word that is linked with an MPI, behind any wrapper, or else
/// the first that can be run.
pub(crate) fn program_at(words: &[OsString]) -> Option<usize> {
    let linked =
        words.iter().position(|word| find_program(word).is_ok_and(|program| needs_mpi(&program)));
    linked.or_else(|| words.iter().position(|word| find_program(word).is_ok()))
}

/// A number for a file's content: a hash of its build ID, if it has one.
fn build(file: &Path) -> Option<u64> {
    let bytes = fs::read(file).ok()?;
    Some(digest(build_id(&bytes).unwrap_or(&bytes)))
}

/// The build ID, which linkers write into programs.
fn build_id(bytes: &[u8]) -> Option<&[u8]> {
    let notes = Elf::parse(bytes).ok()?.iter_note_headers(bytes)?;
    let mut own = notes.flatten().filter(|note| note.n_type == NT_GNU_BUILD_ID);
    own.find(|note| note.name == "GNU").map(|note| note.desc)
}

/// True if the program runs scripts named by its arguments. For other programs, such files are inputs.
fn is_interpreter(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let known = ["python", "julia", "Rscript", "perl", "ruby", "octave", "lua"];
    known.iter().any(|known| name.starts_with(known))
        || ["sh", "bash", "dash", "R"].contains(&&*name)
}

/// The interpreter of a script.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let bytes = fs::read(script).ok()?;
    let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split_whitespace().filter(|word| !word.ends_with("/env"));
    find_program(OsStr::new(words.next()?)).ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_is_known_though_the_loader_does_not_find_its_mpi() {
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
        let launch = Launch { launcher: vec!["sh".into()], program: words.to_vec(), mpi: None };
        assert_eq!(Key::of(&launch, None).unwrap().program, "app");
    }

    #[test]
    fn a_program_is_known_by_its_content_wherever_it_is() {
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
        let of = |words: &[OsString], name: Option<&str>| {
            let launch = Launch { launcher: vec!["sh".into()], program: words.to_vec(), mpi: None };
            Key::of(&launch, name).unwrap()
        };
        let key = |words: &[OsString]| of(words, None);
        let first = key(&[script("one", "#!/bin/sh\necho 1\n")]);
        assert_eq!(first.program, "app");
        let input = script("input", "data").clone();
        assert_eq!(first, key(&[script("two", "#!/bin/sh\necho 1\n"), "-x".into(), input]));
        assert_ne!(first, key(&[script("two", "#!/bin/sh\necho 2\n")]));
        // Identified by its interpreter.
        let run = key(&["sh".into(), script("two", "echo 1\n"), "input".into()]);
        assert_eq!(run.program, "app");
        assert_ne!(run.build, key(&["sh".into(), script("two", "echo 2\n")]).build);
        let named = |text: &str| of(&[script("one", text)], Some("my run"));
        assert_eq!(named("echo 1\n"), named("echo 2\n"));
    }
}
