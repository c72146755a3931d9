//! Programs of several threads whose calls of the host are delayed at random (c_tests/lifetime/interleave.c), so that
//! the threads meet at different points in each run.

use super::Outcome;
use crate::session::{Session, word};

const SEEDS: [&str; 3] = ["INTERLEAVE=1", "INTERLEAVE=2", "INTERLEAVE=3"];

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let shared = ["-shared", "-fPIC", "-ldl"];
    let library = session.compile("interleave.so", "c_tests/lifetime/interleave.c", &shared);
    session.preloaded.insert(0, library);
    for source in ["lifetime/first_graphs", "neighbor/neighbor_threads"] {
        let program =
            session.compile("program", &format!("c_tests/{source}.c"), &["-pthread", "-ldl"]);
        for seed in SEEDS {
            let settings = [seed, "INTERLEAVE_TELL=1"];
            session.runs(&format!("{source}, {seed}"), 2, &settings, &[word(&program)]);
            // Otherwise it was not between the library and the host.
            let held = session.said("^interleave: [0-9]{2,} calls$");
            session.check(&format!("{source}, {seed}: calls are held up"), held == 2);
        }
    }
    session.verdict()
}
