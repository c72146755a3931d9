//! `cartograph run` with simulated launchers and programs, also after `cartograph tune`; `tests/hosts/cases/jobs.rs` uses
//! real ones.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::run::COMMAND;
use crate::trial::PROLOGUE;
use crate::tune::{Bench, has};

/// A launcher that starts `cartograph where` on four nodes, as given by a rank file if there is one. Its processes may use
/// the CPUs in OWN, by default those of the test.
pub(crate) const LAUNCHER: &str = r#"[ -z "$LOG" ] || echo "$*" >>"$LOG"
export OMPI_COMM_WORLD_RANK=0
case "$*" in
*" where"*)
    rank=0
    cpus=${OWN:-$(sed -n 's/Cpus_allowed_list:.//p' /proc/self/status)}
    [ "$1 $REJECTS" = "--rankfile 1" ] || [ "$REFUSES" ] && exit 1
    [ "$1" = --rankfile ] && order=$(sed 's/.*=n\(.\) .*/\1/' "$2")
    for node in ${order:-${NODES:-0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3}}; do
        echo '{"cartograph_where":'$rank',"size":16,"host":"n'$node'","cpus":"'$cpus'","cores":4}'
        rank=$((rank + 1))
    done
    [ -z "$HANGS" ] || exec sleep 50
    exit ;;
esac
"#;

/// Records a run on the ranks' nodes, which takes half the time if ranks are placed, and notes that.
const PROGRAM: &str = r#"here=$(dirname "$0")
record=$CARTOGRAPH_RECORD$CARTOGRAPH_CLOCK
if [ "$record" ]; then
    time=2000000000
    [ -z "$PLACED" ] || { time=1000000000; order=$(sed 's/.*=n\(.\) .*/\1/' "$PLACED"); }
    rank=0
    mkdir -p "$record"
    for node in $(echo ${order:-${NODES:-0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3}}); do
        sed "s/\"host\":\"n[0-9]*\"/\"host\":\"n$node\"/; s/\"complete\":true/&,\"nanoseconds\":$time/" \
            "$here/run.traffic/$rank.jsonl" >"$record/$rank.jsonl"
        rank=$((rank + 1))
    done
    echo "${PLACED:+placed}" >"$here/seen"
    [ ! -e "$here/fails" ] || exit 3
fi
[ -z "$HOLD" ] || { echo >"$HOLD"; while [ -e "$HOLD" ]; do sleep 0.05; done; }
echo sum 5"#;

/// The notes of a job in the default order, of one that is not recorded, and of one that is placed.
const UNMOVED: &str = "\n";
const UNCHANGED: &str = "";
const PLACED: &str = "placed\n";

/// A line that names the nodes.
pub(crate) const WORDS: &str = "--host n0:4,n1:4,n2:4,n3:4 -n 16";

/// A program and a launcher.
pub(crate) struct Jobs {
    pub(crate) bench: Bench,
    /// The launcher's command, and its options.
    launcher: &'static str,
    words: &'static str,
}

impl Jobs {
    /// Open MPI 4, on nodes that the line names.
    pub(crate) fn new(name: &str) -> Self {
        Self::under("orterun", "Open MPI v4.1.4", WORDS, name)
    }

    pub(crate) fn under(launcher: &str, mpi: &str, words: &'static str, name: &str) -> Self {
        let bench = Bench::new(&format!("job-{name}"), false);
        let stub = format!("{}/../tests/launchers/{launcher}", env!("CARGO_MANIFEST_DIR"));
        let stub = fs::read_to_string(stub).unwrap().replace("#!/bin/sh\n", LAUNCHER);
        for part in fs::read_dir(bench.directory.join("run.traffic")).unwrap() {
            let part = part.unwrap().path();
            let text = fs::read_to_string(&part).unwrap();
            fs::write(part, text.replace("Open MPI v4.1.4", mpi)).unwrap();
        }
        let launcher = if launcher == "srun" { "srun" } else { "mpiexec" };
        bench.script(launcher, &stub);
        bench.script("program", &format!("{PROLOGUE}{PROGRAM}"));
        bench.libraries();
        Self { bench, launcher, words }
    }

    /// `cartograph` with options before the launcher's line.
    pub(crate) fn command(&self, options: &str) -> Command {
        self.command_behind(options, "")
    }

    /// The same with a wrapper before the program.
    pub(crate) fn command_behind(&self, options: &str, wrapper: &str) -> Command {
        let Self { bench, launcher, words } = self;
        let mut command = Command::new(COMMAND);
        command.args(options.split_whitespace()).arg(bench.directory.join(launcher));
        command.args(words.split_whitespace()).args(wrapper.split_whitespace());
        command.arg(bench.directory.join("program")).current_dir(bench.directory.join("here"));
        command.env("TMPDIR", bench.directory.join("tmp")).env("HYDRA", "4.0.2");
        command.env("CARTOGRAPH_LIB_DIR", bench.directory.join("lib"));
        command.env("CARTOGRAPH_STORE", bench.directory.join("store"));
        command
    }

    /// The notes of a job and the command's message, which is one line.
    #[track_caller]
    pub(crate) fn run(&self, options: &str) -> (String, String) {
        self.run_on("", options)
    }

    /// The same for a job on these nodes, or the usual ones.
    #[track_caller]
    fn run_on(&self, nodes: &str, options: &str) -> (String, String) {
        let seen = self.bench.directory.join("seen");
        let _ = fs::remove_file(&seen);
        let Output { stdout, stderr, .. } =
            self.command(&format!("run {options}")).env("NODES", nodes).output().unwrap();
        let [out, said] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(out == "sum 5\n" || out.is_empty(), "{out}");
        assert_eq!(said.lines().count(), 1, "{said}");
        (fs::read_to_string(seen).unwrap_or_default(), said)
    }

    /// A library of this text, to preload.
    fn library(&self, text: &str) -> PathBuf {
        let library = self.bench.directory.join("preloaded.so");
        let source = self.bench.directory.join("preloaded.c");
        fs::write(&source, text).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source);
        assert!(cc.status().unwrap().success());
        library
    }

    /// The output of `cartograph known`.
    fn known(&self) -> Value {
        let mut known = Command::new(COMMAND);
        known.args(["known", "--json"]).env("CARTOGRAPH_STORE", self.bench.directory.join("store"));
        let known: Value = serde_json::from_slice(&known.output().unwrap().stdout).unwrap();
        known["programs"][0].clone()
    }
}

#[test]
fn a_job_runs_unchanged_if_its_launcher_cannot_place_ranks() {
    for (launcher, mpi, words, why) in [
        ("hydra", "MPICH Version: 4.0.2", "-pmi-port -n 16", "places ranks only without -pmi-port"),
        (
            "srun",
            "MPICH Version: 4.0.2",
            "-n 16",
            "srun places ranks of this MPI only with --mpi=pmi2 or",
        ),
    ] {
        let jobs = Jobs::under(launcher, mpi, words, &format!("unplaced-{launcher}"));
        let run = || {
            let done = jobs.command("run").env("SLURM_JOB_ID", "5").output().unwrap();
            assert_eq!(done.stdout, b"sum 5\n");
            String::from_utf8(done.stderr).unwrap()
        };
        // A recording shows the loss.
        let said = run();
        has(&said, "recorded ");
        has(&said, why);
        assert_eq!(jobs.known()["runs"], json!(1));
        let said = run();
        has(&said, why);
        has(&said, "; the job ran unchanged");
    }
}

#[test]
fn a_placement_is_blamed_if_the_program_fails() {
    let jobs = Jobs::new("blamed");
    assert_eq!(jobs.run("").0, UNMOVED);
    let fails = jobs.bench.directory.join("fails");
    fs::write(&fails, "").unwrap();
    let (seen, said) = jobs.run("");
    assert_eq!(seen, PLACED, "{said}");
    has(&said, "exited with code 3; this run is not compared");
    fs::remove_file(fails).unwrap();
    assert_eq!(jobs.run("--no-trial").0, UNMOVED);
}

#[test]
fn a_placement_is_blamed_if_ranks_lose_their_cpus() {
    let jobs = Jobs::new("unbound");
    // No machine has these CPUs, but the launcher prints them also for the placement.
    let run = |options: &str| {
        let done = jobs.command(options).env("OWN", "1000-1001").output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(if options == "run" { done.stderr } else { done.stdout }).unwrap()
    };
    has(&run("run"), "recorded ");
    let said = run("run");
    has(&said, "rank 0 could not be bound to CPUs 1000-1001 (");
    has(&said, "; this run is not compared");
    assert_eq!(jobs.known()["runs"], json!(1));
    has(&run("run"), "in the default order");
    let done = jobs.command("tune --runs 2").env("OWN", "1000-1001").output().unwrap();
    has(&String::from_utf8([done.stdout, done.stderr].concat()).unwrap(), "could not be bound");
}

#[test]
fn a_faster_placement_is_reused_on_nodes_of_other_sizes() {
    let jobs = Jobs::under("orterun", "Open MPI v4.1.4", "-n 16", "sizes");
    let uneven = "0 0 0 0 0 1 1 1 1 2 2 2 2 3 3 3";
    assert_eq!(jobs.run("").0, UNMOVED);
    // No placement is measured yet: one is tried, and compared with jobs on other nodes.
    let (seen, said) = jobs.run_on(uneven, "");
    assert_eq!(seen, PLACED, "{said}");
    has(&said, "(predicted ");
    assert_eq!(jobs.run("").0, UNMOVED);
    let others = "0 0 0 1 1 1 1 1 2 2 2 2 3 3 3 3";
    let (seen, said) = jobs.run_on(others, "");
    assert_eq!(seen, PLACED, "{said}");
    has(&said, "(predicted ");
}

#[test]
fn verdicts_are_forgotten_with_their_program() {
    let jobs = Jobs::new("forgotten");
    jobs.run("");
    jobs.bench.said(0, &jobs.command("try --runs 1").output().unwrap());
    let verdicts = || fs::read_dir(jobs.bench.directory.join("store/verdicts")).unwrap().count();
    assert_eq!(verdicts(), 1);
    let mut known = Command::new(COMMAND);
    known.args(["known", "--forget", "program"]);
    known.env("CARTOGRAPH_STORE", jobs.bench.directory.join("store"));
    assert!(known.status().unwrap().success());
    assert_eq!(verdicts(), 0);
}

#[test]
fn known_prints_why_a_site_store_is_unused() {
    let directory = tempfile::tempdir().unwrap();
    let mut known = Command::new(COMMAND);
    known.arg("known").env("CARTOGRAPH_STORE", directory.path());
    known.env("CARTOGRAPH_SITE_STORE", directory.path().join("none"));
    let said = String::from_utf8(known.output().unwrap().stderr).unwrap();
    has(&said, "the site's store ");
    has(&said, "/none is not used: No such file or directory");
}

#[test]
fn a_job_is_placed_at_once_after_tuning() {
    let jobs = Jobs::new("tuned");
    let done = jobs.command("tune --runs 4").output().unwrap();
    let text = jobs.bench.said(0, &done);
    has(&text, ": 2.00x faster than the default order (8 runs, 95 % CI ");
    let ranks = jobs.bench.directory.join("here/program.ranks");
    // Open MPI 4 cannot leave ranks unbound.
    has(&fs::read_to_string(ranks).unwrap(), "rank 15=n3 slot=0-3\n");
    has(&text, "on any nodes, run: cartograph run /");
    let known = jobs.known();
    let runs = known["runs"].as_u64().unwrap();
    assert!(known["ranks"] == json!(16) && runs >= 8, "{known}");
    let best = known["best"]["order"].as_str().unwrap();
    assert!((known["best"]["gain"].as_f64().unwrap() - 2.0).abs() < 1e-9, "{known}");
    has(&text, &format!("{best}: 2.00x faster"));
    let (seen, said) = jobs.run("");
    assert_eq!(seen, PLACED, "{said}");
    has(&said, &format!("program in {best}: 2.00x "));
    assert_eq!(jobs.known()["runs"], json!(runs + 1));
}

#[test]
fn a_job_runs_if_its_store_is_broken() {
    let jobs = Jobs::new("store");
    // A file system without locks.
    let library =
        jobs.library("#include <errno.h>\nint flock(int f, int o) { errno = ENOLCK; return -1; }");
    for runs in 1..=2 {
        let start = Instant::now();
        let done = jobs.command("run").env("LD_PRELOAD", &library).output().unwrap();
        assert!(start.elapsed() < Duration::from_secs(20) && done.stdout == b"sum 5\n");
        assert_eq!(jobs.known()["runs"], json!(runs));
    }
    // A file of a later version.
    let store = jobs.bench.directory.join("store");
    let entry = fs::read_dir(&store).unwrap().flatten().map(|entry| entry.path());
    let entry = { entry }.find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    let later = fs::read_to_string(&entry).unwrap().replace("\"schema\":4", "\"schema\":9");
    fs::write(&entry, &later).unwrap();
    let (seen, said) = jobs.run("");
    assert_eq!(seen, UNMOVED, "{said}");
    has(&said, "has format version 9; left unchanged");
    assert_eq!(fs::read_to_string(&entry).unwrap(), later);
}

/// Kills a process at the point KILL: while it writes a temporary file of the store, before or after fsync, or after
/// the rename.
const KILLS: &str = r#"
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int is(int file, const char *now, const char *part)
{
    char link[99], path[4096] = "";
    const char *point = getenv("KILL");
    sprintf(link, "/proc/self/fd/%d", file);
    if (readlink(link, path, sizeof path - 1) < 0)
        return 0;
    const char *end = strrchr(path, '/');
    return point && strcmp(point, now) == 0 && (part ? strstr(path, part) != NULL : end && strcmp(end, "/store") == 0);
}
ssize_t write(int file, const void *bytes, size_t count)
{
    if (is(file, "half", "/store/.new-")) {
        syscall(SYS_write, file, bytes, count / 2);
        kill(getpid(), SIGKILL);
    }
    return syscall(SYS_write, file, bytes, count);
}
int fsync(int file)
{
    if (is(file, "written", "/store/.new-") || is(file, "renamed", NULL))
        kill(getpid(), SIGKILL);
    int code = syscall(SYS_fsync, file);
    if (is(file, "synchronized", "/store/.new-"))
        kill(getpid(), SIGKILL);
    return code;
}
"#;

#[test]
fn a_killed_command_loses_at_most_one_run() {
    let jobs = Jobs::new("killed");
    let library = jobs.library(KILLS);
    jobs.run("");
    let mut runs = 1;
    for (point, kept) in [("half", 0), ("written", 0), ("synchronized", 0), ("renamed", 1)] {
        let mut command = jobs.command("run");
        command.env("LD_PRELOAD", &library).env("KILL", point);
        let done = command.output().unwrap();
        assert!(done.status.code().is_none() && done.stdout == b"sum 5\n", "{point}: {done:?}");
        runs += kept;
        assert_eq!(jobs.known()["runs"], json!(runs), "{point}");
        // The next job neither waits for its lock nor is disturbed by its remains.
        let start = Instant::now();
        let (seen, said) = jobs.run("");
        assert!(start.elapsed() < Duration::from_secs(20), "{point}");
        assert!(seen != UNCHANGED && said.contains(" in "), "{said}");
        runs += 1;
        assert_eq!(jobs.known()["runs"], json!(runs), "{point}");
    }
}

#[test]
fn a_reinstalled_command_continues() {
    let jobs = Jobs::new("installed");
    let command = jobs.bench.directory.join("bin/cartograph");
    fs::create_dir(command.parent().unwrap()).unwrap();
    // In a separate process: a process that another test starts meanwhile would inherit the file, open for writing.
    assert!(Command::new("cp").arg(COMMAND).arg(&command).status().unwrap().success());
    // Each start of the launcher installs it.
    let launcher = fs::read_to_string(jobs.bench.directory.join("mpiexec")).unwrap();
    let install = format!("rm -f {0}; cp {COMMAND} {0}", command.display());
    jobs.bench.script("mpiexec", &format!("{install}\n{launcher}"));
    for (options, said) in [("run", "recorded "), ("tune --runs 2", "measured, ")] {
        let of_bench = jobs.command(options);
        let mut job = Command::new(&command);
        job.args(of_bench.get_args()).current_dir(jobs.bench.directory.join("here"));
        job.envs(of_bench.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let done = job.env_remove("CARTOGRAPH_LIB_DIR").output().unwrap();
        has(&String::from_utf8([done.stdout, done.stderr].concat()).unwrap(), said);
        assert!(done.status.success());
    }
}
