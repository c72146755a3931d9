//! Jobs in which the library cannot rely on other processes: two programs in one job, with the library on both or on
//! one; a process that starts with `PMPI_Init`. None of our messages may match theirs.

use super::Outcome;
use crate::session::{Session, count, word};

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let program = session.compile("coupled", "c_tests/reorder/coupled.c", &["-Wall"]);
    let program = word(&program);
    let fortran = "c_tests/fortran/reorder/coupled.f90";
    // A program in Fortran that no wrapper of a C name sees, or the same in C if there is no compiler.
    let other = match session.host.compiler(fortran.as_ref()) {
        Some(_) => word(&session.compile("coupled.f08", fortran, &["-Wall"])).to_owned(),
        None => format!("{program} 2"),
    };
    let report = format!("CARTOGRAPH_REPORT={}", session.work("report.json").display());
    let settings =
        ["CARTOGRAPH_LAYOUT=2x2 CARTOGRAPH_REORDER=on", &report, "", "CARTOGRAPH_REORDER=off"];
    // With a report, the library does everything that it does without settings; with reordering off, less.
    let number = if session.host.shortened { 2 } else { 4 };
    for settings in &settings[..number] {
        let with = format!("env {} {settings}", session.preload());
        let library = std::mem::take(&mut session.preloaded);
        let without = format!("env {}", session.preload());
        session.preloaded = library;
        let jobs: [(&str, usize, [String; 2]); 7] = [
            (
                "preloaded on both",
                4,
                [format!("2 {with} {program} 1"), format!("2 {with} {other}")],
            ),
            (
                "on both, the other first",
                4,
                [format!("2 {with} {other}"), format!("2 {with} {program} 1")],
            ),
            (
                "preloaded on one",
                4,
                [format!("2 {with} {program} 1"), format!("2 {without} {other}")],
            ),
            (
                "preloaded on the other",
                4,
                [format!("2 {without} {program} 1"), format!("2 {with} {other}")],
            ),
            (
                "on one of it, the first",
                4,
                [format!("2 {without} {other}"), format!("2 {with} {program} 1")],
            ),
            (
                "PMPI_Init on one rank",
                3,
                [format!("2 {with} {program} 1"), format!("1 {with} {program} 1 pmpi")],
            ),
            (
                "PMPI_Init on the first",
                3,
                [format!("1 {with} {program} 1 pmpi"), format!("2 {with} {program} 1")],
            ),
        ];
        for (what, processes, parts) in jobs {
            let mut words = parts[0].split_whitespace();
            let first = words.next().and_then(|number| number.parse().ok()).expect("a number");
            let mut command = session.launcher(first);
            command.args(words).args([":", "-n"]).args(parts[1].split_whitespace());
            let ran = session.finish(&mut command);
            // All of them check something.
            let passed = count(&session.out, "program (1: 6|2: [56]) passed, 0 failed$");
            session.check(&format!("{what}, {settings}"), ran && passed == processes);
        }
    }
    session.verdict()
}
