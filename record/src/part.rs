//! The output of a process: parts, appended to the file of its node in the directory of the job. A part has the counts
//! since the previous part, and is written in one piece, so that processes of a node need no lock.
//!
//! The directory belongs to the job. `MPI_Init` first checks that its name is free; the directory is created
//! afterwards, when all processes have checked: no rank leaves `MPI_Init` before all ranks have entered it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use cartograph_shim::environment::is_privileged;
use cartograph_shim::say;
use cartograph_traffic::{Line, Process, Work, open_regular};

use crate::work::Amount;
use crate::{devices, file_size, limits, work};

/// The variable that names the directory.
const VARIABLE: &str = "CARTOGRAPH_RECORD";

/// The variable that names it if only the run time is measured.
const CLOCK: &str = "CARTOGRAPH_CLOCK";

/// The earliest time of the first part, in milliseconds. Each further part comes after four times the time.
const FIRST: i64 = 30_000;

/// The number of times that a thread that ends its process tries to get a lock, a millisecond apart: a signal handler
/// that calls `exit` may have interrupted the code that holds it.
const PATIENCE: usize = 3000;

/// The suffix of files with parts.
const END: &str = ".jsonl";

/// The longest prefix of a file name, in bytes: Linux allows names of 255.
const LONGEST: usize = 200;

/// The directory, and what exists in its place; `None` if nothing is to be recorded.
static PLACE: OnceLock<Option<(PathBuf, Result<(), String>)>> = OnceLock::new();

/// True if only the run time is measured.
static IS_CLOCK: AtomicBool = AtomicBool::new(false);

/// The output of this process; `None` if nothing is recorded.
static PART: OnceLock<Part> = OnceLock::new();

struct Part {
    directory: PathBuf,
    file: PathBuf,
    /// The process ID: a child that it forks writes nothing.
    id: u32,
    /// The time at which MPI had started.
    start: Instant,
    written: Mutex<Written>,
}

/// The state of the process's parts.
struct Written {
    /// The first line of the next part.
    process: Process,
    /// The lines of parts that could not be written.
    kept: Vec<Line>,
    failure: Option<io::Error>,
}

/// When a part must be written before the end.
pub(crate) struct Schedule {
    start: i64,
    wait: i64,
    next: i64,
}

/// Milliseconds since some moment, from a coarse clock that needs no system call.
fn now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut time) };
    time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

impl Schedule {
    /// A schedule with no part due.
    pub(crate) const fn never() -> Self {
        Self { start: 0, wait: 0, next: i64::MAX }
    }

    /// A schedule that starts now. Parts of different ranks are due at different times, so that not all of a job write
    /// at once: the first after one to two times [`FIRST`].
    pub(crate) fn of_rank(rank: u32) -> Self {
        // Multiplied by the golden ratio, ranks are spread evenly, whatever their number.
        let spread = i64::from(rank.wrapping_mul(0x9e37_79b9));
        let (start, wait) = (now(), FIRST + ((FIRST * spread) >> 32));
        Self { start, wait, next: start + wait }
    }

    #[inline]
    pub(crate) fn is_due(&mut self) -> bool {
        if self.next == i64::MAX {
            return false;
        }
        let now = now();
        if now < self.next {
            return false;
        }
        while self.next <= now {
            self.wait *= 4;
            self.next = self.start + self.wait;
        }
        true
    }
}

/// Locks, waiting long enough for others to finish their updates.
pub(crate) fn lock_patiently<T>(lock: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..PATIENCE {
        match lock.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}

/// Checks the place for the directory: it must be free, or an empty directory. Before `MPI_Init`.
pub(crate) fn look() {
    PLACE.get_or_init(|| {
        // A program with more rights than its user writes nowhere.
        let is_trusted = !is_privileged();
        let named = |name| std::env::var_os(name).filter(|path| is_trusted && !path.is_empty());
        let directory = named(VARIABLE).or_else(|| {
            let directory = named(CLOCK);
            IS_CLOCK.store(directory.is_some(), Ordering::Relaxed);
            directory
        })?;
        // The program may change its directory.
        let directory = std::path::absolute(directory).ok()?;
        let state = state(&directory);
        Some((directory, state))
    });
}

/// True if only the run time is measured.
pub(crate) fn is_clock() -> bool {
    IS_CLOCK.load(Ordering::Relaxed)
}

/// The variable that has named the directory.
fn variable() -> &'static str {
    if is_clock() { CLOCK } else { VARIABLE }
}

/// Checks the place for the directory.
fn state(directory: &Path) -> Result<(), String> {
    let other = || "already exists; choose a new directory".to_owned();
    match directory.symlink_metadata() {
        Ok(found) if found.is_dir() => match fs::read_dir(directory).map(|mut all| all.next()) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(other()),
            Err(error) => Err(format!("cannot be read: {error}")),
        },
        Ok(_) => Err(other()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("cannot be written: {error}")),
    }
}

/// Starts recording a process, after `MPI_Init`. Returns whether anything will be recorded. Rank 0 creates the
/// directory, so that a fault is reported before the program runs for hours.
pub(crate) fn open(process: Process) -> bool {
    let Some((directory, state)) = PLACE.get().cloned().flatten() else { return false };
    let rank = process.rank;
    let made = state.and_then(|()| match rank {
        0 => make(&directory).map_err(|error| format!("cannot be written: {error}")),
        _ => Ok(()),
    });
    if let Err(why) = made {
        if rank == 0 {
            say!("{}: {} {why}; nothing is recorded", variable(), directory.display());
        }
        return false;
    }
    let host = &process.host;
    // A host name is ASCII.
    let name = host.get(..LONGEST).unwrap_or(host).to_owned() + END;
    let file = directory.join(name);
    let written = Mutex::new(Written { process, kept: Vec::new(), failure: None });
    let id = std::process::id();
    PART.set(Part { directory, file, id, start: Instant::now(), written }).is_ok()
}

/// Makes the directory, unless another process of the job has.
fn make(directory: &Path) -> io::Result<()> {
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::create_dir(directory) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if directory.symlink_metadata()?.is_dir() {
                return Ok(());
            }
            Err(error)
        }
        made => made,
    }
}

/// The part of this process; `None` in a child that it forked, which may have inherited locks that no thread releases.
fn own() -> Option<&'static Part> {
    PART.get().filter(|part| part.id == std::process::id())
}

/// Writes the lines of `take`, if there are any. A message does not wait for another thread's part.
pub(crate) fn write(take: impl FnOnce() -> Vec<Line>) {
    let Some(part) = own() else { return };
    let Ok(mut written) = part.written.try_lock() else { return };
    let lines = take();
    if !lines.is_empty() {
        part.write(&mut written, lines, false);
    }
}

/// Writes the last part, with the lines of `take`. `complete` if no further counts can follow.
pub(crate) fn finish(complete: bool, take: impl FnOnce() -> Option<Vec<Line>>) {
    let Some(part) = own() else { return };
    let Some(mut written) = lock_patiently(&part.written) else { return };
    let Some(lines) = take() else { return };
    if complete && !is_clock() {
        written.process.device = devices::used();
    }
    // A process that has sent nothing also writes a part.
    if complete || written.process.part == 0 || !lines.is_empty() || !written.kept.is_empty() {
        part.write(&mut written, lines, complete);
    }
    let Written { process, failure, .. } = &mut *written;
    if let Some(error) = failure.take().filter(|_| process.rank == 0) {
        say!(
            "{}: {} cannot be written; the recording is incomplete: {error}",
            variable(),
            part.file.display()
        );
    }
}

impl Part {
    /// Appends a part; lines that cannot be written now are in the next one. The program continues.
    fn write(&self, written: &mut Written, lines: Vec<Line>, complete: bool) {
        written.kept.extend(lines);
        let process = &mut written.process;
        (process.complete, process.lines) = (complete, written.kept.len());
        process.nanoseconds = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        (process.cost, process.stopped) = (limits::nanoseconds(), limits::has_stopped());
        if !is_clock() {
            let Amount { work, pattern } = work::take();
            process.work.add(work);
            process.pattern = Some(process.pattern.unwrap_or(0).wrapping_add(pattern));
        }
        let appended = text(process, &written.kept).and_then(|text| self.append(&text));
        if appended.is_ok() {
            process.part += 1;
            (process.work, process.pattern) = (Work::default(), None);
            written.kept.clear();
        }
        written.failure = appended.err();
    }

    /// Appends a text to the node's file, in one write: the texts of other processes come before or after it.
    fn append(&self, text: &[u8]) -> io::Result<()> {
        let mut file = self.open().or_else(|error| match error.kind() {
            ErrorKind::NotFound => make(&self.directory).and_then(|()| self.open()),
            _ => Err(error),
        })?;
        file_size::without_signal(|| file.write_all(text))
    }

    /// Opens the node's file, new or created by others of the job: no link, and no file with other names.
    fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true);
        if self.directory.symlink_metadata()?.is_symlink() {
            return Err(io::Error::other("its directory was replaced by a link"));
        }
        match open_regular(options.create_new(true), &self.file) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made,
        }
        let file = open_regular(options.create_new(false), &self.file)?;
        match file.metadata()?.nlink() {
            1 => Ok(file),
            _ => Err(io::Error::other("another file is in its place")),
        }
    }
}

/// A part, after an empty line: if the previous part is truncated, this one is still complete.
fn text(process: &Process, lines: &[Line]) -> io::Result<Vec<u8>> {
    let mut text = vec![b'\n'];
    for line in std::iter::once(&Line::Process(process.clone())).chain(lines) {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    Ok(text)
}
