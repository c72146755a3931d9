//! Tracing libraries beside Cartograph, in front of it and behind (c_tests/tool/stacked_tool.c): the answers are those of
//! Cartograph alone, each of both sees what the program calls, and the tool nothing of what Cartograph calls.

use super::Outcome;
use crate::session::{Session, count, word};
use crate::testlist::top;

/// Every process has another rank than before, where Cartograph makes the grid.
const SETTINGS: [&str; 2] = ["CARTOGRAPH_REPORT=1", "CARTOGRAPH_REORDER=scramble:1"];

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let program = session.compile("program", "c_tests/tool/stacked.c", &[]);
    let shared = ["-fPIC", "-shared", "-Wl,--as-needed", "-ldl"];
    let source = "c_tests/tool/stacked_tool.c";
    let by_pmpi = session.compile("pmpi.so", source, &shared);
    let by_next = session.compile("next.so", source, &[&["-DBY_NEXT"], &shared[..]].concat());
    for library in [session.host.library(), top().join("build/lib/libcartograph.so")] {
        session.preloaded = vec![library.clone()];
        session.runs("alone", 4, &SETTINGS, &[word(&program)]);
        let answers = session.out.clone();
        for tool in [&by_pmpi, &by_next] {
            for (order, libraries, calls) in [
                ("in front", [tool, &library], "1 grids, 3 collectives"),
                ("behind", [&library, tool], "0 grids, 0 collectives"),
            ] {
                session.preloaded = libraries.map(Clone::clone).into();
                let ran = session.run(4, &SETTINGS, &[word(&program)]);
                let what = format!("{} {order} of {}", word(tool), word(&library));
                session.check(&format!("{what}: the answers"), ran && session.out == answers);
                let saw = format!("^tool: 1 begun, {calls}, 1 isends$");
                session.check(&format!("{what}: what the tool saw"), session.said(&saw) == 4);
                let grids = count(&session.err, "^MPI_Cart_create: grid 4");
                session.check(&format!("{what}: whose grid it is"), grids == 1);
            }
        }
    }
    session.verdict()
}
