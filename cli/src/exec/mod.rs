//! `cartograph exec`: becomes a program with libraries preloaded. If none can be in any process of the job, or if a
//! report cannot be written, a line is printed and the program runs. If only one process cannot use its library, it
//! ends: the others would wait for its part of a collective call.

mod abort;

use std::convert::Infallible;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use cartograph_core::engine::policy::Policy;
use cartograph_core::launcher;
use cartograph_core::machine::{names_a_file, parse_sizes};
use cartograph_core::mapping::Weights;
use cartograph_jobs::launch::binding;
use cartograph_jobs::pmi::process::{self, Relayed};
use cartograph_jobs::pmi::{Parts, Version};
use cartograph_jobs::program::{Fault, With, behind_wrapper, find_program, is_linked, preload};

use crate::help::{self, Known};
use crate::output::{self, Cause, Failure, Result, is_first, say};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Report the topologies and what reordering gained, on stderr or in FILE (in JSON if it ends in .json)
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    report: Option<PathBuf>,
    /// Record what each process sends, in DIR; no reordering without --reorder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["report", "layout"])]
    record: Option<PathBuf>,
    /// Keep a recording small and cheap, for cartograph run: with the first calls in order, or the work only
    #[arg(long, value_name = "WHAT", hide = true, requires = "record", value_parser = ["calls", "work"])]
    limited: Option<String>,
    /// Write to DIR how long each process runs from MPI_Init to MPI_Finalize, for cartograph tune; without --reorder
    /// preload nothing else
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "record")]
    clock: Option<PathBuf>,
    /// A file with the rank of each process, for cartograph run under launchers with PMI-1 or PMI-2
    #[arg(long, value_name = "FILE", hide = true)]
    relay: Option<PathBuf>,
    /// The version of PMI that the relay speaks with the launcher
    #[arg(long, value_name = "VERSION", hide = true, requires = "relay", value_parser = checked_version,
        default_value = "1")]
    pmi: Version,
    /// The numbers of processes and words of several programs, of which each process becomes that of its rank
    #[arg(long, value_name = "NUMBERS", hide = true, value_parser = checked_parts)]
    parts: Option<Parts>,
    /// A file with the CPUs of each rank, for cartograph run and tune
    #[arg(long, value_name = "FILE", hide = true)]
    cpus: Option<PathBuf>,
    /// Restrict to the library for this MPI: mpich, openmpi, or another that `cartograph info` lists; default: the
    /// MPI that a process loads
    #[arg(long, value_name = "NAME", value_parser = help::MPIS, hide_possible_values = true)]
    mpi: Option<String>,
    /// The ranks that share a node, overriding the MPI: 4x16, 40*48,16,8, or a file with the node of
    /// each rank
    #[arg(long)]
    layout: Option<String>,
    /// When to reorder: off, known (the default), on, all, always or scramble:SEED[:CONSTRUCTOR]
    #[arg(long, value_name = "WORD", value_parser = REORDER, hide_possible_values = true)]
    reorder: Option<String>,
    /// Weights of edges along each dimension of grids: 16,1,1, or for certain grids 4x4x1:16,1,1;8x8:1,4
    #[arg(long, value_parser = checked_weights)]
    weights: Option<String>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true)]
    program: Vec<OsString>,
}

/// The values of `--reorder`, for completions.
const REORDER: Known =
    Known { words: &["off", "known", "on", "all", "always", "scramble:1"], check: checked_reorder };

/// The variable of `--reorder`.
const REORDER_VARIABLE: &str = "CARTOGRAPH_REORDER";

/// The variables of Open MPI with the number of the module for gathers and scatters on communicators of several nodes.
const GATHERING: [&str; 2] = [
    "OMPI_MCA_coll_han_gather_dynamic_global_communicator_module",
    "OMPI_MCA_coll_han_scatter_dynamic_global_communicator_module",
];

/// The number of the module that does not know nodes.
const TUNED: &str = "3";

/// A layout with more nodes is a typing error.
const MOST_NODES: usize = 1 << 21;

/// Becomes the program, or ends its job. `follows` tells whether the program in a command line is known to work when its
/// ranks are reordered.
pub(crate) fn run(arguments: &Arguments, follows: fn(&[OsString]) -> bool) -> ExitCode {
    let relay = arguments.relay.as_ref().map_or(Ok(None), |file| {
        process::place(arguments.pmi, &absolute(file), arguments.parts.as_ref())
    });
    let socket = relay.as_ref().ok().and_then(Option::as_ref).map(|relay| relay.socket);
    let Err(failure) = relay.and_then(|relay| become_program(arguments, relay, follows));
    let exit = output::tell(&failure);
    // Not for wrong usage: all processes fail, and the first one prints why.
    if [Cause::NotFound, Cause::NotRun].contains(&failure.cause) {
        match socket {
            Some(socket) => abort::ask(socket, Version::One, failure.cause.code()),
            None => abort::abort_job(arguments.pmi, failure.cause.code()),
        }
    }
    exit
}

fn become_program(
    arguments: &Arguments,
    relay: Option<Relayed>,
    follows: fn(&[OsString]) -> bool,
) -> Result<Infallible> {
    let layout = arguments.layout.as_deref().map(checked_layout).transpose()?;
    let words = own_program(arguments, relay.as_ref().map(|relay| relay.rank))?;
    let first = first(words, arguments.report.as_deref())?;
    let mut command = Command::new(&first);
    command.arg0(&words[0]).args(&words[1..]);
    // Wrappers pass the environment on to it.
    let program = find_program(behind_wrapper(words)).unwrap_or(first.clone());
    let has_library = set_libraries(&mut command, arguments, &program)?;
    set_report(&mut command, arguments);
    let follows = has_library && leaves_reordering_open() && follows(words);
    if follows {
        command.env(REORDER_VARIABLE, "on");
    }
    let word = arguments.reorder.clone().or_else(|| env::var(REORDER_VARIABLE).ok());
    let may_move = || match word.as_deref().unwrap_or_default() {
        "off" => false,
        "" | "known" => follows || is_linked(&program),
        _ => true,
    };
    if arguments.cpus.is_some() || has_library && may_move() {
        avoid_han(&mut command);
    }
    let directories =
        [("CARTOGRAPH_RECORD", &arguments.record), ("CARTOGRAPH_CLOCK", &arguments.clock)];
    for (name, directory) in directories {
        directory.as_ref().map(|directory| command.env(name, absolute(directory)));
    }
    let words = [
        ("CARTOGRAPH_RECORD_LIMITED", arguments.limited.as_ref()),
        ("CARTOGRAPH_LAYOUT", layout.as_ref()),
        (REORDER_VARIABLE, arguments.reorder.as_ref()),
        ("CARTOGRAPH_WEIGHTS", arguments.weights.as_ref()),
    ];
    for (name, word) in words {
        word.map(|word| command.env(name, word));
    }
    command.envs(relay.into_iter().flat_map(|relay| relay.variables));
    if let Some(file) = &arguments.cpus {
        binding::take(file);
    }
    let error = command.exec();
    Err(Failure::new(format!("cannot run {}: {error}", first.display())).with_cause(Cause::NotRun))
}

/// Sets the module of Open MPI's gathers and scatters, unless the user did: its component for nodes (HAN, of 5.0)
/// assumes that ranks are consecutive on their nodes, and returns wrong data in some other orders (ompi#14197 has the
/// reason).
fn avoid_han(command: &mut Command) {
    for name in GATHERING.into_iter().filter(|name| env::var_os(name).is_none()) {
        command.env(name, TUNED);
    }
}

/// The program of this process with its arguments, by its rank if there are several.
fn own_program(arguments: &Arguments, rank: Option<usize>) -> Result<&[OsString]> {
    let Some(parts) = &arguments.parts else { return Ok(&arguments.program) };
    let set = || launcher::variables::rank(|name| env::var(name).ok())?.parse().ok();
    let number = rank.or_else(set).and_then(|rank| parts.of_rank(rank));
    let words = number.and_then(|number| parts.words(number, &arguments.program));
    words.ok_or_else(|| {
        Failure::new("none of the programs is for the rank of this process")
            .with_cause(Cause::NotRun)
    })
}

/// The file of the first of these words, which is not a launcher.
fn first(words: &[OsString], report: Option<&Path>) -> Result<PathBuf> {
    let word = words[0].to_string_lossy();
    if let Some(launcher) = launcher::named(&word).next() {
        let command = launcher.subcommand.map_or(word.to_string(), |next| format!("{word} {next}"));
        return Err(Failure::usage(format!(
            "{word} is a launcher; use: {command} -n 8 cartograph exec ./app"
        )));
    }
    find_program(&words[0]).map_err(|failure| match report {
        Some(file) if file == Path::new("1") && words.len() > 1 => {
            failure.with_hint(&format!("to report to a file, use --report={word}"))
        }
        _ => failure,
    })
}

/// Preloads the libraries that the options need, or warns that all processes run without them. True if the topology
/// library is one of them.
///
/// # Errors
///
/// True if only this process may lack the libraries.
fn set_libraries(command: &mut Command, arguments: &Arguments, program: &Path) -> Result<bool> {
    let recorder = arguments.record.is_some() || arguments.clock.is_some();
    let library = !recorder || arguments.reorder.is_some();
    let with = With { recorder, library };
    match preload(program, arguments.mpi.as_deref(), with) {
        Ok(value) => drop(command.env("LD_PRELOAD", value)),
        Err(Fault::NotInstalled(failure)) => {
            output::warn(&failure.with_hint("the program runs without Cartograph"));
        }
        // The recorder sends no message.
        Err(Fault::Unusable(failure)) if !library => {
            output::warn(&failure.with_hint("the program runs without being recorded"));
        }
        Err(Fault::Unusable(failure)) => {
            return Err(failure
                .with_hint(
                    "the program was not started: processes with Cartograph would wait for it",
                )
                .with_cause(Cause::NotRun));
        }
    }
    // With this set, the library prints the reason if it does nothing.
    let mpi = arguments.mpi.clone().or(env::var("CARTOGRAPH_MPI").ok());
    command.env("CARTOGRAPH_MPI", mpi.as_deref().unwrap_or("auto"));
    Ok(library)
}

/// Sets where the report goes, and warns if it cannot be written there.
fn set_report(command: &mut Command, arguments: &Arguments) {
    let Some(file) = &arguments.report else { return };
    if file == Path::new("1") {
        command.env("CARTOGRAPH_REPORT", "1");
        return;
    }
    let place = absolute(file);
    let is_pattern = place.as_os_str().as_encoded_bytes().contains(&b'%');
    if is_first()
        && !is_pattern
        && let Err(why) = report_place(&place)
    {
        say(&format!("--report={}: {why}; the program runs anyway", file.display()));
    }
    command.env("CARTOGRAPH_REPORT", place);
}

/// The path of a file, absolute so that it holds in every directory.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// True if the user's environment does not set when to reorder, or only allows it in programs known to follow.
fn leaves_reordering_open() -> bool {
    let word = env::var_os(REORDER_VARIABLE).unwrap_or_default();
    word.is_empty() || word.to_str().and_then(|word| word.parse().ok()) == Some(Policy::default())
}

/// Checks that a report can be written to a file, before the program runs for hours.
fn report_place(place: &Path) -> std::result::Result<(), String> {
    let there = place.symlink_metadata();
    if there.as_ref().is_ok_and(fs::Metadata::is_symlink) {
        return Err("it is a symbolic link, which is not followed".into());
    }
    if there.as_ref().is_ok_and(|there| !there.is_file()) {
        return Err("it is not a regular file".into());
    }
    let is_json = place.extension().is_some_and(|extension| extension == "json");
    let tried = if there.is_ok() && !is_json {
        OpenOptions::new().append(true).open(place).map(drop)
    } else {
        // JSON replaces an existing file, so the directory must be writable.
        let trial = place.with_file_name(format!(".cartograph-{}", std::process::id()));
        File::create_new(&trial).and_then(|_| fs::remove_file(&trial))
    };
    tried.map_err(|error| format!("a file cannot be written there: {error}"))
}

/// A value that the library accepts.
fn checked_reorder(text: &str) -> core::result::Result<String, String> {
    text.parse::<Policy>().map(|_| text.to_owned())
}

/// The version of PMI with a number.
fn checked_version(text: &str) -> core::result::Result<Version, String> {
    Version::numbered(text).ok_or_else(|| "expected 1 or 2".to_owned())
}

/// The numbers of several programs.
fn checked_parts(text: &str) -> core::result::Result<Parts, String> {
    Parts::parse(text).ok_or_else(|| "expected such as 8:2,8:1".to_owned())
}

/// Weights that the library accepts.
fn checked_weights(text: &str) -> core::result::Result<String, String> {
    Weights::parse(text).map(|_| text.to_owned())
}

/// A layout that the library will understand in every directory. The library itself reports faults in a file, on which
/// all processes agree.
fn checked_layout(text: &str) -> Result<String> {
    if let Some(sizes) = parse_sizes(text, MOST_NODES) {
        let ranks = sizes.iter().fold(0usize, |sum, size| sum.saturating_add(*size));
        if sizes.len() > MOST_NODES || ranks > i32::MAX as usize {
            return Err(Failure::usage(format!(
                "--layout {text} has more than {MOST_NODES} nodes or {} processes",
                i32::MAX
            )));
        }
    }
    let path = Path::new(text);
    if !names_a_file(text) {
        return Ok(text.into());
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) || path.is_file() {
        return Ok(absolute(path).to_string_lossy().into_owned());
    }
    Err(Failure::usage(match text.split(',').any(|word| word.trim() == "0") {
        true => format!(
            "--layout {text}: node sizes must be at least 1; to give the node of each rank, use a file with one word \
             per rank"
        ),
        false => format!(
            "--layout {text} is neither NODESxRANKS (4x16) nor a list of node sizes (40*48,16,8) nor a file"
        ),
    }))
}
