//! `cartograph info`.

use std::env;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

use cartograph_core::engine::check::Check;
use cartograph_core::engine::policy::Policy;
use cartograph_core::machine::names_a_file;
use cartograph_core::mapping::{Distances, Weights};
use cartograph_core::topology::BoxShape;

use crate::exec::libraries::LibraryDirectory;
use crate::output::{self, Result};

/// The environment variables that the library and the command read.
pub(crate) const VARIABLES: [(&str, &str); 17] = [
    ("CARTOGRAPH_REPORT", "1: a report on stderr; a file name: there; in JSON if it ends in .json"),
    (
        "CARTOGRAPH_REORDER",
        "off: no process is moved; on (if not set): by grids and graphs with reorder = 1; all: by distributed graphs too; always: also with reorder = 0; scramble:SEED[:CONSTRUCTOR+...]: at random, by all constructors or some, to test the program, and scramble0 in its place: rank 0 too",
    ),
    (
        "CARTOGRAPH_WEIGHTS",
        "the weights of edges along each dimension of grids: 16,1,1, or for some grids 4x4x1:16,1,1;8x8:1,4",
    ),
    (
        "CARTOGRAPH_TRAFFIC",
        "a recording of the program: edges of grids and graphs weigh what was sent along them; cartograph exec --traffic sets it",
    ),
    (
        "CARTOGRAPH_PROFILE",
        "a profile of the program by cartograph tune, for cartograph exec; --profile names it too",
    ),
    (
        "CARTOGRAPH_WORLD",
        "a profile with an order of MPI_COMM_WORLD; cartograph exec --profile sets it",
    ),
    (
        "CARTOGRAPH_DIMS",
        "the sides of what is divided, such as 1x1x10, by which MPI_Dims_create answers where all are free",
    ),
    (
        "CARTOGRAPH_LAYOUT",
        "which ranks share a node, in place of what the MPI says: 4x16, with switches 2x4x16, 40*48,16,8, or a file with the node of each rank",
    ),
    (
        "CARTOGRAPH_LEVEL_WEIGHTS",
        "the cost of an edge inside a node, between nodes of one switch, between switches and so on: 1,10,30 if not set",
    ),
    (
        "CARTOGRAPH_CHECK",
        "rules of the standard that are enforced though all MPIs let programs break them: edges, weights, arguments; all",
    ),
    (
        "CARTOGRAPH_NEIGHBOR",
        "how nonblocking and persistent neighborhood collectives run: graph, by the MPI's own wherever they are right; alltoall, never by these",
    ),
    (
        "CARTOGRAPH_PAIRING",
        "which block is received where when a process is a neighbor more than once: standard, or host, as without Cartograph",
    ),
    (
        "CARTOGRAPH_COMBINE",
        "small blocks of blocking neighborhood collectives share messages: on, where that takes fewer; off",
    ),
    (
        "CARTOGRAPH_RECORD",
        "the directory in which the recorder writes a file for each process; cartograph exec --record sets it",
    ),
    (
        "CARTOGRAPH_CLOCK",
        "the directory in which the recorder notes how long processes run, and nothing else; cartograph tune sets it",
    ),
    (
        "CARTOGRAPH_LIB_DIR",
        "the directory in which cartograph exec finds libcartograph.so.0 and cartograph/, if not in that of its installation",
    ),
    (
        "CARTOGRAPH_MPI",
        "auto, or the only MPI of those above whose library is taken; cartograph exec sets it",
    ),
];

/// The fault that the library will find in a value.
fn fault(name: &str, text: &str) -> Option<String> {
    let one_of = |words: &[&str]| {
        (!words.contains(&text)).then(|| format!("must be one of {}", words.join(", ")))
    };
    let is_file = || {
        let error = Path::new(text).metadata().err()?;
        Some(format!("cannot be read: {error}"))
    };
    match name {
        "CARTOGRAPH_REORDER" => text.parse::<Policy>().err().map(|error| format!("is {error}")),
        "CARTOGRAPH_WEIGHTS" => Weights::parse(text).err(),
        "CARTOGRAPH_LEVEL_WEIGHTS" => Distances::parse(text).err().map(|error| error.to_string()),
        "CARTOGRAPH_CHECK" => {
            Check::parse(text).err().map(|word| format!("has '{word}', which is not a rule"))
        }
        "CARTOGRAPH_NEIGHBOR" => one_of(&["graph", "alltoall"]),
        "CARTOGRAPH_PAIRING" => one_of(&["standard", "host"]),
        "CARTOGRAPH_COMBINE" => one_of(&["off", "on"]),
        "CARTOGRAPH_LAYOUT" if names_a_file(text) => is_file(),
        "CARTOGRAPH_DIMS" => text.parse::<BoxShape>().err().map(|error| error.to_string()),
        "CARTOGRAPH_TRAFFIC" | "CARTOGRAPH_PROFILE" | "CARTOGRAPH_WORLD" | "CARTOGRAPH_LIB_DIR" => {
            is_file()
        }
        _ => None,
    }
}

pub(crate) fn run() -> Result<()> {
    let mut text = format!("cartograph {}\n\nlibraries:\n", env!("CARGO_PKG_VERSION"));
    match LibraryDirectory::find() {
        Ok(place) => {
            let found = place.libraries();
            let _ = writeln!(text, "  {}, for every MPI of these:", place.library().display());
            for (name, library) in &found {
                let needed = library.needed.iter().find(|name| name.starts_with("libmpi"));
                let needed = match needed {
                    Some(name) => name,
                    None if library.names_no_mpi() => "whichever is loaded",
                    None => "no shared MPI",
                };
                let _ = writeln!(text, "  {name:<10} {:<16} {needed}", library.built_for);
            }
            if found.is_empty() {
                let _ = writeln!(
                    text,
                    "  none; make lib HOST=... builds one, and make install puts it in place"
                );
            }
        }
        Err(failure) => {
            let _ = writeln!(text, "  {}", failure.text);
        }
    }
    text.push_str("\nenvironment:\n");
    for (name, meaning) in VARIABLES {
        let value = env::var_os(name);
        let value = value.as_deref().map(OsStr::to_string_lossy);
        let shown = value.as_deref().map_or("not set".into(), |value| format!("= {value}"));
        let _ = writeln!(text, "  {name} {shown}\n      {meaning}");
        let fault = value.filter(|value| !value.is_empty()).and_then(|value| fault(name, &value));
        if let Some(fault) = fault {
            let _ = writeln!(text, "      wrong: it {fault}");
        }
    }
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARTOGRAPH_") && VARIABLES.iter().all(|(known, _)| *known != name) {
            let _ = writeln!(text, "  {name} is not known");
        }
    }
    output::print(&output::shown(&text))
}
