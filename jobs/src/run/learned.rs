//! Learns from a completed job, and reports that on one line.

use std::path::PathBuf;
use std::time::SystemTime;

use cartograph_core::machine::Machine;
use cartograph_traffic::{Recording, Work};

use super::candidates::Candidates;
use super::inputs::Inputs;
use super::kept::Kept;
use super::relays::{Relayed, nodes_of_ranks};
use crate::launch::{Line, Places, binding};
use crate::learn::{
    Conditions, Devices, Entry, Guess, Noted, Past, Placement, Reason, SHOWN, Seen, Traffic,
    claimed, gain, is_compared, median_times, shape,
};
use crate::place::{self, Arm, faster};
use crate::predict::LEAST_GAIN;
use crate::store::{JobFolder, Key, Store, Trial};
use crate::traffic;

/// A job that teaches something.
pub(super) struct Lesson {
    /// The program's name for messages.
    pub(super) name: String,
    /// The command line of the job.
    pub(super) line: Line,
    pub(super) store: Store,
    pub(super) key: Key,
    /// The program's entries for other numbers of processes, those nearest to the job's first.
    pub(super) others: Vec<Entry>,
    /// The directory of the recording, which is removed with this.
    pub(super) directory: JobFolder,
    /// The placement; `None` for the default order.
    pub(super) arm: Option<Arm>,
    pub(super) nodes: Option<Assumed>,
    /// Facts about a job whose ranks are placed by relays, in place of `nodes`.
    pub(super) relayed: Option<Relayed>,
    pub(super) reason: Reason,
    /// Its trial, if it makes one.
    pub(super) trial: Option<Trial>,
    pub(super) inputs: Inputs,
    /// A number for the program with its inputs.
    pub(super) program: String,
    /// True if the messages of the job are recorded, not only its work.
    pub(super) keeps_calls: bool,
    /// False if no placement is predicted to help.
    pub(super) has_candidates: bool,
    /// The kinds of work that the job may do.
    pub(super) guess: Guess,
    /// The kind of work for which the placement was made.
    pub(super) made_for: u32,
    /// True if the user knows that ranks choose devices by their place on a node.
    pub(super) are_devices_local: bool,
    /// The number of processes of the jobs that predicted the placement, if this program never had the job's.
    pub(super) from: Option<u32>,
}

/// The places that were assumed before the job.
#[derive(Debug)]
pub(super) struct Assumed {
    /// The names of the nodes.
    pub(super) names: Vec<String>,
    /// The node of each rank in the default order.
    pub(super) node_of: Vec<u32>,
    pub(super) own: Places,
    pub(super) kept: Kept,
}

impl Assumed {
    /// True if the ranks of a job in this placement were there.
    fn are(&self, arm: Option<&Arm>, machine: &Machine, names: &[String]) -> bool {
        let node_of = match arm {
            Some(arm) => &arm.node_of,
            None => &self.node_of,
        };
        let there = machine.nodes().iter().map(|node| &names[*node as usize]);
        there.eq(node_of.iter().map(|node| &self.names[*node as usize]))
    }
}

/// Notes a recorded job in the entry of its program: its MPI, its work, and the inputs that it writes. Files are read at
/// once, not while the store is locked.
pub fn note(
    recording: &Recording,
    inputs: &Inputs,
    key: &Key,
    traffic: Option<Traffic>,
    guess: &Guess,
) -> impl FnOnce(&mut Entry) -> Noted {
    // Runs in which the recorder stopped itself are compared whatever they did.
    let work = if recording.stopped > 0 { Work::default() } else { recording.work };
    let (sums, build, written) = (&recording.patterns, key.id(), inputs.written());
    move |entry| {
        entry.note_outputs(&written);
        if entry.mpi.is_empty() {
            entry.mpi = recording.mpi.clone();
        }
        let digest = Some(inputs.digest(&entry.outputs));
        entry.note(Seen { work, sums, digest, build, traffic }, guess)
    }
}

/// What a job has taught.
struct Taught {
    entry: Entry,
    noted: Noted,
    /// The most ranks of a node that used one device, and the same in the default order, if there were more.
    crowded: Option<(u32, u32)>,
}

/// The seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The time of a recorded job.
fn seconds(recording: &Recording) -> f64 {
    (recording.nanoseconds as f64 * 1e-9).max(1e-9)
}

impl Lesson {
    /// Learns from the job, which has succeeded; returns a line for the user.
    pub(super) fn learn(mut self, name: &str) -> Result<String, String> {
        let recording = match self.recording() {
            Ok(recording) => recording,
            Err(why) => {
                // One of a program that was recorded before may be lost by chance.
                if self.guess.kinds.is_empty() {
                    let read = || Kept::read(&self.store, &self.line.without_programs());
                    let mut kept = self.nodes.take().map_or_else(read, |assumed| assumed.kept);
                    kept.misses(&self.store, &self.program, why);
                }
                return Err(format!("{why}; nothing learned"));
            }
        };
        if let Some(why) = binding::missed(&binding::file_for(&self.placement_file())) {
            self.failed();
            return Err(format!("{why}; this run is not compared"));
        }
        let (machine, names) =
            traffic::machine_of(&recording).ok_or("the nodes of its processes are unknown")?;
        if names.len() < 2 {
            if self.relayed.is_some() {
                let note = |entry: &mut Entry| entry.nodes = nodes_of_ranks(&machine);
                self.store.update(&self.key, recording.size, note)?;
            }
            return Ok(format!("{name}: all processes are on one node; nothing to place"));
        }
        let (shape, moved) = self.shape(&machine, &names)?;
        let Some(Taught { entry, noted, crowded }) = self.teach(&recording, &machine, shape)?
        else {
            return Ok(String::new());
        };
        if let Some((most, before)) = crowded {
            let order = self.order();
            return Ok(format!(
                "{name} in {order}: {most} ranks of a node used one device, but {before} in the default order; this \
                 placement is not used again{moved}"
            ));
        }
        let line = match noted.is_recorded {
            true => self.first_summary(name, &recording, &self.next(&entry, noted.kind, &machine)),
            false => self.summary(name, &entry, noted, shape),
        };
        Ok(line + moved)
    }

    /// Adds the job to the entry of its program.
    fn teach(
        &self,
        recording: &Recording,
        machine: &Machine,
        shape: u64,
    ) -> Result<Option<Taught>, String> {
        let note = self.note(recording);
        let (mut noted, mut crowded) = (None, None);
        let change = |entry: &mut Entry| {
            let of = note(entry);
            noted = Some(of);
            if !recording.devices.is_empty() {
                let devices = entry.devices.get_or_insert_default();
                crowded = devices.note(recording, machine.nodes(), self.order());
            }
            if self.arm.is_none() && self.relayed.is_some() {
                entry.nodes = nodes_of_ranks(machine);
            }
            if let Some(from) = self.from.filter(|_| entry.runs.is_empty()) {
                entry.started_from = format!("{from} ranks");
            }
            entry.add(Past {
                kind: of.kind,
                units: of.units,
                order: self.order().to_owned(),
                made_for: if self.from.is_some() { of.kind } else { self.made_for },
                predicted: self.arm.as_ref().map_or(1.0, Arm::gain),
                shape,
                nodes: machine.node_sizes().len() as u32,
                seconds: seconds(recording),
                ended: now(),
                is_first: of.is_new,
            });
        };
        let entry = self.store.update(&self.key, recording.size, change)?;
        Ok(noted.map(|noted| Taught { entry, noted, crowded }))
    }

    /// The name of the job's placement; empty for the default order.
    fn order(&self) -> &str {
        self.arm.as_ref().map_or("", |arm| &arm.order)
    }

    /// The file for the job's placement: a rank file, or the ranks that relays give.
    pub(super) fn placement_file(&self) -> PathBuf {
        self.directory.path().join("placement")
    }

    /// The predictions for this number of processes from other numbers, by two scalings, and the nearest of those
    /// numbers. `None` if there is an entry for this number.
    pub(super) fn scaled(&self, processes: u32) -> Option<(u32, [Entry; 2])> {
        let nearest = self.others.first().filter(|_| !self.store.has(&self.key, processes))?;
        Some((nearest.processes, Entry::predicted(&self.others, processes)?))
    }

    /// The number of devices that limits placements, or 0.
    pub(super) fn devices(&self, entry: &Entry) -> u32 {
        let known = entry.devices.as_ref().filter(|_| !self.are_devices_local);
        known.map_or(0, Devices::limit)
    }

    /// The recording of the job, or why it is none.
    fn recording(&self) -> Result<Recording, &'static str> {
        let recording = Recording::open(&self.directory.path().join("run.traffic")).map_err(|_| {
            "nothing was recorded: the program uses no MPI, there is no library for its MPI, or its nodes do not share \
             the store's file system"
        })?;
        match recording.missing() + recording.cut_short {
            0 => Ok(recording),
            _ => Err("some processes did not reach MPI_Finalize"),
        }
    }

    /// The shape of the job's nodes in the default order, and a remark if they were not as assumed.
    pub(super) fn shape(
        &mut self,
        machine: &Machine,
        names: &[String],
    ) -> Result<(u64, &'static str), String> {
        if let Some(relayed) = &self.relayed {
            return relayed.shape(&mut self.arm, machine, self.key.build);
        }
        let mut assumed = self.nodes.take().ok_or("its nodes were unknown before it started")?;
        if !assumed.are(self.arm.as_ref(), machine, names) {
            assumed.kept.forget(&self.store);
            return match &self.arm {
                Some(_) => Err("its ranks were not placed as requested; nothing learned".into()),
                None => Ok((self.key.shape(machine), "; its nodes were not those of earlier jobs")),
            };
        }
        assumed.kept.confirm(&self.store, &self.program, &assumed.own);
        let shape = match &self.arm {
            Some(_) => shape(&assumed.node_of, self.key.build),
            None => self.key.shape(machine),
        };
        self.nodes = Some(assumed);
        Ok((shape, ""))
    }

    /// Notes the work of the job, and its inputs.
    fn note(&self, recording: &Recording) -> impl FnOnce(&mut Entry) -> Noted {
        let traffic = self.keeps_calls.then(|| place::traffic(recording));
        note(recording, &self.inputs, &self.key, traffic, &self.guess)
    }

    /// The placement of the next job that does this kind of work, in words.
    pub(super) fn next(&self, entry: &Entry, kind: u32, machine: &Machine) -> String {
        let guess = Guess { kinds: vec![kind], is_known: true };
        let shape = self.key.shape(machine);
        let (of, devices) = ((&self.line, &self.store), self.devices(entry));
        let on = (machine, self.nodes.as_ref().map(|nodes| &nodes.own));
        let found = match Candidates::new(of, entry, &guess, on, shape, devices) {
            Ok(found) => found,
            Err(why) => return why,
        };
        let conditions = Conditions { shape, in_a_hurry: false, seed: self.key.build };
        let chosen = found.choose((entry, &self.others), &guess, &conditions).arm;
        let is_next = chosen > 0;
        let Some((_, first)) = found.arms.get(chosen.saturating_sub(1)) else {
            return "no placement is predicted to help on these nodes".to_owned();
        };
        let run = match (is_next, entry.kinds.len()) {
            (true, 0 | 1) => "the next run",
            (true, _) => "the next run with such input",
            (false, _) => "a later run",
        };
        match first.gain() {
            small if small < LEAST_GAIN => {
                let between = if first.slots.is_empty() { "nodes" } else { "NUMA domains" };
                format!("{run} will try {}, with fewer bytes between {between}", first.order)
            }
            gain => format!("{run} will use {} (predicted {gain:.2}x)", first.order),
        }
    }

    /// Records that the job has failed, possibly because of the placement. If all processes have ended, its messages
    /// are kept: a program may always exit with a code other than 0. Write errors are ignored.
    pub(super) fn failed(mut self) {
        let recording = self.recording().ok();
        if self.relayed.as_ref().is_some_and(|relayed| relayed.was_placed() == Some(false)) {
            self.arm = None;
        }
        let size = match (&mut self.nodes, &recording) {
            (Some(assumed), _) => {
                let size = assumed.own.ranks();
                let recording = recording.as_ref().filter(|recording| recording.size == size);
                let seen = recording.and_then(traffic::machine_of);
                let is_there =
                    seen.is_none_or(|(machine, names)| assumed.are(None, &machine, &names));
                // The placement may have made it fail.
                if self.arm.is_none() && is_there {
                    let is_cut = self.keeps_calls && recording.is_none();
                    assumed.kept.fails(&self.store, &self.program, &assumed.own, is_cut);
                } else {
                    assumed.kept.forget(&self.store);
                }
                size
            }
            (None, Some(recording)) => recording.size,
            (None, None) => return,
        };
        let recording = recording.filter(|it| it.size == size && self.keeps_calls);
        let note = recording.as_ref().map(|recording| self.note(recording));
        let change = |entry: &mut Entry| {
            entry.fail(self.order());
            if let Some(note) = note {
                note(entry);
            }
        };
        let _ = self.store.update(&self.key, size, change);
    }

    /// The line for a job whose messages were recorded, with the placement of the next one.
    fn first_summary(&self, name: &str, recording: &Recording, next: &str) -> String {
        let ranks = recording.size;
        let cost = 100.0 * recording.cost as f64 / (seconds(recording) * 1e9 * f64::from(ranks));
        let placed = match (&self.arm, self.from) {
            (Some(arm), Some(from)) => format!(" in {}, as {from} ranks predict", arm.order),
            _ => String::new(),
        };
        format!(
            "recorded {name} on {ranks} ranks{placed}; {next}; recording took {cost:.1} % of the time"
        )
    }

    /// The line for a job that was compared with others.
    fn summary(&self, name: &str, entry: &Entry, noted: Noted, shape: u64) -> String {
        let Noted { kind, is_new, .. } = noted;
        let Some(arm) = &self.arm else {
            let of = |run: &Past| run.kind == kind && run.shape == shape;
            let was_tried = entry.runs.iter().any(|run| of(run) && !run.order.is_empty());
            let why = match self.reason {
                _ if is_new => "; it did other work than before, so the next such run is recorded",
                _ if !self.has_candidates => ": no placement is predicted to help on these nodes",
                Reason::Check => ", to compare",
                _ if was_tried => ": no other is faster so far",
                _ => ": no other was tried yet",
            };
            let is_own = |run: &&Past| run.kind == kind && run.nodes > 0;
            let runs = entry.runs.iter().filter(is_own).count();
            return format!("{name} in the default order{why} ({runs} runs)");
        };
        if is_new {
            return format!(
                "{name} in {}; it did other work than before, so the next such run is recorded",
                arm.order
            );
        }
        let placement = Placement { kind: self.made_for, order: arm.order.clone() };
        let runs = entry.runs_of(kind, shape, &[placement]);
        let of = |arm: usize| runs.iter().filter(|run| run.arm == arm).count();
        let (own, placed) = (of(0), of(1));
        let order = &arm.order;
        match (claimed(&runs, 1), gain(&runs, 1, SHOWN), median_times(&runs, 1)) {
            (Some(_), Some(shown), _) => {
                format!("{name} in {}", faster(order, &shown, own + placed))
            }
            (_, _, Some(ratio)) if is_compared(&runs, 1) => format!(
                "{name} in {order}: {ratio:.2}x the speed of the default order so far ({placed} and {own} runs)"
            ),
            _ => format!("{name} in {order} (predicted {:.2}x)", arm.gain()),
        }
    }
}
