//! Jobs that keep ranks: those whose processes differ or have the profile of another program, children, and programs
//! that use only sessions.

use std::io::{BufRead, BufReader};
use std::mem;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{list, ordered, profile};
use crate::session::{Session, word};

/// All keep their ranks if processes differ or there is no valid order, and one line gives the reason.
pub(super) fn differing(session: &mut Session<'_>, program: &Path) {
    let same = "0,1,2,3";
    let program = word(program);
    let file = session.work("file");
    let file = word(&file);
    let says =
        |session: &mut Session<'_>, what: &str, setting: &str, program: &[&str], words: &str| {
            let ran = session.run(4, &[setting], program);
            let said = session.said(words) == 1 && session.said("cartograph: ") == 1;
            session.check(what, ran && said);
        };
    let faults: [(&str, &[u32], &str); 4] = [
        (
            "another number",
            &[0, 2, 1],
            "is for 3 processes, but the job has 4; world order unchanged",
        ),
        (
            "a rank twice",
            &[0, 2, 2, 1],
            "has no order in which rank 0 stays and each rank comes once",
        ),
        ("rank 0 elsewhere", &[1, 0, 2, 3], "has no order in which rank 0 stays"),
        ("too large a rank", &[0, 1, 2, 4], "has no order in which rank 0 stays"),
    ];
    for (what, order, words) in faults {
        let setting = ordered(session, order);
        says(session, what, &setting, &[program, same, file], words);
    }
    let nodes = profile(session, "world", &[0, 2, 1, 3], &[0, 0, 1, 1]);
    let setting = format!("CARTOGRAPH_WORLD={}", nodes.display());
    says(session, "other nodes", &setting, &[program, same, file], "is for ranks on other nodes");
    let missing = format!("CARTOGRAPH_WORLD={}", session.work("none.json").display());
    says(session, "no file", &missing, &[program, same, file], "none.json cannot be read: ");
    let empty = "CARTOGRAPH_WORLD=";
    says(
        session,
        "no profile",
        empty,
        &[program, same, file],
        "rank 0 has no profile for this job; world order unchanged",
    );
    let setting = ordered(session, &[0, 3, 2, 1]);
    let but = "if [ \"${PMI_RANK-$OMPI_COMM_WORLD_RANK}\" = 2 ]; then unset CARTOGRAPH_WORLD; fi; exec \"$@\"";
    let one = ["sh", "-c", but, "sh", program, same, file];
    says(
        session,
        "one process without",
        &setting,
        &one,
        "1 of 4 processes were started without the profile",
    );
    session.runs("one process", 1, &[&setting], &[program, "0", file]);

    // Several programs.
    let with = format!("env {} {setting}", session.preload());
    let mut command = session.launcher(2);
    command.args(with.split(' ')).args([program, same, file]).args([":", "-n", "2"]);
    let ran = session.finish(command.args(with.split(' ')).args([program, same, file]));
    let said = session.said("cartograph: .*world order unchanged") == 1;
    session.check("two programs", ran && said);
    // Neither has the library.
    let mut command = session.launcher(2);
    command.args([program, same, file, ":", "-n", "2", program, same, file]);
    let ran = session.finish(&mut command);
    session.check("two programs without it", ran && session.said("cartograph") == 0);
}

/// Jobs that wait for a process without the library: they run alongside the other checks.
pub(super) struct Waiting(Vec<(&'static str, JoinHandle<String>)>);

impl Waiting {
    /// Starts a job with a process that lacks the library, and one with two programs, only one of which has it. Open
    /// MPI tells processes about the second, so they do not wait.
    pub(super) fn begin(session: &mut Session<'_>) -> Self {
        let wait = session.compile("wait", "c_tests/world/wait.c", &[]);
        let mut jobs = Vec::new();
        let setting = ordered_for_itself(session, &[0, 2, 1]);
        let but = "if [ \"${PMI_RANK-$OMPI_COMM_WORLD_RANK}\" = 2 ]; then unset LD_PRELOAD; fi; exec \"$@\"";
        let mut job = session.launcher(3);
        job.args(["env", &session.preload(), &setting, "sh", "-c", but, "sh", word(&wait)]);
        jobs.push(("a process lacks the library", job));
        if !session.host.name.starts_with("openmpi") {
            let setting = ordered_for_itself(session, &[0, 3, 2, 1]);
            let mut job = session.launcher(2);
            job.args([word(&wait), ":", "-n", "2", "env", &session.preload(), &setting]).arg(wait);
            jobs.push(("one of two programs lacks the library", job));
        }
        let begin = |(what, mut job): (_, Command)| {
            job.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
            let mut job = job.spawn().expect("the launcher starts");
            (what, thread::spawn(move || until_told(&mut job)))
        };
        Self(jobs.into_iter().map(begin).collect())
    }

    /// One line says that they wait.
    pub(super) fn end(self, session: &mut Session<'_>) {
        for (what, job) in self.0 {
            session.err = job.join().expect("it does not panic");
            let lines = session.said(WAITS);
            let but = session.said("some processes run without libcartograph_world");
            session.check(what, (lines, but) == (1, 1));
        }
    }
}

/// The beginning of the line with which a process reports that it waits.
const WAITS: &str = "cartograph: MPI_Init has been waiting for 10 s: ";

/// Reads a job's stderr, and ends the job soon after the first line that reports waiting: waiting processes take a
/// processor. Other processes have time to print the line too.
fn until_told(job: &mut Child) -> String {
    let mut text = String::new();
    let mut told = false;
    let stderr = BufReader::new(job.stderr.take().expect("it is piped"));
    for line in stderr.lines().map_while(Result::ok) {
        if line.starts_with(WAITS) && !mem::replace(&mut told, true) {
            thread::sleep(Duration::from_secs(2));
            // `timeout` passes the signal on.
            let _ = Command::new("kill").arg(job.id().to_string()).status();
        }
        text += &line;
        text.push('\n');
    }
    let _ = job.wait();
    text
}

/// Like `ordered`, with a file that the next order does not touch.
fn ordered_for_itself(session: &Session<'_>, order: &[u32]) -> String {
    let (from, to) = (ordered(session, order), session.work(&format!("{}.json", order.len())));
    let from = from.split_once('=').map_or("", |(_, file)| file);
    std::fs::rename(from, &to).expect("the test's own directory can be written");
    format!("CARTOGRAPH_WORLD={}", to.display())
}

/// Only one of two programs has the library: Open MPI tells processes that there are two, and all keep their ranks.
pub(super) fn lacking_in_one_program(session: &mut Session<'_>, program: &Path) {
    if !session.host.name.starts_with("openmpi") {
        return;
    }
    let setting = ordered(session, &[0, 3, 2, 1]);
    let file = session.work("file");
    let program = [word(program), "0,1,2,3", word(&file)];
    let mut command = session.launcher(2);
    command.args(["env", &session.preload(), &setting]).args(program);
    let ran = session.finish(command.args([":", "-n", "2"]).args(program));
    let said = session.said("MPMD job; world order unchanged") == 1;
    session.check("one of two programs has the library", ran && said);
}

/// Children keep their ranks, and see their parents in the new order. Skipped if the host itself cannot start children
/// here.
pub(super) fn spawned(session: &mut Session<'_>) {
    let program = session.compile("world_spawn", "c_tests/world/world_spawn.c", &[]);
    let with = std::mem::take(&mut session.preloaded);
    session.seconds = 5;
    let starts = session.run(3, &[], &[word(&program), "0,1,2"]);
    session.preloaded = with;
    if starts {
        let order = [0, 2, 1];
        let setting = ordered(session, &order);
        // On a busy machine, MPICH 5 hangs in MPI_Comm_spawn even without Cartograph: 15 of 24 runs at six jobs at
        // once. `timeout` ends such a run with 124.
        let passed = (0..6).any(|_| {
            session.run(3, &[&setting], &[word(&program), &list(&order)]) || session.code != 124
        });
        let passed = passed && session.code == 0;
        session.check("children", passed);
        session.check("nothing is said of children", session.is_quiet());
    }
    session.seconds = 120;
}

pub(super) fn sessions_alone(session: &mut Session<'_>) {
    let program = session.compile("world_sessions", "c_tests/world/world_sessions.c", &[]);
    let setting = ordered(session, &[0, 2, 1]);
    session.runs("sessions without MPI_Init", 3, &[&setting], &[word(&program)]);
}
