//! The file of a process: `DIRECTORY/RANK.jsonl`, written anew from time to time, so that a job that is killed
//! leaves what it had.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use cartograph_traffic::{Line, Process};

use crate::say::say;

/// The variable that names the directory.
const VARIABLE: &str = "CARTOGRAPH_RECORD";

/// The longest time between two writings, in milliseconds; the first comes after a second, each next
/// after twice the time.
const LONGEST: i64 = 64_000;

/// Where this process writes; `None` if nothing is recorded.
static PART: OnceLock<Part> = OnceLock::new();

struct Part {
    directory: PathBuf,
    process: Process,
    /// The number of the process in the system: a child that it forks writes nothing.
    id: u32,
    writing: Mutex<()>,
}

/// When the part is to be written.
pub(crate) struct Clock {
    next: i64,
    wait: i64,
}

/// Milliseconds since some moment. Coarse, and so no call of the system.
fn now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut time) };
    time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

impl Clock {
    pub(crate) const fn new() -> Self {
        Self { next: 0, wait: 500 }
    }

    #[inline]
    pub(crate) fn is_due(&mut self) -> bool {
        let now = now();
        if now < self.next {
            return false;
        }
        self.wait = (2 * self.wait).min(LONGEST);
        // The start has written the first.
        let first = self.next == 0;
        self.next = now + self.wait;
        !first
    }
}

/// Where the user wants it; nowhere in a program that runs with more rights than its user has.
fn directory() -> Option<PathBuf> {
    // SAFETY: asks what the system has told the process when it started.
    let trusted = unsafe { libc::getauxval(libc::AT_SECURE) } == 0;
    std::env::var_os(VARIABLE).filter(|path| trusted && !path.is_empty()).map(PathBuf::from)
}

/// Opens the part of a process. Whether something will be recorded.
pub(crate) fn open(process: Process) -> bool {
    let Some(directory) = directory() else { return false };
    let (rank, size) = (process.rank, process.size);
    let part = Part { directory, process, id: std::process::id(), writing: Mutex::new(()) };
    if rank == 0 {
        part.remove_of_larger_jobs(size);
    }
    if let Err(error) = part.write(&[], false) {
        if rank == 0 {
            say!(
                "cartograph: {VARIABLE}: {} cannot be written, so nothing is recorded: {error}",
                part.directory.display()
            );
        }
        return false;
    }
    PART.set(part).is_ok()
}

/// Writes the part anew.
pub(crate) fn write(lines: &[Line], complete: bool) {
    if let Some(part) = PART.get().filter(|part| part.id == std::process::id()) {
        // What cannot be written any more is left as it was: the program goes on.
        let _ = part.write(lines, complete);
    }
}

impl Part {
    fn write(&self, lines: &[Line], complete: bool) -> io::Result<()> {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let process = Process { complete, lines: lines.len(), ..self.process.clone() };
        fs::create_dir_all(&self.directory)?;
        let path = |end: &str| self.directory.join(format!("{}{end}", process.rank));
        // A reader finds the old text or the new one.
        let (new, name) = (path(".new"), path(".jsonl"));
        let mut file = io::BufWriter::new(File::create(&new)?);
        for line in std::iter::once(&Line::Process(process.clone())).chain(lines) {
            serde_json::to_writer(&mut file, line)?;
            file.write_all(b"\n")?;
        }
        file.flush()?;
        fs::rename(new, name)
    }

    /// Removes the parts of a job before this one that had more processes. No process of this one has such a
    /// rank.
    fn remove_of_larger_jobs(&self, size: u32) {
        let Ok(files) = fs::read_dir(&self.directory) else { return };
        for path in files.filter_map(|file| Some(file.ok()?.path())) {
            if rank_of(&path).is_some_and(|rank| rank >= size) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// The rank whose part a file is.
fn rank_of(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.strip_suffix(".jsonl")?.parse().ok()
}
