//! How `cartograph tune` runs programs, and which output it compares.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::tune::{BY_RANKS, Bench, has};

/// Records a time of $1 tenths of a second for all ranks, where the rank file places them.
pub(crate) const NOTED: &str = "noted() { mkdir -p $CARTOGRAPH_CLOCK; for rank in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 \
                                15; do \
    echo '{\"process\":{\"schema\":1,\"rank\":'$rank',\"size\":16,\"host\":\"'$(sed -n \"s/rank $rank=\\\\(.*\\\\) .*/\\\\1/p\" ${RANKS:-/dev/null} | grep . || echo n0)'\",\"program\":\"./program\",\"mpi\":\"Open MPI v4.1.4\",\"part\":0,\"complete\":true,\"nanoseconds\":'$1'00000000,\"lines\":0}}'; \
    done >$CARTOGRAPH_CLOCK/n0.jsonl; }\n";

#[test]
fn time_is_measured_from_mpi_init_to_mpi_finalize() {
    let mut bench = Bench::new("clock", true);
    bench.is_printed = false;
    let program = format!("{NOTED}[ \"$RANKS\" ] && noted 10 || noted 2$(($$ % 2))");
    let text = bench.tune(0, "--runs 3", &program);
    has(&text, "measured, from MPI_Init to MPI_Finalize");
    has(&text, "x faster than the default order");
    has(&text, "     1.000        1.000 to 1.000 ");
    // If processes of the baseline end without MPI_Finalize, the launcher's time counts; a variant whose processes do
    // so is dropped.
    let text = bench.tune(0, "--runs 2", "true");
    has(&text, "measured, of the launcher");
    let text = bench.tune(0, "--runs 2", &format!("{NOTED}[ \"$RANKS\" ] || noted 20"));
    has(&text, "some ranks did not reach MPI_Finalize");
}

#[test]
fn temporary_files_are_not_compared() {
    let mut bench = Bench::new("temporary", true);
    bench.is_printed = false;
    // In the form in which Open MPI's launcher and tune's clock create them.
    let program = format!(
        "mkdir -p $TMPDIR/ompi.n0.0; echo w$RANKS >$TMPDIR/ompi.n0.0/contact.txt
        {NOTED}[ \"$RANKS\" ] && noted 10 || noted 2$(($$ % 2))"
    );
    for place in ["here", "here/tmp"] {
        let place = bench.directory.join(place);
        fs::create_dir_all(&place).unwrap();
        let done = bench.command("--runs 3", &program).env("TMPDIR", place).output().unwrap();
        has(&bench.said(0, &done), "x faster than the default order");
    }
}

#[test]
fn too_many_files_are_not_compared() {
    let bench = Bench::new("crowded", true);
    for number in 0..=100_000 {
        fs::File::create(bench.directory.join(&format!("here/{number}"))).unwrap();
    }
    let text = bench.tune(0, "--runs 2", "echo took 2");
    has(&text, "\nnot compared: files (more than 100000 below this directory)\n");
}

#[test]
fn a_run_ends_in_time_and_reads_the_input() {
    let bench = Bench::new("limits", true);
    let mut command = bench.command("--seconds 1", "");
    bench.script("program", "sleep 60");
    let text = bench.said(1, &command.output().unwrap());
    has(&text, "the recorded run did not end within 1 s");
    has(&text, "; --seconds sets this limit\n");
    let text = bench.tune(0, "--runs 3 --seconds 18446744073709551615", BY_RANKS);
    has(&text, "x faster than the default order");
    // A variant that hangs is stopped before the time limit of all runs.
    let text = bench.tune(1, "--runs 2", "if [ \"$RANKS\" ]; then sleep 600; else echo took 2; fi");
    has(&text, "it did not end within 1");
    let program = "read line || exit 7; [ \"$line\" = 5 ] && echo took 2";
    let input = bench.directory.join("input");
    fs::write(&input, "5\n6\n").unwrap();
    let mut command = bench.command("--runs 2", program);
    bench.said(0, &command.stdin(fs::File::open(&input).unwrap()).output().unwrap());
    let mut command = bench.command("--runs 2", program);
    let text = bench.said(1, &command.stdin(Stdio::piped()).output().unwrap());
    has(&text, "exited with code 7; it got no input, since stdin is a pipe");
}

/// Sends a signal to a process.
fn send(signal: &str, id: u32) {
    let mut kill = Command::new("kill");
    assert!(kill.args(["-s", signal, &id.to_string()]).status().unwrap().success());
}

#[test]
fn a_signal_returns_the_best_result_so_far() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let bench = Bench::new(&format!("interrupted-{signal}"), true);
        let state = bench.directory.join("state");
        let program = format!(
            "echo >>{}; [ \"$RANKS\" ] && echo took 1 || echo took 2; sleep 0.05",
            state.display()
        );
        let mut command = bench.command("--runs 1000", &program);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while fs::read_to_string(&state).map_or(0, |text| text.len()) < 12 {
            thread::sleep(Duration::from_millis(10));
        }
        send(signal, child.id());
        let text = bench.said(code, &child.wait_with_output().unwrap());
        has(&text, ": 2.00x faster than the default order");
        has(&text, "cartograph: interrupted; best result so far");
        assert!(bench.ranks().exists());
    }
}

#[test]
fn a_second_signal_ends_a_launcher_that_ignores_the_first() {
    let bench = Bench::new("twice", true);
    let state = bench.directory.join("state");
    let stubborn = format!("trap '' TERM; echo >{}; sleep 60", state.display());
    let mut command = bench.command("--runs 2", &format!("echo took 1; {stubborn}"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !state.exists() {
        thread::sleep(Duration::from_millis(10));
    }
    let start = Instant::now();
    for _ in 0..2 {
        send("INT", child.id());
        thread::sleep(Duration::from_millis(500));
    }
    bench.said(130, &child.wait_with_output().unwrap());
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}
