//! How `cartograph try` judges programs whose output is hard to compare, and how it must treat them.

use std::fs;
use std::process::Stdio;

use crate::trial::{Bench, has};

#[test]
fn messages_that_depend_on_time_are_not_a_failure() {
    let bench = Bench::new("advice");
    // Like GROMACS's advice: twice under Cartograph without reordering, and in a later baseline run.
    let text = bench.tries(
        0,
        "echo done; case $run in 3 | 5 | 6 | 7 | 9) echo NOTE: a part of the time was spent elsewhere ;; esac",
    );
    has(&text, "from run to run: \"stdout: NOTE: a part");
    assert!(!text.contains("CARTOGRAPH_PAIRING"), "{text}");
    // If it never occurs in a baseline run, its cause is unknown.
    let text = bench.tries(1, "[ $CARTOGRAPH_REPORT ] && echo something else");
    has(&text, "cannot tell whether the program works when ranks are reordered: under Cartograph");
    has(
        &text,
        "output differs even without reordering: \"stdout: something else\" too. If the difference is a time",
    );
}

#[test]
fn a_crash_is_found_among_other_differences() {
    let bench = Bench::new("crash");
    // Like EPOCH, whose dumps differ in each run.
    let dump = "printf '\\000%s' $run >dump.sdf; echo done";
    let text = bench.tries(1, &format!("{dump}; moved && {{ echo it is broken >&2; exit 3; }}"));
    has(&text, "does not work when ranks are reordered by MPI_Cart_create: it exited with code 3");
    // Lines that differ in each variant.
    let text = bench.tries(1, "echo $CARTOGRAPH_REPORT $run; moved && exit 3");
    has(&text, "does not work when ranks are reordered by MPI_Cart_create: it exited with code 3");
    let _ = fs::remove_file(bench.directory.join("state"));
    let text = bench.tries(1, "echo done; [ $run = 4 ] && exit 3");
    has(
        &text,
        "it exited with code 3, in one of two runs, but in none of 4 runs without reordering",
    );
    let text = bench.tries(0, dump);
    has(&text, "from run to run: \"dump.sdf: bytes with the hash");
    // A file with a unique identifier per run can still be compared.
    let text = bench.tries(1, "echo job x$run; moved && echo sum 6 || echo sum 5");
    has(&text, "\"stdout: sum 6\" instead of \"stdout: sum 5\"");
}

#[test]
fn uncompared_output_is_not_called_equal() {
    let bench = Bench::new("nothing");
    let elsewhere = bench.directory.join("elsewhere");
    for program in [
        "echo sum 5 >&2",
        &format!("echo sum 5 >{}", elsewhere.display()),
        "echo sum $run",
        "printf '\\000%s' $run >dump.sdf",
    ] {
        let text = bench.tries(1, program);
        has(
            &text,
            "cannot tell whether the program works when ranks are reordered: all runs end with exit code 0",
        );
    }
    for number in 0..=100_000 {
        fs::File::create(bench.here.join(number.to_string())).unwrap();
    }
    let text = bench.said(1, bench.command("--runs 1 --in-place", "echo sum 5 >sum"));
    has(&text, "cannot tell whether");
    has(
        &text,
        "not compared: stderr, the order of lines, files (more than 100000 below this directory)",
    );
}

#[test]
fn a_line_with_the_place_of_a_rank_is_not_a_wrong_result() {
    let bench = Bench::new("place");
    let comb = "echo done; moved && echo 'Cart coords 1 0 of' || echo 'Cart coords 0 1 of'";
    let text = bench.tries(1, comb);
    has(
        &text,
        "output differs when ranks are reordered by MPI_Cart_create: \"stdout: Cart coords 1 0 of\"",
    );
    has(&text, "try again with --ignore 'Cart coords'; otherwise");
    assert!(!text.contains("does not work"), "{text}");
    has(&bench.said(0, bench.command("--ignore Cart", comb)), "output unchanged");
    // A wrong number next to it is not a place.
    let text = bench.tries(1, &format!("{comb}; moved && echo sum 6 || echo sum 5"));
    has(&text, "If the difference is only a host name or a time, add --ignore TEXT");
}

#[test]
fn every_run_starts_with_the_original_files() {
    let bench = Bench::new("checkpoint");
    let checkpoint = "step=$(cat checkpoint); echo step $step; echo $((step + 1)) >checkpoint";
    fs::write(bench.here.join("checkpoint"), "5\n").unwrap();
    let text = bench.tries(0, checkpoint);
    has(&text, "runs use a copy of this directory; its files stay as they are");
    has(&text, "compared: exit code, stdout, files: checkpoint\n");
    assert_eq!(bench.file("checkpoint"), "5\n");
    // No files are left next to the directory.
    let count = || fs::read_dir(bench.directory.path()).unwrap().count();
    let before = count();
    let text = bench.said(1, bench.command("--in-place", checkpoint));
    has(&text, "runs use this directory: a program that continues from its own files");
    assert_ne!(bench.file("checkpoint"), "5\n");
    assert_eq!(count(), before);
    // A sparse file.
    fs::File::create(bench.here.join("large")).unwrap().set_len(1 << 30).unwrap();
    let text = bench.tries(1, "echo 1");
    has(&text, "too much to copy for each run");
    has(&text, "--in-place");
    has(&bench.said(0, bench.command("--in-place", "echo 1")), "output unchanged");
}

#[test]
fn every_run_reads_the_input() {
    let bench = Bench::new("input");
    let program = "read line || exit 7; echo sum $line";
    let input = bench.directory.join("input");
    fs::write(&input, "5\n6\n").unwrap();
    let mut command = bench.command("", program);
    command.stdin(fs::File::open(&input).unwrap());
    has(&bench.said(0, command), "output unchanged");
    let mut command = bench.command("", program);
    command.stdin(Stdio::piped());
    let text = bench.said(1, command);
    has(&text, "cartograph: stdin is a pipe, which only one run could read; runs get no input");
    has(&text, "exited with code 7; it got no input, since stdin is a pipe");
}

#[test]
fn the_time_limit_may_be_any_number() {
    let bench = Bench::new("limit");
    let text = bench.said(0, bench.command("--seconds 18446744073709551615", "echo 1"));
    has(&text, "output unchanged");
    let text = bench.said(1, bench.command("--seconds 1", "sleep 60"));
    has(&text, "fails without Cartograph: did not end within 1 s");
}
