//! `cartograph run` with simulated launchers and programs, for launchers without rank files and after `cartograph
//! tune`; `tests/hosts/cases/jobs.rs` uses real ones.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::run::COMMAND;
use crate::trial::PROLOGUE;
use crate::tune::{Bench, has};

/// A launcher that starts `cartograph where` on four nodes, as given by a rank file if there is one.
pub(crate) const LAUNCHER: &str = r#"[ -z "$LOG" ] || echo "$*" >>"$LOG"
case "$*" in
*" where" | *" --reads "*)
    for file; do :; done
    case $file in where) ;; *) [ -r "$file" ] && [ -z "$BLIND" ] || exit 1 ;; esac
    rank=0
    [ "$1 $REJECTS" = "--rankfile 1" ] || [ "$REFUSES" ] && exit 1
    [ "$1" = --rankfile ] && order=$(sed 's/.*=n\(.\) .*/\1/' "$2")
    for node in ${order:-${HYDRA_NODES:-${NODES:-0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3}}}; do
        echo '{"cartograph_where":'$rank',"size":16,"host":"n'$node'","own_cores":'${OWN:-1}',"cores":4}'
        rank=$((rank + 1))
    done
    exit ;;
esac
"#;

/// Records a run on the ranks' nodes, which takes half the time if ranks are reordered, and notes the settings. If
/// `differs` exists, the output depends on them.
const PROGRAM: &str = r#"here=$(dirname "$0")
record=$CARTOGRAPH_RECORD$CARTOGRAPH_CLOCK
if [ "$record" ]; then
    time=2000000000
    [ -z "$CARTOGRAPH_WEIGHTS$CARTOGRAPH_WORLD$PLACED" ] || time=1000000000
    order=$(sed -n '2s/.*"node_of_rank":\[\([^]]*\).*/\1/p' "${CARTOGRAPH_WORLD:-/dev/null}")
    [ -z "$PLACED" ] || order=$(sed 's/.*=n\(.\) .*/\1/' "$PLACED" | tr '\n' ,)
    rank=0
    mkdir -p "$record"
    for node in $(echo ${order:-${HYDRA_NODES:-${NODES:-0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3}}} | tr , ' '); do
        sed "s/\"host\":\"n[0-9]*\"/\"host\":\"n$node\"/; s/\"complete\":true/&,\"nanoseconds\":$time/" \
            "$here/run.traffic/$rank.jsonl" >"$record/$rank.jsonl"
        rank=$((rank + 1))
    done
    echo "reorder:$CARTOGRAPH_REORDER weights:$CARTOGRAPH_WEIGHTS world:${CARTOGRAPH_WORLD:+set} ${PLACED:+placed}" >"$here/seen"
    [ ! -e "$here/fails" ] || exit 3
fi
[ -z "$HOLD" ] || { echo >"$HOLD"; while [ -e "$HOLD" ]; do sleep 0.05; done; }
if [ -e "$here/differs" ] && moved; then echo sum 6; else echo sum 5; fi"#;

/// The notes of a job in the default order, and of one whose ranks are kept and that is not recorded.
const UNMOVED: &str = "reorder: weights: world: \n";
const UNCHANGED: &str = "";

/// A program and a launcher.
pub(crate) struct Jobs {
    pub(crate) bench: Bench,
    /// The launcher's command, and its options.
    launcher: &'static str,
    words: &'static str,
}

impl Jobs {
    /// A program that allows reordering its grid, or not, and MPICH 4 without the descriptor that relays need.
    pub(crate) fn new(name: &str, reorder: bool) -> Self {
        let words = "-pmi-port -launcher fork -hosts n0:4,n1:4,n2:4,n3:4 -n 16";
        Self::under("hydra", "MPICH Version: 4.0.2", words, name, reorder)
    }

    pub(crate) fn under(
        launcher: &str,
        mpi: &str,
        words: &'static str,
        name: &str,
        reorder: bool,
    ) -> Self {
        let bench = Bench::new(&format!("job-{name}"), reorder);
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
        bench.libraries(&["world-3.so"]);
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
            self.command(&format!("run {options}")).env("HYDRA_NODES", nodes).output().unwrap();
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

    /// Tries the program, and expects this exit code.
    fn tries(&self, code: i32) {
        let done = self.command("try --runs 1").output().unwrap();
        self.bench.said(code, &done);
    }
}

#[test]
fn grids_are_reordered_if_a_trial_or_the_user_allows_it() {
    let jobs = Jobs::new("grid", true);
    let (out, said) = jobs.run("");
    assert_eq!(out, UNMOVED);
    has(&said, "recorded ");
    has(&said, "no option -rankmap");
    has(
        &said,
        "; cartograph try checks whether its grids may be reordered instead; --world reorders",
    );
    let (out, said) = jobs.run("");
    assert_eq!(out, UNCHANGED);
    has(&said, "whether its grids may be reordered instead");
    has(&said, "; the job ran unchanged");
    let moved = "reorder:on weights:4x4:1,1 world: \n";
    let (out, said) = jobs.run("--moves-grids");
    assert_eq!(out, moved, "{said}");
    has(&said, "/program in weights 1,1 (predicted ");
    // It is compared with the default order: the first job was a warm-up.
    let (out, said) = jobs.run("--moves-grids");
    assert_eq!(out, UNMOVED);
    has(&said, "in the default order, to compare");
    // The user's CARTOGRAPH_REORDER=off takes precedence.
    let done = jobs.command("run --moves-grids").env("CARTOGRAPH_REORDER", "off").output().unwrap();
    has(&String::from_utf8_lossy(&done.stderr), "; the job ran unchanged");
    // The verdict takes precedence over the user's option.
    fs::write(jobs.bench.directory.join("differs"), "").unwrap();
    jobs.tries(1);
    for options in ["", "--moves-grids"] {
        let (out, said) = jobs.run(options);
        assert_eq!(out, UNCHANGED);
        has(&said, "cartograph try found that its grids must not be reordered");
    }
    fs::remove_file(jobs.bench.directory.join("differs")).unwrap();
    jobs.tries(0);
    let (out, said) = jobs.run("");
    assert_eq!(out, moved, "{said}");
    has(&said, "/program in weights 1,1 (predicted ");
    // Another build is another program.
    jobs.bench.script("program", &format!("{PROLOGUE}{PROGRAM}\ntrue"));
    has(&jobs.run("").1, "whether its grids may be reordered");
    // Forgetting a program also forgets its verdict.
    let mut known = Command::new(COMMAND);
    known.args(["known", "--forget", "program"]);
    known.env("CARTOGRAPH_STORE", jobs.bench.directory.join("store"));
    assert!(known.status().unwrap().success());
    let verdicts = fs::read_dir(jobs.bench.directory.join("store/verdicts")).unwrap();
    assert_eq!(verdicts.count(), 0);
}

#[test]
fn the_world_is_reordered_if_the_user_allows_it() {
    let jobs = Jobs::new("world", false);
    let (_, said) = jobs.run("");
    has(&said, "no option -rankmap to place ranks; --world reorders MPI_COMM_WORLD instead");
    // A program without grids has nothing to reorder.
    let (_, said) = jobs.run("--moves-grids");
    has(&said, "; the job ran unchanged");
    // All nodes must have it, or processes would wait for those without.
    let done = jobs.command("run --world").env("BLIND", "1").output().unwrap();
    has(&String::from_utf8_lossy(&done.stderr), "not all nodes can read the store; the job ran");
    let (out, said) = jobs.run("--world");
    assert_eq!(out, "reorder:off weights: world:set \n", "{said}");
    has(&said, ", world reordered (predicted ");
    assert_eq!(jobs.run("--world").0, UNMOVED);
    // The placement is blamed if the program fails, so the next job does not use it.
    fs::write(jobs.bench.directory.join("fails"), "").unwrap();
    let (_, said) = jobs.run("--world");
    has(&said, "exited with code 3; this run is not compared");
    fs::remove_file(jobs.bench.directory.join("fails")).unwrap();
    let (out, _) = jobs.run("--world --no-trial");
    assert_eq!(out, UNMOVED);
    // A library that does not exist cannot be preloaded.
    fs::remove_file(jobs.bench.directory.join("lib/cartograph/world-3.so")).unwrap();
    let (out, said) = jobs.run("--world");
    assert_eq!(out, UNCHANGED);
    has(&said, "; MPI_COMM_WORLD cannot be reordered either: ");
}

#[test]
fn a_faster_placement_is_reused_on_nodes_of_other_sizes() {
    let jobs = Jobs::new("sizes", false);
    let uneven = "0 0 0 0 0 1 1 1 1 2 2 2 2 3 3 3";
    let moved = "reorder:off weights: world:set \n";
    assert_eq!(jobs.run("--world").0, UNMOVED);
    // No placement is measured yet: one is tried, and compared with jobs on other nodes.
    let (out, said) = jobs.run_on(uneven, "--world");
    assert_eq!(out, moved, "{said}");
    has(&said, "(predicted ");
    assert_eq!(jobs.run("--world").0, UNMOVED);
    let others = "0 0 0 1 1 1 1 1 2 2 2 2 3 3 3 3";
    let (out, said) = jobs.run_on(others, "--world");
    assert_eq!(out, moved, "{said}");
    has(&said, "(predicted ");
}

#[test]
fn a_job_is_placed_at_once_after_tuning() {
    let words = "--host n0:4,n1:4,n2:4,n3:4 -n 16";
    let jobs = Jobs::under("orterun", "Open MPI v4.1.4", words, "tuned", false);
    // If ranks were not bound to one core each, they are not elsewhere either.
    let done = jobs.command("tune --runs 4").env("OWN", "4").output().unwrap();
    let text = jobs.bench.said(0, &done);
    has(&text, ": 2.00x faster than the default order (8 runs, 95 % CI ");
    let ranks = jobs.bench.directory.join("here/program.cartograph.ranks");
    has(&fs::read_to_string(ranks).unwrap(), "rank 15=n3 slot=0-3\n");
    has(&text, "on any nodes, run: cartograph run /");
    let known = jobs.known();
    let runs = known["runs"].as_u64().unwrap();
    assert!(known["ranks"] == json!(16) && runs >= 8, "{known}");
    let best = known["best"]["order"].as_str().unwrap();
    assert!((known["best"]["gain"].as_f64().unwrap() - 2.0).abs() < 1e-9, "{known}");
    has(&text, &format!("{best}: 2.00x faster"));
    let (seen, said) = jobs.run("");
    assert_eq!(seen, "reorder: weights: world: placed\n", "{said}");
    has(&said, &format!("program in {best}: 2.00x "));
    assert_eq!(jobs.known()["runs"], json!(runs + 1));
}

#[test]
fn placing_by_the_launcher_precedes_reordering_a_grid() {
    let words = "--host n0:4,n1:4,n2:4,n3:4 -n 16";
    let jobs = Jobs::under("orterun", "Open MPI v4.1.4", words, "tuned-grid", true);
    let text = jobs.bench.said(0, &jobs.command("tune --runs 4").output().unwrap());
    has(&text, "weights 1,1: 2.00x faster than the default order");
    has(&text, "on any nodes, run: cartograph run /");
    let (seen, said) = jobs.run("--moves-grids");
    assert_eq!(seen, "reorder: weights: world: placed\n", "{said}");
}

#[test]
fn a_job_runs_if_its_store_is_broken() {
    let words = "--host n0:4,n1:4,n2:4,n3:4 -n 16";
    let jobs = Jobs::under("orterun", "Open MPI v4.1.4", words, "store", false);
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
fn a_command_that_is_killed_forgets_one_run_at_most() {
    let words = "--host n0:4,n1:4,n2:4,n3:4 -n 16";
    let jobs = Jobs::under("orterun", "Open MPI v4.1.4", words, "killed", false);
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
        assert!(seen.starts_with("reorder:") && said.contains(" in "), "{said}");
        runs += 1;
        assert_eq!(jobs.known()["runs"], json!(runs), "{point}");
    }
}

#[test]
fn a_reinstalled_command_continues() {
    let words = "--host n0:4,n1:4,n2:4,n3:4 -n 16";
    let jobs = Jobs::under("orterun", "Open MPI v4.1.4", words, "installed", false);
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
