//! The recorded run of a tuned program: its traffic, its MPI, its launcher and its nodes, and whether its ranks can be
//! placed there.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use cartograph_core::machine::Machine;
use cartograph_jobs::launch::{Launch, Line, printed};
use cartograph_jobs::place::Means;
use cartograph_jobs::processes::{Input, job};
use cartograph_jobs::run::Inputs;
use cartograph_jobs::store::Key;
use cartograph_jobs::traffic::machine_of;
use cartograph_traffic::Recording;

use crate::output::{self, Failure, Progress, Result};
use crate::traffic;

/// The facts about a job.
pub(super) struct Recorded {
    pub(super) recording: Recording,
    pub(super) machine: Machine,
    /// The names of the nodes.
    pub(super) names: Vec<String>,
    pub(super) launch: Launch,
    /// The launcher's name, if it is known.
    pub(super) launcher: Option<&'static str>,
    /// The means to place ranks, or why there are none.
    pub(super) means: core::result::Result<Means, String>,
    /// The program in the store, if it can be read.
    pub(super) key: Option<Key>,
    pub(super) inputs: Inputs,
}

impl Recorded {
    /// Runs the program in the default order, records what it sends, and prints the facts.
    pub(super) fn of_run(
        (launch, line): (Launch, Option<Line>),
        input: &Input,
        longest: Duration,
        directory: &Path,
    ) -> Result<Self> {
        let inputs = Inputs::of(launch.programs.all());
        let directory = directory.join("run.traffic");
        let words = launch.under_exec(None, &["--record".into(), directory.clone().into()])?;
        let progress = Progress::of_run("recording a run");
        let run = job::run(&words, None, input, longest);
        drop(progress);
        let run = run?;
        if !run.has_succeeded() {
            let failure = Failure::new(format!("the recorded run {}", run.end()));
            let failure = match run.ended {
                Err(_) => failure.with_hint("--seconds sets this limit"),
                Ok(_) => failure,
            };
            return Err(input.explained(failure));
        }
        let recording = traffic::read(&directory).map_err(|failure| {
            failure.with_hint(
                "do all nodes share the store? set CARTOGRAPH_STORE to a directory that they share",
            )
        })?;
        let (machine, names) = machine_of(&recording).ok_or_else(|| {
            Failure::new("parts of the recording are missing: do all nodes share the store? set CARTOGRAPH_STORE to a \
                          directory that they share")
        })?;
        if names.len() < 2 {
            return Err(Failure::new(format!(
                "all {} processes run on {} (MPI_Get_processor_name): nothing to place on one node",
                recording.size, names[0]
            )));
        }
        let key = Key::of(&launch, None).ok();
        let mpi = &recording.mpi;
        let of_mpi = || {
            let (words, count) = (launch.baseline(), launch.launcher.len());
            Line::read(&words, Some(count), |launcher| printed(launcher, job::ask), Some(mpi))
        };
        let line = line.map_or_else(of_mpi, Ok);
        let launcher = line.as_ref().ok().map(|line| line.launcher.name);
        let means = line.map_err(|why| why.to_string()).and_then(|line| Means::of(&line, mpi));
        let recorded = Self { recording, machine, names, launch, launcher, means, key, inputs };
        output::print(&recorded.text())?;
        Ok(recorded)
    }

    /// The first words of `MPI_Get_library_version`.
    pub(super) fn mpi(&self) -> &str {
        self.recording.mpi.split([',', '\n']).next().unwrap_or_default().trim()
    }

    /// The name of the program's file.
    pub(super) fn program(&self) -> &str {
        let program = self.recording.program.split(' ').next().unwrap_or_default();
        program.rsplit('/').next().unwrap_or_default()
    }

    /// The facts in words.
    fn text(&self) -> String {
        let mut text = format!(
            "{} by {}: {} ranks on {}",
            self.mpi(),
            self.launcher.unwrap_or("an unknown launcher"),
            self.machine.ranks(),
            sizes(&self.machine.node_sizes())
        );
        for level in self.machine.above() {
            let _ = write!(text, ", {} {}", level.groups(), level.kind);
        }
        text + &match &self.means {
            Ok(means) => format!("\nranks can be placed by {}\n", means.words()),
            Err(why) => format!("\nranks cannot be placed: {why}\n"),
        }
    }
}

/// "4 nodes of 16", or the least and the most.
fn sizes(nodes: &[usize]) -> String {
    let least = nodes.iter().min().copied().unwrap_or_default();
    let most = nodes.iter().max().copied().unwrap_or_default();
    let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
    format!("{} nodes of {range}", nodes.len())
}
