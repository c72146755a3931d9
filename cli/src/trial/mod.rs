//! `cartograph try`: runs a program with its ranks reordered at random, to check that its output stays the same.

mod arguments;
mod moves;
mod place;
mod rounds;

use std::collections::BTreeSet;

use cartograph_core::engine::arguments::Function;

use crate::exec;
use crate::output::{self, Failure, Result};
use crate::runs::command::Launch;
use crate::runs::job;
use crate::store::{Key, Store, Verdict};
pub(crate) use arguments::Arguments;
use rounds::{Difference, Outcome, Runs, names};

/// The settings that move processes at random, and their description: that of rank 0 stays, or is moved as well.
const SCRAMBLES: [(&str, &str); 2] =
    [("scramble", "moved at random"), ("scramble0", "moved at random, rank 0 too")];

/// The setting under which neighborhood collectives pair blocks as the MPI does, right or wrong.
const HOST_PAIRING: &str = "CARTOGRAPH_PAIRING=host";

/// The advice for programs whose processes are not moved.
const INSTEAD: &str =
    "cartograph exec --record and cartograph plan --traffic place its ranks instead";

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !(arguments.tolerance >= 0.0 && arguments.tolerance.is_finite()) {
        return Err(Failure::usage("--tolerance must be a non-negative number"));
    }
    let launch = Launch::of(&arguments.command)?;
    exec::check(launch.program(), arguments.mpi.as_deref())?;
    job::end_jobs_when_interrupted();
    let key = Key::of(&launch, None);
    let mut runs = Runs::baseline(arguments, launch)?;
    let reach = if arguments.always { "always" } else { "all" };
    let found = find(&mut runs, reach, arguments.runs);
    runs.rewrite()?;
    output::print(&runs.compared())?;
    let Found { words, is_right, moved } = found?;
    // Ranks that are moved where the program passes reorder = 0 are no fault of its grids.
    let is_known = moved.contains(&Function::CartCreate) && (is_right || !arguments.always);
    if let Some(key) = key.filter(|_| is_known) {
        let verdict = Verdict { moves_well: is_right, pairs_as_host: runs.setting.is_some() };
        let kept = Store::open().and_then(|store| {
            store.judge(&key, verdict).map_err(|error| format!("the store: {error}"))
        });
        if let Err(why) = kept {
            output::say(&format!("{why}; cartograph run will not know this result"));
        }
    }
    match is_right {
        true => output::print(&format!("{words}\n")),
        false => Err(Failure::new(words)),
    }
}

/// What was found of the program.
struct Found {
    words: String,
    is_right: bool,
    /// The constructors that moved ranks.
    moved: Vec<Function>,
}

/// Finds out whether the program works; a failure if that cannot be told.
fn find(runs: &mut Runs, reach: &str, count: u64) -> Result<Found> {
    // Where the output cannot be compared, a run that fails is a finding all the same.
    let mut doubt = without_moves(runs)?;
    let mut moved: [BTreeSet<Function>; 2] = Default::default();
    let mut stays = String::new();
    let mut unchanged = 0;
    for (i, (scramble, shown)) in SCRAMBLES.into_iter().enumerate() {
        for seed in 1..=count {
            let word = format!("{reach},{scramble}:{seed}");
            let (moves, fault) = match runs.examine(&word, shown)? {
                // No seed moves processes without a topology.
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
                    " as long as rank 0 keeps its process, which Cartograph never moves by itself (if it does: {why})"
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
            "no rank was moved: the program creates no topology of several processes with reorder = 1, so there is \
             nothing to try{needs}; {INSTEAD}"
        );
        return Ok(Found { words, is_right: true, moved: by });
    }
    if !runs.compares_output() {
        return Err(cannot_tell(
            "all runs end with exit code 0, but no line of stdout and no file below this directory is the same in \
             each run without moved ranks; have the program print a result there",
        ));
    }
    let words = format!(
        "output unchanged in {unchanged} runs with ranks moved by {}{stays}: as far as they show, \
         CARTOGRAPH_REORDER={reach}{setting} is right for it",
        names(&by)
    );
    Ok(Found { words, is_right: true, moved: by })
}

/// What is wrong with a program whose ranks are moved.
enum Fault {
    /// It fails.
    Run(String),
    /// It leaves another output.
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

/// Runs the program under Cartograph with no process moved; if it mends the MPI's pairing, with that. Returns why its
/// output cannot be compared.
fn without_moves(runs: &mut Runs) -> Result<Option<String>> {
    let shown = "no rank moved";
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
            "under Cartograph {why}, though no rank is moved; please report this as a bug in Cartograph"
        ))),
        Outcome::Differs(_, Difference { why, .. }) => Ok(Some(format!(
            "with Cartograph loaded and no rank moved, output differs already: {why}. If that depends on times or \
             hosts, add --ignore TEXT; if not, please report it as a bug in Cartograph"
        ))),
    }
}

/// Finds out which constructors' new ranks the program does not follow, and which setting is right for it.
fn blame(
    runs: &mut Runs,
    reach: &str,
    word: &str,
    by: &[Function],
    fault: &Fault,
) -> Result<String> {
    let count = runs.count_unmoved();
    let mut text = match fault {
        Fault::Run(why) => format!(
            "the program does not work when ranks are moved by {}: {why}, and in none of {count} without moves",
            names(by)
        ),
        Fault::Output(Difference { why, .. }) => format!(
            "output differs when ranks are moved by {}: {why}, in two runs alike and in none of {count} without moves",
            names(by)
        ),
    };
    let mut right = Vec::new();
    for function in by.iter().filter(|_| by.len() > 1) {
        let others = by.iter().filter(|other| *other != function).map(|other| other.word());
        let word = format!("{word}:{}", others.collect::<Vec<_>>().join("+"));
        let shown = format!("moved at random, but not by {}", function.name());
        if let Outcome::Same(_) = runs.examine(&word, &shown)? {
            right.push(*function);
        }
    }
    if !right.is_empty() {
        text += &format!(". It is right if {} moves no rank", names(&right));
    }
    for (narrower, what) in [
        ("all", "moves no rank where the program passes reorder = 0"),
        (
            "on",
            "moves no rank by distributed graphs that do not ask for it in their info, nor twice by a topology of a topology",
        ),
    ] {
        let word = word.replacen(reach, narrower, 1);
        if narrower != reach
            && let Outcome::Same(moves) = runs.examine(&word, "less moved at random")?
        {
            let rest = if moves.by().is_empty() { "; no rank is moved then" } else { "" };
            text +=
                &format!(". With CARTOGRAPH_REORDER={narrower}, which {what}, it is right{rest}");
            return Ok(text);
        }
    }
    text += &match fault {
        Fault::Run(_) => format!(". Run it with CARTOGRAPH_REORDER=off; {INSTEAD}"),
        Fault::Output(Difference { ignorable: Some(options), .. }) => format!(
            ". Only lines that name ranks, coordinates or hosts differ: if they only say where ranks are, try again \
             with {options}; else run it with CARTOGRAPH_REORDER=off; {INSTEAD}"
        ),
        Fault::Output(_) => format!(
            ". If it is only a host name or a time, add --ignore TEXT; else run it with CARTOGRAPH_REORDER=off; \
             {INSTEAD}"
        ),
    };
    Ok(text)
}

fn cannot_tell(why: &str) -> Failure {
    Failure::new(format!("cannot tell whether the program works when ranks are moved: {why}"))
}
