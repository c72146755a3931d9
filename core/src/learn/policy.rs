//! The placement of the next job.
//!
//! Every job takes the placement that is best by what is known: the forecast, corrected by how right forecasts for this
//! program were, and the times of the jobs before, later ones counting more. Now and then a job takes another: one that
//! may be better by more than trying it costs, or the own order again, so that a change of the machine is noticed. Over
//! any [`WINDOW`] jobs these trials may cost [`BUDGET`] of the time.

use super::evidence::{Run, pairs};

/// The conditions under which a job is started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Conditions<'a> {
    /// Forecasts for other nodes or numbers of processes, each with what was measured.
    pub experience: &'a [(f64, f64)],
    /// The number of the last [`WINDOW`] jobs that ran on other nodes, and have their part of what trials may cost.
    pub elsewhere: usize,
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

/// Jobs over which trials are bounded.
pub const WINDOW: usize = 20;

/// The part of the time of [`WINDOW`] jobs that trials may take, by estimate. The promise is 5 %: estimates err.
const BUDGET: f64 = 0.03;

/// A smaller advantage is not worth another placement.
const LEAST: f64 = 0.02;

/// The noise of a run before anything is known of it, as the logarithm of its time, and the number of runs that this
/// counts.
const NOISE: f64 = 0.05;
const NOISE_RUNS: f64 = 4.0;

/// The part of a predicted gain that is there, as a rule: replay knows no shared caches and no other jobs. With its
/// variance.
const TRUST: f64 = 0.6;
const TRUST_VARIANCE: f64 = 0.16;

/// The error of a corrected forecast: a constant part, and a part in proportion to the prediction.
const FORECAST_ERROR: f64 = 0.12;
const FORECAST_PART: f64 = 0.3;

/// A placement that is predicted to be faster is not slower than by this, as a logarithm.
const WORST: f64 = 0.4;

/// The weight of a run relative to that of the next job's.
const FADING: f64 = 0.9;

/// The runs of an arm after which it is not tried any more for what it might be.
const MOST_TRIALS: usize = 3;

/// Jobs between checks of the own order: from the first to the most.
const FIRST_GAP: usize = 4;
const LAST_GAP: usize = 40;

/// A belief on the logarithm of an arm's gain.
#[derive(Debug, Clone, Copy)]
struct Belief {
    mean: f64,
    deviation: f64,
    /// By runs alone, if there are any; else by forecast.
    found: f64,
    /// The runs of the arm.
    runs: usize,
}

/// Chooses the placement of the next job: `predicted` has the predicted gain of each arm, the first of which is the own
/// order, and `runs` what was run, the oldest first.
pub fn choose(predicted: &[f64], runs: &[Run], conditions: &Conditions<'_>) -> Choice {
    let beliefs = beliefs(predicted, runs, conditions.experience);
    let best = (1..beliefs.len())
        .filter(|arm| beliefs[*arm].runs > 0 && beliefs[*arm].mean > LEAST)
        .max_by(|one, other| beliefs[*one].mean.total_cmp(&beliefs[*other].mean))
        .unwrap_or(0);
    let choice = |arm, reason| Choice { arm, reason, best, expected: beliefs[best].mean.exp() };
    let spent = Spent::new(&beliefs, best, runs, conditions.elsewhere);
    let now = beliefs[best].mean.max(beliefs[best].found);
    // All others are compared with the own order. But what was faster on other nodes is not kept back on these.
    if !runs.iter().any(|run| run.arm == 0) {
        let ahead = (1..beliefs.len())
            .max_by(|one, other| beliefs[*one].mean.total_cmp(&beliefs[*other].mean))
            .filter(|arm| beliefs[*arm].mean > LEAST && is_proven(conditions.experience));
        return match ahead.filter(|_| !conditions.in_a_hurry) {
            Some(arm) if runs.is_empty() => choice(arm, Reason::Trial),
            Some(_) if !spent.allows(now.exp_m1()) => choice(best, Reason::Best),
            _ => choice(0, Reason::Check),
        };
    }
    if conditions.in_a_hurry {
        return choice(best, Reason::Best);
    }
    let worth = |arm: &usize| {
        let Belief { mean, deviation, runs: tried, .. } = beliefs[*arm];
        let direct = if best == 0 { None } else { measured(runs, best, *arm, noise(runs)) };
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
        && spent.allows(now.exp_m1())
    {
        return choice(0, Reason::Check);
    }
    choice(best, Reason::Best)
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
    let growth = if is_sure { 2 * checks.saturating_sub(1) } else { 0 };
    let gap = (FIRST_GAP + growth).min(LAST_GAP);
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

/// The time of the last jobs in the best placement, as far as is known, and what trials among them took beyond it.
struct Spent {
    budget: f64,
    lost: f64,
    all: f64,
    longest: f64,
}

impl Spent {
    fn new(beliefs: &[Belief], best: usize, runs: &[Run], elsewhere: usize) -> Self {
        let late = &runs[runs.len().saturating_sub(WINDOW - 1)..];
        let here = WINDOW.saturating_sub(elsewhere).max(1) as f64 / WINDOW as f64;
        let mut spent = Self { budget: BUDGET * here, lost: 0.0, all: 0.0, longest: 0.0 };
        for (at, run) in late.iter().enumerate() {
            let behind = beliefs.get(run.arm).map_or(0.0, |b| beliefs[best].found - b.found);
            let seconds = run.seconds / behind.exp();
            spent.all += seconds;
            spent.longest = spent.longest.max(seconds);
            // The first run of all is no trial: nothing else was known.
            if behind > 0.0 && (at > 0 || late.len() < runs.len()) {
                spent.lost += run.seconds - seconds;
            }
        }
        // The jobs to come are like the shorter half of those before: the first ones may have been the long ones.
        let mut times: Vec<f64> = late.iter().map(|run| run.seconds).collect();
        times.sort_by(f64::total_cmp);
        let middle = times.get((times.len().max(1) - 1) / 2).copied().unwrap_or(0.0);
        spent.all += middle * (WINDOW - late.len()) as f64;
        spent
    }

    /// Returns whether a job may be slower by this part of its time: the longest of those before may come again.
    fn allows(&self, slower: f64) -> bool {
        let lost = self.lost + slower.max(0.0) * self.longest;
        lost <= self.budget * (self.all + lost)
    }
}

/// The belief on each arm.
fn beliefs(predicted: &[f64], runs: &[Run], experience: &[(f64, f64)]) -> Vec<Belief> {
    let noise = noise(runs);
    let measured: Vec<Option<(f64, f64)>> =
        (0..predicted.len()).map(|arm| measured(runs, 0, arm, noise)).collect();
    let here = predicted.iter().zip(&measured).skip(1);
    let here = here.filter_map(|(predicted, found)| {
        found.map(|(mean, variance)| (predicted.max(1.0).ln(), mean, variance))
    });
    let elsewhere = experience.iter().map(|(predicted, found)| {
        (predicted.max(1.0).ln(), found.max(1e-3).ln(), 2.0 * NOISE.powi(2))
    });
    let trust = trust(here.chain(elsewhere));
    let belief = |arm: usize| {
        if arm == 0 {
            return Belief { mean: 0.0, deviation: 0.0, found: 0.0, runs: 0 };
        }
        let runs = runs.iter().filter(|run| run.arm == arm).count();
        let predicted = predicted[arm].max(1.0).ln();
        let (before, error) = (trust * predicted, forecast_error(predicted));
        match measured[arm] {
            None => Belief { mean: before, deviation: error, found: before, runs },
            Some((found, variance)) => {
                let certain = error.powi(-2);
                let all = certain + variance.recip();
                let mean = (certain * before + found / variance) / all;
                Belief { mean, deviation: all.recip().sqrt(), found, runs }
            }
        }
    };
    (0..predicted.len()).map(belief).collect()
}

/// The standard deviation of the gain about its corrected forecast.
fn forecast_error(predicted: f64) -> f64 {
    FORECAST_ERROR.hypot(FORECAST_PART * predicted)
}

/// The part of predicted gains that was there, of those tried.
fn trust(tried: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
    let (mut over, mut under) = (TRUST / TRUST_VARIANCE, TRUST_VARIANCE.recip());
    for (predicted, found, variance) in tried {
        let certain = (forecast_error(predicted).powi(2) + variance).recip();
        over += certain * predicted * found;
        under += certain * predicted * predicted;
    }
    (over / under).clamp(0.0, 1.0)
}

/// The variance of a run's logarithm: from runs of one arm and group that follow each other, so that slow changes of
/// the machine do not count.
fn noise(runs: &[Run]) -> f64 {
    let (mut squares, mut count) = (NOISE_RUNS * NOISE.powi(2), NOISE_RUNS);
    for (at, run) in runs.iter().enumerate() {
        let alike = |other: &&Run| other.arm == run.arm && other.group == run.group;
        if let Some(other) = runs[..at].iter().rev().find(alike) {
            squares += (run.seconds / other.seconds).ln().powi(2) / 2.0;
            count += 1.0;
        }
    }
    squares / count
}

/// The measured logarithm of an arm's gain over another and its variance: later comparisons count more.
fn measured(runs: &[Run], over: usize, arm: usize, noise: f64) -> Option<(f64, f64)> {
    let (mut sum, mut weights, mut squares) = (0.0, 0.0, 0.0);
    for pair in pairs(runs, over, arm) {
        let weight = FADING.powi((runs.len() - pair.at) as i32) / pair.variance;
        sum += weight * pair.difference;
        weights += weight;
        squares += weight * weight * pair.variance;
    }
    (weights > 0.0).then(|| (sum / weights, noise * squares / (weights * weights)))
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
        let run = |(arm, seconds): &(usize, f64)| Run { arm: *arm, group: 1, seconds: *seconds };
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
        assert!(checks[0] <= 6 && gaps.len() >= 3, "{checks:?}");
        assert!(gaps.last() > gaps.first(), "{checks:?}");
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
        let placed = Run { arm: 1, group: 1, seconds: 7.0 };
        assert_eq!(next(&proven, &[placed], false), (0, Reason::Check));
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
        let run = Run { arm: 0, group: 1, seconds: 10.0 };
        let hurry = Conditions { in_a_hurry: true, ..Conditions::default() };
        assert_eq!(choose(&[1.0, 1.3], &[run], &hurry).arm, 0);
        // What is known to be faster is not tried.
        let runs = [run, Run { arm: 1, seconds: 7.0, ..run }];
        assert_eq!(choose(&[1.0, 1.3], &runs, &hurry).arm, 1);
    }
}
