//! `cartograph try`: runs a program with its processes moved at random, to find out whether it stands that.

mod moves;
mod rounds;

use std::collections::BTreeSet;
use std::ffi::OsString;

use cartograph_core::engine::arguments::Function;

use crate::exec;
use crate::output::{self, Failure, Result};
use crate::runs::command::Launch;
use crate::runs::job;
use rounds::{Outcome, Runs, names};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Number of runs with processes moved but for that of rank 0, and of runs with that moved too, each in a
    /// different way
    #[arg(long, default_value = "3", value_parser = clap::value_parser!(u64).range(1..=1000))]
    runs: u64,
    /// Time limit of a run; by default ten times what the program takes alone, plus ten seconds
    #[arg(long)]
    seconds: Option<u64>,
    /// Tolerance of numbers, relative to their size or, if they are smaller, to 0.001
    #[arg(long, default_value = "1e-6")]
    tolerance: f64,
    /// Ignores lines that contain this text, such as those with a process' position, and files whose names do; may be
    /// repeated
    #[arg(long, value_name = "TEXT")]
    ignore: Vec<String>,
    /// Also moves processes where the program passes reorder = 0
    #[arg(long)]
    always: bool,
    /// The MPI of the program: mpich, openmpi, or another that `cartograph info` lists
    #[arg(long, value_name = "NAME", value_parser = crate::help::MPIS, hide_possible_values = true)]
    mpi: Option<String>,
    /// The launcher, the program and its arguments: mpiexec -n 8 ./app; where it is not clear which word is the
    /// program, put -- before it
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The settings that move processes at random, and their description: that of rank 0 stays, or is moved as well.
const SCRAMBLES: [(&str, &str); 2] =
    [("scramble", "moved at random"), ("scramble0", "moved at random, rank 0 too")];

/// The setting under which neighborhood collectives pair blocks as the MPI does, right or wrong.
const HOST_PAIRING: &str = "CARTOGRAPH_PAIRING=host";

/// Their processes are moved under `all` and `always` only.
const DIST_GRAPHS: [Function; 2] = [Function::DistGraphCreate, Function::DistGraphCreateAdjacent];

/// The advice for programs whose processes are not moved.
const INSTEAD: &str =
    "cartograph exec --record and cartograph plan --traffic place its ranks instead";

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !(arguments.tolerance >= 0.0 && arguments.tolerance.is_finite()) {
        return Err(Failure::usage("--tolerance must be a number that is not negative"));
    }
    let launch = Launch::of(&arguments.command)?;
    exec::check(launch.program(), arguments.mpi.as_deref())?;
    job::end_jobs_when_interrupted();
    let mut runs = Runs::alone(arguments, launch)?;
    let reach = if arguments.always { "always" } else { "all" };
    let found = find(&mut runs, reach, arguments.runs);
    runs.rewrite()?;
    output::print(&runs.compared())?;
    output::print(&format!("{}\n", found?))
}

/// Finds a verdict on the program; a failure if it does not work or nobody knows.
fn find(runs: &mut Runs, reach: &str, count: u64) -> Result<String> {
    without_moves(runs)?;
    let mut moved: [BTreeSet<Function>; 2] = Default::default();
    let mut stays = String::new();
    for (i, (scramble, shown)) in SCRAMBLES.into_iter().enumerate() {
        for seed in 1..=count {
            let word = format!("{reach},{scramble}:{seed}");
            match runs.examine(&word, shown)? {
                // No seed moves processes without a topology.
                Outcome::Same(moves) if moves.has_no_topology() => break,
                Outcome::Same(moves) => moved[i].extend(moves.by()),
                Outcome::Unclear(why) => return Err(unclear(&why)),
                Outcome::Differs(_, why) if i == 1 && !moved[0].is_empty() => {
                    stays = format!(
                        " as long as rank 0 keeps its process, which Cartograph never moves by itself (if it does: {why})"
                    );
                    break;
                }
                Outcome::Differs(moves, why) => {
                    return Err(Failure::new(blame(runs, reach, &word, &moves.by(), &why)?));
                }
            }
        }
    }
    let by: Vec<Function> = (&moved[0] | &moved[1]).into_iter().collect();
    let setting = runs.setting.map_or_else(String::new, |setting| format!(" with {setting}"));
    let needs = runs.setting.map_or_else(String::new, |setting| {
        format!("; it needs {setting}, since it mends the MPI's pairing of blocks itself")
    });
    Ok(match by.is_empty() {
        true => format!(
            "no process was moved: the program creates no topology of several processes with reorder = 1, so there is \
             nothing to try{needs}; {INSTEAD}"
        ),
        false => format!(
            "the program works when processes are moved by {}{stays}, as far as these runs show: \
             CARTOGRAPH_REORDER={reach}{setting} is right for it",
            names(&by)
        ),
    })
}

/// Runs the program under Cartograph with no process moved; if it mends the MPI's pairing, with that.
fn without_moves(runs: &mut Runs) -> Result<()> {
    let shown = "no process moved";
    let mut outcome = runs.examine("off", shown)?;
    if let Outcome::Differs(_, why) = outcome {
        runs.setting = Some(HOST_PAIRING);
        outcome = runs.examine("off", &format!("{shown}, {HOST_PAIRING}"))?;
        if !matches!(outcome, Outcome::Same(_)) {
            return Err(Failure::new(format!(
                "under Cartograph {why} though no process is moved. If that is not a time or a place, please report it as a \
                 fault of Cartograph"
            )));
        }
    }
    match outcome {
        Outcome::Same(moves) if !moves.are_told => Err(Failure::new(
            "nobody can tell whether processes are moved: no process wrote a report into the working directory",
        )),
        Outcome::Unclear(why) => Err(unclear(&why)),
        _ => Ok(()),
    }
}

/// Finds out which constructors' new ranks the program does not follow, and which setting is right for it.
fn blame(runs: &mut Runs, reach: &str, word: &str, by: &[Function], why: &str) -> Result<String> {
    let mut text = format!(
        "the program does not work when processes are moved by {}: {why}, in two runs alike and in none of {} without moves",
        names(by),
        runs.count_unmoved()
    );
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
        text += &format!(". It is right where {} moves nobody", names(&right));
    }
    for (narrower, what) in [
        ("all", "moves nobody where the program passes reorder = 0"),
        ("on", "moves nobody by distributed graphs that do not ask for it in their info"),
    ] {
        let word = word.replacen(reach, narrower, 1);
        let moves_less =
            narrower != "on" || by.iter().any(|function| DIST_GRAPHS.contains(function));
        if narrower != reach
            && moves_less
            && let Outcome::Same(moves) = runs.examine(&word, "less moved at random")?
        {
            let rest = if moves.by().is_empty() { "; no process is moved then" } else { "" };
            text +=
                &format!(". With CARTOGRAPH_REORDER={narrower}, which {what}, it is right{rest}");
            return Ok(text);
        }
    }
    text += &format!(". Run it with CARTOGRAPH_REORDER=off; {INSTEAD}");
    if why.contains('"') {
        text += ". But if that only says where a process is or how long something took, leave it out: --ignore and a word of it";
    }
    Ok(text)
}

fn unclear(why: &str) -> Failure {
    Failure::new(format!("it is not clear whether the program works: {why}"))
}
