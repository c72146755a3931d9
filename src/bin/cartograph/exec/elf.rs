//! What a program is linked with, by the rules of the loader: ld.so(8).

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::{env, fs};

use cartograph::object::Object;

use super::family::Family;

/// Which MPI a program is linked with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Linked {
    /// One, itself or through libraries that it needs; where it is, if it was found.
    Mpi { name: String, file: Option<PathBuf> },
    /// None; scripts, and programs that load it later.
    WithoutMpi,
    /// With nothing at run time.
    Statically,
}

/// A file, with directories in place of what is written for them.
struct File {
    path: PathBuf,
    object: Object,
    rpath: Vec<PathBuf>,
    runpath: Vec<PathBuf>,
}

impl File {
    /// `None` if it is no ELF file.
    fn read(path: &Path) -> Option<Self> {
        let object = Object::parse(&fs::read(path).ok()?)?;
        let origin = path.canonicalize().ok()?.parent()?.to_owned();
        let directories = |written: &[String]| -> Vec<PathBuf> {
            written.iter().map(|directory| expand(directory, &origin)).collect()
        };
        let (rpath, runpath) = (directories(&object.rpath), directories(&object.runpath));
        Some(Self { path: path.to_owned(), object, rpath, runpath })
    }

    fn mpi(&self) -> Option<&String> {
        self.object.needed.iter().find(|name| Family::of(name).is_some())
    }
}

/// Replaces what the loader replaces in a directory's name.
fn expand(directory: &str, origin: &Path) -> PathBuf {
    let origin = origin.to_string_lossy();
    directory.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin).into()
}

/// The MPI library that a file needs itself.
pub(super) fn mpi_of(path: &Path) -> Option<String> {
    File::read(path)?.mpi().cloned()
}

/// Whether the loader would find the library `name` that the file at `path` needs.
pub(super) fn loadable(path: &Path, name: &str) -> bool {
    File::read(path).is_some_and(|file| Loader::new().find(name, &file, &[]).is_some())
}

/// The MPI that a program is linked with, itself or through what it needs, nearest first.
pub(super) fn linked(program: &Path) -> Linked {
    let Some(first) = File::read(program) else { return Linked::WithoutMpi };
    if first.object.needed.is_empty() && !first.object.has_interpreter {
        return Linked::Statically;
    }
    let loader = Loader::new();
    let mut seen = HashSet::new();
    let mut waiting = VecDeque::from([(first, Vec::new())]);
    while let Some((file, inherited)) = waiting.pop_front() {
        if let Some(name) = file.mpi() {
            let found = loader.find(name, &file, &inherited).map(|found| found.path);
            return Linked::Mpi { name: name.clone(), file: found };
        }
        for name in file.object.needed.iter().filter(|name| seen.insert((*name).clone())) {
            if let Some(found) = loader.find(name, &file, &inherited) {
                let rpath = [&file.rpath[..], &inherited[..]].concat();
                waiting.push_back((found, rpath));
            }
        }
    }
    Linked::WithoutMpi
}

/// Open MPI's major version, by the file of its libmpi: the run-time layer of its own, ORTE, went
/// with version 5.
pub(super) fn open_mpi_version(libmpi: &Path) -> Option<u32> {
    let needed = File::read(libmpi)?.object.needed;
    let uses = |stem: &str| needed.iter().any(|name| name.starts_with(stem));
    match () {
        () if uses("libopen-rte") => Some(4),
        () if uses("libopen-pal") => Some(5),
        () => None,
    }
}

/// The directories that hold for every file.
struct Loader {
    by_user: Vec<PathBuf>,
    by_system: Vec<PathBuf>,
}

impl Loader {
    fn new() -> Self {
        let by_user = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let by_user = env::split_paths(&by_user).filter(|path| !path.as_os_str().is_empty());
        let mut by_system = Vec::new();
        read_configuration(Path::new("/etc/ld.so.conf"), &mut by_system, 0);
        by_system.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(PathBuf::from));
        Self { by_user: by_user.collect(), by_system }
    }

    /// The file that the loader takes for a library that `file` needs.
    fn find(&self, name: &str, file: &File, inherited: &[PathBuf]) -> Option<File> {
        let machine = file.object.machine;
        let fits =
            |path: PathBuf| File::read(&path).filter(|found| found.object.machine == machine);
        if name.contains('/') {
            return fits(name.into());
        }
        let old: &[&[PathBuf]] =
            if file.runpath.is_empty() { &[&file.rpath, inherited] } else { &[] };
        let new: [&[PathBuf]; 3] = [&self.by_user, &file.runpath, &self.by_system];
        let all = old.iter().chain(&new).flat_map(|directories| directories.iter());
        all.map(|directory| directory.join(name)).filter(|path| path.is_file()).find_map(fits)
    }
}

/// Reads the directories of an ld.so.conf(5) and of the files that it includes.
fn read_configuration(file: &Path, directories: &mut Vec<PathBuf>, depth: usize) {
    /// Files that include each other end somewhere.
    const DEEPEST: usize = 8;
    let Ok(text) = fs::read_to_string(file) else { return };
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        match line.split_once(char::is_whitespace) {
            Some(("include", pattern)) if depth < DEEPEST => {
                let pattern = file.parent().unwrap_or(Path::new("/")).join(pattern.trim());
                for included in matching(&pattern) {
                    read_configuration(&included, directories, depth + 1);
                }
            }
            Some(("hwcap" | "include", _)) => {}
            _ if line.is_empty() => {}
            _ => directories.push(line.into()),
        }
    }
}

/// The files that a pattern with at most one star, in its last part, stands for.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let name = pattern.file_name().unwrap_or_default().to_string_lossy();
    let Some((start, end)) = name.split_once('*') else { return vec![pattern.to_owned()] };
    let files = pattern.parent().and_then(|directory| fs::read_dir(directory).ok());
    let mut files: Vec<PathBuf> = files
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        })
        .collect();
    files.sort();
    files
}
