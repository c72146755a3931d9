//! `cartograph run`: starts a job with its own command, in the best placement learned from earlier jobs of the program.
//! Whatever goes wrong here, the job runs as it would without this command.

mod arguments;
mod arms;
mod candidates;
mod choice;
mod decision;
mod forecasts;
mod inputs;
mod kept;
mod known;
mod learned;
mod nodes;
mod relays;
mod surroundings;
mod with_relays;

use std::panic;
use std::process::ExitCode;

use crate::output::{Failure, say};
use crate::processes::Ended;
use crate::processes::foreground::{self, JobEnd, Signals};
use crate::store::Store;
pub(crate) use arguments::Arguments;
use decision::Job;
pub(crate) use inputs::Inputs;
pub(crate) use known::{Arguments as KnownArguments, run as known};
use learned::Lesson;
pub(crate) use relays::nodes_of_ranks;

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let signals = match Signals::hold() {
        Ok(signals) => signals,
        Err(error) => {
            say(&format!("cannot block signals: {error}"));
            return ExitCode::from(1);
        }
    };
    foreground::become_job_on_panic(&arguments.command);
    let Job { words, name, lesson } = Job::decide(arguments, Store::open(), &signals);
    drop(panic::take_hook());
    let end = match signals.run(&words) {
        Ok(end) => end,
        Err(error) => {
            say(&format!("cannot run {}: {error}", words[0].to_string_lossy()));
            return ExitCode::from(Failure::NOT_FOUND);
        }
    };
    foreground::end_as_job_on_panic(end.ended);
    let line = learned(lesson, &name, end);
    if !arguments.quiet && !line.is_empty() {
        say(&line);
    }
    ExitCode::from(foreground::end_as(end.ended))
}

/// Learns from a job that has ended, and returns the line about it.
fn learned(lesson: Result<Lesson, String>, name: &str, end: JobEnd) -> String {
    match (lesson, end.ended) {
        (Err(why), _) => why,
        (Ok(lesson), Ended::Code(0)) => {
            lesson.learn(name).unwrap_or_else(|why| format!("{name}: {why}"))
        }
        (Ok(_), Ended::Code(code)) if end.after_signal => {
            format!("{name} exited with code {code} after a signal; nothing learned from this run")
        }
        (Ok(lesson), Ended::Code(code)) => {
            lesson.failed();
            format!("{name} exited with code {code}; this run is not compared")
        }
        (Ok(_), Ended::Signal(_)) => {
            format!("{name} was ended by a signal; nothing learned from this run")
        }
    }
}
