//! A directory with the reports of many jobs, some of which are killed while writing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::Outcome;
use super::exec::command;
use crate::session::{Session, word};

/// Prints orders of ranks of an even number of processes; it creates two topologies, so a report is replaced.
const PROGRAM: &str = "c_tests/record/record_grid.c";

type Files = BTreeMap<PathBuf, String>;

/// Rank 0 is killed at each call that writes a report, and then the launcher is killed.
pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let program = session.compile("program", PROGRAM, &[]);
    let bare = std::mem::take(&mut session.preloaded);
    let alone = session.run(4, &[], &[word(&program)]);
    session.check("the program alone", alone);
    let answers = session.out.clone();
    let options = ["-shared", "-fPIC", "-ldl"];
    session.preloaded = vec![session.compile("dying.so", "c_tests/lifetime/dying.c", &options)];
    session.preloaded.extend(bare);

    let site = session.work("site");
    fs::create_dir(&site).map_err(|error| error.to_string())?;
    session.write("site/of-others.json", "of no job of ours\n");
    for victim in ["rank 0", "the launcher"] {
        let before = files(&site);
        for call in 1..100 {
            if dies(&mut session, &program, victim, call) {
                let right = session.out == answers && session.is_quiet();
                session.check(&format!("{victim}: a job that is not killed answers"), right);
                session.check(&format!("{victim}: a report is replaced"), call > 5);
                break;
            }
        }
        // A report exists from the second call on, after its first write, and is complete again whenever it is
        // replaced. Without its launcher, rank 0 ends soon after, at any call.
        let after = files(&site);
        let broken = after
            .iter()
            .filter(|(path, text)| !before.contains_key(*path) && !is_whole(path, text))
            .map(|(path, _)| word(path));
        let broken: Vec<&str> = broken.collect();
        let right = match broken[..] {
            [one] if victim == "rank 0" => one.contains("/2."),
            _ => {
                victim == "the launcher"
                    && broken.iter().all(|path| path.contains("/1.") || path.contains("/2."))
            }
        };
        session.check(&format!("{victim}: not whole are {broken:?}"), right);
    }
    told(&mut session, &site);
    session.verdict()
}

/// Runs a job in which one process dies at a call, if it makes that many; returns whether it does not. Checks that all
/// earlier reports remain.
fn dies(session: &mut Session<'_>, program: &Path, victim: &str, call: usize) -> bool {
    let site = session.work("site");
    let before = files(&site);
    let [start, pid] = ["site/", "launcher"].map(|name| session.work(name));
    let mut job = Command::new("timeout");
    job.args(["-k", "5", "60", "sh", "-c", "echo $$ >\"$0\"; exec \"$@\"", word(&pid)]);
    job.args(session.host.launcher()).args(["4", "env", &session.preload()]);
    job.arg(format!("CARTOGRAPH_REPORT={}%j-%u.json", start.display()));
    job.args(["USER=ann", &format!("DYING_AT={call}")]);
    // A unique name: each name in use costs a call.
    job.arg(format!("PBS_JOBID={call}.{}", victim.replace(' ', "-")));
    job.arg(format!("DYING_IN={}", start.display()));
    if victim == "the launcher" {
        job.arg(format!("DYING={}", pid.display()));
    }
    // The remains of a killed launcher are left there.
    job.arg(program).envs(session.host.settings()).env("TMPDIR", session.work(""));
    let ended = session.finish(job.current_dir(crate::testlist::top()));
    let limit = Instant::now() + Duration::from_secs(40);
    while is_running(&start) && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(20));
    }
    let what = format!("{victim}, call {call}");
    session.check(&format!("{what}: all processes end"), !is_running(&start));
    let after = files(&site);
    let kept = before.iter().all(|(path, text)| after.get(path) == Some(text));
    session.check(&format!("{what}: the other reports are as they were"), kept);
    let new = after.keys().filter(|path| !before.contains_key(*path));
    session.check(&format!("{what}: one report, and what was to replace it"), new.count() <= 2);
    ended
}

/// The table has all readable reports, and the number of the others.
fn told(session: &mut Session<'_>, site: &Path) {
    let mut reports = files(site);
    reports.retain(|path, _| is_report(path));
    let whole = reports.iter().filter(|(path, text)| is_whole(path, text)).count();
    let listed = session.finish(Command::new(command()).arg("known").arg(site));
    let rows = session.out.lines().filter(|line| line.contains(" ann ")).count();
    session.check("one line per job with a complete report", listed && rows == whole && rows > 5);
    let unread = format!("{} of {} files are not reports", reports.len() - whole, reports.len());
    let told = session.says(&unread);
    session.check(&unread, told);
}

fn files(site: &Path) -> Files {
    let entries = fs::read_dir(site).expect("the test made it").flatten();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap_or_default();
        (path, text)
    };
    entries.map(|entry| read(entry.path())).collect()
}

/// This is not a temporary file for a replacement.
fn is_report(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}

fn is_whole(path: &Path, text: &str) -> bool {
    !is_report(path)
        || text.ends_with('\n') && serde_json::from_str::<serde_json::Value>(text).is_ok()
}

/// True if a process has this in its environment.
fn is_running(word: &Path) -> bool {
    let word = word.as_os_str().as_encoded_bytes();
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("environ")).ok())
        .any(|text| text.windows(word.len()).any(|part| part == word))
}
