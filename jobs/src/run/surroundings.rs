//! What a decision about a job depends on outside the store.

use std::ffi::OsString;

use crate::error;
use crate::launch::program_word;
use crate::processes::Question;
use crate::processes::foreground::Signals;
use crate::program::{With, check, find_program};

/// The processes and files outside the store on which a decision depends: its tests have none of them.
pub trait Surroundings {
    /// Runs a command before the job; returns its output.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    fn ask(&self, question: &Question<'_>) -> Result<String, String>;

    /// Explains why the program in a command line cannot be recorded.
    fn check_recorder(&self, words: &[OsString]) -> error::Result<()> {
        let (program, with) = (program_word(words), With { recorder: true, library: false });
        find_program(program).map_or(Ok(()), |_| check(words, program, None, with))
    }
}

impl Surroundings for Signals {
    fn ask(&self, question: &Question<'_>) -> Result<String, String> {
        Signals::ask(self, question)
    }
}
