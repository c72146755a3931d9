//! `cartograph info`.

use std::env;
use std::fmt::Write;

use crate::exec::libraries;
use crate::output::{self, Result};

/// The environment variables that the library and the command read.
pub(crate) const VARIABLES: [(&str, &str); 11] = [
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
        "CARTOGRAPH_LAYOUT",
        "which ranks share a node, in place of what the MPI says: 4x16, with switches 2x4x16, 40*48,16,8, or a file with the node of each rank",
    ),
    (
        "CARTOGRAPH_LEVEL_WEIGHTS",
        "the cost of an edge inside a node, between nodes of one switch, between switches and so on: 1,10,100 if not set",
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
        "CARTOGRAPH_COMBINE",
        "small blocks of blocking neighborhood collectives go from node to node in one message: on, where that takes fewer messages; always; off",
    ),
    (
        "CARTOGRAPH_RECORD",
        "the directory in which the recorder writes a file for each process; cartograph exec --record sets it",
    ),
    (
        "CARTOGRAPH_LIB_DIR",
        "where cartograph exec looks for libraries first: DIR/HOST/libcartograph.so",
    ),
];

pub(crate) fn run() -> Result<()> {
    let mut text = format!("cartograph {}\n\nlibraries:\n", env!("CARGO_PKG_VERSION"));
    let found = libraries::all();
    for library in &found {
        let mpi = library.mpi.as_deref().unwrap_or("no MPI that is known");
        let _ = writeln!(text, "  {:<10} {:<18} {}", library.host, mpi, library.path.display());
    }
    if found.is_empty() {
        let _ = writeln!(
            text,
            "  none; make lib HOST=... builds one, and make install puts it in place"
        );
        for place in libraries::Place::all() {
            let _ = writeln!(text, "  looked in {}", place.path.display());
        }
    }
    text.push_str("\nenvironment:\n");
    for (name, meaning) in VARIABLES {
        let value = env::var_os(name);
        let value =
            value.map_or("not set".into(), |value| format!("= {}", value.to_string_lossy()));
        let _ = writeln!(text, "  {name} {value}\n      {meaning}");
    }
    output::print(&text)
}
