//! A command that answers a question about a job before the job starts.

use std::ffi::OsString;
use std::time::Duration;

use super::watched::Run;

/// A question.
pub struct Question<'a> {
    /// The command, which gets no input.
    pub words: &'a [OsString],
    /// Its time limit.
    pub longest: Duration,
    /// True of an output that is the whole answer even if the command does not end, if that can be seen.
    pub is_answer: Option<fn(&str) -> bool>,
}

impl Question<'_> {
    /// The output of a run that answers the question.
    ///
    /// # Errors
    ///
    /// How the run ended instead.
    pub(super) fn answer(&self, run: Run) -> Result<String, String> {
        let is_cut = run.ended.is_err();
        let answers = run.has_succeeded()
            || is_cut && self.is_answer.is_some_and(|is_answer| is_answer(&run.stdout));
        if answers { Ok(run.stdout) } else { Err(format!("it {}", run.end())) }
    }
}
