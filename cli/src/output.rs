//! The output of the command: text, files, failures.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use cartograph_core::launcher::variables;
pub(crate) use cartograph_jobs::error::{Cause, Failure, Result};
use cartograph_traffic::printable;
use indicatif::{ProgressBar, ProgressStyle};

/// The time for which other processes let the first one of their job print the error.
const OTHERS_WAIT: Duration = Duration::from_secs(1);

/// The argument parser's message, on one line, without its repetition of the usage.
pub(crate) fn of_arguments(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let words = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .filter(|line| !line.is_empty() && !line.starts_with("tip: to pass"))
        .collect::<Vec<_>>()
        .join(" ");
    let words = words.strip_prefix("error: ").unwrap_or(&words).replace(" tip: ", "; tip: ");
    // Rust's texts for invalid numbers.
    let words = [
        ("invalid digit found in string", "not a whole number"),
        ("cannot parse integer from empty string", "a number is missing"),
        ("number too large to fit in target type", "the number is too large"),
        ("invalid float literal", "not a number"),
    ]
    .iter()
    .fold(words, |words, (from, to)| words.replace(from, to));
    let command = std::env::args().nth(1).filter(|word| !word.starts_with('-'));
    let known = ["run", "known", "exec", "plan", "dims", "show", "site", "try", "tune", "info"];
    let help = match command.filter(|word| known.contains(&word.as_str())) {
        Some(command) => format!("cartograph {command} --help"),
        None => "cartograph --help".to_owned(),
    };
    Failure::usage(format!("{words}; see {help}"))
}

/// Prints a failure. Wrong arguments are the same in all processes of a job, so one process prints them.
pub(crate) fn warn(failure: &Failure) {
    if failure.cause != Cause::Usage || is_first() {
        say(&failure.text);
    }
}

/// Prints a failure at the end of the command. If another process of the job prints it, this process waits: a launcher
/// ends all processes when the first one has failed.
pub(crate) fn tell(failure: &Failure) -> ExitCode {
    warn(failure);
    if failure.cause == Cause::Usage && !is_first() {
        thread::sleep(OTHERS_WAIT);
    }
    ExitCode::from(failure.cause.code())
}

/// A number of processes as text.
pub(crate) fn processes(count: usize) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}

/// True if this is the first process of its job, as far as launchers set ranks.
pub(crate) fn is_first() -> bool {
    variables::rank(std::env::var_os).is_none_or(|rank| rank == "0")
}

/// Prints a message on stderr, in one write, since many ranks may print at the same time. Errors are ignored.
pub(crate) fn say(text: &str) {
    let _ = io::stderr().write_all(format!("cartograph: {}\n", shown(text)).as_bytes());
}

/// The text without control characters: it may come from an untrusted file.
pub(crate) fn shown(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Prints to stdout, with colors only if the user wants them. The reader may close the pipe at any time.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// The number of columns on stdout: those of the terminal, or a readable width without one.
pub(crate) fn columns() -> usize {
    console::Term::stdout().size_checked().map_or(100, |(_, columns)| usize::from(columns))
}

/// Writes a file; `-` is stdout. A regular file is written whole or not at all: if the disk is full, an existing file
/// stays.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    if path == Path::new("-") {
        return print(text);
    }
    let written = match path.symlink_metadata() {
        Ok(there) if there.is_file() => {
            // A read-only file is not replaced.
            let may = OpenOptions::new().append(true).open(path);
            may.and_then(|_| replace(path, text, there.permissions()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            replace(path, text, Permissions::from_mode(0o666))
        }
        Ok(there) if there.file_type().is_fifo() => write_pipe(path, text),
        _ => fs::write(path, text),
    };
    written.map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}

/// Writes to a named pipe that some process reads; if none did, opening it would take forever.
fn write_pipe(path: &Path, text: &str) -> io::Result<()> {
    let probe = OpenOptions::new().write(true).custom_flags(nix::libc::O_NONBLOCK).open(path);
    let is_unread = |error: &io::Error| error.raw_os_error() == Some(nix::libc::ENXIO);
    // Open until the end: without a writer, the reader would end.
    let _probe = probe.map_err(|error| match is_unread(&error) {
        true => io::Error::other("no process reads this pipe"),
        false => error,
    })?;
    fs::write(path, text)
}

/// Replaces a file's content; in place, if the directory takes no new files.
fn replace(path: &Path, text: &str, permissions: Permissions) -> io::Result<()> {
    let directory = path.parent().filter(|directory| *directory != Path::new(""));
    let directory = directory.unwrap_or(Path::new("."));
    // The permissions without the umask.
    let fresh = tempfile::Builder::new().permissions(permissions).tempfile_in(directory);
    let mut fresh = match fresh {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return fs::write(path, text),
        fresh => fresh?,
    };
    // Writes to the file itself: an error of the temporary file would name its temporary path.
    fresh.as_file_mut().write_all(text.as_bytes())?;
    fresh.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

/// Checks that the directory for an output file exists.
pub(crate) fn check_place(path: &Path) -> Result<()> {
    let directory = match path.parent() {
        Some(directory) if directory != Path::new("") => directory,
        _ => Path::new("."),
    };
    let cannot = |why: &str| Failure::new(format!("cannot write {}: {why}", path.display()));
    match directory.metadata() {
        _ if path.is_dir() => Err(cannot("it is a directory")),
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(cannot(&format!("{} is not a directory", directory.display()))),
        Err(error) => Err(cannot(&format!("{}: {error}", directory.display()))),
    }
}

/// Reads a text file; `-` is stdin.
pub(crate) fn read(path: &Path) -> Result<String> {
    if path == Path::new("-") {
        io::read_to_string(io::stdin())
    } else {
        std::fs::read_to_string(path)
    }
    .map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
}

/// A line on a terminal during long work, with its description and the elapsed time.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Shows a description of the work on a terminal.
    pub(crate) fn new(what: &str) -> Self {
        let style = ProgressStyle::with_template("cartograph: {msg}, {elapsed} {spinner}");
        let line = ProgressBar::new_spinner()
            .with_style(style.expect("the template is right"))
            .with_message(what.to_owned());
        line.enable_steady_tick(Duration::from_millis(100));
        Self(line)
    }

    /// Announces a run, on one line per run if stderr is not a terminal.
    pub(crate) fn of_run(what: &str) -> Self {
        if !io::stderr().is_terminal() {
            say(what);
        }
        Self::new(what)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
