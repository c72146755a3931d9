//! Interleaved runs of all variants of the program.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cartograph_core::learn::measure::median;
use cartograph_core::machine::Machine;

use super::arguments::Arguments;
use super::measured::{Measured, Runs, Time};
use super::recorded::Recorded;
use super::times::{noted, printed, turns};
use crate::arms::{Arm, Job, Way};
use crate::output::{Failure, Progress, Result};
use crate::run;
use crate::runs::command::Launch;
use crate::runs::compare::{self, Lines};
use crate::runs::files::{self, Files};
use crate::runs::input::Input;
use crate::runs::job::{self, Ended};

/// A variant is dropped after two rounds if each of its runs is slower by this factor than each run of the best.
const CLEARLY_BEHIND: f64 = 1.15;

/// Runs all variants, interleaved, with a directory for files. All of it takes some time after `start` at most.
pub(super) fn run(
    arguments: &Arguments,
    recorded: &Recorded,
    input: &Input,
    variants: Vec<Arm>,
    directory: &Path,
    start: Instant,
) -> Result<Measured> {
    let is_placed = variants.iter().any(|arm| arm.way == Way::Launcher);
    let cores =
        if is_placed { free_cores(&recorded.placer.launch, &recorded.machine) } else { None };
    let mut rounds = Rounds {
        arguments,
        input,
        longest: Duration::from_secs(arguments.seconds),
        files: Files::below(env::current_dir().unwrap_or_default(), Some(directory)),
        clock: directory.join("clock"),
        measured: Measured {
            time: if arguments.time.is_some() { Time::Printed } else { Time::OfJob },
            all: prepared(recorded, variants, cores, directory)?,
            cores,
            ended: Vec::new(),
            is_interrupted: false,
        },
    };
    rounds.run(start)?;
    Ok(rounds.measured)
}

/// The variants with their starts.
fn prepared(
    recorded: &Recorded,
    variants: Vec<Arm>,
    cores: Option<usize>,
    directory: &Path,
) -> Result<Vec<Runs>> {
    let Recorded { machine, names, placer, .. } = recorded;
    let job = Job { machine, names, cores };
    let runs = |(number, arm): (usize, Arm)| {
        let start = placer.start(&arm, &job, &directory.join(format!("ranks-{number}")))?;
        let dropped = start.as_ref().err().map(|why| match &placer.no_world {
            Some(no_world) => {
                format!("{why}; MPI_COMM_WORLD cannot be reordered either: {no_world}")
            }
            None => why.clone(),
        });
        let failed = dropped.is_some();
        let on = arm.node_of.iter().map(|node| names[*node as usize].clone());
        let nodes = (arm.way == Way::Launcher).then(|| on.collect());
        let (times, lines, start) = (Vec::new(), Vec::new(), start.ok());
        let (differs, ignorable) = (false, None);
        Ok(Runs { arm, start, nodes, times, lines, dropped, differs, failed, ignorable })
    };
    variants.into_iter().enumerate().map(runs).collect()
}

/// The number of cores of a node, if ranks must not be bound to one core each: if the launcher does not bind them that
/// way, as `cartograph where` in place of the program shows, or there are too few cores.
fn free_cores(launch: &Launch, machine: &Machine) -> Option<usize> {
    const LONGEST: Duration = Duration::from_secs(60);
    let asked =
        launch.of_places().and_then(|words| job::run(&words, None, &Input::Nothing, LONGEST));
    let found = asked.ok().and_then(|run| run::free_cores(&run.stdout));
    found.unwrap_or_else(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        machine.node_sizes().iter().any(|size| *size > cores).then_some(cores)
    })
}

struct Rounds<'a> {
    arguments: &'a Arguments,
    input: &'a Input,
    /// The time limit of a run.
    longest: Duration,
    files: Files,
    /// The directory in which processes write their run times.
    clock: PathBuf,
    measured: Measured,
}

impl Rounds<'_> {
    /// Runs all variants, until enough is known or the user interrupts the command.
    fn run(&mut self, start: Instant) -> Result<()> {
        for round in 0..self.arguments.runs {
            if self.measured.all[1..].iter().all(|runs| runs.dropped.is_some()) {
                break;
            }
            if round >= 2 && start.elapsed().as_secs() >= self.arguments.seconds {
                break;
            }
            let is_left = |at: &usize| self.measured.all[*at].dropped.is_none();
            let turns: Vec<usize> = turns(round, self.measured.all.len()).filter(is_left).collect();
            for (turn, at) in turns.iter().enumerate() {
                match self.run_once(*at, round, turns.len() - turn) {
                    Err(_) if job::is_interrupted() && round >= 2 => {
                        self.measured.is_interrupted = true;
                        return Ok(());
                    }
                    other => other?,
                }
            }
            if round >= 1 {
                self.drop_those_behind();
            }
        }
        Ok(())
    }

    /// Runs one of the remaining variants of a round.
    fn run_once(&mut self, at: usize, round: u32, left: usize) -> Result<()> {
        let Runs { arm, start, .. } = &self.measured.all[at];
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
                // An unreadable file is ignored.
                let _ = files::add(&mut lines, &name, &path, ignored);
            }
        }
        let noted = noted(&self.clock);
        let seconds = noted.as_ref().map(|noted| noted.seconds);
        if (at, round, seconds) == (0, 0, None) && self.measured.time == Time::OfJob {
            self.measured.time = Time::OfLauncher;
        }
        let time = match (self.measured.time, &self.arguments.time) {
            (Time::OfJob, _) => seconds,
            (_, None) => Some(run.took.as_secs_f64()),
            (_, Some(regex)) => printed(regex, &run.stdout).or_else(|| printed(regex, &run.stderr)),
        };
        let runs = &mut self.measured.all[at];
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
            self.measured.ended.extend(seconds.map(|seconds| (at, seconds)));
        } else {
            runs.dropped = Some(match self.measured.time {
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
        let done: usize = self.measured.all.iter().map(|runs| runs.times.len()).sum();
        let is_left = |runs: &&Runs| runs.dropped.is_none();
        let rounds = (self.arguments.runs - round - 1) as usize;
        let all = done + left + rounds * self.measured.all.iter().filter(is_left).count();
        format!("run {} of {all}", done + 1)
    }

    /// Drops variants that are much slower, or whose output differs.
    fn drop_those_behind(&mut self) {
        let (baseline, others) = self.measured.all.split_at_mut(1);
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
}

/// The message of a run whose MPI_COMM_WORLD kept its order; a reordered one prints none.
fn refusal<'a>(arm: &Arm, stderr: &'a str) -> Option<&'a str> {
    let lines = || stderr.lines().filter_map(|line| line.split_once("cartograph: "));
    (arm.way == Way::World).then(lines)?.next().map(|(_, why)| why)
}
