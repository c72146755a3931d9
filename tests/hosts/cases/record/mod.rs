//! Recordings contain what the program has sent, message by message: in C and Fortran, with threads, with tools on
//! either side and Cartograph after them, and for jobs that do not complete. Existing files do not change.

mod kept;
mod limited;
mod parts;
mod patterns;
mod tools;
mod wrapped;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

use super::Outcome;
use super::exec::command;
use crate::session::{Session, count, word};
use crate::testlist::top;
use parts::Parts;

/// The mark of a process's last part.
const COMPLETE: &str = "\"complete\":true";

struct Recorder<'a, 'b> {
    session: &'a mut Session<'b>,
    /// The directory of recordings.
    traffic: PathBuf,
    /// The recorder to preload for every MPI that has the host's functions.
    library: PathBuf,
    /// `record.c`, which prints what must be in the recording, as most programs here do.
    program: String,
    /// `record_more.c`.
    more: String,
}

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    session.preloaded.clear();
    let (kind, defines) = wrapped::check(&mut session);
    let options = [&["-pthread"][..], &defines].concat();
    let program = session.compile("record", "c_tests/record/record.c", &options);
    let more = session.compile("more", "c_tests/record/record_more.c", &["-pthread"]);
    let mut recorder = Recorder {
        traffic: session.work("traffic"),
        library: top().join(format!("build/lib/cartograph/record-{kind}.so")),
        program: word(&program).to_owned(),
        more: word(&more).to_owned(),
        session: &mut session,
    };
    recorder.counted();
    recorder.patterns();
    recorder.callbacks();
    recorder.clock();
    recorder.window()?;
    recorder.beside_others();
    recorder.threads_and_children();
    recorder.without_an_end();
    recorder.tools();
    recorder.fortran();
    if !recorder.session.host.shortened {
        recorder.existing_files_stay()?;
    }
    if recorder.session.host.checks_all {
        recorder.limited();
    }
    session.verdict()
}

impl Recorder<'_, '_> {
    /// Runs processes of a program under the recorder, with the existing files.
    fn again(&mut self, processes: u32, program: &[&str]) -> bool {
        let command = command();
        let exec = [word(&command), "exec", "--record", word(&self.traffic)];
        self.session.run(processes, &[], &[&exec, program].concat())
    }

    /// Runs processes of a program under the recorder, without existing files.
    fn recorded(&mut self, processes: u32, program: &[&str]) -> bool {
        self.clear();
        self.again(processes, program)
    }

    /// Runs processes with these libraries preloaded, the recorder among them.
    fn preloading(&mut self, libraries: &[&Path], processes: u32, program: &[&str]) -> bool {
        self.clear();
        let setting = format!("CARTOGRAPH_RECORD={}", self.traffic.display());
        self.session.preloaded = libraries.iter().map(|path| path.to_path_buf()).collect();
        let ran = self.session.run(processes, &[&setting], program);
        self.session.preloaded.clear();
        ran
    }

    fn clear(&self) {
        let _ = match self.traffic.is_symlink() {
            true => fs::remove_file(&self.traffic),
            false => fs::remove_dir_all(&self.traffic),
        };
    }

    /// True if the recording of this number of processes has what each of them printed; otherwise the difference is
    /// shown.
    fn same(&mut self, processes: u32) -> bool {
        let parts = Parts::read(&self.traffic);
        let mut same = parts.ranks().eq(0..processes);
        for rank in 0..processes {
            let start = format!("{rank} {{");
            let printed = self.session.out.lines().filter(|line| line.starts_with(&start));
            let mut printed: Vec<_> =
                printed.map(|line| line[start.len() - 1..].to_owned()).collect();
            printed.sort();
            let recorded = parts.messages(rank);
            if printed.is_empty() || printed != recorded {
                same = false;
                self.session.err += &format!("rank {rank} has sent {printed:?}, not {recorded:?}");
            }
        }
        same
    }

    /// The lines of all files of the recording that contain this text.
    fn lines(&self, pattern: &str) -> usize {
        count(&parts::text(&self.traffic), pattern)
    }

    /// True if `cartograph show` prints a matching line for the recording.
    fn shows(&mut self, pattern: &str) -> bool {
        self.session.finish(Command::new(command()).arg("show").arg(&self.traffic));
        count(&self.session.out, pattern) > 0
    }

    /// A program that sends while the host copies a communicator's attributes loses none of its messages.
    fn callbacks(&mut self) {
        let program = self.session.compile("callbacks", "c_tests/lifetime/callbacks.c", &[]);
        let program = word(&program);
        let ran = self.session.run(2, &[], &[program]);
        let bare = std::mem::take(&mut self.session.out);
        let right = ran && self.recorded(2, &[program]) && self.session.out == bare;
        self.session.check("attributes are kept if their callbacks send messages", right);
    }

    fn check_counted(&mut self, what: &str, processes: u32, program: &str) {
        let ran = self.recorded(processes, &[program]);
        let right = ran && self.session.is_quiet() && self.same(processes);
        self.session.check(what, right);
    }

    fn counted(&mut self) {
        let program = self.program.clone();
        let numbers = if self.session.host.shortened { &[2, 5][..] } else { &[2, 4, 5] };
        for &processes in numbers {
            let what = format!("each message of {processes} processes is counted once");
            self.check_counted(&what, processes, &program);
        }
        let parts = Parts::read(&self.traffic);
        for (what, pattern) in [
            (
                "other collectives are counted as calls",
                r#"^\{"collective":\{"function":"MPI_Allreduce","calls":2,"nanoseconds":[1-9][0-9]*\}\}$"#,
            ),
            ("each of them", r#""function":"MPI_Bcast","calls":1,"#),
            (
                "grids are noted",
                r#"^\{"grid":\{"function":"MPI_Cart_create","dims":\[5\],"periodic":\[true\],"reorder":false,"rank":3,"first":0\}\}$"#,
            ),
            ("the part says that it is whole", r#""rank":3,"size":5,.*"part":0,"complete":true"#),
        ] {
            self.session.check(what, parts.has(3, pattern));
        }
        // Rank 0 sends 3 bytes to one of the two other processes.
        let mean = r#""function":"MPI_Alltoallv","group":[0-9]*,"size":3,"bytes":1\}"#;
        self.session.check("empty blocks count in the mean of an all-to-all", parts.has(0, mean));
        let work = |parts: &Parts| (0..5).map(|rank| parts.work(rank)).collect::<Vec<_>>();
        let pattern = |parts: &Parts| (0..5).map(|rank| parts.pattern(rank)).collect::<Vec<_>>();
        let patterns = pattern(&parts);
        let all = work(&parts);
        let sums = (0..5).zip(&all).all(|(rank, work)| work.starts_with(&parts.sum(rank)));
        self.session.check("the work is the sum of all messages", sums);
        let files = fs::read_dir(&self.traffic).into_iter().flatten().count();
        self.session.check("the processes of a node share a file", files == 1);
        let shown = self.shows("MPI_Cart_create: grid 5, periodic 1$");
        self.session.check("cartograph show reads the recording", shown);

        self.clear();
        let command = command();
        let exec = [word(&command), "exec", "--record", word(&self.traffic), "--limited", "work"];
        let ran = self.session.run(5, &[], &[&exec, &[&*program][..]].concat());
        let again = Parts::read(&self.traffic);
        let right = ran && self.session.is_quiet();
        let right = right && work(&again) == all && pattern(&again) == patterns;
        let right = right && self.lines("\"lines\":0}") == 5;
        self.session.check("exactly the work is recorded", right);

        self.clear();
        let ran = self.session.run(
            2,
            &["SLURM_TOPOLOGY_ADDR=s0.n0", "SLURM_TOPOLOGY_ADDR_PATTERN=switch.node"],
            &[word(&command), "exec", "--record", word(&self.traffic), &program],
        );
        let address = r#""host":"[^"]*","address":\{"path":"s0.n0","pattern":"switch.node"\},"#;
        let right = ran && self.same(2) && Parts::read(&self.traffic).has(1, address);
        self.session.check("Slurm's switches are recorded", right);
    }

    /// Only the time of each process is recorded.
    fn clock(&mut self) {
        let directory = self.session.work("clock");
        for options in [&[][..], &["--reorder", "on"]] {
            let _ = fs::remove_dir_all(&directory);
            let command = command();
            let exec = [word(&command), "exec", "--clock", word(&directory)];
            let ran = self.session.run(2, &[], &[&exec, options, &[&self.program]].concat());
            let text = parts::text(&directory);
            let times = r#""complete":true,"nanoseconds":[1-9][0-9]*,"lines":0\}\}$"#;
            let right = count(&text, times) == 2 && count(&text, ".") == 2;
            let right = ran && right && self.session.is_quiet();
            self.session.check(&format!("the time of a run is noted alone {options:?}"), right);
        }
    }

    /// The first calls in order, without times and the number of the group; rank 1 is late by 0.3 s.
    fn window(&mut self) -> Result<(), String> {
        let program =
            self.session.compile("window", "c_tests/record/record_window.c", &["-pthread"]);
        let ran = self.recorded(2, &[word(&program)]);
        self.session.check("the program with a window runs", ran);
        let parts = Parts::read(&self.traffic);
        let times = Regex::new(r"\[([0-9]*),[0-9]*\]([\],])").expect("a pattern");
        let group = Regex::new(r#""group":[0-9]*,"#).expect("a pattern");
        for rank in 0..2 {
            let window = parts.captured(rank, r#"^\{"window":\{"nanoseconds":[0-9]*,(.*)$"#);
            let window = times.replace_all(&window, "$1$2");
            let file = top().join(format!("c_tests/record/window{rank}.json"));
            let expected = fs::read_to_string(file).map_err(|error| error.to_string())?;
            self.session.out = group.replace_all(&window, "").into_owned();
            let right = self.session.out == expected.trim_end();
            self.session.check(&format!("the first calls of rank {rank} in their order"), right);
        }
        let waited = parts.captured(0, r#"^\{"waited":\{"on":1,"nanoseconds":([0-9]*)\}\}$"#);
        let right = waited.parse().is_ok_and(|nanoseconds: u64| nanoseconds > 250_000_000);
        self.session.check("the awaited process is recorded", right);
        Ok(())
    }

    fn threads_and_children(&mut self) {
        let more = self.more.clone();
        let ran = self.recorded(2, &[&more, "threads"]);
        let none = self.session.out.lines().any(|line| line == "no threads");
        let right = ran && (none || self.same(2));
        self.session.check("the messages of all threads are recorded", right);
        let fork = self.session.compile("fork", "c_tests/record/record_fork.c", &["-pthread"]);
        let ran = self.recorded(1, &[word(&fork)]);
        let ended = self.session.out.lines().any(|line| line == "all children ended");
        let right = ran && ended && self.lines("\"rank\":0") > 0;
        self.session.check("children of a process with threads end", right);
    }

    /// Recordings of running jobs, and of jobs that do not complete.
    fn without_an_end(&mut self) {
        // The program advances the clock by which parts are written.
        let source = "c_tests/record/record_clock.c";
        let clock = self.session.compile("clock.so", source, &["-pthread", "-fPIC", "-shared"]);
        let (library, more) = (self.library.clone(), self.more.clone());
        let hurried = [&*library, &*clock];
        let ran = self.preloading(&hurried, 2, &[&more, "parts"]);
        let right = ran && self.session.is_quiet() && self.same(2);
        let right = right && self.lines("\"part\":[01],") == 4 && self.lines(COMPLETE) == 2;
        let right = right && self.shows("^sent to others: 212 messages, 212 B$");
        self.session.check("each part has the counts since the last one", right);
        // The launcher reports that processes were killed.
        let ended = self.preloading(&hurried, 2, &[&more, "killed"]);
        let right = !ended && self.same(2) && self.lines(COMPLETE) == 0;
        self.session.check("a killed job leaves its earlier parts", right);
        // A launcher may kill one process as soon as another has ended in this way: then the run is repeated.
        let right = (0..5).any(|_| {
            self.recorded(2, &[&more, "exit"]);
            self.same(2)
        });
        let right = right && self.lines(COMPLETE) == 0;
        self.session.check("a job without MPI_Finalize is recorded completely", right);
    }

    fn fortran(&mut self) {
        let source = "c_tests/record/record_fortran.F90";
        if self.session.host.compiler(source.as_ref()).is_none() {
            return;
        }
        for (number, module) in
            ["include 'mpif.h'", "use mpi", "use mpi_f08"].into_iter().enumerate()
        {
            let modules = self.session.work("");
            let options = [&format!("-DMODULE={number}"), "-J", word(&modules)];
            let program = self.session.compile(&format!("fortran{number}"), source, &options);
            self.check_counted(&format!("Fortran, {module}"), 4, word(&program));
        }
    }
}
