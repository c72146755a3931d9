//! What a decision about a job depends on outside the store.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use crate::exec;
use crate::exec::program::find_program;
use crate::output;
use crate::processes::foreground::Signals;

/// The processes and files outside the store on which a decision depends: its tests have none of them.
pub(super) trait Surroundings {
    /// Runs a command before the job, without input, for at most this long; returns its output if it succeeds.
    fn ask(&self, words: &[OsString], longest: Duration) -> Option<String>;

    /// Explains why a program cannot be recorded.
    fn check_recorder(&self, program: &OsStr) -> output::Result<()> {
        find_program(program).map_or(Ok(()), |program| exec::check_recorder(&program))
    }
}

impl Surroundings for Signals {
    fn ask(&self, words: &[OsString], longest: Duration) -> Option<String> {
        Signals::ask(self, words, longest)
    }
}
