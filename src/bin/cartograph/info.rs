//! `cartograph info`.

use std::env;
use std::fmt::Write;

use crate::exec::libraries;
use crate::output::{self, Result};

/// The environment variables that the library and the command read.
pub(crate) const VARIABLES: [(&str, &str); 8] = [
    (
        "CARTOGRAPH_REPORT",
        "1: a report on stderr at the end; a file name: there; in JSON if it ends in .json",
    ),
    (
        "CARTOGRAPH_REORDER",
        "off: no process is moved; on: where the program asks, but for distributed graphs; all: these too; always: also where it does not ask; scramble:SEED[:CONSTRUCTOR+...]: at random, by all constructors or some, to test the program",
    ),
    (
        "CARTOGRAPH_WEIGHTS",
        "what edges along each dimension of grids weigh: 16,1,1, or for some grids 4x4x1:16,1,1;8x8:1,4",
    ),
    (
        "CARTOGRAPH_TRAFFIC",
        "a recording of the program, by which grids and graphs are weighed; cartograph exec --traffic sets it",
    ),
    (
        "CARTOGRAPH_LAYOUT",
        "the nodes, instead of those detected: 4x16, 40*48,16,8, or a file with a node id a rank",
    ),
    (
        "CARTOGRAPH_CHECK",
        "rules whose breach is an error though all MPIs let it pass: edges, weights, arguments; all",
    ),
    (
        "CARTOGRAPH_RECORD",
        "where the recorder writes, a file a process; cartograph exec --record sets it",
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
