//! What a program is linked with, by the rules of the loader: ld.so(8).

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::{env, fs};

use goblin::elf::Elf;

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

/// What the loader reads of a file.
struct Object {
    path: PathBuf,
    /// Files of another machine are passed over.
    machine: (bool, u16),
    needed: Vec<String>,
    /// Searched before LD_LIBRARY_PATH, also for what needed libraries need.
    rpath: Vec<PathBuf>,
    /// Searched after it.
    runpath: Vec<PathBuf>,
    has_interpreter: bool,
}

impl Object {
    /// `None` if the file is no ELF file.
    fn read(path: &Path) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let elf = Elf::parse(&bytes).ok()?;
        let origin = path.canonicalize().ok()?.parent()?.to_owned();
        let directories = |lists: &[&str]| {
            let split = lists.iter().flat_map(|list| list.split(':')).filter(|dir| !dir.is_empty());
            split.map(|directory| expand(directory, &origin)).collect::<Vec<PathBuf>>()
        };
        let runpath = directories(&elf.runpaths);
        Some(Self {
            path: path.to_owned(),
            machine: (elf.is_64, elf.header.e_machine),
            needed: elf.libraries.iter().map(|name| (*name).to_owned()).collect(),
            // The old one does not count beside the new one.
            rpath: if elf.runpaths.is_empty() { directories(&elf.rpaths) } else { Vec::new() },
            runpath,
            has_interpreter: elf.interpreter.is_some(),
        })
    }

    fn mpi(&self) -> Option<&String> {
        self.needed.iter().find(|name| Family::of(name).is_some())
    }
}

/// Replaces what the loader replaces in a directory's name.
fn expand(directory: &str, origin: &Path) -> PathBuf {
    let origin = origin.to_string_lossy();
    directory.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin).into()
}

/// The MPI library that a file needs itself.
pub(super) fn mpi_of(path: &Path) -> Option<String> {
    Object::read(path)?.mpi().cloned()
}

/// Whether the loader would find the library `name` that the file at `path` needs.
pub(super) fn loadable(path: &Path, name: &str) -> bool {
    Object::read(path).is_some_and(|object| Loader::new().find(name, &object, &[]).is_some())
}

/// The MPI that a program is linked with, itself or through what it needs, nearest first.
pub(super) fn linked(program: &Path) -> Linked {
    let Some(first) = Object::read(program) else { return Linked::WithoutMpi };
    if first.needed.is_empty() && !first.has_interpreter {
        return Linked::Statically;
    }
    let loader = Loader::new();
    let mut seen = HashSet::new();
    let mut waiting = VecDeque::from([(first, Vec::new())]);
    while let Some((object, inherited)) = waiting.pop_front() {
        if let Some(name) = object.mpi() {
            let file = loader.find(name, &object, &inherited).map(|found| found.path);
            return Linked::Mpi { name: name.clone(), file };
        }
        for name in object.needed.iter().filter(|name| seen.insert((*name).clone())) {
            if let Some(found) = loader.find(name, &object, &inherited) {
                let rpath = [&object.rpath[..], &inherited[..]].concat();
                waiting.push_back((found, rpath));
            }
        }
    }
    Linked::WithoutMpi
}

/// Open MPI's major version, by the file of its libmpi: the run-time layer of its own, ORTE, went
/// with version 5.
pub(super) fn open_mpi_version(libmpi: &Path) -> Option<u32> {
    let object = Object::read(libmpi)?;
    let uses = |stem: &str| object.needed.iter().any(|name| name.starts_with(stem));
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

    /// The file that the loader takes for a library that `object` needs.
    fn find(&self, name: &str, object: &Object, inherited: &[PathBuf]) -> Option<Object> {
        let fits =
            |path: PathBuf| Object::read(&path).filter(|found| found.machine == object.machine);
        if name.contains('/') {
            return fits(name.into());
        }
        let old: &[&[PathBuf]] =
            if object.runpath.is_empty() { &[&object.rpath, inherited] } else { &[] };
        let new: [&[PathBuf]; 3] = [&self.by_user, &object.runpath, &self.by_system];
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
