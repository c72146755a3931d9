//! Learns from a completed job, and reports that on one line.

use cartograph_core::learn::{CLAIMED, Entry, Past, Reason, SHOWN, gain, mean_times, shape};
use cartograph_core::machine::Machine;
use cartograph_traffic::{Recording, Work};

use super::arms::{self, Placing};
use crate::arms::{Arm, Way, faster};
use crate::predict::LEAST_GAIN;
use crate::store::{Key, Store};
use crate::traffic;

/// A job that teaches something.
pub(super) struct Lesson {
    pub(super) store: Store,
    pub(super) key: Key,
    /// The directory of the recording, which is removed with this.
    pub(super) directory: tempfile::TempDir,
    /// The placement; `None` for the default order.
    pub(super) arm: Option<Arm>,
    /// The shape of the default order and the names of the nodes, if they are known before the job runs.
    pub(super) nodes: Option<Nodes>,
    pub(super) reason: Reason,
    pub(super) placing: Placing,
    /// True if the program's traffic is in the store.
    pub(super) is_known: bool,
}

/// The nodes of a job.
#[derive(Clone)]
pub(super) struct Nodes {
    pub(super) names: Vec<String>,
    pub(super) shape: u64,
    pub(super) ranks: u32,
}

impl Lesson {
    /// Learns from the job, which has succeeded; returns a line for the user.
    pub(super) fn learn(self, name: &str) -> Result<String, String> {
        let directory = self.directory.path().join("run.traffic");
        let recording = Recording::open(&directory)
            .map_err(|_| {
                "nothing was recorded: the program uses no MPI, or the nodes do not share the store's file system"
            })?;
        if recording.missing() + recording.cut_short > 0 {
            return Err("some processes did not reach MPI_Finalize; nothing learned".into());
        }
        let (machine, names) =
            traffic::layout(&recording).ok_or("the nodes of its processes are unknown")?;
        if names.len() < 2 {
            return Ok(format!("{name}: all processes are on one node; nothing to place"));
        }
        let host = |node: &u32| names[*node as usize].as_str();
        let nodes = match (&self.nodes, &self.arm) {
            (Some(nodes), Some(Arm { way: Way::Weights(_), .. })) => nodes.clone(),
            (Some(nodes), Some(arm)) => {
                let there = machine.nodes().iter().map(host);
                let wanted = arm.node_of.iter().map(|node| nodes.names[*node as usize].as_str());
                if !there.eq(wanted) {
                    return Err("its ranks were not placed as requested; nothing learned".into());
                }
                nodes.clone()
            }
            _ => {
                Nodes { names: names.clone(), shape: shape(machine.nodes()), ranks: recording.size }
            }
        };
        let traffic = (!self.is_known).then(|| arms::traffic(&recording));
        let order = self.arm.as_ref().map_or("", Arm::key);
        let seconds = (recording.nanoseconds as f64 * 1e-9).max(1e-9);
        // Runs in which the recorder stopped itself are compared whatever they did.
        let work = if recording.stopped > 0 { Work::default() } else { recording.work };
        let cost = 100.0 * recording.cost as f64 / (seconds * 1e9 * f64::from(recording.size));
        let mut is_first = false;
        let change = |entry: &mut Entry| {
            is_first = entry.traffic.is_none() && traffic.is_some();
            if is_first {
                entry.traffic = traffic;
                entry.mpi = recording.mpi.clone();
            }
            let work = entry.work(work);
            entry.add(Past {
                order: order.to_owned(),
                predicted: self.arm.as_ref().map_or(1.0, Arm::gain),
                work,
                shape: nodes.shape,
                nodes: names.len() as u32,
                seconds,
            });
        };
        let entry = self.store.update(&self.key, recording.size, change)?;
        if is_first {
            let ranks = recording.size;
            return Ok(format!(
                "recorded {name} on {ranks} ranks; {}; recording took {cost:.1} % of the time",
                self.next(&entry, &machine)
            ));
        }
        Ok(self.summary(name, &entry, nodes.shape))
    }

    /// The placement of the next job, in words.
    fn next(&self, entry: &Entry, machine: &Machine) -> String {
        let none = || "no placement is predicted to help on these nodes".to_owned();
        let arms = match self.placing.arms(entry, machine) {
            Some(Ok((arms, _))) => arms,
            Some(Err(why)) => return why,
            None => return none(),
        };
        match arms.first() {
            Some(arm) if arm.gain() < LEAST_GAIN => {
                format!("the next run will try {}, with fewer bytes between nodes", arm.order)
            }
            Some(arm) => {
                format!("the next run will use {} (predicted {:.2}x)", arm.order, arm.gain())
            }
            None => none(),
        }
    }

    /// Records that the job has failed, possibly because of the placement. Write errors are ignored.
    pub(super) fn failed(self) {
        let Some(size) = self.nodes.as_ref().map(|nodes| nodes.ranks) else { return };
        let order = self.arm.as_ref().map_or("", Arm::key);
        let _ = self.store.update(&self.key, size, |entry| entry.fail(order));
    }

    /// The line for a job that was compared with others.
    fn summary(&self, name: &str, entry: &Entry, shape: u64) -> String {
        let Some(arm) = &self.arm else {
            let why = match self.reason {
                Reason::Check => ", to compare",
                _ => ": no other is faster so far",
            };
            return format!("{name} in the default order{why} ({} runs)", entry.totals.runs);
        };
        let runs = entry.runs_of(shape, std::slice::from_ref(&arm.order));
        let of = |arm: usize| runs.iter().filter(|run| run.arm == arm).count();
        let (own, placed) = (of(0), of(1));
        let order = &arm.order;
        match (gain(&runs, 1, CLAIMED), gain(&runs, 1, SHOWN), mean_times(&runs, 1)) {
            (Some(sure), Some(shown), _) if sure.least > 1.0 => {
                format!("{name} in {}", faster(order, &shown, own + placed))
            }
            (_, _, Some(ratio)) => format!(
                "{name} in {order}: {ratio:.2}x the speed of the default order so far ({placed} and {own} runs)"
            ),
            _ => format!("{name} in {order} (predicted {:.2}x)", arm.gain()),
        }
    }
}
