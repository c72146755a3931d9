//! `cartograph try` finds out which of the programs of c_tests/try can be reordered, and why the others cannot: for
//! reasons like those of LAMMPS, PETSc and CP2K.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::Outcome;
use crate::session::{Session, word};
use crate::testlist::top;

/// `cartograph try` with options, for a program with `processes`, in the directory `here`.
fn command(session: &Session<'_>, processes: u32, options: &str, program: &[&str]) -> Command {
    let mut command = Command::new("env");
    if let Some(library) = session.host.yielding() {
        command.arg(format!("LD_PRELOAD={}", library.display()));
    }
    command.arg(top().join("build/bin/cartograph")).args(["try", "--mpi", &session.host.name]);
    command
        .args(options.split_whitespace())
        .args(session.host.launcher())
        .arg(processes.to_string());
    command.arg(session.work(program[0])).args(&program[1..]);
    command.current_dir(session.work("here")).envs(session.host.settings()).stdin(Stdio::null());
    command.env("CARTOGRAPH_STORE", session.work("store"));
    command
}

/// Runs a program under `cartograph exec` with the store of the tries, on nodes whose ranks are round-robin; returns
/// whether its ranks were reordered.
fn exec(session: &mut Session<'_>, program: &str, reorder: &str) -> bool {
    let nodes = session.write("nodes", "a b c a b c\n");
    let settings = [
        format!("CARTOGRAPH_STORE={}", session.work("store").display()),
        format!("CARTOGRAPH_LAYOUT={}", nodes.display()),
        "CARTOGRAPH_WEIGHTS=1,1".to_owned(),
        "CARTOGRAPH_REPORT=1".to_owned(),
        format!("CARTOGRAPH_REORDER={reorder}"),
    ];
    let mut command = session.launcher(6);
    command.arg("env").args(settings).arg(top().join("build/bin/cartograph")).arg("exec");
    let ran = session.finish(command.arg(session.work(program)).envs(session.host.settings()));
    session.check(&format!("exec {program}"), ran);
    session.said("^  ranks reordered by ") > 0
}

/// Tries a program and checks the exit code and the output.
fn tries(session: &mut Session<'_>, code: i32, options: &str, program: &[&str], words: &[&str]) {
    tries_on(session, 6, code, options, program, words);
}

fn tries_on(
    session: &mut Session<'_>,
    processes: u32,
    code: i32,
    options: &str,
    program: &[&str],
    words: &[&str],
) {
    let mut command = command(session, processes, options, program);
    session.finish(&mut command);
    session.check(&format!("try {options} {program:?} ends with {code}"), session.code == code);
    for words in words {
        let said = session.out.contains(words) || session.err.contains(words);
        session.check(&format!("try {options} {program:?}: {words}"), said);
    }
}

fn compile(session: &Session<'_>, programs: &[&str]) {
    for program in programs {
        session.compile(program, &format!("c_tests/try/{program}.c"), &[]);
    }
}

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    compile(&session, &["right", "old_communicator"]);
    std::fs::create_dir(session.work("here")).map_err(|error| error.to_string())?;
    let s = &mut session;
    let right = [
        "output unchanged; reordered by MPI_Cart_create",
        "ranks reordered at random, rank 0 too (",
        "compared: exit code, stdout; no files were written below this directory",
        "not compared: stderr, the order of lines",
        "the program works with CARTOGRAPH_REORDER=all",
    ];
    let moves = exec(s, "right", "");
    s.check("an untried program keeps its ranks", !moves);
    tries(s, 0, "", &["right"], &right);
    elsewhere(s);
    for (reorder, expected) in [("", true), ("known", true), ("off", false)] {
        let moves = exec(s, "right", reorder) == expected;
        s.check(
            &format!("exec moves what try found to be right, but not where off: {reorder}"),
            moves,
        );
    }
    let lammps = [
        "does not work when ranks are reordered by MPI_Cart_create: it did not end within 5 s",
        "Run it with CARTOGRAPH_REORDER=off",
    ];
    tries(s, 1, "--seconds 5 --runs 10", &["old_communicator"], &lammps);
    let moves = exec(s, "old_communicator", "");
    s.check("exec reorders no program that fails when reordered", !moves);
    // A program like SPARC corrects the pairing of blocks itself, under a name that is not in the table. MPICH 5 needs
    // no correction.
    if s.host.name != "mpich5" {
        s.compile(
            "pairs_itself",
            "c_tests/neighbor/pairs_itself.c",
            &["-DGradient_vec_dir=exchange"],
        );
        let sparc = [
            "no reordering, CARTOGRAPH_PAIRING=host (off): output unchanged",
            "it needs CARTOGRAPH_PAIRING=host",
        ];
        tries_on(s, 2, 0, "", &["pairs_itself"], &sparc);
    }
    let ended = interrupted(s);
    s.check("Ctrl-C ends the job", ended);
    if s.host.checks_all {
        compared(s)?;
    }
    session.verdict()
}

/// Ranks on other nodes: relays can pretend that there are some.
fn elsewhere(s: &mut Session<'_>) {
    compile(s, &["ranks_as_places"]);
    let program = ["ranks_as_places"];
    if s.host.name.starts_with("openmpi") {
        let why = "ranks on other nodes: not tried: all processes are on one node";
        return tries(s, 0, "", &program, &[why]);
    }
    let works = "ranks on the other of these nodes (order 2): output unchanged";
    tries(s, 0, "--runs 1", &["right"], &["two nodes, pretended: output unchanged", works]);
    let wrong = [
        "two nodes, pretended: output unchanged",
        "but if ranks are on other nodes, \"stdout: sum ",
        "it takes ranks for places, and must not run under cartograph run",
    ];
    tries(s, 1, "", &program, &wrong);
}

/// The comparison and its differences, which do not depend on the host.
fn compared(s: &mut Session<'_>) -> Result<(), String> {
    compile(s, &["old_data", "not_asked", "table", "grid_of_grid", "two", "file"]);
    // A table of times, whose rows come and go, does not count as a difference.
    let aside = r#"the order of lines, data that differs from run to run: "stdout: routine_"#;
    tries(s, 0, "", &["table"], &[aside]);
    tries(s, 1, "", &["table", "wrong"], &["sum "]);
    tries(s, 1, "--in-place --runs 10", &["file"], &["result.bin: bytes with the hash"]);
    let result = s.work("here/result.bin");
    let left = std::fs::read(&result);
    let mut alone = s.launcher(6);
    let ran = s.finish(alone.current_dir(s.work("here")).arg(s.work("file")));
    let same = left.is_ok_and(|left| std::fs::read(&result).is_ok_and(|result| result == left));
    s.check("the right file was kept", ran && same);
    std::fs::remove_file(result).map_err(|error| error.to_string())?;
    let petsc = [
        r#"" instead of "stdout: "#,
        "It works with CARTOGRAPH_REORDER=on, which keeps ranks in distributed graphs",
    ];
    tries(s, 1, "--runs 10", &["old_data"], &petsc);
    let epoch =
        ["processes have two ranks", "It works with CARTOGRAPH_REORDER=on, which keeps ranks"];
    tries(s, 1, "--runs 10", &["grid_of_grid"], &epoch);
    tries(s, 1, "--runs 10", &["two"], &["The program works if MPI_Graph_create keeps ranks"]);
    tries(s, 0, "", &["not_asked"], &["no rank was reordered"]);
    let cp2k = [
        "Got different MPI process grid",
        "It works with CARTOGRAPH_REORDER=all, which keeps ranks if the program passes reorder = 0; no rank is \
         reordered then",
    ];
    tries(s, 1, "--always --runs 10", &["not_asked"], &cp2k);
    // With one process no rank can be reordered, and no constructor is blamed.
    tries_on(s, 1, 0, "", &["old_data"], &["no rank was reordered"]);
    Ok(())
}

/// True if a program compiled by the test runs.
fn runs(program: &str) -> bool {
    Command::new("pgrep")
        .args(["-f", program])
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Ctrl-C ends the job, which waits for messages that were sent to other ranks.
fn interrupted(session: &mut Session<'_>) -> bool {
    let program = session.work("old_communicator");
    let out = session.work("out");
    let file = std::fs::File::create(&out).expect("the test's own directory can be written");
    let mut command = command(session, 6, "--runs 10", &["old_communicator"]);
    command.stderr(file.try_clone().expect("a file")).stdout(file);
    let mut child = command.spawn().expect("the command starts");
    let said = |words: &str| std::fs::read_to_string(&out).is_ok_and(|text| text.contains(words));
    for _ in 0..600 {
        if said("(off): output unchanged") {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    // By then the next run, which hangs, has started.
    std::thread::sleep(Duration::from_secs(3));
    let running = runs(word(&program));
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let code = child.wait().ok().and_then(|status| status.code());
    running
        && interrupted.is_ok_and(|status| status.success())
        && code == Some(130)
        && said("cartograph: interrupted")
        && !runs(word(&program))
}
