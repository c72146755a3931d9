//! `cartograph run`: starts a job with its own command, in the best placement learned from earlier jobs of the program.
//! Whatever goes wrong here, the job runs as it would without this command.

mod arguments;
mod known;

use std::panic;
use std::process::ExitCode;

use cartograph_jobs::processes::foreground::{self, Signals};
use cartograph_jobs::run::Job;
use cartograph_jobs::store::Store;

use crate::output::{Cause, say};
pub(crate) use arguments::Arguments;
pub(crate) use known::{Arguments as KnownArguments, run as known};

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let signals = match Signals::hold() {
        Ok(signals) => signals,
        Err(error) => {
            say(&format!("cannot block signals: {error}"));
            return ExitCode::from(1);
        }
    };
    foreground::become_job_on_panic(&arguments.command);
    let job = Job::decide(&arguments.request(), Store::open(), &signals);
    drop(panic::take_hook());
    let end = match signals.run(&job.words) {
        Ok(end) => end,
        Err(error) => {
            say(&format!("cannot run {}: {error}", job.words[0].to_string_lossy()));
            return ExitCode::from(Cause::NotFound.code());
        }
    };
    foreground::end_as_job_on_panic(end.ended);
    let line = job.learn(end);
    if !arguments.quiet && !line.is_empty() {
        say(&line);
    }
    ExitCode::from(foreground::end_as(end.ended))
}
