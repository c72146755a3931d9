//! The policy that chooses the placement of the next job.
//!
//! Every job takes the placement that is best by all evidence: the prediction, corrected by the accuracy of this
//! program's earlier predictions, and the times of earlier jobs, where later ones count more. Occasionally a job takes
//! another placement: one that may be better by more than its trial costs, or the default order, so that a change of
//! the machine is noticed. Over any `WINDOW` jobs, these trials may cost [`BUDGET`] of the time.

use cartograph_traffic::mixed;

use super::belief::{Belief, NOISE, NOISE_OF_SHAPES, beliefs, measured, noise};
use super::evidence::{Run, mean_times, pairs};
use super::spent::{Spent, WINDOW};

/// The conditions under which a job is started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Conditions<'a> {
    /// The shape of the nodes.
    pub shape: u64,
    /// The predicted and measured gains on nodes of other shapes.
    pub experience: &'a [(f64, f64)],
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

/// A smaller lead does not justify a different placement.
const LEAST: f64 = 0.02;

/// If runs are on nodes of different shapes, a placement must lead by this many standard deviations.
const SURE: f64 = 2.5;

/// A placement that is predicted to be faster is assumed not to be slower than by this logarithm.
const WORST: f64 = 0.4;

/// An arm with this number of runs gets no further trials.
const MOST_TRIALS: usize = 3;

/// The number of jobs between checks of the default order: at first, while the gain is uncertain and once it is
/// certain, and at most.
const UNSURE_GAP: usize = 4;
const FIRST_GAP: usize = 8;
const LAST_GAP: usize = 40;

/// Chooses the placement of the next job. `predicted` has the predicted gain of each arm, where arm 0 is the default
/// order, and `runs` the runs on all nodes, oldest first. On nodes of other shapes, all arms except the default order
/// count as one.
pub fn choose(predicted: &[f64], runs: &[Run], conditions: &Conditions<'_>) -> Choice {
    let Conditions { shape, experience, .. } = *conditions;
    let is_here = |run: &Run| run.shape == shape;
    let alike = |run: &Run| if is_here(run) { *run } else { Run { arm: run.arm.min(1), ..*run } };
    let everywhere: Vec<Run> = runs.iter().map(alike).collect();
    let here: Vec<Run> = runs.iter().copied().filter(is_here).collect();
    if here.iter().any(|run| run.arm == 0) {
        let noise = noise(&here, NOISE);
        let beliefs = beliefs(predicted, &here, experience, |arm| measured(&here, 0, arm, noise));
        let state = State { beliefs, runs: &here, everywhere: &everywhere, noise, sure: 0.0 };
        return state.choose(conditions);
    }
    if !here.is_empty() || !experience.is_empty() {
        return choose_without_own(predicted, &here, &everywhere, conditions);
    }
    // No shape has recurred so far, so jobs on all nodes are compared.
    let (predicted, noise) =
        (&predicted[..predicted.len().min(2)], noise(&everywhere, NOISE_OF_SHAPES));
    let beliefs = beliefs(predicted, &everywhere, &[], |arm| measured(&everywhere, 0, arm, noise));
    if !everywhere.iter().any(|run| run.arm == 0) {
        return Choice { arm: 0, reason: Reason::Check, best: 0, expected: 1.0 };
    }
    let state = State { beliefs, runs: &everywhere, everywhere: &everywhere, noise, sure: SURE };
    state.choose(conditions)
}

/// Chooses an arm if the default order has not run on nodes of this shape. A placement that was faster elsewhere is
/// used at once, and compared when this shape recurs unless that costs too much; then the times of the default order on
/// other nodes reveal whether the placement is slower here.
fn choose_without_own(
    predicted: &[f64],
    here: &[Run],
    everywhere: &[Run],
    conditions: &Conditions<'_>,
) -> Choice {
    let Conditions { experience, in_a_hurry, .. } = *conditions;
    let own: Vec<Run> = everywhere.iter().copied().filter(|run| run.arm == 0).collect();
    let variance = 2.0 * noise(&own, NOISE_OF_SHAPES);
    let across = |arm: usize| {
        let others = here.iter().filter(|run| run.arm == arm);
        let ratio = mean_times(&own.iter().chain(others).copied().collect::<Vec<Run>>(), arm)?;
        Some((ratio.ln(), variance))
    };
    let beliefs = beliefs(predicted, here, experience, across);
    let ahead = (1..beliefs.len())
        .max_by(|one, other| beliefs[*one].mean.total_cmp(&beliefs[*other].mean))
        .filter(|arm| beliefs[*arm].mean > LEAST);
    let tried = ahead.filter(|arm| beliefs[*arm].runs > 0);
    let best = tried.unwrap_or(0);
    let choice = |arm, reason| Choice { arm, reason, best, expected: beliefs[best].mean.exp() };
    match (ahead, tried) {
        (Some(arm), _) if here.is_empty() && is_proven(experience) && !in_a_hurry => {
            choice(arm, Reason::Trial)
        }
        (_, Some(arm)) => {
            let slower = beliefs[arm].mean.exp_m1();
            let spent = Spent::new(&beliefs, arm, everywhere, conditions.shape);
            match spent.allows_check(slower) {
                true => choice(0, Reason::Check),
                false => choice(arm, Reason::Best),
            }
        }
        _ => choice(0, Reason::Check),
    }
}

/// The evidence, once the default order has run.
struct State<'a> {
    beliefs: Vec<Belief>,
    /// The runs to compare.
    runs: &'a [Run],
    everywhere: &'a [Run],
    noise: f64,
    /// The number of standard deviations by which an arm must lead.
    sure: f64,
}

impl State<'_> {
    fn choose(&self, conditions: &Conditions<'_>) -> Choice {
        let Self { beliefs, runs, everywhere, noise, sure } = self;
        let least = |arm: &usize| LEAST.max(sure * beliefs[*arm].deviation);
        let best = (1..beliefs.len())
            .filter(|arm| beliefs[*arm].runs > 0 && beliefs[*arm].mean > least(arm))
            .max_by(|one, other| beliefs[*one].mean.total_cmp(&beliefs[*other].mean))
            .unwrap_or(0);
        let choice = |arm, reason| Choice { arm, reason, best, expected: beliefs[best].mean.exp() };
        let spent = Spent::new(beliefs, best, everywhere, conditions.shape);
        let now = beliefs[best].mean.max(beliefs[best].found);
        if conditions.in_a_hurry {
            return choice(best, Reason::Best);
        }
        let worth = |arm: &usize| {
            let Belief { mean, deviation, runs: tried, .. } = beliefs[*arm];
            let direct = if best == 0 { None } else { measured(runs, best, *arm, *noise) };
            let (ahead, unsure) = match direct {
                Some((ahead, variance)) => (ahead, variance.sqrt()),
                None => (mean - beliefs[best].mean, deviation.hypot(beliefs[best].deviation)),
            };
            // An arm with little evidence may be far worse than it looks.
            let worst = (mean - 2.0 * deviation).max(mean.min(-WORST));
            let gains = WINDOW as f64 * improvement(ahead, unsure);
            tried < MOST_TRIALS && gains > -ahead && spent.allows((now - worst).exp_m1())
        };
        let promising = (1..beliefs.len()).filter(|arm| *arm != best).filter(worth);
        let most = |arm: &usize| beliefs[*arm].mean + beliefs[*arm].deviation;
        if let Some(arm) = promising.max_by(|one, other| most(one).total_cmp(&most(other)))
            && is_spaced(runs, best)
        {
            return choice(arm, Reason::Trial);
        }
        if best > 0
            && is_check_due(runs, best, &beliefs[best], conditions.seed)
            && spent.allows_check(now.exp_m1())
        {
            return choice(0, Reason::Check);
        }
        choice(best, Reason::Best)
    }
}

/// True if placements were measured to be faster on other nodes.
fn is_proven(experience: &[(f64, f64)]) -> bool {
    let sum: f64 = experience.iter().map(|(_, found)| found.max(1e-3).ln()).sum();
    sum > LEAST * experience.len() as f64
}

/// True if the last run was one of the best arm or of the default order: with a normal run between trials, their cost
/// becomes visible.
fn is_spaced(runs: &[Run], best: usize) -> bool {
    runs.last().is_none_or(|run| run.arm == best || run.arm == 0)
}

/// True if a check of the default order is due. Each gap is longer than the one before, with some randomness, since
/// jobs may repeat in a rhythm.
fn is_check_due(runs: &[Run], best: usize, belief: &Belief, seed: u64) -> bool {
    let since = runs.iter().rev().take_while(|run| run.arm != 0).count();
    let checks = pairs(runs, 0, best).len();
    // A possible gain that may be none is checked soon, which costs little.
    let is_sure = belief.mean > 2.0 * belief.deviation;
    let sure = (FIRST_GAP + 2 * checks.saturating_sub(1)).min(LAST_GAP);
    let gap = if is_sure { sure } else { UNSURE_GAP };
    let spread = gap / 2 + 1;
    let by_chance = mixed(seed ^ (checks as u64) << 32) % spread as u64;
    since >= gap - spread / 2 + by_chance as usize
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
mod tests {
    use super::*;

    fn next(predicted: &[f64], all: &[(usize, f64)]) -> (usize, Reason) {
        let run = |(arm, seconds): &(usize, f64)| Run {
            arm: *arm,
            group: 1,
            shape: 0,
            seconds: *seconds,
        };
        let runs: Vec<Run> = all.iter().map(run).collect();
        let choice = choose(predicted, &runs, &Conditions::default());
        (choice.arm, choice.reason)
    }

    #[test]
    fn the_first_jobs_are_recorded_placed_and_checked() {
        let predicted = [1.0, 1.3];
        assert_eq!(next(&predicted, &[]).0, 0);
        assert_eq!(next(&predicted, &[(0, 10.0)]), (1, Reason::Trial));
        let mut runs = vec![(0, 10.0), (1, 8.0)];
        let mut checks = Vec::new();
        for job in 3..60 {
            let (arm, reason) = next(&predicted, &runs);
            if arm == 0 {
                assert_eq!(reason, Reason::Check);
                checks.push(job);
            }
            runs.push((arm, if arm == 0 { 10.0 } else { 8.0 }));
        }
        let gaps: Vec<i32> = checks.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!((8..=12).contains(&checks[0]) && gaps.len() >= 2, "{checks:?}");
        assert!(gaps.last() > gaps.first(), "{checks:?}");
        // An uncertain gain is checked sooner.
        let unsure = [(0, 10.0), (1, 9.6), (1, 9.5), (1, 9.7), (1, 9.4), (1, 9.6)];
        assert!((4..=6).any(|runs| next(&predicted, &unsure[..runs]).0 == 0));
        // If the gain is large, the default order costs too much.
        let huge: Vec<(usize, f64)> = std::iter::once((0, 17.0)).chain([(1, 1.0); 50]).collect();
        assert_eq!(next(&[1.0, 20.0], &huge), (1, Reason::Best));
    }

    #[test]
    fn what_was_faster_on_other_nodes_is_used_on_new_ones_at_once() {
        let next = |experience: &[(f64, f64)], runs: &[Run], in_a_hurry| {
            let conditions = Conditions { experience, in_a_hurry, ..Conditions::default() };
            let choice = choose(&[1.0, 1.5, 1.3], runs, &conditions);
            (choice.arm, choice.reason)
        };
        let (proven, refuted) = ([(1.6, 1.4)], [(1.6, 0.95)]);
        assert_eq!(next(&proven, &[], false), (1, Reason::Trial));
        assert_eq!(next(&proven, &[], true).0, 0);
        assert_eq!(next(&refuted, &[], false), (0, Reason::Check));
        assert_eq!(next(&[], &[], false).0, 0);
        // When this shape recurs, the placement is compared.
        let placed = Run { arm: 1, group: 1, shape: 0, seconds: 7.0 };
        assert_eq!(next(&proven, &[placed], false), (0, Reason::Check));
    }

    #[test]
    fn a_placement_that_is_slow_on_these_nodes_is_noticed_by_the_times_of_others() {
        let own = |shape| Run { arm: 0, group: 1, shape, seconds: 16.0 };
        let placed = |shape, seconds| Run { arm: 1, group: 1, shape, seconds };
        let next = |seconds| {
            let runs = [own(1), placed(1, 1.0), placed(1, 1.0), placed(2, seconds)];
            let experience = &[(20.0, 16.0)];
            let conditions = Conditions { shape: 2, experience, ..Conditions::default() };
            let choice = choose(&[1.0, 20.0], &runs, &conditions);
            (choice.arm, choice.reason)
        };
        // If the placement is faster, the default order would take too long.
        assert_eq!(next(1.1), (1, Reason::Best));
        assert_eq!(next(20.0), (0, Reason::Check));
    }

    #[test]
    fn nodes_that_never_repeat_are_compared_with_each_other() {
        let next = |runs: &[Run]| {
            let conditions = Conditions { shape: 99, ..Conditions::default() };
            let choice = choose(&[1.0, 1.5], runs, &conditions);
            (choice.arm, choice.reason)
        };
        let own = |shape| Run { arm: 0, group: 1, shape, seconds: 10.0 };
        let placed = |shape, seconds| Run { arm: 1, group: 1, shape, seconds };
        assert_eq!(next(&[]).0, 0);
        assert_eq!(next(&[own(1)]), (1, Reason::Trial));
        let fast = [own(1), placed(2, 5.0), own(3), placed(4, 5.1), own(5)];
        assert_eq!(next(&fast), (1, Reason::Best));
        // A placement that is not faster beyond noise is not used.
        let unsure = [own(1), placed(2, 9.5), own(3), placed(4, 9.8), own(5), placed(6, 9.4)];
        assert_eq!(next(&unsure).0, 0);
    }

    #[test]
    fn what_is_behind_in_one_run_is_not_run_again() {
        assert_eq!(next(&[1.0, 1.3], &[(0, 10.0), (1, 12.5)]).0, 0);
        // Nor is, at once, another placement with an equal prediction.
        let (arm, _) = next(&[1.0, 1.3, 1.29], &[(0, 10.0), (1, 16.0), (0, 10.0)]);
        assert!(arm != 1);
        // Noise does not eliminate an arm for good.
        assert_eq!(next(&[1.0, 1.3], &[(0, 10.0), (1, 10.2), (0, 10.1)]).0, 1);
    }

    #[test]
    fn nothing_is_tried_in_a_hurry() {
        let run = Run { arm: 0, group: 1, shape: 0, seconds: 10.0 };
        let hurry = Conditions { in_a_hurry: true, ..Conditions::default() };
        assert_eq!(choose(&[1.0, 1.3], &[run], &hurry).arm, 0);
        // An arm that is known to be faster needs no trial.
        let runs = [run, Run { arm: 1, seconds: 7.0, ..run }];
        assert_eq!(choose(&[1.0, 1.3], &runs, &hurry).arm, 1);
    }
}
