//! Jobs whose ranks are placed by relays. Nothing is asked before the job: the processes themselves compare the launcher's
//! mapping with the nodes for which the placement was made, and keep their ranks if it differs.

use cartograph_core::machine::Machine;

use super::choice;
use super::learned::Lesson;
use super::nodes::{Refusal, unchanged};
use super::relays::Relayed;
use crate::launch::Line;
use crate::learn::Entry;
use crate::place::{Arm, Means, Placer, Start};
use crate::pmi::Mapping;

/// The start of a job whose program has this entry, if any.
///
/// # Errors
///
/// Why it is not placed, nor recorded.
pub(super) fn start(
    no_trial: bool,
    line: &Line,
    entry: Option<Entry>,
    lesson: &mut Lesson,
) -> Result<Start, Refusal> {
    let chosen = match entry {
        None => predicted(no_trial, line, lesson),
        Some(entry) => match nodes_of(&entry) {
            // If this job gets more nodes, the next one is recorded.
            Some(machine) if machine.node_sizes().len() < 2 => {
                lesson.keeps_calls = false;
                None
            }
            Some(machine) => {
                let chosen = choice::choose(no_trial, (&entry, &machine, None), lesson)?;
                chosen.map(|chosen| (chosen, machine))
            }
            None => None,
        },
    };
    let Some(((arm, means), machine)) = chosen else { return Ok(unplaced(line, lesson)) };
    let file = lesson.placement_file();
    let placer = Placer::new(means, None, None);
    let placed = placer.start(&arm, &machine, &[], &file);
    let placed = placed.map_err(|failure| failure.text).and_then(|start| start);
    let start = placed.map_err(|why| Refusal::Because(unchanged(&why)))?;
    lesson.relayed = Some(Relayed { file, shape: lesson.key.shape(&machine) });
    lesson.arm = Some(arm);
    Ok(start)
}

/// The start of a job in the default order.
pub(super) fn unplaced(line: &Line, lesson: &mut Lesson) -> Start {
    lesson.relayed = Some(Relayed { file: lesson.placement_file(), shape: 0 });
    let mut start = Start::of(line.clone().into());
    start.does_without = true;
    start
}

/// The entry of the program.
pub(super) fn entry(line: &Line, lesson: &Lesson) -> Option<Entry> {
    match line.processes() {
        Some(processes) => lesson.store.entry(&lesson.key, processes),
        None => lesson.store.only_entry(&lesson.key),
    }
}

/// The nodes of a program's last job: the next one probably gets nodes of the same shape.
fn nodes_of(entry: &Entry) -> Option<Machine> {
    let nodes = Mapping::parse(&entry.nodes, entry.processes as usize)?;
    let ids: Vec<u64> = nodes.nodes().iter().map(|node| u64::from(*node)).collect();
    Some(Machine::from_ids(&ids))
}

/// The placement that jobs with other numbers of processes predict, on as many nodes more or less.
fn predicted(no_trial: bool, line: &Line, lesson: &mut Lesson) -> Option<((Arm, Means), Machine)> {
    let known = lesson.scaled(line.processes()?)?;
    let machine = nodes_of(&known.1[0]).filter(|machine| machine.node_sizes().len() > 1)?;
    Some((choice::predict(no_trial, &known, &machine, lesson)?, machine))
}
