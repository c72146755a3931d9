//! The MPI, the launcher and the nodes of a tuned job, and whether its ranks can be placed there.

use std::fmt::Write;
use std::path::Path;

use cartograph_core::machine::Machine;
use cartograph_traffic::Recording;
use serde_json::json;

use super::rounds::{Finding, Rounds};
use crate::output::{self, Result};
use crate::predict::Forecast;

/// The version of the JSON.
const SCHEMA: u32 = 1;

/// The facts about a job's machine.
pub(super) struct Here<'a> {
    pub(super) recording: &'a Recording,
    /// The launcher's name, if it is known.
    pub(super) launcher: Option<&'static str>,
    pub(super) machine: &'a Machine,
    /// The format of the file by which the launcher places ranks, or why it cannot.
    pub(super) placement: core::result::Result<&'static str, &'a str>,
}

impl Here<'_> {
    /// The first words of what `MPI_Get_library_version` says.
    fn mpi(&self) -> &str {
        self.recording.mpi.split([',', '\n']).next().unwrap_or_default().trim()
    }

    /// The facts in words.
    pub(super) fn text(&self) -> String {
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
        text + &match &self.placement {
            Ok(format) => {
                format!("\nranks can be placed by the launcher, with a rank file ({format})\n")
            }
            Err(why) => format!("\nranks cannot be placed by the launcher: {why}\n"),
        }
    }

    /// Writes all that was found out, without names of nodes and arguments.
    pub(super) fn write(
        &self,
        file: &Path,
        forecast: &Forecast,
        measured: Option<(&Rounds<'_>, &Finding<'_>)>,
    ) -> Result<()> {
        let link = forecast.link();
        let levels = self.machine.levels().iter();
        let levels: Vec<_> = levels
            .map(|level| json!({"level": level.kind.to_string(), "sizes": level.sizes()}))
            .collect();
        let value = json!({
            "schema": SCHEMA, "version": env!("CARGO_PKG_VERSION"), "program": program_name(self.recording), "mpi": self.mpi(),
            "launcher": self.launcher, "ranks": self.machine.ranks(), "levels": levels,
            "places_ranks": self.placement.is_ok(),
            "placement": self.placement.unwrap_or_else(|why| why),
            "network": {"latency": link.latency, "bandwidth": link.bandwidth},
            "unit": forecast.unit, "predicted": forecast.all, "measured": measured.map(|(rounds, _)| rounds.json()),
            "best": measured.and_then(|(_, finding)| Some(&finding.best?.0.order)),
        });
        output::write(file, &(value.to_string() + "\n"))
    }
}

/// "4 nodes of 16", or the least and the most.
fn sizes(nodes: &[usize]) -> String {
    let least = nodes.iter().min().copied().unwrap_or_default();
    let most = nodes.iter().max().copied().unwrap_or_default();
    let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
    format!("{} nodes of {range}", nodes.len())
}

/// The name of the program's file.
pub(super) fn program_name(recording: &Recording) -> &str {
    let program = recording.program.split(' ').next().unwrap_or_default();
    program.rsplit('/').next().unwrap_or_default()
}
