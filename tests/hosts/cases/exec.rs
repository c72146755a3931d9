//! `cartograph exec` with a host's programs. The library that it preloads serves any MPI that a process loads, and a
//! process without MPI loads none; among several libraries, the one built for the MPI is used, and only files that
//! others cannot have written. No rank ends while others run.

mod sanitized;

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::Outcome;
use crate::host::{Host, is_built};
use crate::session::{Session, word};
use crate::testlist::top;

/// The sources of the programs.
pub(super) const STEPS: &str = "c_tests/preload/steps.c";
pub(super) const MODULE: &str = "c_tests/preload/plugin.c";

/// The line of a program whose functions are Cartograph's, and of one whose functions are the host's.
pub(super) const OURS: &str = "self: Cartograph\n";
pub(super) const THEIRS: &str = "self: the host\n";

pub(super) fn command() -> PathBuf {
    top().join("build/bin/cartograph")
}

/// A program linked with the host's MPI.
fn linked(session: &Session<'_>, host: &str, name: &str) -> PathBuf {
    let compiler = Host::new(host).compiler(Path::new(STEPS)).expect("a compiler");
    session.compile_with(&compiler, name, STEPS, &["-DLINKED", MODULE, "-ldl"])
}

/// A program in Python that loads a module with the host's MPI.
pub(super) fn late(session: &Session<'_>, module: &Path) -> PathBuf {
    let text = format!(
        "import ctypes\nmodule = ctypes.CDLL('{}')\nmodule.answers.restype = ctypes.c_char_p\n\
         print(module.answers().decode())\nmodule.finish()\n",
        module.display()
    );
    session.write("late.py", &text)
}

/// The library of the host's MPI that a program is linked with.
pub(super) fn mpi_of(session: &mut Session<'_>, program: &Path) -> Result<String, String> {
    session.finish(Command::new("ldd").arg(program).envs(session.host.search_path()));
    let is_mpi = |line: &&str| {
        let name = line.trim_start().split(' ').next().unwrap_or_default();
        ["libmpi.so", "libmpich.so", "libmpi_abi.so"].iter().any(|mpi| name.starts_with(mpi))
    };
    let line = session.out.lines().find(is_mpi).ok_or("ldd names no MPI")?;
    line.split(' ').nth(2).map(str::to_owned).ok_or_else(|| format!("no path in '{line}'"))
}

/// True if a library defines a function.
pub(super) fn defines(session: &mut Session<'_>, library: &str, name: &str) -> bool {
    session.finish(Command::new("nm").args(["-D", "--defined-only", library]));
    session.out.lines().any(|line| line.ends_with(&format!(" {name}")))
}

/// A job of `cartograph exec`.
struct Exec<'a, 'b> {
    session: &'a mut Session<'b>,
    /// `NAME=VALUE`.
    settings: Vec<String>,
}

impl Exec<'_, '_> {
    /// Runs processes; true if they succeed.
    fn runs(&mut self, processes: u32, words: &[&str]) -> bool {
        let preload = self.session.preload();
        let mut job = self.session.launcher(processes);
        job.env("LC_ALL", "C").env("UCX_LOG_LEVEL", "error");
        for name in ["CARTOGRAPH_REPORT", "CARTOGRAPH_MPI", "LD_LIBRARY_PATH"] {
            job.env_remove(name);
        }
        job.arg("env").arg(preload).args(&self.settings).arg(command()).arg("exec").args(words);
        self.session.finish(&mut job)
    }

    /// Checks that one process prints this, and Cartograph nothing.
    fn prints(&mut self, what: &str, expected: &str, words: &[&str]) {
        let ran = self.runs(1, words);
        let quiet = self.session.is_quiet();
        let right = self.session.out == expected;
        self.session.check(what, ran && quiet && right);
    }

    /// True if Cartograph printed one line, with this pattern.
    fn says(&self, pattern: &str) -> bool {
        self.session.said("^cartograph: ") == 1
            && self.session.said(&format!("^cartograph: .*{pattern}")) == 1
    }
}

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    session.preloaded.clear();
    let name = session.host.name.clone();
    let module = ["-fPIC", "-shared", "-Wl,--no-as-needed"];
    let programs = Programs {
        linked: linked(&session, &name, "linked"),
        module: session.compile("module.so", MODULE, &module),
        record: session.compile("record", "c_tests/record/record_grid.c", &[]),
        steps: session.compile_with("gcc", "steps", STEPS, &["-ldl"]),
    };
    every_process(&mut session, &programs);
    recordings(&mut session, &programs)?;
    right_library(&mut session, &programs)?;
    trusted_files(&mut session, &programs)?;
    no_rank_alone(&mut session, &programs)?;
    one_without_its_library(&mut session, &programs);
    kept_quietly(&mut session, &programs);
    sanitized::run(&mut session);
    session.verdict()
}

struct Programs {
    /// Linked with the MPI.
    linked: PathBuf,
    /// A module that is linked with the MPI.
    module: PathBuf,
    record: PathBuf,
    /// A program without MPI.
    steps: PathBuf,
}

/// One command line for all processes of a job: linked programs, programs without MPI, scripts, Python, helpers on
/// another MPI.
fn every_process(
    session: &mut Session<'_>,
    Programs { linked: own, module, steps, .. }: &Programs,
) {
    let late = late(session, module);
    let name = session.host.name.clone();
    let (own, steps) = (word(own), word(steps));
    let mut exec = Exec { session, settings: Vec::new() };
    exec.prints("a linked program", OURS, &[own, "self"]);
    let none = "mapped: 0 MPI, 1 of ours\n";
    exec.prints("a program without MPI loads none", none, &[steps, "mpis"]);
    let script = "\"$1\" mpis && exec \"$2\" self";
    let both = format!("{none}{OURS}");
    exec.prints("so does what a script starts", &both, &["sh", "-c", script, "sh", steps, own]);
    exec.prints("Python with this MPI", "Cartograph\n", &["python3", word(&late)]);
    for setting in ["1", "on", "true", "yes"] {
        exec.settings = vec![format!("CARTOGRAPH_REPORT={setting}")];
        let ran = exec.runs(1, &[own, "self"]);
        let reported = exec.session.said("^MPI_Cart_create: grid 1 x 1") > 0;
        exec.session.check(&format!("CARTOGRAPH_REPORT={setting}"), ran && reported);
    }
    for other in ["mpich", "openmpi", "mpich5", "openmpi5"] {
        let library = top().join("build").join(other).join("lib/libcartograph.so");
        if other == name || !library.exists() {
            continue;
        }
        let theirs = linked(session, other, &format!("linked-{other}"));
        let theirs = word(&theirs);
        // The run without Cartograph does not use the launcher, whose settings are for another MPI.
        let mut alone = Command::new("timeout");
        alone.args(["60", theirs, "self"]).env("OMPI_ALLOW_RUN_AS_ROOT", "1");
        session.finish(alone.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"));
        if session.out != THEIRS {
            continue;
        }
        let mut both = Command::new("timeout");
        both.arg("60").arg(command()).args(["exec", "sh", "-c", "\"$1\" self; \"$2\" self", "sh"]);
        both.args([theirs, own]).envs(session.host.settings()).env("UCX_LOG_LEVEL", "error");
        session.finish(&mut both);
        let right = session.out == OURS.repeat(2);
        session.check(&format!("a helper on {other}, each its own"), right);
    }
}

/// The recorder is preloaded in the same way as the library.
fn recordings(session: &mut Session<'_>, programs: &Programs) -> Result<(), String> {
    let Programs { linked, module, record, steps } = programs;
    let late = late(session, module);
    let (record, steps) = (word(record), word(steps));
    let [none, of_linked, of_script, of_python] = ["none", "linked", "script", "python"]
        .map(|name| session.work(&format!("recorded.{name}")));
    let mut exec = Exec { session, settings: Vec::new() };
    let words = ["--record", word(&none), steps, "mpis"];
    let nothing = "mapped: 0 MPI, 0 of ours\n";
    exec.prints("a program without MPI loads none when it is recorded", nothing, &words);
    exec.session.check("a program without MPI has no recording", !none.exists());
    let script = "\"$1\" mpis && exec \"$2\"";
    let runs: [(&str, u32, &PathBuf, &[&str]); 3] = [
        ("a linked program", 4, &of_linked, &[record]),
        ("what a script starts", 4, &of_script, &["sh", "-c", script, "sh", steps, record]),
        ("Python", 1, &of_python, &["python3", word(&late)]),
    ];
    for (what, processes, directory, program) in runs {
        let ran = exec.runs(processes, &[&["--record", word(directory)], program].concat());
        exec.session.check(&format!("{what} is recorded"), ran);
        exec.session.finish(Command::new(command()).arg("show").arg(directory));
        let there = exec.session.out.contains("MPI_Cart_create: grid");
        exec.session.check(&format!("{what}: its grid is there"), there);
    }
    // Programs test whether functions exist.
    let mpi = mpi_of(session, linked)?;
    for name in ["MPI_Isendrecv", "MPI_Send_c"] {
        let there = if defines(session, &mpi, name) { "found" } else { "not found" };
        let directory = session.work(&format!("asks.{name}"));
        let mut asks = Command::new("timeout");
        asks.arg("60").arg(command()).args(["exec", "--record", word(&directory)]);
        session.finish(asks.args([word(linked), "missing", name]).envs(session.host.settings()));
        let right = session.out.lines().any(|line| line == format!("{name} is {there}"));
        session.check(&format!("{name} is there if the MPI has it"), right);
    }
    Ok(())
}

/// Allows ranks to be reordered.
const ON: &str = "CARTOGRAPH_REORDER=on";

/// A grid that is kept but may gain much: only a report mentions it.
fn kept_quietly(session: &mut Session<'_>, programs: &Programs) {
    let layout = session.write("columns.layout", &"0\n1\n".repeat(4));
    let words = ["--layout", word(&layout), word(&programs.record)];
    let ran = Exec { session, settings: vec![ON.to_owned()] }.runs(8, &words);
    let quiet = session.said("^cartograph: ") == 0;
    session.check("exec prints nothing about a kept grid", ran && quiet);
}

/// An installation with copies of libraries, each a folder and the host for which it was built.
fn site(session: &Session<'_>, name: &str, libraries: &[(&str, &str)]) -> Result<PathBuf, String> {
    let site = session.work(name);
    let build = top().join("build");
    let copy = |from: &Path, to: &Path, begin: &str| -> std::io::Result<()> {
        fs::create_dir_all(to)?;
        for file in fs::read_dir(from)?.flatten() {
            let name = file.file_name();
            let text = name.to_string_lossy();
            if text.starts_with(begin) && text.contains(".so") {
                fs::copy(file.path(), to.join(&name))?;
            }
        }
        Ok(())
    };
    let copied = || {
        copy(&build.join("lib"), &site, "libcartograph.so.0")?;
        copy(&build.join("lib/cartograph"), &site.join("cartograph"), "record-")?;
        for (folder, host) in libraries {
            copy(&build.join(host).join("lib"), &site.join("cartograph").join(folder), "lib")?;
        }
        std::io::Result::Ok(())
    };
    copied().map_err(|error| format!("{name}: {error}"))?;
    Ok(site)
}

/// A job at an installation.
fn at<'a, 'b>(session: &'a mut Session<'b>, site: &Path) -> Exec<'a, 'b> {
    let settings = vec![format!("CARTOGRAPH_LIB_DIR={}", site.display())];
    Exec { session, settings }
}

/// Checks that the host's own functions are called with an installation, and that one line gives the reason.
fn refused(
    session: &mut Session<'_>,
    what: &str,
    site: &Path,
    pattern: &str,
    options: &[&str],
    program: &str,
) {
    let mut exec = at(session, site);
    let ran = exec.runs(2, &[options, &[program, "self"]].concat());
    let right = exec.session.out == THEIRS.repeat(2) && exec.says(pattern);
    session.check(what, ran && right);
}

/// Among several libraries, the one built for the MPI is used.
fn right_library(session: &mut Session<'_>, programs: &Programs) -> Result<(), String> {
    let host = session.host.name.clone();
    let own = word(&programs.linked);
    let other = match &host[..] {
        "openmpi" => "openmpi5",
        "openmpi5" => "openmpi",
        _ => "",
    };
    if !other.is_empty() && is_built(other) {
        let named = site(session, "named", &[("a", other), ("b", &host), ("c", other)])?;
        at(session, &named).prints("names of one's own", OURS, &[own, "self"]);
        let wrong = site(session, "other", &[("a", other)])?;
        let pattern = r"has no library for libmpi\.so\.40 of Open MPI";
        refused(session, "another version's library is none", &wrong, pattern, &[], own);
    }
    let only = site(session, "own", &[(&host, &host)])?;
    at(session, &only).prints("named by --mpi", OURS, &["--mpi", &host, own, "self"]);
    let pattern = r"no library for --mpi nothing \(available: ";
    refused(session, "no such name", &only, pattern, &["--mpi", "nothing"], own);
    for kind in ["mpich", "openmpi"] {
        if host.starts_with(kind) || !is_built(kind) {
            continue;
        }
        let pinned = site(session, &format!("pinned-{kind}"), &[(&host, &host), (kind, kind)])?;
        let pattern = format!("CARTOGRAPH_MPI={kind} does not match the MPI");
        refused(session, "another MPI's by --mpi", &pinned, &pattern, &["--mpi", kind], own);
    }
    Ok(())
}

/// Files that others may have written are not loaded.
fn trusted_files(session: &mut Session<'_>, programs: &Programs) -> Result<(), String> {
    let host = session.host.name.clone();
    let (own, record) = (word(&programs.linked), word(&programs.record));
    let site = site(session, "trusted", &[(&host, &host)])?;
    let preloaded = site.join("libcartograph.so.0");
    let folder = site.join("cartograph").join(&host);
    let files = fs::read_dir(&folder).map_err(|error| error.to_string())?.flatten();
    let libraries: Vec<PathBuf> = files.map(|file| file.path()).collect();
    let change = |files: &[PathBuf], mode: u32| {
        files.iter().try_for_each(|file| fs::set_permissions(file, Permissions::from_mode(mode)))
    };
    for mode in [0o775, 0o757] {
        let none = "has no library for lib";
        let changed = change(&libraries, mode);
        let title = |what: &str| format!("{what} that others can write ({mode:o})");
        refused(session, &title("a library"), &site, none, &[], own);
        let directory = session.work(&format!("untrusted.{mode:o}"));
        let mut exec = at(session, &site);
        let ran = exec.runs(2, &["--record", word(&directory), record]);
        let said = exec.says(none);
        session.check(&title("a recorder"), ran && said && !directory.exists());
        let changed = changed
            .and_then(|()| change(&libraries, 0o755))
            .and_then(|()| change(std::slice::from_ref(&preloaded), mode));
        let mut exec = at(session, &site);
        let ran = exec.runs(1, &[own, "self"]);
        let bare = exec.session.out == THEIRS && exec.says("the program runs without");
        session.check(&title("a library to preload"), ran && bare);
        let changed = changed.and_then(|()| change(std::slice::from_ref(&preloaded), 0o755));
        changed.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// A rank that cannot use its library ends the job, also before MPI_Init, where Hydra lets the others wait.
fn one_without_its_library(session: &mut Session<'_>, programs: &Programs) {
    let unusable = session.work("unusable");
    let own = word(&programs.linked);
    let linked = fs::create_dir(&unusable).and_then(|()| {
        std::os::unix::fs::symlink("libcartograph.so.0", unusable.join("libcartograph.so.0"))
    });
    let script = "[ \"${PMI_RANK-$OMPI_COMM_WORLD_RANK}\" != 1 ] || export CARTOGRAPH_LIB_DIR=$1; \
                  exec \"$2\" exec \"$3\" self";
    let mut job = session.launcher(3);
    job.args(["sh", "-c", script, "sh"]).arg(&unusable).arg(command()).arg(own);
    let began = Instant::now();
    let ran = session.finish(&mut job);
    let ended = !ran && began.elapsed() < Duration::from_secs(20);
    let said = session.said("^cartograph: .*the program was not started: ") == 1;
    session
        .check("a rank that cannot use its library ends the job", linked.is_ok() && ended && said);
}

/// No rank ends while others run, and the job prints each message once.
fn no_rank_alone(session: &mut Session<'_>, programs: &Programs) -> Result<(), String> {
    let own = word(&programs.linked);
    let mut exec = Exec { session, settings: Vec::new() };
    let ran = exec.runs(4, &["--report=/nonexistent/x.json", own, "self"]);
    let all = exec.session.out.lines().count() == 4;
    let line = "^cartograph: --report=/nonexistent/x.json: .* runs anyway$";
    let said = exec.session.said(line) > 0;
    exec.session.check("a report that cannot be written", ran && all && said);
    let wrong = !exec.runs(4, &["--raport", own, "self"]) && exec.says("'--report'");
    exec.session.check("a wrong argument", wrong);
    // A program of many gigabytes is not read.
    let large = session.work("large");
    fs::copy(&programs.steps, &large)
        .and_then(|_| File::options().write(true).open(&large)?.set_len(8 << 30))
        .map_err(|error| error.to_string())?;
    let limited = "ulimit -v 1000000 && exec \"$1\" exec \"$2\" mpis";
    let mut shell = Command::new("sh");
    let ran = session.finish(shell.args(["-c", limited, "sh"]).arg(command()).arg(&large));
    session.check("a large program", ran);
    Ok(())
}
