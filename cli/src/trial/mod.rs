//! `cartograph try`: runs a program with its ranks reordered at random, to check that its output stays the same.

mod arguments;
mod elsewhere;
mod moves;
mod place;
mod rounds;

use std::collections::BTreeSet;

use cartograph_core::engine::arguments::Function;
use cartograph_jobs::launch::{Launch, printed};
use cartograph_jobs::processes::job;
use cartograph_jobs::store::{Key, Store};

use crate::output::{self, Failure, Result};
pub(crate) use arguments::Arguments;
use rounds::{Difference, Outcome, TrialRuns, names};

/// The settings that reorder ranks at random, without and with rank 0, and their descriptions.
const SCRAMBLES: [(&str, &str); 2] = [
    ("scramble", "ranks reordered at random"),
    ("scramble0", "ranks reordered at random, rank 0 too"),
];

/// The setting under which neighborhood collectives pair blocks as the MPI does, right or wrong.
const HOST_PAIRING: &str = "CARTOGRAPH_PAIRING=host";

/// The advice for programs whose ranks are kept.
const INSTEAD: &str = "cartograph run places its ranks below the MPI instead";

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !(arguments.tolerance >= 0.0 && arguments.tolerance.is_finite()) {
        return Err(Failure::usage("--tolerance must be a non-negative number"));
    }
    let (launch, line) = Launch::read(&arguments.command, arguments.mpi.as_deref(), |launcher| {
        printed(launcher, job::ask)
    })?;
    launch.check()?;
    job::end_jobs_when_interrupted();
    let key = Key::of(&launch, None).ok();
    let mut runs = TrialRuns::baseline(arguments, launch.clone())?;
    let reach = if arguments.always { "always" } else { "all" };
    let found = without_moves(&mut runs).and_then(|doubt| {
        let elsewhere = match doubt {
            None => elsewhere::examine(&mut runs, &launch, line.as_ref().ok())?,
            Some(_) => None,
        };
        Ok((find(&mut runs, doubt, reach, arguments.runs), elsewhere))
    });
    runs.rewrite()?;
    output::print(&runs.compared())?;
    let (found, elsewhere) = found?;
    let Found { words, is_right, moved } = found?;
    // If ranks are reordered despite reorder = 0, a failure is not the fault of the program's grids.
    let by_default = [Function::CartCreate, Function::GraphCreate];
    let is_known =
        moved.iter().any(|by| by_default.contains(by)) && (is_right || !arguments.always);
    // Results are stored by program; a job of several programs says nothing about one of them.
    if let Some(key) = key.filter(|_| is_known && launch.programs.counts.is_empty()) {
        let follows = is_right && runs.setting.is_none();
        let kept = Store::open().and_then(|store| {
            let kept = store.judge(&key, follows);
            kept.map_err(|error| format!("cannot write to the store: {error}"))
        });
        if let Err(why) = kept {
            output::say(&format!("{why}; cartograph exec will not use this result"));
        }
    }
    match elsewhere {
        Some(why) => Err(Failure::new(format!(
            "{words}; but if ranks are on other nodes, {why}: it takes ranks for places, and must not run under cartograph run"
        ))),
        None if is_right => output::print(&format!("{words}\n")),
        None => Err(Failure::new(words)),
    }
}

/// The findings about the program.
struct Found {
    words: String,
    is_right: bool,
    /// The constructors that reordered ranks.
    moved: Vec<Function>,
}

/// Finds out whether the program works; a failure if this cannot be determined. Even if there is a `doubt` because its
/// output cannot be compared, a failed run is a finding.
fn find(runs: &mut TrialRuns, mut doubt: Option<String>, reach: &str, count: u64) -> Result<Found> {
    let mut moved: [BTreeSet<Function>; 2] = Default::default();
    let mut stays = String::new();
    let mut unchanged = 0;
    for (i, (scramble, shown)) in SCRAMBLES.into_iter().enumerate() {
        for seed in 1..=count {
            let word = format!("{reach},{scramble}:{seed}");
            let (moves, fault) = match runs.examine(&word, shown)? {
                // Without a topology, no seed reorders ranks.
                Outcome::Same(moves) if moves.has_no_topology() => break,
                Outcome::Same(moves) => {
                    unchanged += usize::from(!moves.by().is_empty());
                    moved[i].extend(moves.by());
                    continue;
                }
                Outcome::Unclear(why) => {
                    doubt.get_or_insert(why);
                    continue;
                }
                Outcome::Differs(..) if doubt.is_some() => continue,
                Outcome::Differs(moves, difference) => (moves, Fault::Output(difference)),
                Outcome::Fails(moves, why) => (moves, Fault::Run(why)),
            };
            if i == 1 && !moved[0].is_empty() && doubt.is_none() {
                let why = fault.text();
                stays = format!(
                    " and rank 0 in place, where Cartograph always keeps it (if rank 0 moves: {why})"
                );
                break;
            }
            let words = blame(runs, reach, &word, &moves.by(), &fault)?;
            return Ok(Found { words, is_right: false, moved: moves.by() });
        }
    }
    if let Some(why) = doubt {
        return Err(cannot_tell(&why));
    }
    let by: Vec<Function> = (&moved[0] | &moved[1]).into_iter().collect();
    let setting = runs.setting.map_or_else(String::new, |setting| format!(" with {setting}"));
    let needs = runs.setting.map_or_else(String::new, |setting| {
        format!("; it needs {setting}, since it works around the MPI's pairing of blocks")
    });
    if by.is_empty() {
        let words = format!(
            "no rank was reordered: the program creates no topology of several processes with reorder = 1, so there is \
             nothing to try{needs}; {INSTEAD}"
        );
        return Ok(Found { words, is_right: true, moved: by });
    }
    if !runs.compares_output() {
        return Err(cannot_tell(
            "all runs end with exit code 0, but no line of stdout and no file below this directory is the same in \
             all runs without reordering; have the program print a result to stdout",
        ));
    }
    let words = format!(
        "output unchanged in {unchanged} runs with ranks reordered by {}{stays}: as far as these runs show, the \
         program works with CARTOGRAPH_REORDER={reach}{setting}",
        names(&by)
    );
    Ok(Found { words, is_right: true, moved: by })
}

/// What goes wrong in a program when ranks are reordered.
enum Fault {
    /// It fails.
    Run(String),
    /// Its output differs.
    Output(Difference),
}

impl Fault {
    fn text(&self) -> &str {
        match self {
            Self::Run(why) => why,
            Self::Output(difference) => &difference.why,
        }
    }
}

/// Runs the program under Cartograph without reordering and, if it works around the MPI's pairing, with that pairing.
/// Returns why its output cannot be compared.
fn without_moves(runs: &mut TrialRuns) -> Result<Option<String>> {
    let shown = "no reordering";
    let mut outcome = runs.examine("off", shown)?;
    if matches!(outcome, Outcome::Differs(..) | Outcome::Fails(..)) {
        runs.setting = Some(HOST_PAIRING);
        match runs.examine("off", &format!("{shown}, {HOST_PAIRING}"))? {
            Outcome::Same(moves) => outcome = Outcome::Same(moves),
            _ => runs.setting = None,
        }
    }
    match outcome {
        Outcome::Same(moves) if !moves.are_known => Err(Failure::new(
            "cannot tell whether ranks were reordered: no process wrote a report beside the working directory (do \
             all nodes share it?)",
        )),
        Outcome::Same(_) => Ok(None),
        Outcome::Unclear(why) => Ok(Some(why)),
        Outcome::Fails(_, why) => Err(Failure::new(format!(
            "under Cartograph without reordering, {why}; please report this as a bug in Cartograph"
        ))),
        Outcome::Differs(_, Difference { why, .. }) => Ok(Some(format!(
            "under Cartograph, output differs even without reordering: {why}. If the difference is a time or a host \
             name, add --ignore TEXT; otherwise please report this as a bug in Cartograph"
        ))),
    }
}

/// Finds out after which constructors the program uses stale ranks, and which setting it works with.
fn blame(
    runs: &mut TrialRuns,
    reach: &str,
    word: &str,
    by: &[Function],
    fault: &Fault,
) -> Result<String> {
    let count = runs.count_unmoved();
    let mut text = match fault {
        Fault::Run(why) => format!(
            "the program does not work when ranks are reordered by {}: {why}, but in none of {count} runs without \
             reordering",
            names(by)
        ),
        Fault::Output(Difference { why, .. }) => format!(
            "output differs when ranks are reordered by {}: {why}, in two runs alike, but in none of {count} runs \
             without reordering",
            names(by)
        ),
    };
    let mut right = Vec::new();
    for function in by.iter().filter(|_| by.len() > 1) {
        let others = by.iter().filter(|other| *other != function).map(|other| other.word());
        let word = format!("{word}:{}", others.collect::<Vec<_>>().join("+"));
        let shown = format!("ranks reordered at random, but not by {}", function.name());
        if let Outcome::Same(_) = runs.examine(&word, &shown)? {
            right.push(*function);
        }
    }
    if !right.is_empty() {
        text += &format!(". The program works if {} keeps ranks", names(&right));
    }
    for (narrower, what) in [
        ("all", "keeps ranks if the program passes reorder = 0"),
        (
            "on",
            "keeps ranks in distributed graphs whose info does not ask for reordering, and in topologies of topologies",
        ),
    ] {
        let word = word.replacen(reach, narrower, 1);
        if narrower != reach
            && let Outcome::Same(moves) = runs.examine(&word, "fewer ranks reordered at random")?
        {
            let rest = if moves.by().is_empty() { "; no rank is reordered then" } else { "" };
            text += &format!(". It works with CARTOGRAPH_REORDER={narrower}, which {what}{rest}");
            return Ok(text);
        }
    }
    text += &match fault {
        Fault::Run(_) => format!(". Run it with CARTOGRAPH_REORDER=off; {INSTEAD}"),
        Fault::Output(Difference { ignorable: Some(options), .. }) => format!(
            ". Only lines that name ranks, coordinates or hosts differ: if they only report the place of ranks, try \
             again with {options}; otherwise run it with CARTOGRAPH_REORDER=off; {INSTEAD}"
        ),
        Fault::Output(_) => format!(
            ". If the difference is only a host name or a time, add --ignore TEXT; otherwise run it with \
             CARTOGRAPH_REORDER=off; {INSTEAD}"
        ),
    };
    Ok(text)
}

fn cannot_tell(why: &str) -> Failure {
    Failure::new(format!("cannot tell whether the program works when ranks are reordered: {why}"))
}
