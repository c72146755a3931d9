//! `cartograph run` of a program with several inputs: each kind of work is placed by its own messages. Launchers and
//! programs are simulated.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::jobs::LAUNCHER;
use crate::run::COMMAND;
use crate::trial::PROLOGUE;
use crate::tune::{Bench, has};

/// Records a run on the ranks' nodes. Its input is a file, or the variable KIND. With the input `columns`, 9 of 10 bytes
/// go to other nodes, and a placement by columns takes half the time; with `rows`, as many bytes stay on the nodes, and
/// any other placement takes four times the time.
const PROGRAM: &str = r#"here=$(dirname "$0")
kind=${KIND:-$(cat "$1")}
record=$CARTOGRAPH_RECORD
if [ "$record" ]; then
    time=2000000000
    [ -z "$PLACED" ] || case $kind in columns) time=1000000000 ;; *) time=8000000000 ;; esac
    order=0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3
    [ -z "$PLACED" ] || order=$(sed 's/.*=n\(.\) .*/\1/' "$PLACED" | tr '\n' ,)
    rank=0
    mkdir -p "$record"
    for node in $(echo $order | tr , ' '); do
        sed "s/\"host\":\"n[0-9]*\"/\"host\":\"n$node\"/; s/\"complete\":true/&,\"nanoseconds\":$time/" \
            "$here/$kind/$rank.jsonl" >"$record/$rank.jsonl"
        rank=$((rank + 1))
    done
    [ "$CODE" != 9 ] || rm "$record/7.jsonl"
fi
echo "$kind ${PLACED:+placed} $CARTOGRAPH_RECORD_LIMITED" >"$here/seen"
exit ${CODE:-0}"#;

/// The bytes of a message, and of the largest message.
const FEW: u64 = 6_000;
const MOST: u64 = 60_000;

struct Inputs {
    bench: Bench,
}

impl Inputs {
    fn new(name: &str) -> Self {
        let bench = Bench::exchanging(&format!("inputs-{name}"), false, FEW);
        let stub = format!("{}/../tests/launchers/orterun", env!("CARGO_MANIFEST_DIR"));
        let stub = fs::read_to_string(stub).unwrap().replace("#!/bin/sh\n", LAUNCHER);
        bench.script("mpiexec", &stub);
        bench.script("program", &format!("{PROLOGUE}{PROGRAM}"));
        bench.libraries();
        for (kind, apart, pattern) in [("columns", 4, 1), ("rows", 1, -1)] {
            recording(bench.directory.path(), kind, apart, pattern);
            fs::write(bench.directory.join(&format!("here/{kind}.in")), kind).unwrap();
        }
        Self { bench }
    }

    fn command(&self, input: &str) -> Command {
        let directory = &self.bench.directory;
        let mut command = Command::new(COMMAND);
        command.arg("run").arg(directory.join("mpiexec"));
        command.args("--host n0:4,n1:4,n2:4,n3:4 -n 16".split_whitespace());
        command.arg(directory.join("program")).arg(input).current_dir(directory.join("here"));
        command.env("TMPDIR", directory.join("tmp")).env("LOG", directory.join("log"));
        command.env("CARTOGRAPH_LIB_DIR", directory.join("lib"));
        command.env("CARTOGRAPH_STORE", directory.join("store"));
        command
    }

    /// How often the launcher was asked for places.
    fn asked(&self) -> usize {
        let log = fs::read_to_string(self.bench.directory.join("log")).unwrap();
        log.lines().filter(|line| line.contains(" where")).count()
    }

    /// The notes of a job with this input, and the command's message.
    #[track_caller]
    fn run(&self, input: &str, setting: (&str, &str)) -> (String, String) {
        let Output { stderr, .. } = self.command(input).env(setting.0, setting.1).output().unwrap();
        let said = String::from_utf8(stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        (fs::read_to_string(self.bench.directory.join("seen")).unwrap(), said)
    }

    /// Runs jobs with an input until one is placed.
    #[track_caller]
    fn is_placed(&self, input: &str) -> bool {
        (0..8).any(|_| self.run(input, ("", "")).0.contains("placed"))
    }

    /// The program, as `cartograph known` lists it.
    fn known(&self) -> Value {
        let mut known = Command::new(COMMAND);
        known.args(["known", "--json"]).env("CARTOGRAPH_STORE", self.bench.directory.join("store"));
        let known: Value = serde_json::from_slice(&known.output().unwrap().stdout).unwrap();
        known["programs"][0].clone()
    }
}

/// The bench's recording with more bytes between ranks that are `apart`, and weighted sums of this sign.
fn recording(directory: &Path, kind: &str, apart: i64, sign: i64) {
    fs::create_dir(directory.join(kind)).unwrap();
    for rank in 0..16_i64 {
        let name = format!("{rank}.jsonl");
        let mut text = fs::read_to_string(directory.join("run.traffic").join(&name)).unwrap();
        for to in [rank - apart, rank + apart] {
            let sent = |bytes| format!("\"bytes\":{},\"messages\":50,\"to\":{to}}}", 50 * bytes);
            let call = |bytes| format!("\"isend\":[{to},{bytes},0]");
            text = text.replace(&sent(FEW), &sent(MOST)).replace(&call(FEW), &call(MOST));
        }
        let pattern = sign * 1000 * 150 * FEW as i64;
        let text = text.replace(",\"lines\"", &format!(",\"pattern\":{pattern},\"lines\""));
        fs::write(directory.join(kind).join(name), text).unwrap();
    }
}

#[test]
fn an_input_is_not_placed_by_the_messages_of_another() {
    let jobs = Inputs::new("turned");
    let (seen, said) = jobs.run("columns.in", ("", ""));
    assert_eq!(seen, "columns  calls\n", "{said}");
    has(&said, "recorded ");
    assert!(jobs.is_placed("columns.in"));
    // Messages and bytes are as many as before.
    let (seen, said) = jobs.run("rows.in", ("", ""));
    assert_eq!(seen, "rows  calls\n", "{said}");
    has(&said, "; no placement is predicted to help on these nodes; ");
    for _ in 0..6 {
        let (seen, said) = jobs.run("rows.in", ("", ""));
        assert_eq!(seen, "rows  \n", "{said}");
        has(&said, ": no placement is predicted to help on these nodes");
    }
    assert!(jobs.is_placed("columns.in"));
    let known = jobs.known();
    assert_eq!(known["node_hours_lost"], 0.0, "{known}");
    assert_eq!(known["inputs"].as_array().unwrap().len(), 2, "{known}");
}

#[test]
fn an_input_gains_although_another_input_gained_nothing() {
    let jobs = Inputs::new("second");
    for _ in 0..3 {
        jobs.run("rows.in", ("", ""));
    }
    has(&jobs.run("columns.in", ("", "")).1, "recorded ");
    assert!(jobs.is_placed("columns.in"));
}

#[test]
fn other_work_with_known_arguments_is_noticed_and_recorded() {
    let jobs = Inputs::new("hidden");
    jobs.run("columns.in", ("", ""));
    assert!(jobs.is_placed("columns.in"));
    // The third job is compared; the placement is used from then on.
    for _ in 0..3 {
        jobs.run("columns.in", ("", ""));
    }
    let (seen, said) = jobs.run("columns.in", ("KIND", "rows"));
    assert_eq!(seen, "rows placed work\n", "{said}");
    has(&said, "; it did other work than before, so the next such run is recorded");
    let (seen, said) = jobs.run("columns.in", ("KIND", "rows"));
    assert_eq!(seen, "rows  calls\n", "{said}");
    has(&said, "recorded ");
    // From now on, the input may mean either.
    for _ in 0..4 {
        let (seen, said) = jobs.run("columns.in", ("KIND", "rows"));
        assert_eq!(seen, "rows  work\n", "{said}");
    }
    // 6 s on four nodes.
    let known = jobs.known();
    let lost = known["node_hours_lost"].as_f64().unwrap();
    assert!((lost * 3600.0 - 24.0).abs() < 0.1, "{known}");
}

#[test]
fn a_new_build_is_placed_by_the_traffic_of_the_last_one() {
    let jobs = Inputs::new("built");
    jobs.run("columns.in", ("", ""));
    assert!(jobs.is_placed("columns.in"));
    for _ in 0..4 {
        jobs.run("columns.in", ("", ""));
    }
    let build = |number: u32| {
        let text = format!("{PROLOGUE}# build {number}\n{PROGRAM}");
        jobs.bench.script("program", &text);
    };
    build(2);
    let (seen, said) = jobs.run("columns.in", ("", ""));
    assert_eq!(seen, "columns placed work\n", "{said}");
    // Times of different builds are not compared.
    has(&said, " (predicted ");
    // A build that does other work is placed by its own messages from then on.
    build(3);
    let (seen, said) = jobs.run("columns.in", ("KIND", "rows"));
    assert_eq!(seen, "rows placed work\n", "{said}");
    has(&said, "; it did other work than before, so the next such run is recorded");
    assert_eq!(jobs.run("columns.in", ("KIND", "rows")).0, "rows  calls\n");
    for _ in 0..4 {
        let (seen, said) = jobs.run("columns.in", ("KIND", "rows"));
        assert!(!seen.contains("placed"), "{seen}{said}");
    }
    assert_eq!(jobs.known()["inputs"].as_array().unwrap().len(), 2);
}

#[test]
fn a_program_that_always_fails_is_recorded_once() {
    // At the end, or before MPI_Finalize.
    for code in ["1", "9"] {
        let jobs = Inputs::new(&format!("fails-{code}"));
        let (seen, said) = jobs.run("rows.in", ("CODE", code));
        assert_eq!(seen, "rows  calls\n");
        has(&said, &format!("exited with code {code}; this run is not compared"));
        for _ in 0..3 {
            let (seen, said) = jobs.run("rows.in", ("CODE", code));
            assert!(!seen.contains("calls"), "{seen} {said}");
        }
        assert_eq!(jobs.asked(), 1);
        // Other runs are recorded, and this one after it has succeeded.
        assert_eq!(jobs.run("columns.in", ("CODE", code)).0, "columns  calls\n");
        let (_, said) = jobs.run("columns.in", ("", ""));
        if code == "9" {
            has(&said, "; it did other work than before, so the next such run is recorded");
            assert_eq!(jobs.run("columns.in", ("", "")).0, "columns  calls\n");
        }
        assert!(jobs.is_placed("columns.in"));
    }
}
