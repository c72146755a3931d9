//! The output of a report: to stderr or a text file as it comes, or to a JSON file that is always complete.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cartograph_traffic::open_regular;

use crate::host::process::eprint_line;
use crate::host::settings::Target;
use crate::report::Report;

/// The place where one process writes its report. Any thread may use it.
pub(super) struct Output(Mutex<Destination>);

enum Destination {
    Stderr,
    /// A text file that grows.
    Text {
        path: PathBuf,
        begun: bool,
    },
    /// A file that is replaced, and a hash of its content.
    Json {
        path: PathBuf,
        written: Option<u64>,
    },
    /// Like `Json`, but if another job's file has the name, a new name is taken at the first write.
    Site {
        path: PathBuf,
        written: Option<u64>,
    },
    Nowhere,
}

/// The maximal size of a report that sites collect, in bytes.
const SITE_BYTES: usize = 1 << 15;

/// The most programs of one job whose reports would have the same name; more are not written.
const MOST_OF_A_NAME: u32 = 1000;

impl Output {
    /// The output of the process with this rank in `MPI_COMM_WORLD`: all except rank 0 append their rank to the file
    /// name.
    pub(super) fn new(target: &Target, rank: i32) -> Self {
        let path = match target {
            Target::Stderr => return Self(Mutex::new(Destination::Stderr)),
            Target::Site(path, _) => {
                let site = || Destination::Site { path: path.clone(), written: None };
                return Self(Mutex::new(if rank == 0 { site() } else { Destination::Nowhere }));
            }
            Target::File(path) => path,
        };
        let is_json = is_json(path);
        let path = if rank == 0 { path.clone() } else { with_suffix(path, &format!(".{rank}")) };
        Self(Mutex::new(if is_json {
            Destination::Json { path, written: None }
        } else {
            Destination::Text { path, begun: false }
        }))
    }

    /// Writes the new parts. If the file cannot be written, prints a message, and everything goes to stderr.
    pub(super) fn write(&self, report: &Report, is_last: bool) {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = match &mut *place {
            Destination::Nowhere => return,
            Destination::Site { path, written } => write_site(path, written, report),
            Destination::Json { path, written } => write_json(path, written, report),
            Destination::Text { .. } | Destination::Stderr => None,
        };
        if let Some(next) = next {
            *place = next;
        }
        if let Destination::Site { .. } | Destination::Json { .. } | Destination::Nowhere = *place {
            return;
        }
        let text = if is_last { report.last_news() } else { report.news() };
        if text.is_empty() {
            return;
        }
        if let Destination::Text { path, begun } = &mut *place {
            match append(path, *begun, &text) {
                Ok(()) => {
                    *begun = true;
                    return;
                }
                Err(error) => *place = give_up(path, &error),
            }
        }
        // In one write, so that lines of other processes do not mix in. A failure can no longer be reported.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// Writes a complete report once; to a file only if it does not exist, since a process of another world of this job may
/// have written it.
pub(super) fn write_all(target: &Target, report: &Report) {
    if let Target::Site(path, _) = target {
        let _ = write_new(path, &(report.short_json(SITE_BYTES) + "\n"));
        return;
    }
    if let Target::File(path) = target {
        let text = if is_json(path) { report.json() + "\n" } else { report.text() };
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let Err(error) = file.and_then(|mut file| file.write_all(text.as_bytes())) else { return };
        let is_same = || fs::read_to_string(path).is_ok_and(|there| there == text);
        if check_place(path).is_ok() && is_same() {
            return;
        }
        give_up(path, &error);
    }
    let _ = io::stderr().write_all(report.text().as_bytes());
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Writes the one file of a job among those of a site, if it is new. Returns the destination from now on.
fn write_site(path: &Path, written: &Option<u64>, report: &Report) -> Option<Destination> {
    let text = report.short_json(SITE_BYTES) + "\n";
    let hash = hash_of(&text);
    if *written == Some(hash) {
        return None;
    }
    let placed = match written {
        Some(_) => replace(path, &text).map(|()| path.to_owned()),
        None => write_new(path, &text),
    };
    Some(match placed {
        Ok(path) => Destination::Site { path, written: Some(hash) },
        Err(_) => Destination::Nowhere,
    })
}

/// Writes a JSON file, if it is new: a process that is killed here leaves no incomplete file. Returns the destination from
/// now on if that fails.
fn write_json(path: &Path, written: &mut Option<u64>, report: &Report) -> Option<Destination> {
    let text = report.json() + "\n";
    let hash = hash_of(&text);
    if *written == Some(hash) {
        return None;
    }
    match replace(path, &text) {
        Ok(()) => {
            *written = Some(hash);
            None
        }
        Err(error) => Some(give_up(path, &error)),
    }
}

fn give_up(path: &Path, error: &io::Error) -> Destination {
    eprint_line!(
        "CARTOGRAPH_REPORT: {} cannot be written: {error}; reporting on stderr",
        path.display()
    );
    Destination::Stderr
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Appends to a file, which is new at first. The descriptor is not kept open: the program decides which files are open.
fn append(path: &Path, begun: bool, text: &str) -> io::Result<()> {
    check_place(path)?;
    let mut options = OpenOptions::new();
    if begun {
        options.append(true);
    } else {
        options.write(true).truncate(true);
    }
    // The check may be outdated.
    open_regular(options.create(true), path)?.write_all(text.as_bytes())
}

/// Writes a new file: `path`, or `path` with a number before its extension. An incomplete file is removed.
fn write_new(path: &Path, text: &str) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let mut own = path.to_owned();
        if number > 1 {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let end = path.extension().map_or(String::new(), |end| format!(".{}", end.display()));
            own.set_file_name(format!("{stem}-{number}{end}"));
        }
        match OpenOptions::new().write(true).create_new(true).open(&own) {
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists && number < MOST_OF_A_NAME =>
            {
                number += 1;
            }
            Err(error) => return Err(error),
            Ok(mut file) => {
                let written = file.write_all(text.as_bytes());
                if written.is_err() {
                    let _ = fs::remove_file(&own);
                }
                return written.map(|()| own);
            }
        }
    }
}

/// Replaces a file's content, whole or not at all.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    check_place(path)?;
    let fresh = with_suffix(path, &format!(".cartograph-{}", std::process::id()));
    let create = || OpenOptions::new().write(true).create_new(true).open(&fresh);
    let file = create().or_else(|error| match error.kind() {
        // A process that was killed here left this.
        io::ErrorKind::AlreadyExists => fs::remove_file(&fresh).and_then(|()| create()),
        _ => Err(error),
    });
    let written = file?.write_all(text.as_bytes()).and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written
}

/// Checks that a report goes to a regular file, never through a link, to a device or to a pipe.
fn check_place(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_symlink() => {
            Err(io::Error::other("it is a symbolic link, which is not followed"))
        }
        Ok(there) if !there.is_file() => Err(io::Error::other("it is not a regular file")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
