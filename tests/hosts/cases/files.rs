//! Incomplete writes, and system calls that signals interrupt: a program's output is the same as without Cartograph,
//! and no other file is lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Outcome;
use super::exec::command;
use crate::output::Verdict;
use crate::session::{Session, count, word};
use crate::testlist::top;

/// Prints orders of ranks of an even number of processes.
const PROGRAM: &str = "c_tests/record/record_grid.c";

/// A recording, a report and a picture on a file system of a few pages, which requires root.
pub(super) fn full(mut session: Session<'_>) -> Outcome {
    let program = session.compile("program", PROGRAM, &[]);
    session.preloaded.clear();
    let place = session.work("full");
    fs::create_dir(&place).map_err(|error| error.to_string())?;
    if !on_full(&mut session, 0, &mut Command::new("true")) {
        return Ok(Verdict::Ignored("a file system cannot be mounted here".into()));
    }
    let alone = session.run(6, &[], &[word(&program)]);
    session.check("the program alone", alone);
    let answers = sorted(&session.out);
    let exec = |session: &mut Session<'_>, pages: u32, words: &[&str]| {
        let preload = session.preload();
        let mut job = session.launcher(6);
        job.arg("env").arg(preload).arg(command()).arg("exec").args(words).arg(&program);
        let ran = on_full(session, pages, &mut job);
        session.check(
            &format!("{words:?}, {pages} pages left: runs as alone"),
            ran && sorted(&session.out) == answers,
        );
        // Once, not once per page and process.
        let told = session.said("^cartograph: .* cannot be written.*: No space left on device");
        let lines = session.said("^cartograph: ");
        session.check(
            &format!("{words:?}, {pages} pages left: printed at most once"),
            lines == told && told <= 1,
        );
        told
    };
    for name in ["old.json", "new.text"] {
        let told = exec(&mut session, 0, &[&format!("--report={}", word(&place.join(name)))]);
        let whole = session.said("^MPI_Cart_create: grid 3 x 2, ") == 1;
        session
            .check(&format!("{name} cannot be written, and comes on stderr"), told == 1 && whole);
        still_there(&mut session);
    }
    of_sites(&mut session, &program, &answers);
    let recording = place.join("traffic");
    for pages in [0, 1, 8] {
        let told = exec(&mut session, pages, &["--record", word(&recording)]);
        session.check("a full disk is reported", pages > 0 || told == 1);
        still_there(&mut session);
        let mut show = Command::new(command());
        let shown = session.finish(show.arg("show").arg(after(&session).join("traffic")));
        let missing = count(&session.out, "^[1-5] of 6 parts are missing");
        let right = match pages {
            0 => !shown && session.err.lines().count() == 1,
            1 => shown && missing == 1,
            _ => shown && missing == 0,
        };
        session.check(&format!("{pages} pages left: the file can be read"), right);
    }
    let mut plan = Command::new(command());
    plan.args(["plan", "--dims=60x60", "--nodes=60", "--ppn=60", "--svg"])
        .arg(place.join("old.json"));
    let drawn = on_full(&mut session, 0, &mut plan);
    let told = session.said("^cartograph: cannot write .*/old.json: No space left on device") == 1;
    session.check("a picture without space is reported", !drawn && told);
    still_there(&mut session);
    // A program is not at fault if nothing can be printed.
    let here = session.work("here");
    fs::create_dir(&here).map_err(|error| error.to_string())?;
    let mut trial = Command::new("env");
    trial.args(["-C", word(&here), &format!("TMPDIR={}", word(&place)), word(&command()), "try"]);
    trial.args(["--mpi", &session.host.name]).args(session.host.launcher()).arg("6").arg(&program);
    trial.envs(session.host.settings());
    let tried = on_full(&mut session, 0, &mut trial);
    let told = session.said(
        "^cartograph: cannot write what a run prints to a temporary file in .*/full: No space",
    ) == 1;
    session.check("a full TMPDIR is reported", !tried && session.code == 1 && told);
    session.verdict()
}

/// A report that a site collects is complete, as far as there is space, or absent; there is no message.
fn of_sites(session: &mut Session<'_>, program: &Path, answers: &[String]) {
    let report = format!("CARTOGRAPH_REPORT={}", word(&session.work("full/%j-%u.json")));
    for (pages, topologies) in [(0, 0), (1, 1), (8, 2)] {
        let preload = format!("LD_PRELOAD={}", word(&session.host.library()));
        let mut job = session.launcher(6);
        job.args(["env", &preload, &report, "PBS_JOBID=17", "USER=ann"]).arg(program);
        let ran = on_full(session, pages, &mut job);
        let same = sorted(&session.out) == answers && session.is_quiet();
        session.check(&format!("a site's report, {pages} pages left: as alone"), ran && same);
        let own = after(session).join("17-ann.json");
        let text = fs::read_to_string(&own).unwrap_or_default();
        let made = text.matches(r#""function":"#).count();
        let whole = serde_json::from_str::<serde_json::Value>(&text).is_ok() || !own.exists();
        session
            .check(&format!("{pages} pages left: {made} topologies"), whole && made == topologies);
        let listed = session.finish(Command::new(command()).arg("known").arg(after(session)));
        let rows = session.out.lines().filter(|line| line.contains(" 17 ")).count();
        let right = rows == usize::from(pages > 0) && session.says(" of ");
        session.check(&format!("{pages} pages left: a table of {rows} jobs"), listed && right);
        still_there(session);
    }
}

/// Runs a command with a file system at `full` that has a few pages left, and a report from before. The files that the
/// command leaves there are in `full.after`.
fn on_full(session: &mut Session<'_>, pages: u32, command: &mut Command) -> bool {
    let place = session.work("full");
    let _ = fs::remove_dir_all(after(session));
    let script =
        "mount -t tmpfs -o size=80k none \"$0\" && echo '{\"old\":true}' >\"$0/old.json\" &&
        head -c $((4096 * (19 - $1))) /dev/zero >\"$0/filler\" && shift || exit 99
        \"$@\"; code=$?; rm \"$0/filler\"; cp -r \"$0\" \"$0.after\"; exit $code";
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "sh", "-c", script]).arg(place).arg(pages.to_string());
    shell.arg(command.get_program()).args(command.get_args()).current_dir(top());
    let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    shell.envs(set);
    session.finish(&mut shell)
}

fn after(session: &Session<'_>) -> PathBuf {
    session.work("full.after")
}

/// Checks that the earlier file is unchanged, and that there are no incomplete files next to it.
fn still_there(session: &mut Session<'_>) {
    let place = after(session);
    let read = |name: &str| fs::read_to_string(place.join(name)).unwrap_or_default();
    let same = read("old.json") == "{\"old\":true}\n";
    let mut names: Vec<_> = fs::read_dir(&place)
        .map(|all| all.flatten().map(|file| file.file_name()).collect())
        .unwrap_or_default();
    names.retain(|name| name != "traffic" && name != "new.text" && name != "17-ann.json");
    names.sort();
    session.check("the earlier file is unchanged", same);
    session.check("no other file is left", names == ["old.json"]);
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// A program, the command and their files under many signals, and with calls on files that fail with `EINTR`.
pub(super) fn interrupted(mut session: Session<'_>) -> Outcome {
    let program = session.compile("program", PROGRAM, &[]);
    let source = "c_tests/lifetime/interrupting.c";
    let interrupting = session.compile("interrupting.so", source, &["-shared", "-fPIC", "-ldl"]);
    session.preloaded = vec![interrupting];
    // Lookups of libraries, too.
    let paths =
        format!("INTERRUPTED={}:{}", session.work("").display(), top().join("build").display());
    let run = |session: &mut Session<'_>, what: &str, words: &[&str]| {
        let ran = session.run(8, &[&paths], words);
        session.check(&format!("{what}: runs"), ran);
        let interrupted = session.said("^interrupted: signals, ");
        session.check(&format!("{what}: all are interrupted"), interrupted == 8);
        let files = session.said("^interrupted: signals, files");
        (sorted(&session.out), files)
    };
    let (alone, _) = run(&mut session, "alone", &[word(&program)]);
    let [traffic, picture, report] =
        ["traffic", "picture.svg", "report.json"].map(|name| session.work(name));
    let cartograph = command();
    let exec = [word(&cartograph), "exec"];
    let words = [&exec[..], &["--record", word(&traffic), word(&program)]].concat();
    let (answers, files) = run(&mut session, "a recording", &words);
    session.check(
        "the results are those without Cartograph",
        answers == alone && files == 8 && session.is_quiet(),
    );

    let preload = session.preload();
    let mut plan = Command::new("env");
    plan.args([&preload, &paths]).arg(&cartograph).args(["plan", "--nodes=4", "--ppn=2"]);
    plan.arg("--traffic").arg(&traffic).arg("--svg").arg(&picture);
    let planned = session.finish(&mut plan);
    let files = session.said("^interrupted: signals, files");
    let drawn = fs::read_to_string(&picture).is_ok_and(|text| text.trim_end().ends_with("</svg>"));
    session.check("the recording is planned and drawn", planned && files == 1 && drawn);
    let mut show = Command::new(&cartograph);
    let shown = session.finish(show.arg("show").arg(&traffic));
    session.check("the recording is complete", shown && !session.out.contains("missing"));

    let to = format!("--report={}", report.display());
    let words = [&exec[..], &[&to, word(&program)]].concat();
    run(&mut session, "with a report", &words);
    session.check("no message is printed", session.is_quiet());
    let told = fs::read_to_string(&report).unwrap_or_default();
    session.check("the report is written", is_report(&told));
    session.verdict()
}

fn is_report(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok() && text.contains("topologies")
}
