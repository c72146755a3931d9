//! Interleaved runs of all variants of the program.

use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cartograph_core::learn::measure::{median, paired_gain};
use cartograph_core::learn::{Gain, SHOWN};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::times::{LEAST_GAIN, is_faster, noted, printed, turns};
use crate::arms::{Arm, Job, Placer, Start, Way, faster};
use crate::output::{Failure, Progress, Result};
use crate::runs::compare::{self, Lines};
use crate::runs::files::{self, Files};
use crate::runs::input::Input;
use crate::runs::job::{self, Ended};
use crate::traffic;

/// A variant is dropped after two rounds if each of its runs is slower by this factor than each run of the best.
const CLEARLY_BEHIND: f64 = 1.15;

/// A variant with its runs.
struct Runs {
    arm: Arm,
    /// Its start, unless it cannot be run.
    start: Option<Start>,
    /// The node of each rank, by name, if the launcher is to place them.
    nodes: Option<Vec<String>>,
    times: Vec<f64>,
    lines: Vec<Lines>,
    /// Why it was dropped.
    dropped: Option<String>,
    /// True if it was dropped because its output differs.
    differs: bool,
    /// True if that is because it cannot be run.
    failed: bool,
    /// The options by which what differs is ignored, if that names places of ranks.
    ignorable: Option<String>,
}

pub(super) struct Rounds<'a> {
    arguments: &'a Arguments,
    input: &'a Input,
    /// The longest a run may take.
    longest: Duration,
    files: Files,
    /// The directory in which processes note how long they ran.
    clock: PathBuf,
    time: Time,
    /// The first is the baseline.
    all: Vec<Runs>,
    /// The variant of each run that came to its end, in their order, and its time from `MPI_Init` to `MPI_Finalize`.
    ended: Vec<(usize, f64)>,
}

/// The time that is compared.
#[derive(Clone, Copy, PartialEq)]
enum Time {
    /// From `MPI_Init` to `MPI_Finalize`.
    OfJob,
    /// Of the launcher, if some processes do not reach `MPI_Finalize`.
    OfLauncher,
    /// Printed by the program.
    Printed,
}

/// The result of all rounds.
pub(super) struct Finding<'a> {
    pub(super) words: String,
    pub(super) best: Option<(&'a Arm, &'a Start)>,
    pub(super) measured: Option<(f64, f64)>,
    /// True if no variant except the baseline could run.
    pub(super) none_ran: bool,
}

impl<'a> Rounds<'a> {
    /// Rounds of these variants, with a directory for files.
    pub(super) fn new(
        arguments: &'a Arguments,
        placer: &Placer,
        job: &Job<'_>,
        input: &'a Input,
        variants: Vec<Arm>,
        directory: &Path,
    ) -> Result<Self> {
        let runs = |(number, arm): (usize, Arm)| {
            let start = placer.start(&arm, job, &directory.join(format!("ranks-{number}")))?;
            let dropped = start.as_ref().err().map(|why| match &placer.no_world {
                Some(no_world) => {
                    format!("{why}; nor can MPI_COMM_WORLD get another order: {no_world}")
                }
                None => why.clone(),
            });
            let failed = dropped.is_some();
            let names = arm.node_of.iter().map(|node| job.names[*node as usize].clone());
            let nodes = (arm.way == Way::Launcher).then(|| names.collect());
            let (times, lines, start) = (Vec::new(), Vec::new(), start.ok());
            let (differs, ignorable) = (false, None);
            Ok(Runs { arm, start, nodes, times, lines, dropped, differs, failed, ignorable })
        };
        let all = variants.into_iter().enumerate().map(runs).collect::<Result<_>>()?;
        let files = Files::below(env::current_dir().unwrap_or_default(), Some(directory));
        let time = if arguments.time.is_some() { Time::Printed } else { Time::OfJob };
        let clock = directory.join("clock");
        let longest = Duration::from_secs(arguments.seconds);
        Ok(Self { arguments, input, longest, files, clock, time, all, ended: Vec::new() })
    }

    /// Runs all variants, interleaved. True if interrupted after enough runs.
    pub(super) fn run(&mut self, rounds: u32, start: Instant) -> Result<bool> {
        for round in 0..rounds {
            if self.all[1..].iter().all(|runs| runs.dropped.is_some()) {
                break;
            }
            if round >= 2 && start.elapsed().as_secs() >= self.arguments.seconds {
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
                self.drop_those_behind();
            }
        }
        Ok(false)
    }

    /// Runs a variant, of those that are left in a round.
    fn run_once(&mut self, at: usize, round: u32, left: usize) -> Result<()> {
        let Runs { arm, start, .. } = &self.all[at];
        let Some(start) = start else { return Ok(()) };
        let mut options: Vec<OsString> = Vec::new();
        if let Some(name) = &self.arguments.mpi {
            options.extend(["--mpi".into(), name.into()]);
        }
        options.extend(["--clock".into(), self.clock.clone().into()]);
        let command = start.words(&options)?;
        let number = self.numbered(round, left);
        let progress = Progress::of_run(&format!("{number}: {}", arm.order));
        let run = job::run(&command, None, self.input, self.longest);
        drop(progress);
        let run = run?;
        if (at, round) == (0, 0) {
            self.longest = self.longest.min(10 * run.took + Duration::from_secs(10));
        }
        let ignored = &self.arguments.ignore;
        let mut lines = Lines::new();
        let is_time = |line: &&str| match &self.arguments.time {
            Some(regex) => regex.is_match(line),
            None => false,
        };
        let answers: Vec<&str> = run.stdout.lines().filter(|line| !is_time(line)).collect();
        compare::add(&mut lines, "stdout", &answers.join("\n"), ignored);
        for (name, path) in self.files.written() {
            if !ignored.iter().any(|word| name.contains(word)) {
                // One that cannot be read is as if it were not there.
                let _ = files::add(&mut lines, &name, &path, ignored);
            }
        }
        let noted = noted(&self.clock);
        let seconds = noted.as_ref().map(|noted| noted.seconds);
        if (at, round, seconds) == (0, 0, None) && self.time == Time::OfJob {
            self.time = Time::OfLauncher;
        }
        let time = match (self.time, &self.arguments.time) {
            (Time::OfJob, _) => seconds,
            (_, None) => Some(run.took.as_secs_f64()),
            (_, Some(regex)) => printed(regex, &run.stdout).or_else(|| printed(regex, &run.stderr)),
        };
        let runs = &mut self.all[at];
        if run.ended != Ended::Code(0) {
            (runs.dropped, runs.failed) = (Some(format!("it {}", run.end())), true);
        } else if let Some(why) = refusal(&runs.arm, &run.stderr) {
            (runs.dropped, runs.failed) = (Some(why.to_owned()), true);
        } else if let (Some(noted), Some(nodes)) = (&noted, &runs.nodes)
            && noted.nodes != *nodes
        {
            let why = "the launcher did not place ranks as in the rank file";
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
        let is_left = |runs: &&Runs| runs.dropped.is_none();
        let rounds = (self.arguments.runs - round - 1) as usize;
        let all = done + left + rounds * self.all.iter().filter(is_left).count();
        format!("run {} of {all}", done + 1)
    }

    /// Drops variants that are much slower, or whose output differs.
    fn drop_those_behind(&mut self) {
        let (baseline, others) = self.all.split_at_mut(1);
        let known: Vec<&Lines> = baseline[0].lines.iter().collect();
        let running = others.iter().filter(|runs| runs.dropped.is_none());
        let times = std::iter::once(&baseline[0]).chain(running).map(|runs| &runs.times);
        let best = times.min_by(|one, other| median(one).total_cmp(&median(other)));
        // The slowest run of the best: noisy runs drop no variant.
        let best = best.map_or(f64::INFINITY, |times| times.iter().copied().fold(0.0, f64::max));
        for runs in others.iter_mut().filter(|runs| runs.dropped.is_none()) {
            let lines: Vec<&Lines> = runs.lines.iter().collect();
            let found = compare::compare(&known, &lines, self.arguments.tolerance);
            if let Some(difference) = found.difference {
                runs.dropped = Some(format!("output differs: {difference}"));
                runs.differs = true;
                runs.ignorable = found.ignorable;
            } else if runs.times.iter().all(|time| *time > best * CLEARLY_BEHIND) {
                runs.dropped = Some("dropped: much slower than the best variant".to_owned());
            }
        }
    }

    /// The runs that came to their end, in their order: the placement, and the time from `MPI_Init` to `MPI_Finalize`.
    pub(super) fn ended(&self) -> impl Iterator<Item = (&Arm, f64)> {
        self.ended.iter().map(|(at, seconds)| (&self.all[*at].arm, *seconds))
    }

    /// The placements in which the program failed.
    pub(super) fn failed(&self) -> impl Iterator<Item = &Arm> {
        let failed = self.all.iter().filter(|runs| runs.failed && runs.start.is_some());
        failed.map(|runs| &runs.arm)
    }

    /// The name of the time that is compared.
    fn time(&self) -> &'static str {
        match self.time {
            Time::OfJob => "from MPI_Init to MPI_Finalize",
            Time::OfLauncher => "of the launcher",
            Time::Printed => "printed",
        }
    }

    /// The time that is compared and the times of all runs, without the program's output.
    pub(super) fn json(&self) -> Value {
        let variants = self.all.iter().map(|runs| {
            let Arm { order, predicted, busiest, .. } = &runs.arm;
            let gain = paired_gain(&self.all[0].times, &runs.times, SHOWN);
            let why = runs.dropped.as_deref();
            json!({
                "order": order, "predicted": predicted, "busiest": busiest, "seconds": runs.times,
                "gain": gain.map(|gain| [gain.mean, gain.least, gain.most]),
                "dropped": if runs.differs { Some("output differs") } else { why },
            })
        });
        json!({"time": self.time(), "variants": variants.collect::<Vec<_>>()})
    }

    /// A table of what was measured.
    pub(super) fn text(&self, unit: &str) -> String {
        let time = self.time();
        let longest = self.all.iter().map(|runs| runs.arm.order.chars().count()).max();
        let width = longest.unwrap_or(0).max(39) + 1;
        let mut text = format!(
            "\n{:width$}{:>10}{:>22}{:>8}{:>10}{:>14}{:>6}\n",
            format!("measured, {time}"),
            "time, s",
            "least to most",
            "gain",
            "predicted",
            format!("{unit}, worst"),
            "runs"
        );
        for runs in &self.all {
            let gain = paired_gain(&self.all[0].times, &runs.times, SHOWN);
            let gain = gain.map_or_else(|| "-".to_owned(), |gain| format!("{:.2}", gain.mean));
            let [mut time, mut spread] = ["-".to_owned(), "-".to_owned()];
            if !runs.times.is_empty() {
                let least = runs.times.iter().copied().fold(f64::INFINITY, f64::min);
                let most = runs.times.iter().copied().fold(0.0, f64::max);
                time = format!("{:.3}", median(&runs.times));
                spread = format!("{least:.3} to {most:.3}");
            }
            let Arm { order, predicted, busiest, .. } = &runs.arm;
            let _ = write!(
                text,
                "{order:width$}{time:>10}{spread:>22}{gain:>8}{:>10}{:>14}{:>6}",
                predicted.map_or_else(|| "-".to_owned(), |predicted| format!("{predicted:.2}")),
                busiest.map_or_else(|| "-".to_owned(), |busiest| traffic::amount(busiest, unit)),
                runs.times.len()
            );
            match &runs.dropped {
                Some(why) => drop(writeln!(text, "  {why}")),
                None => text.push('\n'),
            }
        }
        text + "\n"
    }

    /// True if something of the output is alike in all baseline runs.
    fn compares_output(&self) -> bool {
        let lines: Vec<&Lines> = self.all[0].lines.iter().collect();
        compare::compare(&lines, &lines, self.arguments.tolerance).compared > 0
    }

    /// The variant with the largest significant speedup over the baseline, if any.
    pub(super) fn finding(&self) -> Finding<'_> {
        let baseline = &self.all[0].times;
        let failures = self.all[1..].iter().filter(|runs| runs.failed);
        let failures: Vec<String> = failures
            .map(|runs| {
                format!("{}: {}", runs.arm.order, runs.dropped.as_deref().unwrap_or_default())
            })
            .collect();
        if failures.len() == self.all.len() - 1 {
            let words = format!("no placement could be tried: {}", failures.join("; "));
            return Finding { words, best: None, measured: None, none_ran: true };
        }
        let gains = self.all[1..].iter();
        let gains = gains.map(|runs| Some((runs, paired_gain(baseline, &runs.times, SHOWN)?)));
        let mut gains: Vec<(&Runs, Gain)> = gains.flatten().collect();
        gains.sort_by(|(_, one), (_, other)| other.mean.total_cmp(&one.mean));
        let tests = self.all[1..].iter().filter(|runs| runs.start.is_some()).count();
        let left = || gains.iter().filter(|(runs, _)| runs.dropped.is_none());
        let sure = left().find(|(runs, _)| is_faster(baseline, &runs.times, tests));
        let count = |runs: &Runs| baseline.len() + runs.times.len();
        let mut words = match (&sure, left().find(|(_, gain)| gain.most > LEAST_GAIN)) {
            (Some((runs, gain)), _) => faster(&runs.arm.order, gain, count(runs)),
            (None, Some((runs, Gain { mean, least, most, .. }))) => format!(
                "no significant speedup over the default order at the 99 % level; {}: {mean:.2}x its speed ({} runs, 95 % CI \
                 {least:.2}-{most:.2}); try more --runs or an idle machine",
                runs.arm.order,
                count(runs)
            ),
            _ => "no variant is faster than the default order".to_owned(),
        };
        let moves_grids = |runs: &Runs| matches!(runs.arm.way, Way::Weights(_) | Way::Dims(_));
        if sure.as_ref().is_some_and(|(runs, _)| moves_grids(runs)) && !self.compares_output() {
            words += "; its output was not compared: no line of stdout and no file below this directory is the same \
                      in each run";
        }
        let least = sure.as_ref().map_or(LEAST_GAIN, |(_, gain)| gain.mean);
        let differs = |(runs, gain): &&(&Runs, Gain)| runs.differs && gain.mean > least;
        if let Some((runs, gain)) = gains.iter().find(differs) {
            let hint = match &runs.ignorable {
                Some(options) => format!(
                    "only lines that name ranks, coordinates or hosts differ; if they only say where ranks are, run \
                     again with {options}"
                ),
                None => "if only a time or a host name differs, add --ignore TEXT".to_owned(),
            };
            let _ = write!(
                words,
                "; {}: {:.2}x faster, but its output differs: {hint}",
                runs.arm.order, gain.mean
            );
        }
        if !failures.is_empty() {
            let _ = write!(words, "; could not be tried: {}", failures.join("; "));
        }
        let measured = sure.as_ref().map(|(runs, _)| (median(baseline), median(&runs.times)));
        let best = sure.and_then(|(runs, _)| Some((&runs.arm, runs.start.as_ref()?)));
        Finding { words, best, measured, none_ran: false }
    }
}

/// The message of a run whose MPI_COMM_WORLD kept its order; a reordered one prints none.
fn refusal<'a>(arm: &Arm, stderr: &'a str) -> Option<&'a str> {
    let lines = || stderr.lines().filter_map(|line| line.split_once("cartograph: "));
    (arm.way == Way::World).then(lines)?.next().map(|(_, why)| why)
}
