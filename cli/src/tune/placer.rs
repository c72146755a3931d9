//! Starts ranks in another order: with the launcher if it can place them, otherwise by reordering MPI_COMM_WORLD.

use std::env;
use std::path::Path;

use cartograph_core::launcher::{Format, Line, Placement};
use cartograph_core::machine::Machine;

use crate::exec;
use crate::output::{self, Result};
use crate::runs::command::Launch;

/// How a launcher places ranks, if known.
pub(super) struct Placer {
    /// The line and how it places ranks, or why it does not.
    by_launcher: core::result::Result<(Line, Placement), String>,
    /// Why MPI_COMM_WORLD cannot have another order.
    pub(super) no_world: Option<String>,
}

impl Placer {
    /// Examines the launcher of a command, for a program of this MPI; `name` is the launcher named by the user.
    pub(super) fn new(launch: &Launch, mpi: &str, name: Option<&str>) -> Self {
        let by_launcher = launch.line(mpi).map_err(|why| why.to_string()).and_then(|line| {
            let placement = line.placement(mpi, |name| env::var(name).ok());
            placement.map(|placement| (line, placement)).map_err(|why| why.to_string())
        });
        let no_world = exec::check_world(launch.program(), name).err().map(|failure| failure.text);
        Self { by_launcher, no_world }
    }

    /// The launch in which rank `r` starts on node `node_of[r]`, with the rank file's text and how to pass it; or why the
    /// launcher cannot place ranks.
    pub(super) fn place(
        &self,
        node_of: &[u32],
        names: &[String],
        machine: &Machine,
        file: &Path,
    ) -> Result<core::result::Result<(Placed, String), String>> {
        let (line, placement) = match &self.by_launcher {
            Ok(found) => found,
            Err(why) => return Ok(Err(why.clone())),
        };
        let text = match placement.format.write(node_of, names) {
            Ok(text) => text,
            Err(why) => return Ok(Err(why)),
        };
        let text = match placement.format {
            Format::Openmpi => widened(text, machine),
            _ => text,
        };
        output::write(file, &text)?;
        let placed = Placed { line: line.clone(), placement: *placement, ranks: node_of.len() };
        Ok(Ok((placed, text)))
    }
}

/// A line whose launcher places ranks with a rank file.
#[derive(Clone)]
pub(crate) struct Placed {
    line: Line,
    placement: Placement,
    ranks: usize,
}

impl Placed {
    /// The line with the file of this name and text.
    pub(super) fn with(&self, file: &Path, text: &str) -> Line {
        self.line.placed(self.placement, file.as_os_str(), text, self.ranks)
    }

    /// Returns whether the file has the names of nodes.
    pub(super) fn names_nodes(&self) -> bool {
        self.placement.format.takes_names()
    }

    /// The words by which users start `program` with the file.
    pub(super) fn usage(&self, file: &Path, program: &str) -> String {
        let line = self.with(file, &format!("$(cat {})", file.display()));
        let program = vec![program.into()];
        Line { program, ..line }.to_string()
    }
}

/// A rank file whose ranks may be on any core of nodes like this one, if these have fewer cores than ranks: Open MPI ends
/// if a core does not exist.
fn widened(text: String, machine: &Machine) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if machine.node_sizes().iter().all(|size| *size <= cores) {
        return text;
    }
    let slot = |line: &str| {
        let rank = line.split(" slot=").next().unwrap_or_default();
        format!("{rank} slot=0-{}\n", cores - 1)
    };
    text.lines().map(slot).collect()
}
