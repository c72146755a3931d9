//! The nodes of a job that is about to start, and its start on them.

use std::ffi::OsString;
use std::path::Path;

use cartograph_core::launcher::{Line, Role};
use cartograph_core::learn::shape;
use cartograph_core::machine::Machine;

use super::arms::Means;
use super::learned::{self, Lesson};
use super::places::{Allocation, Places};
use super::start::Signals;
use crate::arms::{Arm, Placer, Start, Way};
use crate::store::Store;

/// The nodes of a job in the launcher's default order.
pub(super) struct Nodes {
    pub(super) own: Places,
    pub(super) machine: Machine,
    /// The shape of the machine.
    pub(super) shape: u64,
    names: Vec<String>,
    allocation: Allocation,
    /// The launcher's words.
    words: Vec<OsString>,
}

/// The message for a job that runs unchanged.
pub(super) fn unchanged(why: &str) -> String {
    format!("{why}; the job ran unchanged")
}

impl Nodes {
    /// Finds the nodes of a job.
    ///
    /// # Errors
    ///
    /// Why the job runs unchanged.
    pub(super) fn find(line: &Line, store: &Store, signals: &Signals) -> Result<Self, String> {
        // The lines of `cartograph where` would end up in the job's own output files.
        if line.options.iter().any(|given| given.role == Role::Output) {
            return Err(unchanged("the launcher redirects the output to files"));
        }
        let words = line.words();
        let mut allocation = Allocation::read(store, &words);
        // Even for the first job: if nodes lack this command, the job must not be started through it.
        if allocation.own.is_none() {
            allocation.own = Places::ask(signals, &line.clone().into());
            allocation.keep(store, &words);
        }
        let own = allocation.own.clone();
        let own = own.ok_or_else(|| unchanged("the launcher does not start `cartograph where`"))?;
        let (machine, names) =
            own.machine().ok_or_else(|| unchanged("the nodes of the job are unknown"))?;
        if names.len() < 2 {
            return Err("all processes are on one node; nothing to place".into());
        }
        let shape = shape(machine.nodes());
        Ok(Self { own, machine, shape, names, allocation, words })
    }

    /// What a lesson keeps of them.
    pub(super) fn known(&self) -> learned::Nodes {
        learned::Nodes { names: self.names.clone(), shape: self.shape, ranks: self.own.ranks() }
    }

    /// The start of the job in a placement, once the launcher has been seen to follow it.
    ///
    /// # Errors
    ///
    /// Why the job runs unchanged.
    pub(super) fn placed(
        &mut self,
        line: &Line,
        arm: &Arm,
        means: Means,
        lesson: &Lesson,
        signals: &Signals,
    ) -> Result<Start, String> {
        let file = lesson.directory.path().join("placement");
        let cores = self.own.free_cores();
        let placer = Placer::new(line.clone().into(), means.by_launcher, means.setting, cores);
        let start = placer.start(arm, &self.machine, &self.names, &file);
        let start = start.map_err(|failure| failure.text).and_then(|start| start);
        let start = start.map_err(|why| unchanged(&why))?;
        let checked = self.allocation.checked.get(&arm.order).cloned();
        let checked = checked.unwrap_or_else(|| {
            let found = self.check(arm, &start, &file, signals);
            self.allocation.checked.insert(arm.order.clone(), found.clone());
            self.allocation.keep(&lesson.store, &self.words);
            found
        });
        checked.map_err(|why| unchanged(&why))?;
        Ok(start)
    }

    /// Checks that the launcher places ranks as in a start.
    fn check(
        &self,
        arm: &Arm,
        start: &Start,
        file: &Path,
        signals: &Signals,
    ) -> Result<bool, String> {
        match arm.way {
            Way::Launcher => match Places::ask(signals, &start.launch) {
                None => Err("the launcher rejected the rank file".to_owned()),
                Some(found) if !found.are(&arm.node_of, &self.names, &self.own) => {
                    Err("the launcher did not place ranks as in the rank file".to_owned())
                }
                Some(_) => Ok(true),
            },
            // Processes that cannot read it would not take part while the others wait.
            Way::World if Places::ask_with(signals, &start.launch, file).is_none() => {
                Err("not all nodes can read the store".to_owned())
            }
            _ => Ok(true),
        }
    }
}
