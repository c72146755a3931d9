//! The entry of a program: the facts learned about it, in a file of the store.

use cartograph_shim::splitmix::mix;
use serde::{Deserialize, Serialize};

use super::devices::Devices;
use super::kind::Kind;

/// The version of the format. It increases when a field changes its meaning or is removed, not when one is added.
pub const SCHEMA: u32 = 4;

/// The most runs that are kept; sums cover all runs.
const MOST_RUNS: usize = 300;

/// The most arguments that are known to name files that jobs write.
const MOST_OUTPUTS: usize = 100;

/// The most numbers of builds and paths that are kept.
const MOST_ORIGINS: usize = 100;

/// The most failures that are kept.
const MOST_FAILED: usize = 100;

/// The facts learned about a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The name of the program's file, or the user's name for it.
    pub program: String,
    /// A number for the last build.
    pub build: String,
    /// The number of processes.
    pub processes: u32,
    /// The MPI's name and version, once a run was recorded.
    pub mpi: String,
    /// The nodes of its processes in the launcher's order when it last ran there, if ranks are placed by relays: the text
    /// of a [`Mapping`](crate::pmi::Mapping).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub nodes: String,
    /// Where the knowledge for its first job came from, such as "the site" or "16 ranks"; empty if that was recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub started_from: String,
    /// The devices that its ranks used, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Devices>,
    /// The kinds of work that its runs did.
    #[serde(default)]
    pub kinds: Vec<Kind>,
    /// The number of the next kind.
    #[serde(default)]
    pub(super) next_id: u32,
    /// The numbers of the builds and of the paths that the program had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) origins: Vec<u64>,
    /// The numbers of arguments that name files that jobs write: these are not inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<u64>,
    /// The last runs, oldest first.
    #[serde(default)]
    pub runs: Vec<Past>,
    /// The sums of all runs.
    #[serde(default)]
    pub totals: Totals,
    /// The placements in which the program failed since it last failed in the default order, each with the number of
    /// runs that were completed before.
    #[serde(default)]
    pub(super) failed: Vec<(String, u64)>,
}

/// A build of a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Build {
    /// A number for its content.
    pub id: u64,
    /// A number for its path.
    pub place: u64,
}

/// A completed run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// Its kind of work.
    pub kind: u32,
    /// Its work relative to that of the kind's first run.
    pub units: f64,
    /// The placement; empty for the default order.
    pub order: String,
    /// The kind of work that the placement was made for.
    pub made_for: u32,
    /// Its predicted gain; 1 for the default order.
    pub predicted: f64,
    /// The shape of the nodes in the default order and the build, as computed by [`shape`]: only runs of one build are
    /// compared with each other.
    pub shape: u64,
    /// The number of nodes; 0 for a run elsewhere, of another user or with another number of processes.
    pub nodes: u32,
    /// The time from `MPI_Init` to `MPI_Finalize`.
    pub seconds: f64,
    /// The time when it ended, in seconds since 1970, by which runs with different numbers of processes are ordered; 0 if
    /// unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ended: u64,
    /// True if this was the kind's first run. It does not count as evidence, since the first run with an input is often
    /// slower.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_first: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Sums over all runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// The number of completed runs.
    pub runs: u64,
    /// The node-hours that placements saved in runs that are no longer kept.
    pub saved: f64,
    /// The node-hours that placements lost in these.
    pub lost: f64,
}

/// Why a file is not used, as text that follows its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Another version of Cartograph wrote it.
    #[error("has format version {0}")]
    Version(u32),
    /// It is not an entry, or damaged.
    #[error("{0}")]
    Wrong(String),
}

/// A hash of the nodes of ranks, regardless of their names, and of a build: equal for jobs of that build whose ranks share
/// nodes in the same way.
pub fn shape(node_of: &[u32], build: u64) -> u64 {
    let mut number = std::collections::HashMap::new();
    let nodes = node_of.iter().fold(0, |digest, node| {
        let next = number.len() as u64;
        mix(digest ^ *number.entry(node).or_insert(next))
    });
    of_build(nodes, build)
}

/// Adds numbers to a list of the last ones.
fn note(known: &mut Vec<u64>, numbers: &[u64], most: usize) {
    for number in numbers {
        known.retain(|known| known != number);
        known.push(*number);
    }
    known.drain(..known.len().saturating_sub(most));
}

/// The number for a build with another number.
pub(super) fn of_build(number: u64, build: u64) -> u64 {
    mix(number ^ build)
}

impl Entry {
    /// An empty entry.
    pub fn new(program: &str, processes: u32) -> Self {
        Self {
            schema: SCHEMA,
            program: program.to_owned(),
            build: String::new(),
            processes,
            mpi: String::new(),
            nodes: String::new(),
            started_from: String::new(),
            devices: None,
            kinds: Vec::new(),
            next_id: 0,
            origins: Vec::new(),
            outputs: Vec::new(),
            runs: Vec::new(),
            totals: Totals::default(),
            failed: Vec::new(),
        }
    }

    /// Notes arguments that name files that a job has written.
    pub fn note_outputs(&mut self, arguments: &[u64]) {
        note(&mut self.outputs, arguments, MOST_OUTPUTS);
    }

    /// Notes a build that a job had.
    pub(super) fn note_build(&mut self, Build { id, place }: Build) {
        note(&mut self.origins, &[id, place], MOST_ORIGINS);
    }

    /// True if a build is one that jobs had, or has the path of one.
    pub(super) fn has_built(&self, Build { id, place }: Build) -> bool {
        [id, place].iter().any(|number| self.origins.contains(number))
    }

    /// Records that a run failed.
    pub fn fail(&mut self, order: &str) {
        match order {
            "" => self.failed.clear(),
            order if self.failed.len() < MOST_FAILED => {
                self.failed.push((order.to_owned(), self.totals.runs));
            }
            _ => {}
        }
    }

    /// True if a placement may have made the program fail: it failed twice in that placement, or once without any
    /// completed run since. If the program also fails in the default order, no placement is blamed. True as well if more
    /// ranks shared a device in that placement.
    pub fn is_blamed(&self, order: &str) -> bool {
        if self.devices.as_ref().is_some_and(|devices| devices.are_crowded(order)) {
            return true;
        }
        let mut found = self.failed.iter().filter(|(failed, _)| failed == order);
        let first = found.next();
        first.is_some_and(|(_, runs)| *runs == self.totals.runs || found.next().is_some())
    }

    /// Adds a run.
    pub fn add(&mut self, run: Past) {
        self.totals.runs = self.totals.runs.saturating_add(1);
        self.runs.push(run);
        if self.runs.len() > MOST_RUNS {
            self.forget_run(0);
        }
    }

    /// Forgets the runs of a kind, and those in placements made for it.
    pub(super) fn forget_runs_of(&mut self, kind: u32) {
        let of = |run: &Past| run.kind == kind || (run.made_for == kind && !run.order.is_empty());
        while let Some(at) = self.runs.iter().position(of) {
            self.forget_run(at);
        }
    }

    /// Forgets a run except for its hours.
    fn forget_run(&mut self, at: usize) {
        let hours = self.hours_of(at);
        self.totals.saved += hours.max(0.0);
        self.totals.lost += (-hours).max(0.0);
        self.runs.remove(at);
    }
}

#[cfg(test)]
mod tests;
