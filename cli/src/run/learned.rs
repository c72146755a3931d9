//! Learns from a completed job, and reports that on one line.

use cartograph_core::learn::{
    CLAIMED, Entry, Guess, Past, Placement, Reason, SHOWN, Seen, gain, is_compared, median_times,
    shape,
};
use cartograph_core::machine::Machine;
use cartograph_traffic::{Recording, Work};

use super::arms::{self, Placing};
use super::choice::INPUT;
use super::kept::Kept;
use super::places::Places;
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
    pub(super) nodes: Option<Assumed>,
    pub(super) reason: Reason,
    pub(super) placing: Placing,
    /// True if the program's traffic is in the store.
    pub(super) is_known: bool,
    /// The kinds of work that the job may do.
    pub(super) guess: Guess,
    /// The kind of work for which the placement was made.
    pub(super) made_for: u32,
}

/// The places that were assumed before the job.
#[derive(Debug)]
pub(super) struct Assumed {
    /// The names of the nodes.
    pub(super) names: Vec<String>,
    /// The shape of the default order.
    pub(super) shape: u64,
    /// The node of each rank in the default order.
    pub(super) node_of: Vec<u32>,
    pub(super) own: Places,
    pub(super) kept: Kept,
}

impl Assumed {
    /// True if the ranks of a job in this placement were there.
    fn are(&self, arm: Option<&Arm>, machine: &Machine, names: &[String]) -> bool {
        let node_of = match arm {
            Some(Arm { way: Way::Launcher | Way::World, node_of, .. }) => node_of,
            _ => &self.node_of,
        };
        let there = machine.nodes().iter().map(|node| &names[*node as usize]);
        there.eq(node_of.iter().map(|node| &self.names[*node as usize]))
    }
}

impl Lesson {
    /// Learns from the job, which has succeeded; returns a line for the user.
    pub(super) fn learn(mut self, name: &str) -> Result<String, String> {
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
        let assumed = self.nodes.as_mut().ok_or("its nodes were unknown before it started")?;
        let were_right = assumed.are(self.arm.as_ref(), &machine, &names);
        if were_right {
            assumed.kept.confirm(&self.store, &assumed.own);
        } else {
            assumed.kept.forget(&self.store);
        }
        let shape = match &self.arm {
            Some(_) if !were_right => {
                return Err("its ranks were not placed as requested; nothing learned".into());
            }
            Some(_) => assumed.shape,
            None => shape(machine.nodes()),
        };
        let moved = if were_right { "" } else { "; its nodes were not those of earlier jobs" };
        let traffic = (!self.is_known).then(|| arms::traffic(&recording));
        let order = self.arm.as_ref().map_or("", Arm::key);
        let seconds = (recording.nanoseconds as f64 * 1e-9).max(1e-9);
        // Runs in which the recorder stopped itself are compared whatever they did.
        let work = if recording.stopped > 0 { Work::default() } else { recording.work };
        let cost = 100.0 * recording.cost as f64 / (seconds * 1e9 * f64::from(recording.size));
        let mut is_first = false;
        let mut kind = 0;
        let change = |entry: &mut Entry| {
            let seen = Seen { work, sums: &[], digest: Some(INPUT), traffic };
            let noted = entry.note(seen, &self.guess);
            (is_first, kind) = (noted.is_recorded, noted.kind);
            if entry.mpi.is_empty() {
                entry.mpi = recording.mpi.clone();
            }
            entry.add(Past {
                kind,
                units: noted.units,
                order: order.to_owned(),
                made_for: self.made_for,
                predicted: self.arm.as_ref().map_or(1.0, Arm::gain),
                shape,
                nodes: names.len() as u32,
                seconds,
                is_first: noted.is_new,
            });
        };
        let entry = self.store.update(&self.key, recording.size, change)?;
        if is_first {
            let ranks = recording.size;
            return Ok(format!(
                "recorded {name} on {ranks} ranks; {}; recording took {cost:.1} % of the time{moved}",
                self.next(&entry, kind, &machine)
            ));
        }
        Ok(self.summary(name, &entry, kind, shape) + moved)
    }

    /// The placement of the next job, in words.
    fn next(&self, entry: &Entry, kind: u32, machine: &Machine) -> String {
        let none = || "no placement is predicted to help on these nodes".to_owned();
        let arms = match self.placing.arms(entry, kind, machine) {
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
        let Some(Assumed { own, mut kept, .. }) = self.nodes else { return };
        kept.forget(&self.store);
        let order = self.arm.as_ref().map_or("", Arm::key);
        let _ = self.store.update(&self.key, own.ranks(), |entry| entry.fail(order));
    }

    /// The line for a job that was compared with others.
    fn summary(&self, name: &str, entry: &Entry, kind: u32, shape: u64) -> String {
        let Some(arm) = &self.arm else {
            let why = match self.reason {
                Reason::Check => ", to compare",
                _ => ": no other is faster so far",
            };
            return format!("{name} in the default order{why} ({} runs)", entry.totals.runs);
        };
        let placement = Placement { kind: self.made_for, order: arm.order.clone() };
        let runs = entry.runs_of(kind, shape, &[placement]);
        let of = |arm: usize| runs.iter().filter(|run| run.arm == arm).count();
        let (own, placed) = (of(0), of(1));
        let order = &arm.order;
        match (gain(&runs, 1, CLAIMED), gain(&runs, 1, SHOWN), median_times(&runs, 1)) {
            (Some(sure), Some(shown), _) if sure.least > 1.0 => {
                format!("{name} in {}", faster(order, &shown, own + placed))
            }
            (_, _, Some(ratio)) if is_compared(&runs, 1) => format!(
                "{name} in {order}: {ratio:.2}x the speed of the default order so far ({placed} and {own} runs)"
            ),
            _ => format!("{name} in {order} (predicted {:.2}x)", arm.gain()),
        }
    }
}
