//! Processes that are killed in constructors: the others do not wait for them. Jobs end as on the bare host; if an MPI
//! continues without the dead processes (ULFM), an error reports that, and the others create their own topologies.

use std::time::{Duration, Instant};

use super::Outcome;
use crate::session::{Session, word};

/// The constructors in c_tests/errors/failing_host.c: of a grid, a graph, both kinds of distributed graphs, and a part.
const CONSTRUCTORS: usize = 5;

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let source = "c_tests/errors/failing_host.c";
    let program = session.compile("failing_host", source, &["-pthread", "-ldl", "-rdynamic"]);
    session.seconds = 30;
    for constructor in 0..CONSTRUCTORS {
        for call in 1.. {
            let [constructor, number] = [constructor, call].map(|number| number.to_string());
            let arguments = [word(&program), "killed", &constructor, &number];
            let start = Instant::now();
            let ended =
                session.run(3, &["CARTOGRAPH_LAYOUT=1,2", "CARTOGRAPH_REORDER=on"], &arguments);
            if session.out.contains("there were ") {
                session.check(&format!("{constructor} has calls"), ended && call > 1);
                break;
            }
            // Launchers and `timeout` share some exit codes.
            let limit = Duration::from_secs(session.seconds.into());
            let all_ended = !ended && start.elapsed() < limit;
            session
                .check(&format!("killed in call {number} of constructor {constructor}"), all_ended);
        }
    }
    session.verdict()
}

/// For Open MPI 5, which has ULFM.
pub(super) fn without_the_dead(mut session: Session<'_>) -> Outcome {
    let program = session.compile("process_failed", "c_tests/errors/process_failed.c", &[]);
    for constructor in ["0", "1", "2", "3"] {
        let preload = session.preload();
        let mut command = session.launcher(4);
        command.args(["--with-ft", "ulfm", "env", &preload]).arg(&program).arg(constructor);
        // The launcher's exit code reflects the dead process.
        session.finish(&mut command);
        let right = session.out.lines().any(|line| line == "9 passed, 0 failed");
        session.check(&format!("a process is dead in constructor {constructor}"), right);
    }
    session.verdict()
}
