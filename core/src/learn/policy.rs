//! The policy that chooses the placement of the next job.
//!
//! Every job takes the placement that is best by all evidence: the prediction, corrected by the accuracy of this
//! program's earlier predictions, and the times of earlier jobs, where later ones count more. Occasionally a job takes
//! another placement: one that may be better by more than its trial costs, or the default order, so that a change of
//! the machine is noticed. Over any `WINDOW` jobs, these trials may cost [`BUDGET`] of the time.

use cartograph_shim::splitmix::mix;

use super::belief::{Belief, NOISE, NOISE_OF_SHAPES, beliefs, measured};
use super::evidence::{COMPARED, Run, noise, pairs};
use super::measure::{lower_median, median};
use super::spent::{Spent, WINDOW};

/// The conditions under which a job is started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Conditions {
    /// The shape of the nodes.
    pub shape: u64,
    /// True if the job must not run a trial.
    pub in_a_hurry: bool,
    /// A number that spreads checks; the same for all jobs of a program.
    pub seed: u64,
}

/// The reason of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The best placement by all evidence.
    Best,
    /// A trial: it may be better than the best known placement.
    Trial,
    /// A check of the default order, to see whether it is still slower.
    Check,
}

/// The placement of the next job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The arm.
    pub arm: usize,
    /// Its reason.
    pub reason: Reason,
    /// The best arm by all evidence.
    pub best: usize,
    /// The expected speed of the best arm relative to the default order.
    pub expected: f64,
}

/// All that is known for a choice.
pub(super) struct Known<'a> {
    /// The predicted gain of each arm; arm 0 is the default order.
    pub(super) predicted: &'a [f64],
    /// The runs on all nodes, oldest first. On nodes of other shapes, all arms except the default order count as one.
    pub(super) runs: &'a [Run],
    /// The predicted and measured gains on nodes of other shapes.
    pub(super) experience: &'a [(f64, f64)],
    /// The time of the first run in the default order. It may have been slow, so it proves no gain.
    pub(super) first: Option<f64>,
    /// The time that placements cost so far.
    pub(super) spent: Spent,
    /// True if the times of placements have changed before these runs.
    pub(super) is_changed: bool,
}

/// A smaller lead does not justify a different placement.
const LEAST: f64 = 0.02;

/// If runs are on nodes of different shapes, a placement must lead by this many standard deviations.
const SURE: f64 = 2.5;

/// A placement that is predicted to be faster is assumed not to be slower than by this logarithm.
const WORST: f64 = 0.4;

/// An arm with this number of runs gets no further trials.
const MOST_TRIALS: usize = 3;

/// The numbers of jobs since a placement's first run after which the default order runs again; later, it does so after
/// each further number of `LAST_GAP`.
const CHECKS: [usize; 4] = [1, 6, 18, 48];
const LAST_GAP: usize = 50;

/// Until then, it runs again after this number of jobs unless the gain is more than this number of standard deviations.
const UNCLEAR_GAP: usize = 2;
const CLEAR: f64 = 3.0;

/// While a placement's gain is uncertain, it is assumed to be this many standard deviations smaller.
const DOUBT: f64 = 1.3;

/// The fraction of the time of `WINDOW` jobs that uncertain placements may then lose.
const RISK: f64 = 0.04;

/// The placement's times have changed if two in a row differ from those before by this many standard deviations, and by
/// this logarithm.
const CHANGED: f64 = 3.0;
const LEAST_CHANGE: f64 = 0.1;

/// The numbers of comparisons and of jobs whose smallest gain counts, and the number of standard deviations by which it
/// is usually smaller than the mean.
const LATE: usize = 4;
const LAST: usize = 10;
const USUAL: f64 = 1.2;

/// Chooses the placement of the next job.
pub(super) fn choose(known: &Known<'_>, conditions: &Conditions) -> Choice {
    let shape = conditions.shape;
    let is_here = |run: &Run| run.shape == shape;
    let alike = |run: &Run| if is_here(run) { *run } else { Run { arm: run.arm.min(1), ..*run } };
    let everywhere: Vec<Run> = known.runs.iter().map(alike).collect();
    let here: Vec<Run> = known.runs.iter().copied().filter(is_here).collect();
    if here.iter().any(|run| run.arm == 0) {
        let noise = noise(&here, NOISE);
        // Times from before a change of the machine no longer count.
        let late = &here[last_change(&here, noise)..];
        let first = known.first.filter(|_| late.len() == here.len());
        let is_changed = late.len() < here.len();
        let known = &Known { first, is_changed, ..*known };
        return match late.iter().any(|run| run.arm == 0) {
            true => State::new(known, late, noise, 0.0).choose(conditions),
            false => OWN,
        };
    }
    if !here.is_empty() || !known.experience.is_empty() || everywhere.is_empty() {
        return choose_without_own(known, &here, conditions);
    }
    // No shape has recurred so far, so jobs on all nodes are compared.
    if !everywhere.iter().any(|run| run.arm == 0) {
        return OWN;
    }
    let predicted = &known.predicted[..known.predicted.len().min(2)];
    let known = Known { predicted, experience: &[], first: None, ..*known };
    let noise = noise(&everywhere, NOISE_OF_SHAPES);
    State::new(&known, &everywhere, noise, SURE).choose(conditions)
}

/// The default order, if nothing else is known.
const OWN: Choice = Choice { arm: 0, reason: Reason::Check, best: 0, expected: 1.0 };

/// Chooses an arm if the default order has not run on nodes of this shape since the first run. A placement that was
/// faster elsewhere, or that may be, is used once, and then compared with the default order.
fn choose_without_own(known: &Known<'_>, here: &[Run], conditions: &Conditions) -> Choice {
    let is_new = here.is_empty() && !conditions.in_a_hurry;
    let is_second = known.runs.is_empty();
    if !is_new || !(is_second || known.first.is_some() || is_proven(known.experience)) {
        return OWN;
    }
    let beliefs = beliefs(known.predicted, here, known.experience, |_| None);
    let ahead = (1..beliefs.len())
        .max_by(|one, other| beliefs[*one].mean.total_cmp(&beliefs[*other].mean))
        .filter(|arm| beliefs[*arm].mean > LEAST);
    match ahead {
        Some(arm) if known.spent.allows(worst(&beliefs[arm])) => {
            Choice { arm, reason: Reason::Trial, best: 0, expected: 1.0 }
        }
        _ => OWN,
    }
}

/// The time that an arm loses at worst, as a fraction: one with little evidence may be far worse than it looks.
fn worst(belief: &Belief) -> f64 {
    let Belief { mean, deviation, .. } = *belief;
    (-(mean - 2.0 * deviation).max(mean.min(-WORST))).exp_m1()
}

/// The most that the logarithm of an arm's gain may be, by the fastest of the last runs in the default order: others may
/// have been on a slow node. With few of them, it is the first run, though that may have been slow itself.
fn most(first: Option<f64>, runs: &[Run], arm: usize, noise: f64) -> f64 {
    let pairs = pairs(runs, 0, arm);
    let late = pairs[pairs.len().saturating_sub(LATE)..].iter().map(|pair| pair.difference);
    let last = &runs[runs.len().saturating_sub(LAST)..];
    let own = last.iter().filter(|run| run.arm == 0);
    let against = |own: f64, group: Option<u64>| {
        let is_of = |run: &&Run| run.arm == arm && group.is_none_or(|group| run.group == group);
        let times = runs.iter().rev().filter(is_of).take(BEFORE).map(|run| run.seconds);
        Some((own / lower_median(&times.collect::<Vec<f64>>())?).ln())
    };
    let first = first.filter(|_| pairs.len() < LATE).and_then(|own| against(own, None));
    let others = own.filter_map(|run| against(run.seconds, Some(run.group))).chain(first);
    late.chain(others).fold(f64::INFINITY, f64::min) + USUAL * noise.sqrt()
}

/// The evidence, once the default order has run.
struct State<'a> {
    known: &'a Known<'a>,
    beliefs: Vec<Belief>,
    /// The runs to compare.
    runs: &'a [Run],
    noise: f64,
    /// The number of standard deviations by which an arm must lead.
    sure: f64,
}

impl<'a> State<'a> {
    fn new(known: &'a Known<'a>, runs: &'a [Run], noise: f64, sure: f64) -> Self {
        let measured = |arm| {
            let (mean, variance) = measured(runs, 0, arm, noise)?;
            let most = if sure > 0.0 { f64::INFINITY } else { most(known.first, runs, arm, noise) };
            Some((mean.min(most), variance))
        };
        let beliefs = beliefs(known.predicted, runs, known.experience, measured);
        Self { known, beliefs, runs, noise, sure }
    }

    fn choose(&self, conditions: &Conditions) -> Choice {
        let Self { known, beliefs, runs, sure, .. } = self;
        let least = |arm: &usize| LEAST.max(sure * beliefs[*arm].deviation);
        let best = (1..beliefs.len())
            .filter(|arm| beliefs[*arm].runs > 0 && beliefs[*arm].mean > least(arm))
            .max_by(|one, other| beliefs[*one].mean.total_cmp(&beliefs[*other].mean))
            .unwrap_or(0);
        let choice = |arm, reason| Choice { arm, reason, best, expected: beliefs[best].mean.exp() };
        if conditions.in_a_hurry {
            return choice(best, Reason::Best);
        }
        if best > 0 && self.is_check_due(best, conditions.seed) {
            return choice(0, Reason::Check);
        }
        let promising = (1..beliefs.len()).filter(|arm| *arm != best && self.is_worth(*arm, best));
        let most = |arm: &usize| beliefs[*arm].mean + beliefs[*arm].deviation;
        if let Some(arm) = promising.max_by(|one, other| most(one).total_cmp(&most(other)))
            && is_spaced(runs, best)
        {
            return choice(arm, Reason::Trial);
        }
        match best > 0 && known.spent.allows(0.0) {
            true => choice(best, Reason::Best),
            false => choice(0, Reason::Best),
        }
    }

    /// True if a trial of an arm may gain more in the next jobs than it costs.
    fn is_worth(&self, arm: usize, best: usize) -> bool {
        let Self { known, beliefs, runs, noise, .. } = self;
        let Belief { mean, deviation, runs: tried, .. } = beliefs[arm];
        let direct = if best == 0 { None } else { measured(runs, best, arm, *noise) };
        let (ahead, unsure) = match direct {
            Some((ahead, variance)) => (ahead, variance.sqrt()),
            None => (mean - beliefs[best].mean, deviation.hypot(beliefs[best].deviation)),
        };
        if known.is_changed && runs.len() < WINDOW {
            return false;
        }
        // What was slower by more than the noise is not tried again soon.
        let last = runs.iter().rev().position(|run| run.arm == arm).unwrap_or(WINDOW);
        let found = measured(runs, 0, arm, *noise).filter(|_| last < WINDOW);
        if found.is_some_and(|(found, _)| found < -noise.sqrt()) {
            return false;
        }
        let gains = WINDOW as f64 * improvement(ahead, unsure);
        tried < MOST_TRIALS && gains > -ahead && known.spent.allows(worst(&beliefs[arm]))
    }

    /// True if the default order is to run again.
    fn is_check_due(&self, best: usize, seed: u64) -> bool {
        let Self { known, beliefs, runs, .. } = self;
        let start = runs.iter().position(|run| run.arm == best).unwrap_or(runs.len());
        let done = runs[start..].iter().filter(|run| run.arm == 0).count();
        let since = runs.iter().rev().take_while(|run| run.arm != 0).count();
        let Belief { mean, deviation, .. } = beliefs[best];
        let is_unclear = done < LATE && since >= UNCLEAR_GAP && mean < CLEAR * deviation;
        if done == 0 || is_unclear || self.is_risky(best) {
            return true;
        }
        let jobs = runs.len() - start;
        // Jobs may repeat in a rhythm.
        let by_chance = (mix(seed ^ done as u64) % 3) as usize;
        let due = CHECKS.iter().filter(|at| **at + by_chance <= jobs).count()
            + jobs.saturating_sub(CHECKS[CHECKS.len() - 1] + by_chance) / LAST_GAP;
        let is_known = !known.experience.is_empty() || done >= COMPARED;
        done < due && (!is_known || known.spent.allows_check(-(-beliefs[best].mean).exp_m1()))
    }

    /// True if an uncertain placement ran so often that it may have cost too much.
    fn is_risky(&self, best: usize) -> bool {
        let Belief { mean, deviation, .. } = self.beliefs[best];
        let late = &self.runs[self.runs.len().saturating_sub(WINDOW - 1)..];
        let placed = late.iter().filter(|run| run.arm == best).count() + 1;
        let lost = (DOUBT * deviation - mean).exp_m1();
        placed as f64 * lost > RISK * WINDOW as f64
    }
}

/// The index of the run from which on the times of a placement have changed, 0 if they have not.
fn last_change(runs: &[Run], noise: f64) -> usize {
    let least = LEAST_CHANGE.max(CHANGED * noise.sqrt());
    let (mut since, mut last) = (0, 0.0);
    for (at, run) in runs.iter().enumerate().filter(|(_, run)| run.arm > 0) {
        let alike = |other: &&Run| (other.arm, other.group) == (run.arm, run.group);
        let before = runs[since..at].iter().rev().filter(alike);
        let before: Vec<f64> = before.map(|run| run.seconds.ln()).collect();
        // The run before may be the first one after the change.
        let before = &before[usize::from(last != 0.0 && before.len() > 1)..];
        if before.is_empty() {
            continue;
        }
        let apart = run.seconds.ln() - median(&before[..before.len().min(BEFORE)]);
        let is_far = apart.abs() > least;
        if is_far && last * apart > 0.0 {
            since = previous(runs, at);
        }
        last = if is_far { apart } else { 0.0 };
    }
    since
}

/// The index of the placed run before this one.
fn previous(runs: &[Run], at: usize) -> usize {
    runs[..at].iter().rposition(|run| run.arm > 0).unwrap_or(at)
}

/// The number of runs before a change that are compared with those after it.
const BEFORE: usize = 5;

/// True if placements were measured to be faster on other nodes.
fn is_proven(experience: &[(f64, f64)]) -> bool {
    let sum: f64 = experience.iter().map(|(_, found)| found.max(1e-3).ln()).sum();
    !experience.is_empty() && sum > LEAST * experience.len() as f64
}

/// True if the last run was one of the best arm or of the default order: with a normal run between trials, their cost
/// becomes visible.
fn is_spaced(runs: &[Run], best: usize) -> bool {
    runs.last().is_none_or(|run| run.arm == best || run.arm == 0)
}

/// The expected improvement from an arm that leads by `ahead`, with this uncertainty.
fn improvement(ahead: f64, deviation: f64) -> f64 {
    let z = ahead / deviation.max(1e-9);
    let density = (-z * z / 2.0).exp() * 0.398_942_3;
    (deviation * (density + z * below(z))).max(0.0)
}

/// The normal distribution function, to 1e-3, which suffices here.
fn below(z: f64) -> f64 {
    1.0 / (1.0 + (-1.5976 * z - 0.070_565_992 * z.powi(3)).exp())
}

#[cfg(test)]
mod tests;
