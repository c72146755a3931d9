//! `cartograph try`, with simulated launchers and programs; `tests/hosts/cases/tried.rs` uses real ones.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::run::{COMMAND, Directory, cartograph};

/// The first lines of each program: the report of a library, which shows whether ranks were reordered. `run` is the
/// number of runs so far, counted where `try` does not look.
pub(crate) const PROLOGUE: &str = r#"
state=$(dirname "$0")/state
echo >>"$state"
run=$(wc -l <"$state")
moved() { case $CARTOGRAPH_REORDER in *scramble*) true ;; *) false ;; esac; }
if [ "$CARTOGRAPH_REPORT" ]; then
    kept='{"code":"one_node","text":"one node"}'
    if moved && ! [ "$ALONE" ]; then kept=null; fi
    cat >"$CARTOGRAPH_REPORT" <<END
{"schema":1,"cartograph":"0.1.0","job":null,"topologies":[{"function":"MPI_Cart_create","count":1,
"topology":{"kind":"cart","dims":[8],"periodic":[false],"weights":null},"comm_size":8,"reorder":"asked","nodes":null,
"kept":$kept,"effect":null,"mapping_seconds":0,"seconds":0}],"not_recorded":0,"warnings":[]}
END
fi
"#;

/// Programs, and the directory in which they are tried.
pub(crate) struct Bench {
    pub(crate) directory: Directory,
    pub(crate) here: PathBuf,
}

impl Bench {
    pub(crate) fn new(name: &str) -> Self {
        let directory = Directory::new(&format!("try-{name}"));
        let here = directory.join("here");
        fs::create_dir(directory.join("lib")).unwrap();
        fs::create_dir(&here).unwrap();
        fs::create_dir(directory.join("tmp")).unwrap();
        fs::write(directory.join("source.c"), "int nothing;").unwrap();
        let library = directory.join("lib/libcartograph.so.0");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"]).arg(library).arg(directory.join("source.c"));
        assert!(cc.status().unwrap().success());
        Self { directory, here }
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A command in the directory where it must run, with these words at its end.
    fn run(&self, command: impl AsRef<OsStr>, words: &str, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(command);
        command.args(words.split_whitespace()).arg(program.as_ref()).current_dir(&self.here);
        command.env("TMPDIR", self.directory.join("tmp"));
        command.env("CARTOGRAPH_LIB_DIR", self.directory.join("lib"));
        command.env("CARTOGRAPH_STORE", self.directory.join("store"));
        command
    }

    /// The command that tries a program of these lines.
    pub(crate) fn command(&self, options: &str, program: &str) -> Command {
        let program = self.script("program", &format!("{PROLOGUE}{program}\ntrue"));
        self.run(COMMAND, &format!("try {options} env --"), program)
    }

    /// Tries a program and returns the output; nothing stays in TMPDIR.
    pub(crate) fn tries(&self, code: i32, program: &str) -> String {
        self.said(code, self.command("", program))
    }

    pub(crate) fn said(&self, code: i32, mut command: Command) -> String {
        said(code, &command.output().unwrap(), &self.directory.join("tmp"))
    }

    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.here.join(name)).unwrap()
    }
}

fn said(code: i32, done: &Output, tmp: &Path) -> String {
    let text = [&done.stdout[..], &done.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(done.status.code(), Some(code), "{text}");
    assert_eq!(fs::read_dir(tmp).unwrap().count(), 0, "{text}");
    text
}

#[track_caller]
pub(crate) fn has(text: &str, words: &str) {
    assert!(text.contains(words), "'{words}' is not in:\n{text}");
}

#[test]
fn a_program_that_cannot_be_tried_is_reported_in_one_line() {
    let bench = Bench::new("wrong");
    let fine = bench.script("fine", "echo 1");
    cartograph("try").fails(2, "COMMAND");
    // It is unclear which word is the program.
    for arguments in ["try -- env", "try env", "try env -n 3"] {
        cartograph(arguments).arg(&fine).fails(2, "put -- before");
    }
    for arguments in ["try -- mpiexec -n 1 a : -n 1 b", "try mpiexec -n 1 -- a : -n 1 b"] {
        cartograph(arguments).fails(127, "program a not found");
    }
    cartograph("try srun -n 1 a : -n 1 b").fails(2, "several programs");
    for arguments in ["try -- env -- nothing-like-it", "try env -- nothing-like-it"] {
        cartograph(arguments).fails(127, "program nothing-like-it not found");
    }
    cartograph("try env -n 3 nothing-like-it 5").fails(2, "no program found after env");
    cartograph("try env -n 3 sh x.sh")
        .fails(2, "put -- before it: cartograph try env -n 3 -- sh x.sh");
    // A script for an interpreter need not be executable.
    let script = bench.directory.join("script");
    fs::write(&script, "echo 1").unwrap();
    cartograph("try env -n 3 /bin/sh")
        .arg(&script)
        .fails(2, "put -- before it: cartograph try env");
    cartograph("try --rnus 3 env true").fails(2, "found; tip: a similar argument exists: '--runs'");
    cartograph("try env -n 3 ./nothing-like-it 5")
        .fails(127, "program ./nothing-like-it not found");
    cartograph("try -- env --").fails(2, "no program after --");
    cartograph("try --tolerance=-1 -- env --").fails(2, "--tolerance");
    cartograph("try env -- /bin/cartograph exec ./app").fails(2, "omit cartograph exec");
    cartograph("try env CARTOGRAPH_REORDER=all -- ./app").fails(2, "omit it");
    let fails = bench.script("fails", "echo it is broken >&2; exit 3");
    let text = bench.said(1, bench.run(COMMAND, "try env --", fails));
    has(&text, "exited with code 3 (it is broken)");
    let text = bench.said(1, bench.run(COMMAND, "try /nowhere/mpiexec --", fine));
    has(&text, "cannot run /nowhere/mpiexec");
}

#[test]
fn a_correct_program_passes() {
    let bench = Bench::new("right");
    // Lines in another order, with other times, and with almost-zero numbers.
    let text = bench.tries(
        0,
        "moved && echo sum 5; echo took $run s
        if moved; then echo error 1.137e-13; else echo error 0.000e+00; echo sum 5; fi",
    );
    has(&text, "output unchanged in 6 runs with ranks reordered by MPI_Cart_create");
    has(&text, "compared: exit code, stdout; no files were written below this directory");
    // Each step is printed when it begins, even without a terminal.
    has(&text, "cartograph: baseline run 1\n");
    has(&text, "cartograph: run with ranks reordered at random (all,scramble:1)\n");
    has(
        &text,
        "not compared: stderr, the order of lines, data that differs from run to run: \"stdout: took 1 s\"",
    );
}

#[test]
fn a_single_difference_is_not_blamed_on_the_program() {
    let bench = Bench::new("once");
    // Run 4 is the first with reordered ranks, after two baseline runs and one run without reordering.
    let text = bench.tries(0, "echo done; [ $run = 4 ] && echo 0.001 s || echo 0.000 s");
    has(&text, "output unchanged");
    // A time that often has the same digits is ignored once a baseline run shows that it differs.
    let text = bench.tries(
        0,
        "echo done; if moved || [ $run = 12 ]; then echo 0.00$run s; else echo 0.000 s; fi",
    );
    has(&text, "output unchanged");
}

#[test]
fn try_does_not_blame_reordering_if_no_rank_moves() {
    let bench = Bench::new("nobody");
    let mut command = bench.command("", "moved && echo something else");
    command.env("ALONE", "1");
    has(&bench.said(0, command), "no rank was reordered");
    // Only a report shows whether any rank was reordered.
    let silent = bench.script("silent", "echo 1");
    let text = bench.said(1, bench.run(COMMAND, "try env --", silent));
    has(&text, "cannot tell whether ranks were reordered: no process wrote a report");
}

#[test]
fn failures_of_reordered_ranks_are_reported() {
    let bench = Bench::new("moved");
    let text = bench.tries(1, "if moved; then echo sum 6; else echo sum 5; fi");
    has(&text, "output differs twice: \"stdout: sum 6\" instead of \"stdout: sum 5\"\n");
    has(&text, "output differs when ranks are reordered by MPI_Cart_create");
    has(&text, "in two runs alike, but in none of 4 runs without reordering");
    has(&text, "otherwise run it with CARTOGRAPH_REORDER=off");
    let text = bench.tries(1, "moved && { echo it is broken >&2; exit 3; }");
    has(&text, "it exited with code 3 (it is broken), twice");
    has(&text, "Run it with CARTOGRAPH_REORDER=off");
    // The output differs in another way each time; the message says no more.
    let text = bench.tries(1, "if moved; then echo sum $run; else echo sum 5; fi");
    has(&text, "when ranks are reordered: output differs: once \"stdout: sum ");
    // The program itself differs from run to run.
    let text = bench.tries(0, "echo done; [ $((run % 3)) = 0 ] && echo sum 6 || echo sum 5");
    has(&text, "from run to run: \"stdout: sum ");
}

#[test]
fn files_are_compared_and_left_as_without_reordering() {
    let bench = Bench::new("files");
    let text = bench.said(
        1,
        bench.command(
            "--in-place",
            "mkdir -p out; echo kept >out/right
            if moved; then echo sum 6; else echo sum 5; fi >out/sum.txt",
        ),
    );
    has(&text, "\"out/sum.txt: sum 6\" instead of \"out/sum.txt: sum 5\"");
    has(&text, "files, which are left as in a run without reordering: out/right, out/sum.txt");
    assert_eq!(
        (bench.file("out/sum.txt"), bench.file("out/right")),
        ("sum 5\n".into(), "kept\n".into())
    );

    let bytes = r#"if moved; then printf '\000b'; else printf '\000a'; fi >data"#;
    let text = bench.said(1, bench.command("--in-place", bytes));
    has(&text, "\"data: bytes with the hash");
    assert_eq!(bench.file("data"), "\0a");
    let made = bench.command("--in-place", "moved && rm -f made || echo 1 >made");
    has(&bench.said(1, made), "no \"made: ");
    assert_eq!(bench.file("made"), "1\n");
    // Files that the run does not write are ignored, and names that differ each time are not compared.
    fs::write(bench.here.join("input"), "5\n").unwrap();
    let text = bench.tries(0, "echo done; cat input >&2; echo 1 >log.$run");
    has(&text, "from run to run: \"log.");
}

#[test]
fn preloaded_libraries_do_not_reach_the_baseline() {
    let bench = Bench::new("module");
    let text =
        "echo 1; case $LD_PRELOAD in *libcartograph*) [ $CARTOGRAPH_REPORT ] || exit 4 ;; esac
        echo $CARTOGRAPH_LAYOUT $CARTOGRAPH_REORDER >>$state.seen";
    let mut command = bench.command("", text);
    // A name without a file: the loader would print that it cannot load the file.
    command.env("LD_PRELOAD", bench.directory.join("lib/libcartograph.so.0"));
    command.env("CARTOGRAPH_LAYOUT", "4x2").env("CARTOGRAPH_REORDER", "always,scramble:1");
    has(&bench.said(0, command), "output unchanged");
    let seen = fs::read_to_string(bench.directory.join("state.seen")).unwrap();
    assert_eq!(seen.lines().take(4).collect::<Vec<_>>(), ["off", "off", "off", "all,scramble:1"]);
}

#[test]
fn rank_0_may_run_on_another_machine() {
    let bench = Bench::new("machine");
    // Of the files on this machine, the other one has only the program and the command.
    let launcher = bench.script(
        "launcher",
        r#"for word; do case $word in "$TMPDIR"*) echo "no such file: $word" >&2; exit 9 ;; esac; done
        exec "$@""#,
    );
    let program = bench.script("elsewhere", &format!("{PROLOGUE}\necho 1"));
    let words = format!("try {} --", launcher.display());
    has(&bench.said(0, bench.run(COMMAND, &words, program)), "output unchanged");
}

#[test]
fn try_removes_only_its_own_files() {
    let bench = Bench::new("planted");
    let victims = bench.directory.join("victims");
    fs::create_dir(&victims).unwrap();
    fs::write(victims.join("thesis"), "years").unwrap();
    let program = bench.script("program", &format!("{PROLOGUE}\necho 1"));
    // Acts like a user who knows the name of this process's directory.
    let sh = format!(
        r#"ln -s {} "$TMPDIR/cartograph-try-$$" && exec {COMMAND} try env -- "$0""#,
        victims.display()
    );
    let sh = bench.script("sh", &sh.replace("$0", &program.display().to_string()));
    let mut command = bench.run(sh, "", "");
    let done = command.output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(fs::read_to_string(victims.join("thesis")).unwrap(), "years");
}

#[test]
fn a_job_that_hangs_is_ended() {
    let bench = Bench::new("hangs");
    let hangs = "moved || exit 0; sleep 600 & echo $! >$state.child; wait";
    let is_gone = || {
        let child = fs::read_to_string(bench.directory.join("state.child")).unwrap();
        let stat = format!("/proc/{}/stat", child.trim());
        let state = || fs::read_to_string(&stat).unwrap_or_default();
        // A killed process ends when it next runs.
        let waited = Instant::now();
        while !state().is_empty() && !state().contains(") Z ") {
            assert!(waited.elapsed() < Duration::from_secs(10), "{}", state());
            thread::sleep(Duration::from_millis(10));
        }
    };
    let text = bench.said(1, bench.command("--seconds 1", hangs));
    has(&text, "it did not end within 1 s, twice");
    is_gone();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let _ = fs::remove_file(bench.directory.join("state.child"));
        let mut command = bench.command("--in-place", &format!("echo $run >out; {hangs}"));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let waited = Instant::now();
        while !bench.directory.join("state.child").exists() {
            assert!(waited.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(10));
        }
        let mut kill = Command::new("kill");
        assert!(kill.args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
        let text = said(code, &child.wait_with_output().unwrap(), &bench.directory.join("tmp"));
        has(&text, "cartograph: interrupted");
        is_gone();
        has(&text, "files below this directory may be those of a run with reordered ranks");
        fs::remove_file(bench.directory.join("state")).unwrap();
    }
}
