//! Failures and warnings in words for the user. The command prints them: nothing here writes to its output.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The arguments are wrong.
    Usage,
    /// An operation failed.
    Failed,
    /// There is no such program.
    NotFound,
    /// The program cannot be run.
    NotRun,
    /// The signal of this number has ended the work.
    Signal(i32),
}

impl Cause {
    /// The exit code of shells for it.
    pub fn code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Failed => 1,
            Self::NotFound => 127,
            Self::NotRun => 126,
            Self::Signal(number) => 128u8.saturating_add(number.clamp(0, 127) as u8),
        }
    }
}

/// Why something could not be done: one line.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// The kind of the failure.
    pub cause: Cause,
    /// The line.
    pub text: String,
}

/// A result, or why there is none.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// The command was called with wrong arguments.
    pub fn usage(text: impl Into<String>) -> Self {
        Self { cause: Cause::Usage, text: text.into() }
    }

    /// An operation failed.
    pub fn new(text: impl Into<String>) -> Self {
        Self { cause: Cause::Failed, text: text.into() }
    }

    /// The failure with a hint.
    pub fn with_hint(self, hint: &str) -> Self {
        Self { text: format!("{}; {hint}", self.text), ..self }
    }

    /// The failure of another kind.
    pub fn with_cause(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }
}

/// Shows a warning.
static SHOW: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the function that shows warnings. Before that, warnings are dropped.
pub fn show_warnings(show: fn(&str)) {
    let _ = SHOW.set(show);
}

/// Warns the user.
pub(crate) fn warn(text: &str) {
    if let Some(show) = SHOW.get() {
        show(text);
    }
}

/// Writes a file.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    let written = fs::write(path, text);
    written.map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}
