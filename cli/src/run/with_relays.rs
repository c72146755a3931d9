//! Jobs whose ranks are placed by relays. Nothing is asked before the job: the processes themselves compare the launcher's
//! mapping with the nodes for which the placement was made, and keep their ranks if it differs.

use cartograph_core::launcher::Line;
use cartograph_core::learn::Entry;
use cartograph_core::machine::Machine;
use cartograph_core::pmi::Mapping;

use super::choice;
use super::learned::Lesson;
use super::nodes::{Refusal, unchanged};
use super::relays::Relayed;
use crate::arms::{Placer, Start};

/// The start of a job, and the lesson to learn from it.
pub(super) fn start(
    no_trial: bool,
    line: &Line,
    mut lesson: Lesson,
) -> Result<(Start, Lesson), String> {
    let file = lesson.directory.path().join("placement");
    let known = known(line, &lesson);
    let mut start = Start::of(line.clone().into());
    start.does_without = true;
    let mut of = 0;
    let is_on_one = |(_, machine): &(Entry, Machine)| machine.node_sizes().len() < 2;
    if known.as_ref().is_some_and(is_on_one) {
        // If this job gets more nodes, the next one is recorded.
        lesson.keeps_calls = false;
    } else if let Some((entry, machine)) = &known {
        match choice::choose(no_trial, (entry, machine), &mut lesson) {
            Err(Refusal::Because(why)) => return Err(why),
            Err(Refusal::NothingHelps) | Ok(None) => {}
            Ok(Some((arm, means))) => {
                let placer = Placer::new(line.clone().into(), means, None);
                let placed = placer.start(&arm, machine, &[], &file);
                let placed = placed.map_err(|failure| failure.text).and_then(|start| start);
                start = placed.map_err(|why| unchanged(&why))?;
                of = lesson.key.shape(machine);
                lesson.arm = Some(arm);
            }
        }
    }
    lesson.relayed = Some(Relayed { file, shape: of });
    Ok((start, lesson))
}

/// The entry of the program, and the nodes of its last job: this one probably gets nodes of the same shape.
fn known(line: &Line, lesson: &Lesson) -> Option<(Entry, Machine)> {
    let entry = match line.processes() {
        Some(processes) => lesson.store.entry(&lesson.key, u32::try_from(processes).ok()?)?,
        None => lesson.store.only_entry(&lesson.key)?,
    };
    let nodes = Mapping::parse(&entry.nodes, entry.processes as usize)?;
    let ids: Vec<u64> = nodes.nodes().iter().map(|node| u64::from(*node)).collect();
    Some((entry, Machine::from_ids(&ids)))
}
