//! `cartograph try`: runs a program with its processes moved at random, to find out whether it stands that.

mod command;
mod compare;
mod process;
mod tables;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cartograph::engine::arguments::Function;
use cartograph::engine::policy::CONSTRUCTORS;

use crate::exec;
use crate::output::{self, Failure, Progress, Result};
use crate::show;
use command::Launch;
use compare::Expected;
use process::{Ended, Run};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many runs are made with processes moved, each in a different way
    #[arg(long, default_value = "3", value_parser = clap::value_parser!(u64).range(1..=1000))]
    runs: u64,
    /// How long a run may take; by default ten times what the program takes alone, plus ten seconds
    #[arg(long)]
    seconds: Option<u64>,
    /// How far numbers in the output may differ, relative to their size
    #[arg(long, default_value = "1e-6")]
    tolerance: f64,
    /// Ignores lines of the output that contain this text, such as those in which a process says where it is; may
    /// be repeated
    #[arg(long, value_name = "TEXT")]
    ignore: Vec<String>,
    /// Also moves processes where the program passes reorder = 0
    #[arg(long)]
    always: bool,
    /// The MPI of the program: mpich, openmpi, or another that `cartograph info` lists
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// The launcher, the program and its arguments: mpiexec -n 8 ./app; where it is not clear which word is the
    /// program, put another -- before it
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The most a program may take alone.
const LONGEST: Duration = Duration::from_secs(3600);

/// How often the program is run alone once more to find out whether a difference is one that it has from itself.
const DOUBTS: u32 = 3;

/// How what is said of a run begins that ends well.
const PRINTS: &str = "it prints something else";

/// A way to move processes, and what to call it.
struct Reordering {
    word: String,
    shown: String,
}

/// What came of a run.
enum Outcome {
    Same(MoveCounts),
    Wrong(String),
}

/// The constructors that a run called, and how often each moved processes.
type MoveCounts = BTreeMap<Function, u64>;

/// Runs of one program.
struct Trial<'a> {
    arguments: &'a Arguments,
    launch: Launch,
    expected: Expected,
    /// How many of [`DOUBTS`] are left.
    doubts: u32,
    longest: Duration,
    /// What it takes alone.
    took: Duration,
    /// Where reports are written.
    directory: Directory,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !(arguments.tolerance >= 0.0 && arguments.tolerance.is_finite()) {
        return Err(Failure::usage("--tolerance must be a number that is not negative"));
    }
    let launch = Launch::of(&arguments.command)?;
    exec::check(launch.program(), arguments.host.as_deref())?;
    let mut trial = Trial::alone(arguments, launch)?;
    output::print(&format!(
        "alone, twice: exit code 0, at most {:.1} s\n",
        trial.took.as_secs_f64()
    ))?;

    let off = Reordering { word: "off".into(), shown: "no process moved".into() };
    let made = match trial.told(&off)? {
        Outcome::Same(made) => made,
        Outcome::Wrong(why) => {
            return Err(Failure::new(format!(
                "with Cartograph and no process moved {why}: that has nothing to do with moving; please report it \
                 as a fault of Cartograph"
            )));
        }
    };
    let reach = if arguments.always { "always" } else { "all" };
    let mut moved = BTreeMap::new();
    let mut failed = None;
    for seed in 1..=arguments.runs {
        let way = Reordering {
            word: format!("{reach},scramble:{seed}"),
            shown: "moved at random".into(),
        };
        match trial.told(&way)? {
            Outcome::Same(made) => moved.extend(moves(&made)),
            Outcome::Wrong(why) => {
                failed = Some((seed, why));
                break;
            }
        }
    }
    if let Some(text) = trial.expected.left_aside() {
        output::print(&format!(
            "not compared, since the program alone prints it differently each time: {text}\n"
        ))?;
    }
    match failed {
        None if moved.is_empty() => output::print(
            "no process was moved: the program makes no topology with reorder = 1 that has more than one process, so there is \
             nothing to try; cartograph exec --record and cartograph plan --traffic place its ranks instead\n",
        ),
        None => {
            let names = names(moved.into_keys());
            output::print(&format!(
                "the program works when processes are moved by {names}, as far as these runs show: CARTOGRAPH_REORDER={reach} is right for it\n",
            ))
        }
        Some((seed, why)) => Err(Failure::new(trial.blame(&made, reach, seed, &why)?)),
    }
}

impl<'a> Trial<'a> {
    /// Runs the program by itself, twice, to know what it does and what differs from run to run.
    fn alone(arguments: &'a Arguments, launch: Launch) -> Result<Self> {
        let longest = arguments.seconds.map_or(LONGEST, Duration::from_secs);
        let mut runs = Vec::new();
        for _ in 0..2 {
            let progress = Progress::new("running the program alone");
            let run = process::run(&launch.alone(), longest)?;
            drop(progress);
            match run.ended {
                Ended::Code(0) => runs.push(run),
                ended => {
                    return Err(Failure::new(format!(
                        "the program by itself {ended}, so nothing can be found out: {}",
                        run.last_words()
                    )));
                }
            }
        }
        let took = runs.iter().map(|run| run.took).max().unwrap_or_default();
        let longest = match arguments.seconds {
            Some(seconds) => Duration::from_secs(seconds),
            None => 10 * took + Duration::from_secs(10),
        };
        let texts: Vec<&str> = runs.iter().map(|run| &run.stdout[..]).collect();
        let expected = Expected::of(&texts, arguments.tolerance, &arguments.ignore);
        Ok(Self {
            arguments,
            launch,
            expected,
            doubts: DOUBTS,
            longest,
            took,
            directory: Directory::new()?,
        })
    }

    /// Runs the program under Cartograph, and says on a line what came of it.
    fn told(&mut self, way: &Reordering) -> Result<Outcome> {
        let outcome = self.moved(way)?;
        let mut line = format!("{} ({}): ", way.shown, way.word);
        match &outcome {
            Outcome::Same(made) => {
                line.push_str("the same");
                for (i, (function, count)) in moves(made).enumerate() {
                    let between = if i == 0 { "; moved by" } else { "," };
                    let _ = write!(line, "{between} {} {count}", function.name());
                }
            }
            Outcome::Wrong(why) => line.push_str(why),
        }
        output::print(&(line + "\n"))?;
        Ok(outcome)
    }

    fn moved(&mut self, way: &Reordering) -> Result<Outcome> {
        let report = self.directory.fresh()?;
        let mut options: Vec<OsString> = vec!["--reorder".into(), (&way.word).into()];
        let mut asked = OsString::from("--report=");
        asked.push(&report);
        options.push(asked);
        if let Some(host) = &self.arguments.host {
            options.extend(["--host".into(), host.into()]);
        }
        let progress = Progress::new(&way.shown);
        let run = process::run(&self.launch.under(&options)?, self.longest)?;
        drop(progress);
        Ok(match run.ended {
            Ended::Code(0) => match self.differs(&run.stdout)? {
                None => Outcome::Same(made(&report)),
                Some(line) => Outcome::Wrong(format!("{PRINTS}: {line}")),
            },
            ended => Outcome::Wrong(format!("it {ended}{}", said(&run))),
        })
    }

    /// What a run prints that the program alone does not, in words. Before that is believed the program is run alone
    /// once more, since numbers such as times may have been the same by chance.
    fn differs(&mut self, text: &str) -> Result<Option<String>> {
        while let Some(line) = self.expected.differs(text) {
            if self.doubts == 0 {
                return Ok(Some(line));
            }
            self.doubts -= 1;
            let progress = Progress::new("running the program alone once more");
            let run = process::run(&self.launch.alone(), self.longest)?;
            drop(progress);
            // If it fails alone now and then, that says nothing about what it prints.
            if matches!(run.ended, Ended::Code(0)) {
                self.expected.add(&run.stdout);
            }
        }
        Ok(None)
    }

    /// Finds out without which constructors, of those that the program calls, it goes wrong no more.
    fn blame(&mut self, made: &MoveCounts, reach: &str, seed: u64, why: &str) -> Result<String> {
        let mut text = format!("the program does not work when its processes are moved: {why}");
        let movable = || made.keys().copied();
        let mut guilty = Vec::new();
        for function in movable() {
            let others: Vec<String> =
                movable().filter(|other| *other != function).map(Function::word).collect();
            // Alone it can be nothing else: the program was right with nobody moved.
            let right = others.is_empty() || {
                let word = format!("{reach},scramble:{seed}:{}", others.join("+"));
                let shown = format!("moved at random, but not by {}", function.name());
                matches!(self.told(&Reordering { word, shown })?, Outcome::Same(_))
            };
            guilty.extend(right.then_some(function));
        }
        if !guilty.is_empty() {
            let _ = write!(text, ". It is right where {} moves nobody", names(guilty.into_iter()));
        } else if !made.is_empty() {
            text.push_str(". It goes wrong by more than one constructor");
        }

        let by_graphs =
            ("on", "moves nobody by distributed graphs that do not ask for it in their info");
        let narrower = match reach {
            "always" => {
                vec![("all", "moves nobody where the program passes reorder = 0"), by_graphs]
            }
            _ => vec![by_graphs],
        };
        for (word, what) in narrower {
            let way = Reordering {
                word: format!("{word},scramble:{seed}"),
                shown: "less moved at random".into(),
            };
            if let Outcome::Same(made) = self.told(&way)? {
                let rest = match moves(&made).next() {
                    None => "; nobody is moved then",
                    Some(_) => "",
                };
                let _ = write!(
                    text,
                    ". With CARTOGRAPH_REORDER={word}, which {what}, it is right{rest}"
                );
                return Ok(text);
            }
        }
        text.push_str(
            ". Run it with CARTOGRAPH_REORDER=off, and place its ranks by cartograph exec --record and cartograph \
             plan --traffic instead",
        );
        if why.starts_with(PRINTS) {
            text.push_str(
                ". But if that line only says where a process is, leave it out: --ignore and a word of it",
            );
        }
        Ok(text)
    }
}

/// The last that a program said that failed.
fn said(run: &Run) -> String {
    match run.last_words() {
        words if words.is_empty() => String::new(),
        words => format!(" ({words})"),
    }
}

/// What a run made, by its report.
fn made(report: &Path) -> MoveCounts {
    let mut made = MoveCounts::new();
    if let Ok(document) = show::read(report) {
        for record in document.topologies {
            let named = |function: &Function| function.name() == record.function;
            if let Some(function) = CONSTRUCTORS.into_iter().find(named) {
                *made.entry(function).or_default() +=
                    if record.kept.is_none() { record.count } else { 0 };
            }
        }
    }
    made
}

/// The constructors that moved processes, and how often.
fn moves(made: &MoveCounts) -> impl Iterator<Item = (Function, u64)> + '_ {
    made.iter().filter(|(_, count)| **count > 0).map(|(function, count)| (*function, *count))
}

fn names(functions: impl Iterator<Item = Function>) -> String {
    functions.map(Function::name).collect::<Vec<_>>().join(", ")
}

/// A directory for reports, which goes when the runs are over.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("cartograph-try-{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))?;
        Ok(Self(path))
    }

    /// A name for a report in an empty directory.
    fn fresh(&self) -> Result<PathBuf> {
        let files = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        files.for_each(|file| drop(std::fs::remove_file(file.path())));
        Ok(self.0.join("report.json"))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
