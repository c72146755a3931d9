//! Launchers and a store for tests: the surroundings of a job.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use cartograph_core::machine::Machine;
use cartograph_traffic::{Count, Edge, Recording, Topology};

use super::super::super::nodes_of_ranks;
use super::super::*;
use crate::error;
use crate::launch::binding::Binding;
use crate::learn::{Entry, Past, Seen};
use crate::place::traffic;
use crate::processes::Question;

pub(super) const OPENMPI: &str = "mpiexec (OpenRTE) 4.1.4";
pub(super) const HYDRA: &str = "HYDRA build details:\n    Version: 4.0.2";

/// A launcher.
pub(super) struct Around {
    pub(super) ranks: usize,
    pub(super) version: &'static str,
    /// The number of processes of each node; none if it does not start `cartograph where`.
    pub(super) of_node: usize,
    /// The launcher's answer to rank files.
    pub(super) rank_files: RankFiles,
    /// True if it binds the processes of a node to two NUMA domains in turn.
    pub(super) has_domains: bool,
    pub(super) records: bool,
    pub(super) asked: Cell<usize>,
    /// The number of times that its version was asked for, and the time that it takes to print it.
    pub(super) versions: Cell<usize>,
    pub(super) takes: Duration,
}

pub(super) enum RankFiles {
    Followed,
    /// Then processes have fewer CPUs.
    Narrowed,
    Ignored,
    Rejected,
}

impl Default for Around {
    fn default() -> Self {
        let rank_files = RankFiles::Followed;
        Self {
            ranks: 16,
            version: OPENMPI,
            of_node: 4,
            rank_files,
            has_domains: false,
            records: true,
            asked: Cell::new(0),
            versions: Cell::new(0),
            takes: Duration::ZERO,
        }
    }
}

impl Surroundings for Around {
    fn ask(&self, question: &Question<'_>) -> Result<String, String> {
        let words = question.words;
        if words.last().is_some_and(|word| word == "--version") {
            self.versions.set(self.versions.get() + 1);
            thread::sleep(self.takes);
            return Ok(self.version.to_owned());
        }
        self.asked.set(self.asked.get() + 1);
        let rank_file = words.iter().filter_map(|word| fs::read_to_string(word).ok());
        let rank_file = { rank_file }.find(|text| text.starts_with("rank 0=n"));
        let node = |rank: usize| match (&rank_file, &self.rank_files) {
            (Some(_), RankFiles::Rejected) => None,
            (Some(text), RankFiles::Followed | RankFiles::Narrowed) => {
                let (_, node) = text.lines().nth(rank)?.split_once("=n")?;
                node.split(" ").next()
            }
            _ => ["0", "1", "2", "3", "4", "5", "6", "7"]
                .get(rank.checked_div(self.of_node)?)
                .copied(),
        };
        let binding = words.iter().find_map(|word| Binding::read(word.as_ref()));
        let line = |rank| {
            let node = node(rank)?;
            // Each process of a node has its own CPU.
            let own = rank % self.of_node;
            let cpus = match (&binding, &self.rank_files) {
                (Some(_), RankFiles::Narrowed) => "0".to_owned(),
                (Some(binding), _) => binding.of(rank)?.to_owned(),
                (None, _) => own.to_string(),
            };
            let numa =
                if self.has_domains { format!(",\"numa\":{}", own % 2) } else { String::new() };
            Some(format!(
                "{{\"cartograph_where\":{rank},\"size\":{},\"host\":\"n{node}\",\"cpus\":\"{cpus}\",\"cores\":4{numa}}}\n",
                self.ranks
            ))
        };
        let all: Option<String> = (0..self.ranks).map(line).collect();
        all.ok_or_else(|| "exit code 1".to_owned())
    }

    fn check_recorder(&self, _: &[OsString]) -> error::Result<()> {
        if self.records { Ok(()) } else { Err(error::Failure::new("there is no recorder")) }
    }
}

/// A directory with a store, launchers and a program, which are only found.
pub(super) struct Bench(pub(super) tempfile::TempDir);

impl Bench {
    pub(super) fn new() -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        for name in ["mpiexec", "srun", "program", "other"] {
            let file = bench.0.path().join(name);
            fs::write(&file, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let [one, other] = ["program", "other"].map(|name| bench.0.path().join(name));
        let programs = format!("0-7 {} a\n* {}\n", one.display(), other.display());
        fs::write(bench.0.path().join("programs"), programs).unwrap();
        bench
    }

    pub(super) fn store(&self) -> Result<Store, String> {
        Store::at(self.0.path().join("store"))
    }

    /// The decision about a line, in which `@` stands for the directory.
    pub(super) fn decide(&self, line: &str, around: &Around) -> Job {
        self.decide_with(line, self.store(), around)
    }

    pub(super) fn decide_with(
        &self,
        line: &str,
        store: Result<Store, String>,
        around: &Around,
    ) -> Job {
        let line = line.replace('@', &format!("{}/", self.0.path().display()));
        let (no_trial, line) = match line.strip_prefix("--no-trial ") {
            Some(line) => (true, line),
            None => (false, &line[..]),
        };
        let command: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let request = Request { command: &command, name: None, no_trial, are_devices_local: false };
        let job = Job::decide(&request, store, around);
        assert!(job.lesson.is_ok() || job.words == command, "{line}");
        job
    }

    /// Records a first job in which each rank exchanged messages with the ranks at this distance.
    pub(super) fn record(&self, line: &str, apart: u32) {
        let lesson = self.decide(line, &Around::default()).lesson.unwrap();
        let mut recording = Recording { size: 16, nanoseconds: 1_000, ..Recording::default() };
        for (from, to) in (0..16).flat_map(|from| [(from, from + apart), (from + apart, from)]) {
            let count = Count { messages: 1, bytes: 1_000_000 };
            recording.edges.extend((from.max(to) < 16).then_some(Edge { from, to, count }));
        }
        let grid = |function: &str| Topology::new(function, &[4, 4], &[false; 2]);
        recording.topologies = ["MPI_Cart_create", "MPI_Dims_create"].map(grid).to_vec();
        recording.waits.extend((0..16).map(|rank| ((rank, None), 500)));
        let note = |entry: &mut Entry| {
            let traffic = Some(traffic(&recording));
            let (digest, build) = (Some(lesson.inputs.digest(&[])), lesson.key.id());
            let noted =
                entry.note(Seen { digest, build, traffic, ..Seen::default() }, &lesson.guess);
            let shape = lesson.key.shape(&Machine::blocks(&[4; 4]));
            let run = Past {
                kind: noted.kind,
                units: 1.0,
                shape,
                nodes: 4,
                seconds: 10.0,
                ..Past::default()
            };
            entry.add(Past { is_first: true, predicted: 1.0, ..run });
            entry.nodes = nodes_of_ranks(&Machine::blocks(&[4; 4]));
        };
        lesson.store.update(&lesson.key, 16, note).unwrap();
    }
}
