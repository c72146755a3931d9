//! Starts jobs in placements: through the launcher, the library, or a reordered MPI_COMM_WORLD.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use cartograph_core::launcher::line::Unreadable;
use cartograph_core::launcher::{Kind, Line, Placement};
use cartograph_core::machine::Machine;

use super::arm::{Arm, Way};
use crate::exec;
use crate::output::{self, Result};
use crate::runs::command::Launch;

/// Starts a command in different placements.
pub(crate) struct Placer {
    pub(crate) launch: Launch,
    /// The command line and how its launcher places ranks, or why it does not.
    by_launcher: core::result::Result<(Line, Placement), String>,
    /// Why MPI_COMM_WORLD cannot be reordered, if it cannot.
    pub(crate) no_world: Option<String>,
    /// A variable for the environment of a program whose grids are reordered.
    pub(crate) setting: Option<&'static str>,
}

/// The nodes of a job.
pub(crate) struct Job<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) names: &'a [String],
    /// The number of cores of a node, if ranks must not be bound to one core each.
    pub(crate) cores: Option<usize>,
}

/// The start of a job in a placement.
pub(crate) struct Start {
    pub(crate) launch: Launch,
    setting: Option<String>,
    options: Vec<OsString>,
    /// The text of the rank file.
    pub(crate) ranks: Option<String>,
}

impl Placer {
    /// Examines the launcher of a command, for a program of this MPI; `name` is the MPI named by the user.
    pub(crate) fn new(
        launch: Launch,
        line: core::result::Result<Line, Unreadable>,
        mpi: &str,
        name: Option<&str>,
    ) -> Self {
        let by_launcher = line.map_err(|why| why.to_string()).and_then(|line| {
            let placement = line.placement(mpi, |name| env::var(name).ok());
            placement.map(|placement| (line, placement)).map_err(|why| why.to_string())
        });
        let no_world = exec::check_world(launch.program(), name).err().map(|failure| failure.text);
        Self { launch, by_launcher, no_world, setting: None }
    }

    /// The name of the launcher's rank files, or why it does not place ranks.
    pub(crate) fn format(&self) -> core::result::Result<&'static str, &str> {
        let found = self.by_launcher.as_ref();
        found.map(|(_, placement)| placement.format.name()).map_err(String::as_str)
    }

    /// Why the launcher does not place ranks, if it does not.
    pub(crate) fn obstacle(&self) -> Option<&str> {
        self.format().err()
    }

    /// The start of a job in a placement, with a file of this name for its rank file or profile; or why that is
    /// impossible.
    pub(crate) fn start(
        &self,
        arm: &Arm,
        job: &Job<'_>,
        file: &Path,
    ) -> Result<core::result::Result<Start, String>> {
        let mut start = Start::of(self.launch.clone());
        start.setting = arm.combines.then(|| "CARTOGRAPH_COMBINE=on".to_owned());
        let mut reorder = arm.combines.then_some("off");
        match &arm.way {
            Way::Own => {}
            Way::Launcher => {
                let (line, placement) = match &self.by_launcher {
                    Ok(found) => found,
                    Err(why) => return Ok(Err(why.clone())),
                };
                let text = match placement.format.write(&arm.node_of, job.names) {
                    Ok(text) => text,
                    Err(why) => return Ok(Err(why)),
                };
                // Open MPI 4 has no other way to bind no rank: its rank file has precedence.
                let text = match (placement.kind, job.cores) {
                    (Kind::Orterun, Some(cores)) => on_any_core(&text, cores),
                    _ => text,
                };
                output::write(file, &text)?;
                let placement = Placement { unbound: job.cores.is_some(), ..placement.clone() };
                let line = line.placed(&placement, file.as_os_str(), &text, arm.node_of.len());
                start.launch = line.into();
                start.ranks = Some(text);
            }
            Way::World => {
                reorder = None;
                let program = Path::new(self.launch.program()).file_name().unwrap_or_default();
                output::write(file, &arm.profile(&program.to_string_lossy(), job.machine, None))?;
                start.options.extend(["--profile".into(), file.into()]);
            }
            Way::Weights(weights) => {
                reorder = Some("on");
                let weights = weights.iter().map(OsString::from);
                start.options.extend(weights.flat_map(|weights| ["--weights".into(), weights]));
                start.setting = start.setting.or(self.setting.map(str::to_owned));
            }
            Way::Dims(sides) => {
                reorder = Some("on");
                start.setting = Some(format!("CARTOGRAPH_DIMS={sides}"));
            }
        }
        if let Some(word) = reorder {
            start.options.extend(["--reorder".into(), word.into()]);
        }
        Ok(Ok(start))
    }

    /// The words by which users start `program` with a rank file for this job, and whether the file has the names of
    /// nodes.
    pub(crate) fn usage(
        &self,
        file: &Path,
        job: &Job<'_>,
        program: &str,
    ) -> Option<(String, bool)> {
        let (line, placement) = self.by_launcher.as_ref().ok()?;
        let text = format!("$(cat {})", file.display());
        let placement = Placement { unbound: job.cores.is_some(), ..placement.clone() };
        let line = line.placed(&placement, file.as_os_str(), &text, job.machine.ranks());
        let line = Line { program: vec![program.into()], ..line };
        Some((line.to_string(), placement.format.takes_names()))
    }
}

impl Start {
    /// The start of a job in the default order.
    pub(crate) fn of(launch: Launch) -> Self {
        Self { launch, setting: None, options: Vec::new(), ranks: None }
    }

    /// The command line, with these options for `cartograph exec`.
    pub(crate) fn words(&self, options: &[OsString]) -> Result<Vec<OsString>> {
        let options = [options, &self.options].concat();
        self.launch.under_exec(self.setting.as_deref(), &options)
    }
}

/// Open MPI 4's rank file with ranks on any core of their node: it ends if a core does not exist, and a rank may have
/// threads.
fn on_any_core(text: &str, cores: usize) -> String {
    let slot = |line: &str| {
        let rank = line.split(" slot=").next().unwrap_or_default();
        format!("{rank} slot=0-{}\n", cores.max(1) - 1)
    };
    text.lines().map(slot).collect()
}
