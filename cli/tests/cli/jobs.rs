//! `cartograph run` where launchers take no rank file, with launchers and programs of our own;
//! `tests/hosts/cases/jobs.rs` has real ones.

use std::fs;
use std::process::{Command, Output};

use crate::run::COMMAND;
use crate::trial::PROLOGUE;
use crate::tune::{Bench, has};

/// The launcher of MPICH 4, which starts `cartograph where` on four nodes.
const LAUNCHER: &str = r#"case "$*" in
*" where")
    for rank in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        echo '{"cartograph_where":'$rank',"size":16,"host":"n'$((rank / 4))'","own_cores":1,"cores":4}'
    done
    exit ;;
esac
"#;

/// Records a run on the nodes that ranks are on, which takes half the time where ranks are moved. What it prints shows
/// how; `differs` is there if its output is to depend on that.
const PROGRAM: &str = r#"here=$(dirname "$0")
if [ "$CARTOGRAPH_RECORD" ]; then
    time=2000000000
    [ -z "$CARTOGRAPH_WEIGHTS$CARTOGRAPH_WORLD" ] || time=1000000000
    order=$(sed -n '2s/.*"node_of_rank":\[\([^]]*\).*/\1/p' "${CARTOGRAPH_WORLD:-/dev/null}")
    rank=0
    mkdir -p "$CARTOGRAPH_RECORD"
    for node in $(echo ${order:-0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3} | tr , ' '); do
        sed "s/\"host\":\"n[0-9]*\"/\"host\":\"n$node\"/; s/\"complete\":true/&,\"nanoseconds\":$time/" \
            "$here/run.traffic/$rank.jsonl" >"$CARTOGRAPH_RECORD/$rank.jsonl"
        rank=$((rank + 1))
    done
    echo "reorder:$CARTOGRAPH_REORDER weights:$CARTOGRAPH_WEIGHTS world:${CARTOGRAPH_WORLD:+set}"
    [ ! -e "$here/fails" ] || exit 3
fi
if [ -e "$here/differs" ] && moved; then echo sum 6; else echo sum 5; fi"#;

/// A program and a launcher.
struct Jobs(Bench);

impl Jobs {
    /// A program that lets its grid be moved, or not.
    fn new(name: &str, reorder: bool) -> Self {
        let bench = Bench::new(&format!("job-{name}"), reorder);
        let stub = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/launchers/hydra");
        let stub = fs::read_to_string(stub).unwrap().replace("#!/bin/sh\n", LAUNCHER);
        for part in fs::read_dir(bench.directory.join("run.traffic")).unwrap() {
            let part = part.unwrap().path();
            let text = fs::read_to_string(&part).unwrap();
            fs::write(part, text.replace("Open MPI v4.1.4", "MPICH Version: 4.0.2")).unwrap();
        }
        bench.script("mpiexec", &stub);
        bench.script("program", &format!("{PROLOGUE}{PROGRAM}"));
        bench.libraries(&["record-3.so", "world-3.so"]);
        Self(bench)
    }

    /// `cartograph` with options before the launcher's line.
    fn command(&self, options: &str) -> Command {
        let Self(bench) = self;
        let mut command = Command::new(COMMAND);
        command.args(options.split_whitespace()).arg(bench.directory.join("mpiexec"));
        command.args(["-launcher", "fork", "-hosts", "n0:4,n1:4,n2:4,n3:4", "-n", "16"]);
        command.arg(bench.directory.join("program")).current_dir(bench.directory.join("here"));
        command.env("TMPDIR", bench.directory.join("tmp")).env("HYDRA", "4.0.2");
        command.env("CARTOGRAPH_LIB_DIR", bench.directory.join("lib"));
        command.env("CARTOGRAPH_STORE", bench.directory.join("store"));
        command
    }

    /// What a job prints and what is said of it, in one line.
    #[track_caller]
    fn run(&self, options: &str) -> (String, String) {
        let Output { stdout, stderr, .. } =
            self.command(&format!("run {options}")).output().unwrap();
        let [out, said] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(said.lines().count(), 1, "{said}");
        (out, said)
    }

    /// Tries the program, which ends with this code.
    fn tries(&self, code: i32) {
        let done = self.command("try --runs 1").output().unwrap();
        self.0.said(code, &done);
    }
}

#[test]
fn grids_are_moved_where_a_trial_or_the_user_allows_it() {
    let jobs = Jobs::new("grid", true);
    let unmoved = ("reorder: weights: world:\nsum 5\n", "sum 5\n");
    let (out, said) = jobs.run("");
    assert_eq!(out, unmoved.0);
    has(&said, "recorded ");
    has(&said, "no option -rankmap");
    has(
        &said,
        "; cartograph try finds out whether its grids may be moved instead; --world reorders",
    );
    let (out, said) = jobs.run("");
    assert_eq!(out, unmoved.1);
    has(&said, "whether its grids may be moved instead");
    has(&said, "; the job ran unchanged");
    let moved = "reorder:on weights:4x4:1,1 world:\nsum 5\n";
    let (out, said) = jobs.run("--moves-grids");
    assert_eq!(out, moved, "{said}");
    has(
        &said,
        "/program in weights 1,1: 2.00x the speed of the default order so far (1 and 1 runs)",
    );
    // What is found out counts more than what the user says.
    fs::write(jobs.0.directory.join("differs"), "").unwrap();
    jobs.tries(1);
    for options in ["", "--moves-grids"] {
        let (out, said) = jobs.run(options);
        assert_eq!(out, unmoved.1);
        has(&said, "by cartograph try, its grids must not be moved");
    }
    fs::remove_file(jobs.0.directory.join("differs")).unwrap();
    jobs.tries(0);
    let (out, said) = jobs.run("");
    assert_eq!(out, moved, "{said}");
    // Another build is another program.
    jobs.0.script("program", &format!("{PROLOGUE}{PROGRAM}\ntrue"));
    has(&jobs.run("").1, "whether its grids may be moved");
    // What is forgotten is so with its verdict.
    let mut known = Command::new(COMMAND);
    known.args(["known", "--forget", "program"]);
    known.env("CARTOGRAPH_STORE", jobs.0.directory.join("store"));
    assert!(known.status().unwrap().success());
    let verdicts = fs::read_dir(jobs.0.directory.join("store/verdicts")).unwrap();
    assert_eq!(verdicts.count(), 0);
}

#[test]
fn the_world_is_reordered_where_the_user_allows_it() {
    let jobs = Jobs::new("world", false);
    let (_, said) = jobs.run("");
    has(&said, "no option -rankmap to place ranks; --world reorders MPI_COMM_WORLD instead");
    // A program that keeps its grids has nothing that might be moved.
    let (_, said) = jobs.run("--moves-grids");
    has(&said, "; the job ran unchanged");
    let (out, said) = jobs.run("--world");
    assert_eq!(out, "reorder:off weights: world:set\nsum 5\n", "{said}");
    has(&said, ", MPI_COMM_WORLD reordered: 2.00x the speed of the default order so far");
    // It is to blame if the program fails, so the next job is not started so.
    fs::write(jobs.0.directory.join("fails"), "").unwrap();
    let (_, said) = jobs.run("--world");
    has(&said, "exited with code 3; nothing learned");
    fs::remove_file(jobs.0.directory.join("fails")).unwrap();
    let (out, _) = jobs.run("--world --no-trial");
    assert_eq!(out, "reorder: weights: world:\nsum 5\n");
    // Nothing can be preloaded that is not there.
    fs::remove_file(jobs.0.directory.join("lib/cartograph/world-3.so")).unwrap();
    let (out, said) = jobs.run("--world");
    assert_eq!(out, "sum 5\n");
    has(&said, "; nor can MPI_COMM_WORLD get another order: ");
}
