//! The policy that chooses the placement of the next job.
//!
//! Every job takes the placement that is best by all evidence: the prediction, corrected by the accuracy of this
//! program's earlier predictions, and the times of jobs, compared with those near them. Occasionally a job takes
//! another placement: one that may be better by more than its trial costs, or the default order, so that a change of
//! the machine is noticed. Over any `WINDOW` jobs, these trials may cost [`BUDGET`] of the time.

use cartograph_shim::splitmix::mix;

use super::belief::{Belief, Measured, NOISE, WORST, beliefs, measured};
use super::change::{last_change, since_slow};
use super::evidence::{COMPARED, noise};
use super::measure::Run;
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
    /// True if the first run was in the default order on nodes of this shape.
    pub(super) is_first_here: bool,
    /// The time that placements cost so far.
    pub(super) spent: Spent,
    /// True if one of the last placements with this number of processes was not compared.
    pub(super) is_uncompared_here: bool,
    /// True if the times of placements have changed before these runs.
    pub(super) is_changed: bool,
}

impl Known<'_> {
    /// True if an arm may run before the last placements of other kinds of work and numbers of processes are compared.
    fn may_try(&self, arm: usize) -> bool {
        !self.spent.is_uncompared || (!self.is_uncompared_here && self.predicted[arm] >= SURE)
    }
}

/// A smaller lead does not justify a different placement.
const LEAST: f64 = 0.02;

/// A placement with this predicted gain is tried although another one was not compared yet: of the lab's programs, none of
/// these was slower.
const SURE: f64 = 1.8;

/// An arm with this number of runs gets no further trials.
const MOST_TRIALS: usize = 3;

/// The numbers of jobs since a placement's first run after which the default order runs again, as it does right after
/// that run; later, it does so after each further number of `LAST_GAP`.
const CHECKS: [usize; 3] = [6, 18, 48];
const LAST_GAP: usize = 50;

/// While a placement may be slower, the default order has this number of any `WINDOW` runs, at this distance.
const UNCLEAR: usize = 4;
const UNCLEAR_GAP: usize = 2;

/// The most time that placements may lose if all are as slow as they may be, in jobs: the best ones in any `WINDOW` jobs,
/// and together with a trial in any `LONG` jobs.
const RISK: f64 = 0.45;
const TRIAL_RISK: f64 = 0.9;
const LONG: usize = 2 * WINDOW;

/// If the gain was found on nodes of this number of other shapes in a row, up to `UNCOMPARED` runs on others are placed
/// before one is compared.
const PROVEN: usize = 3;
const UNCOMPARED: usize = 3;

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
        let known = &Known { is_changed: late.len() < here.len(), ..*known };
        return match late.iter().any(|run| run.arm == 0) {
            true => State::new(known, late, noise).choose(conditions),
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
    let known = Known { predicted, experience: &[], ..*known };
    let noise = noise(&everywhere, NOISE);
    State::new(&known, &everywhere, noise).choose(conditions)
}

/// The default order, if nothing else is known.
const OWN: Choice = Choice { arm: 0, reason: Reason::Check, best: 0, expected: 1.0 };

/// Chooses an arm if the default order has not run on nodes of this shape since the first run. A placement that was
/// faster elsewhere, or that may be, is used once, and then compared with the default order.
fn choose_without_own(known: &Known<'_>, here: &[Run], conditions: &Conditions) -> Choice {
    let is_new = here.len() < uncompared(known, conditions.seed) && !conditions.in_a_hurry;
    let is_second = known.runs.is_empty() && !is_refuted(known.experience);
    if !is_new || !(is_second || known.is_first_here || is_proven(known.experience)) {
        return OWN;
    }
    let beliefs = beliefs(known.predicted, here, known.experience, |_| None);
    // Of equals the first, like in messages.
    let ahead = (1..beliefs.len())
        .rev()
        .max_by(|one, other| beliefs[*one].mean.total_cmp(&beliefs[*other].mean))
        .filter(|arm| beliefs[*arm].mean > LEAST);
    match ahead {
        // It may be as slow as any placement: no run shows otherwise.
        Some(arm) if known.may_try(arm) && known.spent.allows(WORST.exp_m1()) => {
            Choice { arm, reason: Reason::Trial, best: 0, expected: 1.0 }
        }
        _ => OWN,
    }
}

/// The number of runs that may be placed on nodes of a shape before one in the default order there.
fn uncompared(known: &Known<'_>, seed: u64) -> usize {
    let late = &known.experience[known.experience.len().saturating_sub(PROVEN)..];
    let is_sure = late.len() >= PROVEN && late.iter().all(|(_, found)| found.ln() > LEAST);
    let start = known.runs.iter().position(|run| run.arm > 0).unwrap_or(known.runs.len());
    match is_sure && !is_due(&known.runs[start..], seed) {
        true => UNCOMPARED,
        false => 1,
    }
}

/// True if the default order is to run again by the number of jobs since a placement's first run.
fn is_due(runs: &[Run], seed: u64) -> bool {
    let (jobs, since) = (runs.len(), runs.iter().rev().take_while(|run| run.arm != 0).count());
    // Jobs may repeat in a rhythm.
    let by_chance = |at: usize| at + (mix(seed ^ at as u64) % 3) as usize;
    let later = (1..).map(|more| CHECKS[CHECKS.len() - 1] + more * LAST_GAP);
    let due = CHECKS.into_iter().chain(later).map(by_chance).take_while(|at| *at <= jobs);
    due.last().is_some_and(|at| since >= jobs - at)
}

/// The time that an arm loses at worst, as a fraction: one with little evidence may be far worse than it looks, and one
/// without runs here as bad as any, if placements of the last jobs were slower.
fn worst(belief: &Belief, is_doubted: bool) -> f64 {
    let Belief { mean, deviation, runs, .. } = *belief;
    let known = if runs == 0 && is_doubted { -WORST } else { mean - 2.0 * deviation };
    (-known.max(mean.min(-WORST))).exp_m1()
}

/// The evidence, once the default order has run.
struct State<'a> {
    known: &'a Known<'a>,
    beliefs: Vec<Belief>,
    /// The runs to compare.
    runs: &'a [Run],
    noise: f64,
}

impl<'a> State<'a> {
    fn new(known: &'a Known<'a>, runs: &'a [Run], noise: f64) -> Self {
        let measured = |arm| measured(runs, 0, arm, noise);
        let beliefs = beliefs(known.predicted, runs, known.experience, measured);
        Self { known, beliefs, runs, noise }
    }

    fn choose(&self, conditions: &Conditions) -> Choice {
        let Self { known, beliefs, runs, .. } = self;
        let best = (1..beliefs.len())
            .filter(|arm| beliefs[*arm].runs > 0 && beliefs[*arm].mean > LEAST)
            .max_by(|one, other| beliefs[*one].mean.total_cmp(&beliefs[*other].mean))
            .unwrap_or(0);
        let choice = |arm, reason| Choice { arm, reason, best, expected: beliefs[best].mean.exp() };
        if conditions.in_a_hurry {
            return choice(best, Reason::Best);
        }
        // The machine may have changed: the default order runs next, and nothing else is tried until that is known.
        let since_slow = since_slow(runs, self.noise);
        let is_due = || best > 0 && self.is_check_due(best, conditions.seed);
        if since_slow == Some(0) || is_due() {
            return choice(0, Reason::Check);
        }
        let others = (1..beliefs.len()).rev().filter(|arm| *arm != best);
        let promising = others.filter(|arm| self.is_worth(*arm, best));
        let most = |arm: &usize| beliefs[*arm].mean + beliefs[*arm].deviation;
        if let Some(arm) = promising.max_by(|one, other| most(one).total_cmp(&most(other)))
            && is_spaced(runs, best, conditions.seed)
            && since_slow.is_none_or(|since| since >= WINDOW)
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
            Some(Measured { mean, variance, .. }) => (mean, variance.sqrt()),
            None => (mean - beliefs[best].mean, deviation.hypot(beliefs[best].deviation)),
        };
        if known.is_changed && runs.len() < WINDOW || is_refuted(known.experience) {
            return false;
        }
        // An arm that was slower by more than the noise is not tried again soon, and one that was slower than all runs
        // in the default order, not for long.
        let last = runs.iter().rev().position(|run| run.arm == arm).unwrap_or(LAST_GAP);
        let is_slower = |found: Measured| {
            let is_late = last < WINDOW && found.mean < -noise.sqrt();
            is_late || (last < LAST_GAP && found.most < 0.0)
        };
        if measured(runs, 0, arm, *noise).is_some_and(is_slower) {
            return false;
        }
        let gains = WINDOW as f64 * improvement(ahead, unsure);
        tried < MOST_TRIALS
            && gains > -ahead
            && known.may_try(arm)
            && known.spent.allows(worst(&beliefs[arm], known.spent.has_lost(LEAST)))
            && self.risk(arm, LONG) <= TRIAL_RISK
    }

    /// True if the default order is to run again.
    fn is_check_due(&self, best: usize, seed: u64) -> bool {
        let Self { known, beliefs, runs, .. } = self;
        let Belief { mean, least, .. } = beliefs[best];
        let start = runs.iter().position(|run| run.arm == best).unwrap_or(runs.len());
        let own = |from: usize| runs[from..].iter().filter(|run| run.arm == 0).count();
        let since = runs.iter().rev().take_while(|run| run.arm != 0).count();
        let late = runs.len().saturating_sub(WINDOW);
        // More than predicted is not believed at once: the only run in the default order may have been disturbed.
        let most = known.predicted[best].max(1.0).ln() + WORST;
        let is_odd = own(start) < COMPARED
            && measured(runs, 0, best, self.noise).is_some_and(|found| found.mean > most);
        let gap = if is_odd { UNCLEAR_GAP } else { own(start).min(UNCLEAR_GAP) };
        let is_unclear = (least < 0.0 || is_odd) && since >= gap && own(late) < UNCLEAR;
        if own(start) == 0 || is_unclear || self.risk(best, WINDOW) > RISK {
            return true;
        }
        let is_known = !known.experience.is_empty() || own(start) >= COMPARED;
        is_due(&runs[start..], seed) && (!is_known || known.spent.allows_check(-(-mean).exp_m1()))
    }

    /// The time that a job in an arm and all placed jobs among those before it lose if these arms are as slow as they may
    /// be, in jobs.
    fn risk(&self, arm: usize, jobs: usize) -> f64 {
        let late = &self.runs[self.runs.len().saturating_sub(jobs - 1)..];
        let lost = |arm: usize| match self.beliefs.get(arm) {
            Some(belief) => (-belief.least.max(-WORST)).exp_m1().max(0.0),
            None => 0.0,
        };
        late.iter().map(|run| lost(run.arm)).sum::<f64>() + lost(arm)
    }
}

/// True if placements were measured to be faster on other nodes or with other numbers of processes.
fn is_proven(experience: &[(f64, f64)]) -> bool {
    let sum: f64 = experience.iter().map(|(_, found)| found.max(1e-3).ln()).sum();
    !experience.is_empty() && sum > LEAST * experience.len() as f64
}

/// True if several placements were measured there, and none was faster.
fn is_refuted(experience: &[(f64, f64)]) -> bool {
    experience.len() > 1 && experience.iter().all(|(_, found)| *found < 1.0 + LEAST)
}

/// True if the last run was one of the best arm or of the default order: with a normal run between trials, their cost
/// becomes visible. Sometimes there are two, since jobs may repeat in a rhythm.
fn is_spaced(runs: &[Run], best: usize, seed: u64) -> bool {
    let is_usual = |run: &&Run| run.arm == best || run.arm == 0;
    let tried = runs.iter().filter(|run| !is_usual(run)).count() as u64;
    let since = runs.iter().rev().take_while(is_usual).count() as u64;
    tried == 0 || since > mix(seed ^ tried) % 2
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
