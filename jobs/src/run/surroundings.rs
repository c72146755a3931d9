//! What a decision about a job depends on outside the store.

use std::ffi::OsStr;

use crate::error;
use crate::processes::Question;
use crate::processes::foreground::Signals;
use crate::program::{self, find_program};

/// The processes and files outside the store on which a decision depends: its tests have none of them.
pub trait Surroundings {
    /// Runs a command before the job; returns its output.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    fn ask(&self, question: &Question<'_>) -> Result<String, String>;

    /// Explains why a program cannot be recorded.
    fn check_recorder(&self, program: &OsStr) -> error::Result<()> {
        find_program(program).map_or(Ok(()), |program| program::check_recorder(&program))
    }
}

impl Surroundings for Signals {
    fn ask(&self, question: &Question<'_>) -> Result<String, String> {
        Signals::ask(self, question)
    }
}
