//! Chooses the placement of a job on its nodes.

use std::env;
use std::time::SystemTime;

use cartograph_core::learn::{Conditions, Entry, Placement, Reason};

use super::arms::Means;
use super::learned::Lesson;
use super::nodes::{Nodes, Refusal, unchanged};
use crate::arms::Arm;

/// A job makes no trial if its remaining time is less than the longest such job times this factor.
const MARGIN: f64 = 1.5;

/// The digest of all inputs.
pub(super) const INPUT: u64 = 0;

/// The placement of a job on these nodes, and the means for it; `None` for the default order.
///
/// # Errors
///
/// Why the job is not placed, nor recorded.
pub(super) fn choose(
    no_trial: bool,
    job: &Nodes,
    lesson: &mut Lesson,
) -> Result<Option<(Arm, Means)>, Refusal> {
    let entries = lesson.store.entries(&lesson.key);
    let entry = entries.into_iter().find(|entry| entry.processes == job.own.ranks());
    let Some(entry) = entry else { return Ok(None) };
    lesson.guess = entry.guess(Some(INPUT));
    let (mut arms, mut known) = (Vec::new(), None);
    for kind in &lesson.guess.kinds {
        let Some(found) = lesson.placing.arms(&entry, *kind, &job.machine) else { continue };
        let (found, means) = found.map_err(|why| unchanged(&why))?;
        arms.extend(found.into_iter().map(|arm| (*kind, arm)));
        known = Some(means);
    }
    let Some(means) = known else { return Ok(None) };
    lesson.is_known = true;
    if !arms.is_empty() && arms.iter().all(|(_, arm)| entry.is_blamed(&arm.order)) {
        lesson.reason = Reason::Check;
        return Ok(None);
    }
    arms.retain(|(_, arm)| !entry.is_blamed(&arm.order));
    if arms.is_empty() {
        return Err(Refusal::NothingHelps);
    }
    let conditions = Conditions {
        shape: job.shape,
        in_a_hurry: no_trial || is_short(&entry, job.shape),
        seed: lesson.key.build,
    };
    let candidates: Vec<(Placement, f64)> = arms
        .iter()
        .map(|(kind, arm)| (Placement { kind: *kind, order: arm.order.clone() }, arm.gain()))
        .collect();
    let choice = entry.choose(&lesson.guess, &candidates, &conditions);
    lesson.reason = choice.reason;
    Ok(choice.arm.checked_sub(1).map(|at| {
        let (kind, arm) = arms.swap_remove(at);
        lesson.made_for = kind;
        (arm, means)
    }))
}

/// True if little more time is left for the job than such jobs took.
fn is_short(entry: &Entry, shape: u64) -> bool {
    let end = env::var("SLURM_JOB_END_TIME").ok().and_then(|text| text.parse::<f64>().ok());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let (Some(end), Ok(now)) = (end, now) else { return false };
    let runs = entry.runs.iter().filter(|run| run.shape == shape);
    let longest = runs.map(|run| run.seconds).fold(0.0, f64::max);
    end - now.as_secs_f64() < longest * MARGIN
}
