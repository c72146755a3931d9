//! The runs of one program, without and under Cartograph, and how they differ.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::time::Duration;

use cartograph_core::engine::arguments::Function;
use cartograph_jobs::compare::files::{self, Files};
use cartograph_jobs::compare::{self, Lines};
use cartograph_jobs::launch::Launch;
use cartograph_jobs::processes::{Input, Run, job};
use tempfile::{Builder, TempDir};

use super::arguments::Arguments;
use super::moves::Moves;
use super::place::WorkDirectory;
use crate::output::{self, Failure, Progress, Result};

/// The time limit of a baseline run.
const LONGEST: Duration = Duration::from_secs(3600);

/// The number of extra baseline runs to check whether the output differs from run to run.
const DOUBTS: u32 = 3;

/// The most lines, and the most files, that are named as not compared.
const MOST_NAMED: usize = 5;

/// The result of the runs of one variant.
pub(super) enum Outcome {
    /// The same as the baseline, or no rank was reordered.
    Same(Moves),
    /// A run fails, and no baseline run does.
    Fails(Moves, String),
    /// Two runs differ from all baseline runs in the same way.
    Differs(Moves, Difference),
    /// Two runs differ, but not in the same way.
    Unclear(String),
}

/// A difference between the outputs of runs.
pub(super) struct Difference {
    /// The difference, in words.
    pub(super) why: String,
    /// The options that ignore it, if it names only the places of ranks.
    pub(super) ignorable: Option<String>,
}

pub(super) struct TrialRuns<'a> {
    arguments: &'a Arguments,
    launch: Launch,
    input: Input,
    place: WorkDirectory,
    /// The directory for the reports of runs, which all nodes share.
    reports: TempDir,
    /// True if a run left too many files to compare.
    too_many_files: bool,
    /// The files written by baseline runs, and whether another run may have been the last to write them.
    written: BTreeSet<String>,
    rewritten: bool,
    /// The output and files of runs without reordering.
    unmoved: Vec<Lines>,
    baselines: u32,
    /// How many of the [`DOUBTS`] are left.
    doubts: u32,
    longest: Duration,
    /// A variable for the environment of runs under Cartograph.
    pub(super) setting: Option<&'static str>,
    /// The lines that differed between runs of one kind.
    varying: BTreeSet<String>,
}

/// The traces of a run.
struct Observed {
    run: Run,
    lines: Lines,
    moves: Moves,
}

impl Observed {
    fn failed(&self) -> bool {
        !self.run.has_succeeded()
    }
}

impl<'a> TrialRuns<'a> {
    /// Runs the program twice without Cartograph, to learn its output and the differences from run to run.
    pub(super) fn baseline(arguments: &'a Arguments, launch: Launch) -> Result<Self> {
        let root = env::current_dir()
            .map_err(|error| Failure::new(format!("cannot find the working directory: {error}")))?;
        let place = WorkDirectory::new(root, !arguments.in_place)?;
        output::print(place.text())?;
        let reports = Builder::new().prefix(".cartograph-").tempdir_in(place.for_reports());
        let reports = reports.or_else(|_| tempfile::tempdir()).map_err(|error| {
            Failure::new(format!("cannot make a directory for reports: {error}"))
        })?;
        let mut runs = Self {
            arguments,
            launch,
            input: Input::of_stdin(),
            place,
            reports,
            too_many_files: false,
            written: BTreeSet::new(),
            rewritten: false,
            unmoved: Vec::new(),
            baselines: 0,
            doubts: DOUBTS,
            longest: arguments.seconds.map_or(LONGEST, Duration::from_secs),
            setting: None,
            varying: BTreeSet::new(),
        };
        let took = runs.run_baseline()?.max(runs.run_baseline()?);
        if arguments.seconds.is_none() {
            runs.longest = 10 * took + Duration::from_secs(10);
        }
        let line = format!("baseline (2 runs): exit code 0, max {:.1} s\n", took.as_secs_f64());
        output::print(&line).map(|()| runs)
    }

    /// Runs the program under Cartograph, twice if its output differs, and prints the outcome on a line. `reorder` is the
    /// value of `CARTOGRAPH_REORDER`, and `shown` describes its effect.
    pub(super) fn examine(&mut self, reorder: &str, shown: &str) -> Result<Outcome> {
        let mut report = OsString::from("--report=");
        report.push(self.reports.path().join("report.json"));
        let options = [report, "--reorder".into(), reorder.into()];
        let command = self.launch.under_exec(self.setting, &options)?;
        self.examine_command(&command, &format!("{shown} ({reorder})"), reorder == "off")
    }

    /// The same with this command; `is_off` if no rank is reordered.
    pub(super) fn examine_command(
        &mut self,
        command: &[OsString],
        shown: &str,
        is_off: bool,
    ) -> Result<Outcome> {
        let run = format!("run with {shown}");
        let first = self.observe(command, &run, false)?;
        let outcome = if first.moves.are_known && first.moves.by().is_empty() && !is_off {
            Outcome::Same(first.moves)
        } else if !first.failed() && self.difference(&[&first]).is_none() {
            self.unmoved.extend(is_off.then_some(first.lines));
            Outcome::Same(first.moves)
        } else {
            self.run_baseline()?;
            let second = self.observe(command, &run, false)?;
            self.agree(first, second, is_off)?
        };
        let line = match &outcome {
            Outcome::Same(moves) => match moves.by() {
                by if !by.is_empty() => format!("output unchanged; reordered by {}", names(&by)),
                _ if is_off => "output unchanged".into(),
                _ => "no rank was reordered".into(),
            },
            Outcome::Fails(_, why) | Outcome::Unclear(why) => why.clone(),
            Outcome::Differs(_, difference) => format!("output differs twice: {}", difference.why),
        };
        output::print(&format!("{shown}: {line}\n"))?;
        Ok(outcome)
    }

    /// Judges two runs of one variant, the first of which differs from the baseline.
    fn agree(&mut self, first: Observed, second: Observed, is_off: bool) -> Result<Outcome> {
        let failed: Vec<&Observed> =
            [&first, &second].into_iter().filter(|run| run.failed()).collect();
        if let Some(run) = failed.first() {
            let times = if failed.len() == 2 { "twice" } else { "in one of two runs" };
            let why = format!("it {}, {times}", run.run.end());
            return Ok(Outcome::Fails(first.moves, why));
        }
        loop {
            // Without reordering, differences most likely come from times.
            let goes_on = self.doubts > 0;
            match self.difference(&[&first, &second]) {
                Some(_) if is_off && goes_on => {}
                Some(difference) => return Ok(Outcome::Differs(first.moves, difference)),
                None => match (self.difference(&[&first]), self.difference(&[&second])) {
                    (Some(_), Some(_)) if goes_on => {}
                    (Some(one), Some(other)) => {
                        let why =
                            format!("output differs: once {}, and once {}", one.why, other.why);
                        return Ok(Outcome::Unclear(why));
                    }
                    _ => return Ok(Outcome::Same(first.moves)),
                },
            }
            self.doubts -= 1;
            self.run_baseline()?;
        }
    }

    /// The first difference between the outputs of all of these runs, of one variant, and all runs without reordering.
    fn difference(&mut self, runs: &[&Observed]) -> Option<Difference> {
        let lines: Vec<&Lines> = runs.iter().map(|run| &run.lines).collect();
        let unmoved: Vec<&Lines> = self.unmoved.iter().collect();
        let found = compare::compare(&unmoved, &lines, self.arguments.tolerance);
        self.varying.extend(found.varying);
        let ignorable = found.ignorable;
        found.difference.map(|why| Difference { why, ignorable })
    }

    /// True if some of the output is the same in all runs without reordering, so that it can be compared.
    pub(super) fn compares_output(&self) -> bool {
        let unmoved: Vec<&Lines> = self.unmoved.iter().collect();
        compare::compare(&unmoved, &unmoved, self.arguments.tolerance).compared > 0
    }

    /// Runs the program without Cartograph; returns how long that took.
    fn run_baseline(&mut self) -> Result<Duration> {
        self.baselines += 1;
        let shown = format!("baseline run {}", self.baselines);
        let baseline = self.observe(&self.launch.baseline(), &shown, true)?;
        if baseline.failed() {
            let end = baseline.run.end();
            let failure = Failure::new(format!("the program fails without Cartograph: {end}"));
            return Err(self.input.explained(failure));
        }
        self.unmoved.push(baseline.lines);
        Ok(baseline.run.took)
    }

    /// Runs a command and reads its output and the files that it wrote.
    fn observe(&mut self, command: &[OsString], shown: &str, baseline: bool) -> Result<Observed> {
        let directory = self.place.fresh()?;
        let mut files = Files::below(directory.to_owned(), Some(self.reports.path()));
        let progress = Progress::of_run(shown);
        let run = job::run(command, Some(directory), &self.input, self.longest);
        drop(progress);
        let moves = Moves::take(self.reports.path());
        let ignored = &self.arguments.ignore;
        let mut lines = Lines::new();
        let written = files.add_written(&mut lines, ignored);
        self.too_many_files |= files.too_many;
        self.written.extend(written.into_iter().filter(|_| baseline));
        self.rewritten |= !baseline && self.place.is_original() && !self.written.is_empty();
        let run = run.map_err(|failure| match self.rewritten {
            true => failure
                .with_hint("files below this directory may be those of a run with reordered ranks"),
            false => failure,
        })?;
        self.rewritten &= !baseline;
        compare::add(&mut lines, "stdout", &run.stdout, ignored);
        Ok(Observed { run, lines, moves })
    }

    /// Runs the baseline once more to restore its files, if another run may have written them last.
    pub(super) fn rewrite(&mut self) -> Result<()> {
        if self.rewritten { self.run_baseline().map(drop) } else { Ok(()) }
    }

    /// Describes what was compared and what was not.
    pub(super) fn compared(&self) -> String {
        let written: Vec<String> = self.written.iter().cloned().collect();
        let files = match self.too_many_files {
            true => String::new(),
            false if written.is_empty() => "; no files were written below this directory".into(),
            false if self.place.is_original() => {
                format!(
                    ", files, which are left as in a run without reordering: {}",
                    listed(&written)
                )
            }
            false => format!(", files: {}", listed(&written)),
        };
        let too_many = match self.too_many_files {
            true => format!(", files (more than {} below this directory)", files::MOST_FILES),
            false => String::new(),
        };
        let varying: Vec<String> = self.varying.iter().cloned().collect();
        let varying = match varying.is_empty() {
            true => String::new(),
            false => format!(", data that differs from run to run: {}", listed(&varying)),
        };
        format!(
            "compared: exit code, stdout{files}\nnot compared: stderr, the order of lines{too_many}{varying}\n"
        )
    }

    /// The number of runs without reordering.
    pub(super) fn count_unmoved(&self) -> usize {
        self.unmoved.len()
    }
}

/// The names of functions.
pub(super) fn names(functions: &[Function]) -> String {
    functions.iter().map(|function| function.name()).collect::<Vec<_>>().join(", ")
}

/// The first few words, and the number of the others.
fn listed(words: &[String]) -> String {
    let more = match words.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    words[..words.len().min(MOST_NAMED)].join(", ") + &more
}
