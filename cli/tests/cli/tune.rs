//! `cartograph tune`, with simulated launchers and programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::jobs::LAUNCHER;
use crate::run::{COMMAND, Directory};
use crate::traffic::record_grid;

/// Programs, and the directory in which they are tuned.
pub(crate) struct Bench {
    pub(crate) directory: Directory,
    /// True if the program prints its time.
    pub(crate) is_printed: bool,
}

impl Bench {
    /// A directory with a recorded run that exchanges halos on a grid of 4 x 4; the program allows reordering, or not.
    pub(crate) fn new(name: &str, reorder: bool) -> Self {
        Self::exchanging(name, reorder, 65536)
    }

    /// Like `new`, with messages of `bytes` bytes.
    pub(crate) fn exchanging(name: &str, reorder: bool, bytes: u64) -> Self {
        let directory = Directory::new(&format!("tune-{name}"));
        for place in ["here", "tmp"] {
            fs::create_dir(directory.join(place)).unwrap();
        }
        let recorded = record_grid(directory.path(), 50, |before, after| {
            let others = || before.iter().chain(after);
            let count = 2 * others().count();
            let receives = others().map(|from| json!({"irecv": [from, 0]}));
            let sends = others().map(|to| json!({"isend": [to, bytes, 0]}));
            receives.chain(sends).chain([json!({"wait": [count, count]})]).collect()
        });
        for rank in 0..16 {
            let part = recorded.join(format!("{rank}.jsonl"));
            let text = fs::read_to_string(&part).unwrap();
            let grid = json!({"grid": {
                "function": "MPI_Cart_create", "dims": [4, 4], "periodic": [false, false],
                "reorder": reorder, "rank": rank, "first": 0
            }});
            let collective = json!({"collective": {
                "function": "MPI_Barrier", "calls": 50
            }});
            let work = json!({"messages": 150, "bytes": 150 * bytes, "collectives": 50});
            let lines = text.lines().count();
            let text = text
                .replace(&format!("\"lines\":{}", lines - 1), &format!("\"lines\":{}", lines + 1))
                .replace("some MPI", "Open MPI v4.1.4")
                .replace("./app -x", "./program -x")
                .replace(":true,\"lines", &format!(":true,\"work\":{work},\"lines"));
            fs::write(part, format!("{text}{grid}\n{collective}\n")).unwrap();
        }
        Self { directory, is_printed: true }
    }

    /// Makes processes compute for 10 ms in each step, compared with which messages take no time.
    fn compute(&self) {
        for part in fs::read_dir(self.directory.join("run.traffic")).unwrap() {
            let part = part.unwrap().path();
            let text = fs::read_to_string(&part).unwrap();
            let text = text.replace("[0,1000]", "[0,10000000]");
            fs::write(part, text.replace(":1000000", ":500000000")).unwrap();
        }
    }

    /// A bench whose halos between rows have ten times as many bytes.
    fn long(name: &str) -> Self {
        let bench = Self::new(name, false);
        for rank in 0..16_i64 {
            let part = bench.directory.join("run.traffic").join(format!("{rank}.jsonl"));
            let text = fs::read_to_string(&part).unwrap();
            let lines = text.lines().map(|line| {
                let mut value: Value = serde_json::from_str(line).unwrap();
                let to = value["sent"]["to"].as_i64();
                if to.is_none_or(|to| (to - rank).abs() != 4) {
                    return format!("{line}\n");
                }
                value["sent"]["bytes"] = json!(10 * value["sent"]["bytes"].as_u64().unwrap());
                format!("{value}\n")
            });
            let lines: String = lines.collect();
            fs::write(part, lines).unwrap();
        }
        bench
    }

    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Tunes a program that runs these lines and prints its time, under a launcher that takes a rank file.
    pub(crate) fn tune(&self, code: i32, options: &str, program: &str) -> String {
        self.said(code, &self.command(options, program).output().unwrap())
    }

    pub(crate) fn said(&self, code: i32, done: &Output) -> String {
        let text = String::from_utf8([&done.stdout[..], &done.stderr].concat()).unwrap();
        assert_eq!(done.status.code(), Some(code), "{text}");
        assert_eq!(fs::read_dir(self.directory.join("tmp")).unwrap().count(), 0, "{text}");
        text
    }

    /// The command for this.
    pub(crate) fn command(&self, options: &str, program: &str) -> Command {
        let starts = "while :; do case $1 in --rankfile) RANKS=$2; export RANKS; shift 2 ;; -n) shift 2 ;; *) break ;; esac; \
             done\n\
             exec \"$@\"";
        let launcher = self.script("mpiexec", &[LAUNCHER, starts].concat());
        let mut command = self.tuning(options);
        command.arg(launcher).args(["-n", "16", "--"]).arg(self.program(program));
        command
    }

    /// A program that runs these lines, and is recorded on request.
    pub(crate) fn program(&self, lines: &str) -> PathBuf {
        let recorded = self.directory.join("run.traffic");
        let record = format!(
            "if [ \"$CARTOGRAPH_RECORD\" ]; then cp -r {} \"$CARTOGRAPH_RECORD\"; exit; fi",
            recorded.display()
        );
        self.script("program", &format!("{record}\n{lines}\ntrue"))
    }

    /// `cartograph tune` with options, without the launcher's command line.
    pub(crate) fn tuning(&self, options: &str) -> Command {
        let mut command = Command::new(COMMAND);
        command.arg("tune").args(options.split_whitespace());
        if self.is_printed {
            command.args(["--time", "took (.*)"]);
        }
        command.current_dir(self.directory.join("here"));
        command.env("TMPDIR", self.directory.join("tmp"));
        command.env("CARTOGRAPH_LIB_DIR", self.directory.join("lib"));
        command.env("CARTOGRAPH_STORE", self.directory.join("store"));
        self.libraries();
        command
    }

    /// Empty libraries: the one to preload, and a recorder.
    pub(crate) fn libraries(&self) {
        let folder = self.directory.join("lib/cartograph");
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let source = self.directory.join("source.c");
        fs::write(&source, "int nothing;").unwrap();
        let library = self.directory.join("lib/libcartograph.so.0");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"]).arg(&library);
        assert!(cc.arg(source).status().unwrap().success());
        fs::copy(&library, folder.join("record-3.so")).unwrap();
    }

    /// The rank file.
    pub(crate) fn ranks(&self) -> PathBuf {
        self.directory.join("here/program.ranks")
    }
}

#[track_caller]
pub(crate) fn has(text: &str, words: &str) {
    assert!(text.contains(words), "'{words}' is not in:\n{text}");
}

/// Faster with a rank file, by a slightly different amount each time.
pub(crate) const BY_RANKS: &str =
    "if [ \"$RANKS\" ]; then echo took 1.0$(($$ % 10)); else echo took 2.0$(($$ % 10)); fi";

#[test]
fn tune_claims_only_measured_times() {
    let bench = Bench::new("nothing", true);
    // Predicted to be faster, but not faster: also a finding.
    let count = bench.directory.join("count");
    let noise = format!("echo >>{0}; echo took 2.0$(($(wc -l <{0}) / 2 % 2 * 5))", count.display());
    let text = bench.tune(0, "--runs 3", &noise);
    has(&text, "the default order");
    assert!(!bench.ranks().exists(), "{text}");
    let text = bench.tune(0, "", "if [ \"$RANKS\" ]; then echo took 3; else echo took 2; fi");
    has(&text, "dropped: much slower than the best variant");
    has(&text, "no variant is faster than the default order");
    // A variant with different output does not count as a gain.
    let text = bench.tune(
        0,
        "",
        "if [ \"$RANKS\" ]; then echo took 1; echo sum 5; else echo took 2; echo sum 4; fi",
    );
    has(&text, "output differs: \"stdout: sum 5\" instead of \"stdout: sum 4\"");
    has(&text, "2.00x faster, but its output differs: if only a time or a host name differs");
    assert!(!bench.ranks().exists(), "{text}");
    // The message offers an option that ignores lines with the place of a rank, such as Comb's.
    let comb = "if [ \"$RANKS\" ]; then echo took 1.0$(($$ % 10)); echo Cart coords 0 1; else \
        echo took 2.0$(($$ % 10)); echo Cart coords 1 0; fi";
    let text = bench.tune(0, "", comb);
    has(&text, "if they only say where ranks are, run again with --ignore 'Cart coords'\n");
    let text = bench.tune(0, "--ignore Cart", comb);
    has(&text, "x faster than the default order");
    fs::remove_file(bench.ranks()).unwrap();
    // With noisy times, no variant is clearly slower.
    let spread = format!(
        "if [ \"$RANKS\" ]; then echo took 3; else echo >>{0}; echo took $((1 + $(wc -l <{0}) % 2 * 2)); \
         fi",
        bench.directory.join("spread").display()
    );
    let text = bench.tune(0, "--runs 2", &spread);
    has(&text, "measured, printed");
    assert!(!text.contains("dropped: ") && !text.contains("output differs"), "{text}");
    // A placement with fewer bytes is measured even if replay predicts neither a gain nor a loss.
    let fewer = Bench::exchanging("fewer", true, 64);
    fewer.compute();
    let text = fewer.tune(0, "--runs 3", BY_RANKS);
    has(&text, "1.00       12.8 kB");
    has(&text, "x faster than the default order");
    let text = bench.tune(1, "", "echo done");
    has(&text, "baseline run failed: --time did not match the output");
    let text = bench.tune(1, "", "echo it is broken >&2; exit 3");
    has(&text, "exited with code 3 (it is broken)");
}

#[test]
fn the_fastest_placement_gets_a_rank_file() {
    let bench = Bench::new("ranks", true);
    let text = bench.tune(
        0,
        "--runs 3",
        &format!("[ -z \"$RANKS\" ] || grep -q 'rank 15=n' \"$RANKS\"; {BY_RANKS}"),
    );
    has(&text, "x faster than the default order");
    has(&text, "cartograph: recording a run\ncartograph: run 1 of ");
    let ranks = bench.ranks().canonicalize().unwrap();
    has(&text, &format!("written: {}\n", ranks.display()));
    has(&text, "on these nodes, which the rank file names, run: ");
    has(&text, &format!("mpiexec --rankfile {} ", ranks.display()));
    has(&text, "on any nodes, run: cartograph run ");
    has(&fs::read_to_string(&ranks).unwrap(), "rank 0=n0 slot=");
    // Nothing else is left behind.
    assert_eq!(fs::read_dir(bench.directory.join("here")).unwrap().count(), 1);
    let text = bench.tune(0, "--runs 5 --rankfile ../mine", BY_RANKS);
    has(&text, "/mine\n");
    assert!(bench.directory.join("mine").exists());
}

#[test]
fn tune_prints_the_source_of_a_node_name() {
    let bench = Bench::new("one-node", false);
    for part in fs::read_dir(bench.directory.join("run.traffic")).unwrap() {
        let part = part.unwrap().path();
        let text = fs::read_to_string(&part).unwrap();
        let hosts = ["n1", "n2", "n3"].map(|name| format!("\"host\":\"{name}\""));
        fs::write(
            part,
            hosts.iter().fold(text, |text, host| text.replace(host, "\"host\":\"n0\"")),
        )
        .unwrap();
    }
    let text = bench.tune(1, "", "echo took 2");
    has(&text, "all 16 processes run on n0 (MPI_Get_processor_name): nothing to place on one node");
}

#[test]
fn better_dims_are_proposed() {
    let text = Bench::long("dims").tune(0, "--runs 2", BY_RANKS);
    has(
        &text,
        "dims 4x4 -> 1x16: 2.2 times fewer bytes between neighbors; CARTOGRAPH_DIMS=1x10 makes",
    );
}
