//! Chooses the placement of a job on its nodes.

use std::env;
use std::time::SystemTime;

use cartograph_core::learn::{Conditions, Entry, Reason, Run, choose as choose_arm};

use super::arms::Means;
use super::learned::Lesson;
use super::nodes::{Nodes, Refusal, unchanged};
use crate::arms::Arm;

/// A job makes no trial if its remaining time is less than the longest such job times this factor.
const MARGIN: f64 = 1.5;

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
    let found =
        entry.as_ref().and_then(|entry| Some((entry, lesson.placing.arms(entry, &job.machine)?)));
    let Some((entry, found)) = found else { return Ok(None) };
    lesson.is_known = true;
    let (mut arms, means) = found.map_err(|why| unchanged(&why))?;
    if !arms.is_empty() && arms.iter().all(|arm| entry.is_blamed(&arm.order)) {
        lesson.reason = Reason::Check;
        return Ok(None);
    }
    arms.retain(|arm| !entry.is_blamed(&arm.order));
    if arms.is_empty() {
        return Err(Refusal::NothingHelps);
    }
    let (runs, predicted) = known_runs(entry, job.shape, &arms);
    let conditions = Conditions {
        shape: job.shape,
        experience: &entry.experience(job.shape),
        in_a_hurry: no_trial || is_short(entry, job.shape),
        seed: lesson.key.build,
    };
    let choice = choose_arm(&predicted, &runs, &conditions);
    lesson.reason = choice.reason;
    Ok(choice.arm.checked_sub(1).map(|at| (arms.swap_remove(at), means)))
}

/// The runs of an entry, for nodes of this shape, and the predicted gains, as arguments of the policy.
fn known_runs(entry: &Entry, shape: u64, arms: &[Arm]) -> (Vec<Run>, Vec<f64>) {
    let orders: Vec<String> = arms.iter().map(|arm| arm.order.clone()).collect();
    let predicted = std::iter::once(1.0).chain(arms.iter().map(Arm::gain));
    (entry.runs_everywhere(shape, &orders), predicted.collect())
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
