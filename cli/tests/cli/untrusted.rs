//! Untrusted recordings: whatever they contain, the result is at worst a one-line error.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::run::{Directory, at, cartograph};
use crate::traffic::{record, record_on};

#[test]
fn an_invalid_recording_is_reported_in_one_line() {
    let directory = Directory::new("traffic-wrong");
    let traffic = record(directory.path());
    let plan = |arguments: &str| cartograph(&format!("plan {arguments} --traffic")).arg(&traffic);
    plan("--nodes 1 --ppn 4").fails(2, "needs 8 processes, but the nodes have 4");
    plan("--layout 3x4").fails(2, "12 places, but there are 8 processes");
    plan("--layout 2x4 --nodes 2 --ppn 4").fails(2, "cannot be used with");
    plan("--dims 2x4").fails(2, "cannot be used with");
    plan("--rankfile pbs").fails(2, "cray");
    cartograph("plan --nodes 2 --ppn 4 --traffic /nowhere").fails(1, "/nowhere cannot be read");

    let part = traffic.join("2.jsonl");
    let text = fs::read_to_string(&part).unwrap();
    for (wrong, words) in [
        ("hello", "line 13"),
        (&text.replace("\"rank\":2", "\"rank\":3"), "two parts of rank 3"),
        (&text.replace("\"size\":8", "\"size\":9"), "mixes jobs of 8 and 9 processes"),
        (&text.replace("\"schema\":1", "\"schema\":7"), "version 7"),
        (&text.replace("\"to\":6", "\"to\":66"), "rank 66, but the job has 8"),
    ] {
        fs::write(&part, wrong).unwrap();
        cartograph("show").arg(&traffic).fails(1, words);
        plan("--nodes 2 --ppn 4").fails(1, words);
    }
    let empty = directory.join("empty");
    fs::create_dir(&empty).unwrap();
    cartograph("show").arg(&empty).fails(1, "no process has written to it");
    // A recording that is incomplete or truncated does not show where all ranks run.
    for cut in [&text[..text.len() / 2], text.lines().next().unwrap()] {
        fs::write(&part, cut).unwrap();
        let shown = cartograph("show").arg(&traffic).stdout();
        assert!(shown.contains("1 of 8 parts are missing (the first: rank 2)"), "{shown}");
        plan("").fails(1, "specify them with --nodes");
    }
    fs::remove_file(&part).unwrap();
    plan("").fails(1, "specify them with --nodes");
    plan("--nodes 2 --ppn 4").stdout();
}

/// A recording of a single process, on host n0.
fn alone(directory: &Directory, program: &str) -> PathBuf {
    let file = directory.join("alone");
    let text = format!(
        "{{\"process\":{{\"program\":{},\"schema\":1,\"rank\":0,\"size\":1,\"host\":\"n0\",\"mpi\":\"M\",\
         \"complete\":true,\"lines\":0}}}}",
        json!(program)
    );
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn a_recording_is_recognized_by_its_first_bytes() {
    let directory = Directory::new("traffic-letters");
    for padding in ["", "x"] {
        // The first bytes include half a character, wherever they end.
        let program = format!("{padding}{}", "\u{e4}".repeat(60));
        let text = cartograph("show").arg(alone(&directory, &program)).stdout();
        assert!(text.starts_with(&format!("{program}: 1 process")), "{text}");
    }
}

#[test]
fn an_untrusted_recording_executes_nothing() {
    let directory = Directory::new("traffic-stranger");
    let ranks = directory.join("ranks");
    let evil = "127.0.0.2 -launcher ssh -launcher-exec /tmp/evil";
    let traffic = record_on(directory.path(), &["a", "b"], |_| Vec::new());
    let part = traffic.join("1.jsonl");
    let good = fs::read_to_string(&part).unwrap();
    for host in [evil, "-launcher", "a,b", "$(id)", "", "\\u001b[2J"] {
        fs::write(&part, good.replace("\"b\"", &format!("\"{host}\""))).unwrap();
        for launcher in ["openmpi", "slurm"] {
            let run = cartograph(&format!("plan --rankfile {launcher}")).arg(&ranks);
            run.arg("--traffic").arg(&traffic).fails(1, "the host name has invalid characters");
        }
        cartograph("show").arg(&traffic).fails(1, "the host name has invalid characters");
    }
    fs::write(&part, good).unwrap();

    let layout = directory.join("layout");
    let plan = || cartograph("plan --rankfile slurm").arg(&ranks).arg("--traffic").arg(&traffic);
    for name in ["-launcher", "a,b", "$(id)", "\u{1b}[2J"] {
        fs::write(&layout, format!("a {name}")).unwrap();
        plan().arg("--layout").arg(&layout).fails(2, "is not a host name");
    }
    for names in ["a,-launcher", "a,$(id)"] {
        plan().arg("--hosts").arg(names).fails(2, "is not a host name");
        fs::write(&layout, names.replace(',', "\n")).unwrap();
        plan().arg("--hosts").arg(&layout).fails(2, "is not a host name");
    }
    assert!(!ranks.exists());
}

#[test]
fn control_characters_of_files_never_reach_the_terminal() {
    let directory = Directory::new("traffic-terminal");
    let file = alone(&directory, "\u{1b}[2Japp\r\u{9b}1m\u{202e}");
    for arguments in ["show", "plan --traffic"] {
        let text = cartograph(arguments).arg(&file).stdout();
        let moves = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(text.contains("[2Japp") && !text.contains(moves), "{text:?}");
    }
    let wrong = directory.join("wrong");
    let text = fs::read_to_string(&file).unwrap() + "\n{\"\\u001b[2J\":1}\n";
    fs::write(&wrong, text.replace("\"lines\":0", "\"lines\":1")).unwrap();
    cartograph("show").arg(&wrong).fails(1, "\u{fffd}[2J");
    // A program's name in a report is untrusted as well.
    let report = directory.join("report.json");
    fs::write(&report, "{\"\\u001b[2J\": ").unwrap();
    cartograph("show").arg(&report).fails(1, "cannot show");
}

#[test]
fn sizes_claimed_by_a_recording_allocate_no_memory() {
    let directory = Directory::new("traffic-claims");
    let file = alone(&directory, "./app");
    let text = fs::read_to_string(&file).unwrap().replace("\"size\":1", "\"size\":33554432");
    fs::write(&file, text).unwrap();
    // In 200 MB of address space, some tens of which the command needs itself.
    let limited = |arguments: &str| {
        let command = format!("ulimit -v 200000; exec \"$0\" {arguments} \"$1\"");
        let run = at(Path::new("/bin/sh"), "-c").arg(command);
        run.arg(env!("CARGO_BIN_EXE_cartograph")).arg(&file)
    };
    let text = limited("show").stdout();
    assert!(text.contains("33554431 of 33554432 parts are missing (the first: rank 1"));
    limited("plan --traffic").fails(1, "parts of the recording are missing");
    limited("plan --nodes 2 --ppn 4 --traffic").fails(2, "but the nodes have 8");
    limited("show --svg - ").fails(1, "too many to be drawn");
}

#[test]
fn sums_beyond_64_bits_cause_no_panic() {
    let directory = Directory::new("traffic-sums");
    let hosts: Vec<String> = (0..40).map(|rank| format!("n{}", rank / 2)).collect();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let traffic = record_on(directory.path(), &hosts, |rank| {
        let sent =
            |to: usize| json!({"sent": {"to": to % 40, "messages": u64::MAX, "bytes": u64::MAX}});
        (1..40).map(|by| sent(rank + by)).chain([sent(rank + 1)]).collect()
    });
    let text = cartograph("show").arg(&traffic).stdout();
    assert!(text.contains("18.4 EB"), "{text}");
    for arguments in ["", "--layout 5x4x2", "--objective max", "--nodes 2 --ppn 20"] {
        let text = cartograph(&format!("plan {arguments} --traffic")).arg(&traffic).stdout();
        assert!(text.contains("GiB between nodes"), "{text}");
    }
    let answer = cartograph("plan --json --traffic").arg(&traffic).stdout();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["unit"], "GiB");
    assert!(answer["before"]["inter_node_edges"].as_i64().unwrap() > 0, "{answer}");
}

#[test]
fn recordings_do_not_follow_links() {
    let directory = Directory::new("traffic-links");
    let traffic = record(directory.path());
    let part = traffic.join("2.jsonl");
    let elsewhere = directory.join("elsewhere");
    fs::rename(&part, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &part).unwrap();
    cartograph("show").arg(&traffic).fails(1, "2.jsonl in it");
    fs::remove_file(&part).unwrap();
    assert!(Command::new("mkfifo").arg(&part).status().unwrap().success());
    cartograph("show").arg(&traffic).fails(1, "not a regular file");
}
