//! Identifies the program in a command: by its build or, if it is a script, a module or in a container, by that.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::iter;
use std::path::{Path, PathBuf};

use cartograph_shim::elf::build_id;
use cartograph_shim::splitmix::digest;

use crate::program::{container_of, find_program, is_wrapper, name};

/// Interpreters, with the option after which a program's text follows.
const INTERPRETERS: [(&str, &str); 9] = [
    ("python", "-c"),
    ("pypy", "-c"),
    ("julia", "-e"),
    ("Rscript", "-e"),
    ("perl", "-e"),
    ("ruby", "-e"),
    ("octave", "--eval"),
    ("lua", "-e"),
    ("R", "-e"),
];

/// Python's modules that run the script or module in their arguments.
const RUNNERS: [&str; 3] = ["mpi4py", "mpi4py.run", "cProfile"];

/// Shells start other programs.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

/// The most bytes of a file without a build ID that are read. Larger ones, such as images of containers, are identified
/// by their size, their start and their end.
const MOST: u64 = 32 << 20;

/// The part of a file in which linkers write the build ID.
const START: u64 = 1 << 16;
const PART: u64 = 1 << 20;

/// The part of a longer program's name that is in the names of files.
pub(super) const LONGEST_NAME: usize = 60;

/// Why a program cannot be distinguished from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unidentified {
    /// Its file cannot be read.
    Unreadable,
    /// This command does not name the program that it starts.
    Any(String),
}

impl fmt::Display for Unidentified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => f.write_str("cannot read the program"),
            Self::Any(command) => {
                write!(f, "{command} may run any program; name this one with --as NAME")
            }
        }
    }
}

/// A program.
#[derive(Debug)]
pub(super) struct Identity {
    /// The name of its file, script or module.
    pub(super) name: String,
    /// A number for its content.
    pub(super) build: u64,
    /// True if another program of this name is a build of the same program: not for a text of a shell, nor for an image
    /// or a script that starts any program.
    pub(super) is_named: bool,
    /// A number for its path.
    pub(super) place: u64,
}

/// A name with numbers of processes: those of several programs are a part of it.
pub(super) fn numbered(name: &str, counts: &[usize]) -> String {
    counts.iter().fold(name.to_owned(), |name, count| format!("{name}:{count}"))
}

/// A number for the path of a word, or for the word if it is not a file.
fn place(word: &OsStr) -> u64 {
    let path = find_program(word).unwrap_or_else(|_| word.into());
    digest(fs::canonicalize(&path).unwrap_or(path).as_os_str().as_encoded_bytes())
}

impl Identity {
    /// Several programs of one job, with their numbers of processes.
    pub(super) fn of_all(all: &[Self], counts: &[usize]) -> Self {
        let number = |of: &dyn Fn(&Self) -> u64| {
            let numbers = all.iter().zip(counts).flat_map(|(one, count)| [of(one), *count as u64]);
            digest(&numbers.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
        };
        let names = all.iter().zip(counts).map(|(one, count)| numbered(&one.name, &[*count]));
        let name = names.collect::<Vec<_>>().join("+");
        Self {
            build: number(&|one| one.build),
            // Names of files lack the numbers at the end of a longer name.
            is_named: all.iter().all(|one| one.is_named) && name.len() <= LONGEST_NAME,
            name,
            place: number(&|one| one.place),
        }
    }

    /// The program at this index of a command, which is linked with an MPI or not.
    pub(super) fn of(words: &[OsString], at: usize, is_linked: bool) -> Result<Self, Unidentified> {
        if !is_linked {
            return Self::find(words, at);
        }
        let program = find_program(&words[at]).map_err(|_| Unidentified::Unreadable)?;
        let mut parts = Parts { build: 0 };
        parts.file(&program)?;
        Ok(Self {
            name: name(program.as_os_str()),
            build: parts.build,
            is_named: true,
            place: place(&words[at]),
        })
    }

    /// The program at this index of a command.
    fn find(words: &[OsString], at: usize) -> Result<Self, Unidentified> {
        let mut parts = Parts { build: 0 };
        let (mut own, mut next, mut is_named, mut path) = (None, at, true, at);
        // A shell or its script may start the following words.
        let mut goes_on = true;
        while next < words.len() && goes_on {
            let word = &words[next];
            next += 1;
            let Ok(file) = find_program(word) else { continue };
            if own.is_some() && !is_program(&file) {
                continue;
            }
            is_named &= own.is_none();
            let command = name(word);
            parts.file(&file)?;
            let interpreter = interpreter(&file);
            if let Some(interpreter) = &interpreter {
                parts.file(interpreter)?;
            }
            let started_by = interpreter.as_deref().unwrap_or(&file);
            let is_shell = SHELLS.contains(&&*name(started_by.as_os_str()));
            goes_on = is_shell || is_wrapper(&command);
            let found = if let Some(container) = container_of(&command) {
                is_named = false;
                Some(parts.container(&command, container.subcommands, &words[next..])?)
            } else if text_option(&command).is_some() {
                let (name, count) = parts.script(&command, &file, &words[next..])?;
                next += count;
                is_named &= name != command;
                Some(name)
            } else {
                None
            };
            path = if own.is_none() { next - 1 } else { path };
            own = own.or(found.or(Some(command)));
        }
        let name = own.ok_or(Unidentified::Unreadable)?;
        Ok(Identity { name, build: parts.build, is_named, place: place(&words[path]) })
    }
}

/// The option after which a program's text follows, if the command is an interpreter.
fn text_option(command: &str) -> Option<&'static str> {
    if SHELLS.contains(&command) {
        return Some("-c");
    }
    // python3.11
    let stem = command.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    INTERPRETERS.iter().find(|(name, _)| *name == stem).map(|(_, option)| *option)
}

/// The digest of the facts that identify a program.
struct Parts {
    build: u64,
}

impl Parts {
    fn add(&mut self, part: u64) {
        self.build = digest(&[self.build.to_le_bytes(), part.to_le_bytes()].concat());
    }

    fn text(&mut self, text: &OsStr) {
        self.add(digest(text.as_encoded_bytes()));
    }

    fn file(&mut self, file: &Path) -> Result<(), Unidentified> {
        self.add(build(file).ok_or(Unidentified::Unreadable)?);
        Ok(())
    }

    /// Adds the text, module or script that an interpreter runs; returns its name and the number of words up to it.
    fn script(
        &mut self,
        command: &str,
        file: &Path,
        words: &[OsString],
    ) -> Result<(String, usize), Unidentified> {
        let unknown = || Unidentified::Any(command.to_owned());
        let option = text_option(command).unwrap_or_default();
        let is_python = command.starts_with("py");
        for (at, word) in words.iter().enumerate() {
            let text = word.to_string_lossy();
            let next = || words.get(at + 1).ok_or_else(unknown);
            // Letters may be joined: bash -lc TEXT.
            let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
            let is_joined = |letter| text.starts_with('-') && text.ends_with(letter);
            if text == option || !text.starts_with("--") && letter.is_some_and(is_joined) {
                let program = next()?;
                self.text(program);
                // The programs that it starts.
                for word in program.to_string_lossy().split_whitespace() {
                    if let Some(file) = word.contains('/').then(|| find_program(word.as_ref()).ok())
                    {
                        file.map_or(Ok(()), |file| self.file(&file))?;
                    }
                }
                return Ok((command.to_owned(), at + 2));
            }
            if is_python && text == "-m" {
                let module = next()?.to_string_lossy().into_owned();
                let files = module_files(&module, file).ok_or_else(unknown)?;
                files.iter().try_for_each(|file| self.file(file))?;
                if !RUNNERS.contains(&&*module) {
                    return Ok((module, at + 2));
                }
                let (name, count) = self.script(command, file, &words[at + 2..])?;
                return Ok((name, at + 2 + count));
            }
            if Path::new(word).is_file() && !text.starts_with('-') {
                self.file(Path::new(word))?;
                return Ok((name(word), at + 1));
            }
        }
        Err(unknown())
    }

    /// Adds the image of a container and all words after it, since the program's file may be in the image; returns the
    /// image's name.
    fn container(
        &mut self,
        command: &str,
        subcommands: &[&str],
        words: &[OsString],
    ) -> Result<String, Unidentified> {
        let is_subcommand = |word: &OsString| subcommands.iter().any(|known| *word == **known);
        let start = words.iter().position(is_subcommand).map_or(0, |at| at + 1);
        let rest = &words[start..];
        // Options before it name directories of a job. Some images are not files.
        let image = rest.iter().position(|word| Path::new(word).is_file());
        let rest = &rest[image.unwrap_or(0)..];
        if rest.is_empty() {
            return Err(Unidentified::Any(command.to_owned()));
        }
        if image.is_some() {
            self.file(Path::new(&rest[0]))?;
        }
        let after = &rest[usize::from(image.is_some())..];
        for word in after {
            self.text(word);
        }
        // It may also be a file of this machine that the container can read.
        for file in
            after.iter().filter_map(|word| find_program(word).ok()).filter(|file| is_program(file))
        {
            self.file(&file)?;
        }
        Ok(image.map_or_else(|| command.to_owned(), |_| name(&rest[0])))
    }
}

/// The files of a Python module; `None` if it is not in any place that is known without Python.
fn module_files(module: &str, python: &Path) -> Option<Vec<PathBuf>> {
    let relative = module.replace('.', "/");
    // An environment's own packages, and those of the system.
    let prefixes = python.parent().and_then(Path::parent).into_iter();
    let prefixes = prefixes.map(Path::to_owned).chain(["/usr".into(), "/usr/local".into()]);
    let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".local"));
    let libraries = prefixes.chain(home).flat_map(|prefix| {
        let list = fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten();
        let versions = list.filter(|entry| name(&entry.file_name()).starts_with("python"));
        let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path()).collect();
        versions.sort();
        versions
    });
    let packages = libraries.flat_map(|library| {
        ["site-packages", "dist-packages", ""].map(|packages| library.join(packages))
    });
    let path = env::var_os("PYTHONPATH").unwrap_or_default();
    let mut all = iter::once(PathBuf::from(".")).chain(env::split_paths(&path)).chain(packages);
    all.find_map(|directory| {
        let package = directory.join(&relative);
        let files = [
            directory.join(format!("{relative}.py")),
            package.join("__init__.py"),
            package.join("__main__.py"),
        ];
        let found: Vec<PathBuf> = files.into_iter().filter(|file| file.is_file()).collect();
        (!found.is_empty()).then_some(found)
    })
}

/// A number for a file's content: a hash of its build ID, if it has one.
fn build(file: &Path) -> Option<u64> {
    let mut open = File::open(file).ok()?;
    let size = open.metadata().ok()?.len();
    let mut bytes = Vec::new();
    open.by_ref().take(START).read_to_end(&mut bytes).ok()?;
    if let Some(found) = build_id(&bytes) {
        return Some(digest(found));
    }
    if size <= MOST || is_program(file) {
        open.read_to_end(&mut bytes).ok()?;
        return Some(digest(build_id(&bytes).unwrap_or(&bytes)));
    }
    bytes.clear();
    let mut part = |from| {
        open.seek(SeekFrom::Start(from)).ok()?;
        open.by_ref().take(PART).read_to_end(&mut bytes).ok()
    };
    part(0)?;
    part(size - PART)?;
    Some(digest(&[&size.to_le_bytes(), &bytes[..]].concat()))
}

/// True if a file is a program or a script; data may be marked as executable as well.
fn is_program(file: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(file).and_then(|file| file.take(4).read_to_end(&mut start));
    read.is_ok() && (start == *b"\x7fELF" || start.starts_with(b"#!"))
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
mod tests;
