//! Chooses the placement of a job on its nodes.

use std::env;

use cartograph_core::machine::Machine;

use super::candidates::Candidates;
use super::learned::{Lesson, now};
use super::nodes::{Refusal, unchanged};
use crate::launch::Places;
use crate::learn::{Choice, Conditions, Entry, Guess, LEAST_PREDICTED, Reason};
use crate::place::{Arm, Means};
use crate::store::UnderWay;

/// A job makes no trial if its remaining time is less than the longest such job times this factor.
const MARGIN: f64 = 1.5;

/// The placement of a job of a known program on these nodes, and the means for it; `None` for the default order.
///
/// # Errors
///
/// Why the job is not placed, nor recorded.
pub(super) fn choose(
    no_trial: bool,
    (entry, machine, own): (&Entry, &Machine, Option<&Places>),
    lesson: &mut Lesson,
) -> Result<Option<(Arm, Means)>, Refusal> {
    let digest = lesson.inputs.digest(&entry.outputs);
    lesson.guess = entry.guess(Some(digest), lesson.key.id());
    if lesson.guess.kinds.is_empty() {
        return Ok(None);
    }
    let shape = lesson.key.shape(machine);
    let found = Candidates::new(
        (&lesson.line, &lesson.store),
        entry,
        &lesson.guess,
        (machine, own),
        shape,
        lesson.devices(entry),
    );
    let mut found = found.map_err(|why| unchanged(&why))?;
    lesson.keeps_calls = !lesson.guess.is_known;
    if found.are_blamed {
        lesson.reason = Reason::Check;
        return Ok(None);
    }
    if found.arms.is_empty() {
        lesson.has_candidates = false;
        return Err(Refusal::NothingHelps);
    }
    let conditions = Conditions {
        shape,
        in_a_hurry: no_trial || is_short(entry, &lesson.guess),
        seed: lesson.key.build,
    };
    let choice = by_policy(&found, entry, conditions, lesson);
    lesson.reason = choice.reason;
    let Some(at) = choice.arm.checked_sub(1) else { return Ok(None) };
    let (kind, arm) = found.arms.swap_remove(at);
    (lesson.made_for, lesson.keeps_calls) = (kind, false);
    Ok(Some((arm, found.means)))
}

/// The choice by the policy, without a trial while another job makes one: simultaneous jobs would all try the same
/// placement before the first one shows whether it is slower.
fn by_policy(
    found: &Candidates,
    entry: &Entry,
    conditions: Conditions,
    lesson: &mut Lesson,
) -> Choice {
    let known = (entry, &lesson.others[..]);
    let choice = found.choose(known, &lesson.guess, &conditions);
    if choice.reason != Reason::Trial {
        return choice;
    }
    match lesson.store.trial(&lesson.key, entry.processes) {
        Ok(trial) => {
            lesson.trial = trial;
            choice
        }
        Err(UnderWay) => {
            let conditions = Conditions { in_a_hurry: true, ..conditions };
            found.choose(known, &lesson.guess, &conditions)
        }
    }
}

/// The placement of a program's first job with this number of processes, as predicted from another one; `None` for the
/// default order. It must gain by the other scaling as well. The job is recorded in any case.
pub(super) fn predict(
    no_trial: bool,
    (from, [likely, other]): &(u32, [Entry; 2]),
    machine: &Machine,
    lesson: &mut Lesson,
) -> Option<(Arm, Means)> {
    let chosen = choose(no_trial, (likely, machine, None), lesson).ok().flatten();
    let chosen = chosen.filter(|(arm, _)| {
        let nodes = [machine.nodes(), &arm.node_of];
        arm.gain() >= LEAST_PREDICTED && other.sends_less(lesson.made_for, nodes)
    });
    (lesson.keeps_calls, lesson.has_candidates) = (true, true);
    (lesson.guess, lesson.reason) = (Guess::default(), Reason::Best);
    lesson.from = chosen.as_ref().map(|_| *from);
    if chosen.is_none() {
        lesson.trial = None;
    }
    chosen
}

/// True if little more time is left for the job than such jobs took.
fn is_short(entry: &Entry, guess: &Guess) -> bool {
    let end = env::var("SLURM_JOB_END_TIME").ok().and_then(|text| text.parse::<f64>().ok());
    let Some(end) = end else { return false };
    let runs = entry.runs.iter().filter(|run| guess.kinds.contains(&run.kind));
    let longest = runs.map(|run| run.seconds).fold(0.0, f64::max);
    now() as f64 + longest * MARGIN > end
}
