//! Interleaved runs of all variants of the program.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cartograph_jobs::compare::files::Files;
use cartograph_jobs::compare::{self, Lines};
use cartograph_jobs::learn::measure::{median, turns};
use cartograph_jobs::place::{Arm, Start};
use cartograph_jobs::processes::{Input, job};
use cartograph_jobs::store::Store;
use cartograph_traffic::Recording;
use regex::Regex;

use super::variants::Variant;
use crate::output::{Failure, Progress, Result};

/// A variant is dropped after two rounds if each of its runs is slower by this factor than each run of the best.
const CLEARLY_BEHIND: f64 = 1.15;

#[derive(clap::Args)]
pub(super) struct Options {
    /// Maximum runs per variant, interleaved (>= 2)
    #[arg(long, default_value = "5", value_parser = clap::value_parser!(u32).range(2..=1000))]
    runs: u32,
    /// Start no third or later round after SECONDS, and end a run that takes longer
    #[arg(long, default_value = "1800", value_name = "SECONDS")]
    pub(super) seconds: u64,
    /// Compare the time that the program prints: the first group of a regular expression, or its first number;
    /// default: the time from MPI_Init to MPI_Finalize
    #[arg(long, value_name = "REGEX")]
    time: Option<Regex>,
    /// Tolerance of numbers in the output, relative to their size or, if they are smaller, to 0.001
    #[arg(long, default_value = "1e-6")]
    pub(super) tolerance: f64,
    /// Ignore lines of the output that contain this text, and files whose names contain it; may be repeated
    #[arg(long, value_name = "TEXT")]
    ignore: Vec<String>,
}

/// A variant with its runs.
pub(super) struct VariantRuns {
    pub(super) arm: Arm,
    /// Its start, unless it cannot be run.
    pub(super) start: Option<Start>,
    /// The node of each rank, by name.
    nodes: Vec<String>,
    pub(super) times: Vec<f64>,
    lines: Vec<Lines>,
    /// Why it was dropped.
    pub(super) dropped: Option<String>,
    /// True if it was dropped because its output differs.
    pub(super) differs: bool,
    /// True if it was dropped because it cannot be run.
    pub(super) failed: bool,
    /// The options that ignore the difference, if it names only the places of ranks.
    pub(super) ignorable: Option<String>,
}

/// The time that is compared.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Time {
    /// From `MPI_Init` to `MPI_Finalize`.
    OfJob,
    /// The launcher's time, if some processes do not reach `MPI_Finalize`.
    OfLauncher,
    /// Printed by the program.
    Printed,
}

/// The runs of all variants.
pub(super) struct Measured {
    /// The time that is compared.
    pub(super) time: Time,
    /// The first is the baseline.
    pub(super) all: Vec<VariantRuns>,
    /// The variant of each completed run, in order, and its time from `MPI_Init` to `MPI_Finalize`.
    pub(super) ended: Vec<(usize, f64)>,
    /// True if there are too many files to compare.
    pub(super) too_many_files: bool,
    /// True if the user interrupted the rounds, after enough runs.
    pub(super) is_interrupted: bool,
}

/// Runs all variants, interleaved, with a directory for files. `names` are the names of the nodes. The rounds end at
/// most a fixed time after `start`.
pub(super) fn run(
    options: &Options,
    names: &[String],
    input: &Input,
    variants: Vec<Variant>,
    directory: &Path,
    start: Instant,
) -> Result<Measured> {
    let runs = |(arm, start): Variant| {
        let nodes = arm.node_of.iter().map(|node| names[*node as usize].clone()).collect();
        let dropped = start.as_ref().err().cloned();
        let failed = dropped.is_some();
        let (times, lines, start) = (Vec::new(), Vec::new(), start.ok());
        let (differs, ignorable) = (false, None);
        VariantRuns { arm, start, nodes, times, lines, dropped, differs, failed, ignorable }
    };
    let mut rounds = Rounds {
        options,
        input,
        longest: Duration::from_secs(options.seconds),
        files: Files::below(env::current_dir().unwrap_or_default(), Store::place().as_deref()),
        clock: directory.join("clock"),
        time: if options.time.is_some() { Time::Printed } else { Time::OfJob },
        all: variants.into_iter().map(runs).collect(),
        ended: Vec::new(),
    };
    let is_interrupted = rounds.run(start)?;
    let Rounds { files, time, all, ended, .. } = rounds;
    let too_many_files = files.too_many;
    Ok(Measured { time, all, ended, too_many_files, is_interrupted })
}

struct Rounds<'a> {
    options: &'a Options,
    input: &'a Input,
    /// The time limit of a run.
    longest: Duration,
    files: Files,
    /// The directory in which processes write their run times.
    clock: PathBuf,
    time: Time,
    all: Vec<VariantRuns>,
    ended: Vec<(usize, f64)>,
}

impl Rounds<'_> {
    /// Runs all variants until enough is known; true if the user interrupts the command before.
    fn run(&mut self, start: Instant) -> Result<bool> {
        for round in 0..self.options.runs {
            if self.all[1..].iter().all(|runs| runs.dropped.is_some()) {
                break;
            }
            if round >= 2 && start.elapsed().as_secs() >= self.options.seconds {
                break;
            }
            let is_left = |at: &usize| self.all[*at].dropped.is_none();
            let turns: Vec<usize> = turns(round, self.all.len()).filter(is_left).collect();
            for (turn, at) in turns.iter().enumerate() {
                match self.run_once(*at, round, turns.len() - turn) {
                    Err(_) if job::is_interrupted() && round >= 2 => return Ok(true),
                    other => other?,
                }
            }
            if round >= 1 {
                self.drop_slower_and_different();
            }
        }
        Ok(false)
    }

    /// Runs one of the remaining variants of a round.
    fn run_once(&mut self, at: usize, round: u32, left: usize) -> Result<()> {
        let VariantRuns { arm, start, .. } = &self.all[at];
        let Some(start) = start else { return Ok(()) };
        let command = start.words(&["--clock".into(), self.clock.clone().into()])?;
        let number = self.numbered(round, left);
        let progress = Progress::of_run(&format!("{number}: {}", arm.order));
        let run = job::run(&command, None, self.input, self.longest);
        drop(progress);
        let run = run?;
        if (at, round) == (0, 0) {
            self.longest = self.longest.min(10 * run.took + Duration::from_secs(10));
        }
        let ignored = &self.options.ignore;
        let mut lines = Lines::new();
        let is_time = |line: &&str| match &self.options.time {
            Some(regex) => regex.is_match(line),
            None => false,
        };
        let answers: Vec<&str> = run.stdout.lines().filter(|line| !is_time(line)).collect();
        compare::add(&mut lines, "stdout", &answers.join("\n"), ignored);
        self.files.add_written(&mut lines, ignored);
        let noted = noted(&self.clock);
        let seconds = noted.as_ref().map(|noted| noted.seconds);
        if (at, round, seconds) == (0, 0, None) && self.time == Time::OfJob {
            self.time = Time::OfLauncher;
        }
        let time = match (self.time, &self.options.time) {
            (Time::OfJob, _) => seconds,
            (_, None) => Some(run.took.as_secs_f64()),
            (_, Some(regex)) => printed(regex, &run.stdout).or_else(|| printed(regex, &run.stderr)),
        };
        let runs = &mut self.all[at];
        if !run.has_succeeded() {
            (runs.dropped, runs.failed) = (Some(format!("it {}", run.end())), true);
        } else if let Some(why) = runs.start.as_ref().and_then(Start::unbound) {
            (runs.dropped, runs.failed) = (Some(why), true);
        } else if at > 0 && noted.as_ref().is_some_and(|noted| noted.nodes != runs.nodes) {
            let why = "its ranks were not placed as requested";
            (runs.dropped, runs.failed) = (Some(why.to_owned()), true);
        } else if let Some(time) = time {
            runs.times.push(time);
            runs.lines.push(lines);
            self.ended.extend(seconds.map(|seconds| (at, seconds)));
        } else {
            runs.dropped = Some(match self.time {
                Time::Printed => "--time did not match the output".to_owned(),
                _ => "some ranks did not reach MPI_Finalize".to_owned(),
            });
        }
        if let (0, Some(why)) = (at, &runs.dropped) {
            let failure = Failure::new(format!("baseline run failed: {why}"));
            return Err(self.input.explained(failure));
        }
        Ok(())
    }

    /// "run 2 of 10", or fewer if variants are dropped.
    fn numbered(&self, round: u32, left: usize) -> String {
        let done: usize = self.all.iter().map(|runs| runs.times.len()).sum();
        let is_left = |runs: &&VariantRuns| runs.dropped.is_none();
        let rounds = (self.options.runs - round - 1) as usize;
        let all = done + left + rounds * self.all.iter().filter(is_left).count();
        format!("run {} of {all}", done + 1)
    }

    /// Drops variants that are much slower, or whose output differs.
    fn drop_slower_and_different(&mut self) {
        let (baseline, others) = self.all.split_at_mut(1);
        let known: Vec<&Lines> = baseline[0].lines.iter().collect();
        let running = others.iter().filter(|runs| runs.dropped.is_none());
        let times = std::iter::once(&baseline[0]).chain(running).map(|runs| &runs.times);
        let best = times.min_by(|one, other| median(one).total_cmp(&median(other)));
        // The slowest run of the best: noisy runs drop no variant.
        let best = best.map_or(f64::INFINITY, |times| times.iter().copied().fold(0.0, f64::max));
        for runs in others.iter_mut().filter(|runs| runs.dropped.is_none()) {
            let lines: Vec<&Lines> = runs.lines.iter().collect();
            let found = compare::compare(&known, &lines, self.options.tolerance);
            if let Some(difference) = found.difference {
                runs.dropped = Some(format!("output differs: {difference}"));
                runs.differs = true;
                runs.ignorable = found.ignorable;
            } else if runs.times.iter().all(|time| *time > best * CLEARLY_BEHIND) {
                runs.dropped = Some("dropped: much slower than the best variant".to_owned());
            }
        }
    }
}

/// The times and nodes that all processes of a run have noted.
struct Noted {
    /// The time from `MPI_Init` to `MPI_Finalize`, in seconds.
    seconds: f64,
    /// The name of each rank's node.
    nodes: Vec<String>,
}

/// Reads the notes of all processes; `None` if some process has left none. Then the directory is free for the next run.
fn noted(directory: &Path) -> Option<Noted> {
    let found = Recording::open(directory).ok();
    let _ = fs::remove_dir_all(directory);
    let found = found.filter(|job| job.missing() + job.cut_short == 0)?;
    let nodes = found.hosts.into_values().map(|node| node.name).collect();
    Some(Noted { seconds: found.nanoseconds as f64 * 1e-9, nodes })
}

/// The last time in a program's output.
fn printed(regex: &Regex, text: &str) -> Option<f64> {
    let found = regex.captures_iter(text).last()?;
    let words = found.get(1).or(found.get(0))?.as_str();
    let is_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let mut numbers = words.split(|c| !is_number(c)).filter_map(|word| word.parse().ok());
    numbers.find(|time: &f64| *time > 0.0 && time.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_time_is_taken() {
        let text = "Step 1 took 3 s\nSolve   1.25e+00 s\nSolve 2.5 s\n";
        let time = |regex: &str| printed(&Regex::new(regex).unwrap(), text);
        assert_eq!(time("Solve.*"), Some(2.5));
        assert_eq!(time("Solve +([^ ]+)"), Some(2.5));
        assert_eq!(time("took (.*)"), Some(3.0));
        assert_eq!(time("Other.*"), None);
    }
}
