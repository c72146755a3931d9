//! The placement of the next job.
//!
//! Every job takes the placement that is best by what is known: the forecast, corrected by how right forecasts for this
//! program were, and the times of the jobs before, later ones counting more. Now and then a job takes another: one that
//! may be better by more than trying it costs, or the own order again, so that a change of the machine is noticed. Over
//! any `WINDOW` jobs these trials may cost [`BUDGET`] of the time.

use super::belief::{Belief, NOISE, NOISE_OF_SHAPES, beliefs, measured, noise};
use super::evidence::{Run, mean_times, pairs};
use super::spent::{Spent, WINDOW};

/// The conditions under which a job is started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Conditions<'a> {
    /// The shape of the nodes.
    pub shape: u64,
    /// Forecasts for nodes of other shapes, each with what was measured.
    pub experience: &'a [(f64, f64)],
    /// True if the job has no time to lose: nothing is tried.
    pub in_a_hurry: bool,
    /// A number by which checks are spread; the same for one program.
    pub seed: u64,
}

/// The reason of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Best by what is known.
    Best,
    /// It may be better than the best.
    Trial,
    /// The own order, to see whether it is still slower.
    Check,
}

/// The placement of the next job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The arm.
    pub arm: usize,
    /// Its reason.
    pub reason: Reason,
    /// The arm that is best by what is known.
    pub best: usize,
    /// The expected speed of the best relative to the own order.
    pub expected: f64,
}

/// A smaller advantage is not worth another placement.
const LEAST: f64 = 0.02;

/// By runs on nodes of different shapes, a placement is better if its gain is this many standard deviations from none.
const SURE: f64 = 2.5;

/// A placement that is predicted to be faster is not slower than by this, as a logarithm.
const WORST: f64 = 0.4;

/// The runs of an arm after which it is not tried any more for what it might be.
const MOST_TRIALS: usize = 3;

/// Jobs between checks of the own order: the first ones, where a gain is unsure and where it is sure, and the most.
const UNSURE_GAP: usize = 4;
const FIRST_GAP: usize = 8;
const LAST_GAP: usize = 40;

/// Chooses the placement of the next job: `predicted` has the predicted gain of each arm, the first of which is the own
/// order, and `runs` what was run on all nodes, the oldest first. On nodes of another shape all arms but the own order
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
    // No nodes came again so far: jobs are compared whatever their nodes.
    let (predicted, noise) =
        (&predicted[..predicted.len().min(2)], noise(&everywhere, NOISE_OF_SHAPES));
    let beliefs = beliefs(predicted, &everywhere, &[], |arm| measured(&everywhere, 0, arm, noise));
    if !everywhere.iter().any(|run| run.arm == 0) {
        return Choice { arm: 0, reason: Reason::Check, best: 0, expected: 1.0 };
    }
    let state = State { beliefs, runs: &everywhere, everywhere: &everywhere, noise, sure: SURE };
    state.choose(conditions)
}

/// Chooses where the own order has not run on such nodes. A placement that was faster on others is used at once. It is
/// compared when such nodes come again, unless that costs too much; by the times of the own order on other nodes this is
/// noticed if it is not faster here.
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

/// What is known where the own order has run.
struct State<'a> {
    beliefs: Vec<Belief>,
    /// The runs that are compared.
    runs: &'a [Run],
    everywhere: &'a [Run],
    noise: f64,
    /// The standard deviations by which an arm must be ahead.
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
            // That of which little is known may be far worse than it looks.
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

/// Returns whether placements were faster on other nodes, by runs.
fn is_proven(experience: &[(f64, f64)]) -> bool {
    let sum: f64 = experience.iter().map(|(_, found)| found.max(1e-3).ln()).sum();
    sum > LEAST * experience.len() as f64
}

/// Returns whether the last run was that of the best: trials do not follow each other, so that what they cost is seen.
fn is_spaced(runs: &[Run], best: usize) -> bool {
    runs.last().is_none_or(|run| run.arm == best || run.arm == 0)
}

/// Returns whether the own order is due: each gap is longer than the one before, by chance a bit more or less, since
/// jobs may repeat in some rhythm.
fn is_check_due(runs: &[Run], best: usize, belief: &Belief, seed: u64) -> bool {
    let since = runs.iter().rev().take_while(|run| run.arm != 0).count();
    let checks = pairs(runs, 0, best).len();
    // What may well be no gain at all is looked at soon, which costs little.
    let is_sure = belief.mean > 2.0 * belief.deviation;
    let sure = (FIRST_GAP + 2 * checks.saturating_sub(1)).min(LAST_GAP);
    let gap = if is_sure { sure } else { UNSURE_GAP };
    let spread = gap / 2 + 1;
    let by_chance = mixed(seed ^ (checks as u64) << 32) % spread as u64;
    since >= gap - spread / 2 + by_chance as usize
}

/// A number that looks random (SplitMix64).
pub(super) fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The expected improvement by something that is ahead by `ahead`, as far as is known.
fn improvement(ahead: f64, deviation: f64) -> f64 {
    let z = ahead / deviation.max(1e-9);
    let density = (-z * z / 2.0).exp() * 0.398_942_3;
    (deviation * (density + z * below(z))).max(0.0)
}

/// The normal distribution, to 1e-3: enough for a choice.
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
        // What is unsure is compared sooner.
        let unsure = [(0, 10.0), (1, 9.6), (1, 9.5), (1, 9.7), (1, 9.4), (1, 9.6)];
        assert!((4..=6).any(|runs| next(&predicted, &unsure[..runs]).0 == 0));
        // The own order costs too much where the gain is large.
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
        // When such nodes come again it is compared.
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
        // If it is faster, the own order would take too long.
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
        // What is no faster than noise allows is not used.
        let unsure = [own(1), placed(2, 9.5), own(3), placed(4, 9.8), own(5), placed(6, 9.4)];
        assert_eq!(next(&unsure).0, 0);
    }

    #[test]
    fn what_is_behind_in_one_run_is_not_run_again() {
        assert_eq!(next(&[1.0, 1.3], &[(0, 10.0), (1, 12.5)]).0, 0);
        // Nor is another of which the same forecast speaks as well, at once.
        let (arm, _) = next(&[1.0, 1.3, 1.29], &[(0, 10.0), (1, 16.0), (0, 10.0)]);
        assert!(arm != 1);
        // By noise no arm is lost.
        assert_eq!(next(&[1.0, 1.3], &[(0, 10.0), (1, 10.2), (0, 10.1)]).0, 1);
    }

    #[test]
    fn nothing_is_tried_in_a_hurry() {
        let run = Run { arm: 0, group: 1, shape: 0, seconds: 10.0 };
        let hurry = Conditions { in_a_hurry: true, ..Conditions::default() };
        assert_eq!(choose(&[1.0, 1.3], &[run], &hurry).arm, 0);
        // What is known to be faster is not tried.
        let runs = [run, Run { arm: 1, seconds: 7.0, ..run }];
        assert_eq!(choose(&[1.0, 1.3], &runs, &hurry).arm, 1);
    }
}
