//! Tracing libraries together with Cartograph, before and after it (c_tests/tool/stacked_tool.c): results are those of
//! Cartograph without tools, each library sees the program's calls, and the tool sees no internal calls of Cartograph.
//!
//! Darshan itself is one of them if `CARTOGRAPH_TEST_DARSHAN` names its `libdarshan.so` for the host, built from
//! Darshan's sources: `darshan-runtime/configure --with-log-path-by-env=DARSHAN_LOGPATH --with-jobid-env=NONE
//! CC=mpicc.mpich && make`.

use std::path::PathBuf;

use super::Outcome;
use crate::session::{Session, count, word};
use crate::testlist::top;

/// Every process has another rank than before if Cartograph creates the grid.
const SETTINGS: [&str; 2] = ["CARTOGRAPH_REPORT=1", "CARTOGRAPH_REORDER=scramble:1"];

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let program = session.compile("program", "c_tests/tool/stacked.c", &[]);
    let shared = ["-fPIC", "-shared", "-Wl,--as-needed", "-ldl"];
    let source = "c_tests/tool/stacked_tool.c";
    let by_pmpi = session.compile("pmpi.so", source, &shared);
    let by_next = session.compile("next.so", source, &[&["-DBY_NEXT"], &shared[..]].concat());
    let darshan = std::env::var_os("CARTOGRAPH_TEST_DARSHAN").map(PathBuf::from);
    let data = session.work("data");
    let program = [word(&program), word(&data)];
    let logs = session.work("logs");
    std::fs::create_dir(&logs).map_err(|error| error.to_string())?;
    let to = format!("DARSHAN_LOGPATH={}", word(&logs));
    let settings = [&SETTINGS[..], &[&to]].concat();
    let mut logged = 0;
    for library in [session.host.library(), top().join("build/lib/libcartograph.so")] {
        session.preloaded = vec![library.clone()];
        session.runs("alone", 4, &settings, &program);
        let answers = session.out.clone();
        for tool in [&by_pmpi, &by_next].into_iter().chain(&darshan) {
            for (order, libraries, calls) in [
                ("in front", [tool, &library], "1 grids, 3 collectives"),
                ("behind", [&library, tool], "0 grids, 0 collectives"),
            ] {
                session.preloaded = libraries.map(Clone::clone).into();
                let ran = session.run(4, &settings, &program);
                let what = format!("{} {order} of {}", word(tool), word(&library));
                session.check(&format!("{what}: the answers"), ran && session.out == answers);
                let saw = if Some(tool) == darshan.as_ref() {
                    // The log of a run that Darshan traced to the end.
                    logged += 1;
                    let all = std::fs::read_dir(&logs).into_iter().flatten().flatten();
                    all.filter(|log| word(&log.path()).ends_with(".darshan")).count() == logged
                } else {
                    session.said(&format!("^tool: 1 begun, {calls}, 1 isends$")) == 4
                };
                session.check(&format!("{what}: the calls that the tool saw"), saw);
                let grids = count(&session.err, "^MPI_Cart_create: grid 4");
                session.check(&format!("{what}: whose grid it is"), grids == 1);
            }
        }
    }
    session.verdict()
}
