//! The times of runs, and the significance of their differences.

use std::fs;
use std::path::Path;

use cartograph_core::learn::CLAIMED;
use cartograph_core::learn::measure::paired_gain;
use cartograph_traffic::Recording;

/// A smaller gain does not justify a setting, however significant it is.
pub(super) const LEAST_GAIN: f64 = 1.02;

/// The order in which variants run: each round begins with the next variant, so that a machine that slows down or
/// speeds up affects all of them alike.
pub(super) fn turns(round: u32, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |turn| (turn + round as usize) % count)
}

/// True if a variant is significantly faster than the baseline, as one of several that are tested: together they report a
/// false gain in at most 1 % of cases.
pub(super) fn is_faster(baseline: &[f64], times: &[f64], tests: usize) -> bool {
    // Of a two-sided interval one side counts.
    let level = 2.0 * CLAIMED / tests.max(1) as f64;
    let found = paired_gain(baseline, times, level);
    found.is_some_and(|gain| gain.least > 1.0 && gain.mean >= LEAST_GAIN)
}

/// What all processes of a run have noted.
pub(super) struct Noted {
    /// The time from `MPI_Init` to `MPI_Finalize`, in seconds.
    pub(super) seconds: f64,
    /// The name of each rank's node.
    pub(super) nodes: Vec<String>,
}

/// Reads what processes have noted, if all of them have. The directory is free for the next run then.
pub(super) fn noted(directory: &Path) -> Option<Noted> {
    let found = Recording::open(directory).ok();
    let _ = fs::remove_dir_all(directory);
    let found = found.filter(|job| job.missing() + job.cut_short == 0)?;
    let nodes = found.hosts.into_values().map(|node| node.name).collect();
    Some(Noted { seconds: found.nanoseconds as f64 * 1e-9, nodes })
}

/// The last time in a program's output.
pub(super) fn printed(regex: &regex::Regex, text: &str) -> Option<f64> {
    let found = regex.captures_iter(text).last()?;
    let words = found.get(1).or(found.get(0))?.as_str();
    let is_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let mut numbers = words.split(|c| !is_number(c)).filter_map(|word| word.parse().ok());
    numbers.find(|time: &f64| *time > 0.0 && time.is_finite())
}

#[cfg(test)]
mod tests {
    use cartograph_core::learn::simulate::{Chance, KINDS};

    use super::*;

    /// The noise of runs of real programs, as measured by `make lab-programs`, in round numbers.
    const NOISE: [f64; 6] = [0.01, 0.02, 0.03, 0.05, 0.07, 0.08];

    #[test]
    fn of_a_program_without_any_effect_one_gain_in_a_hundred_is_claimed() {
        const TUNED: u64 = 4000;
        let mut kinds = 0;
        // All runs of a tuning are on the same nodes.
        let is_tuned = |name: &str| name.starts_with("no effect") && !name.ends_with("repeat");
        for (name, program) in KINDS.iter().filter(|(name, _)| is_tuned(name)) {
            for (variants, rounds) in [(3, 5), (1, 3), (3, 4), (5, 8)] {
                let claims = (0..TUNED).filter(|seed| {
                    let mut chance = Chance::new(seed ^ 0x0ddba11);
                    let program = program(&mut chance, (1.0, NOISE[*seed as usize % NOISE.len()]));
                    let mut times = vec![Vec::new(); variants + 1];
                    let mut job = 0;
                    for round in 0..rounds {
                        for at in turns(round, variants + 1) {
                            times[at].push(program.seconds(0, job, &mut chance));
                            job += 1;
                        }
                    }
                    (1..=variants).any(|at| is_faster(&times[0], &times[at], variants))
                });
                let part = claims.count() as f64 / TUNED as f64;
                println!("{name}, {variants} variants, {rounds} rounds: {part}");
                assert!(part <= 0.01, "{name}, {variants} variants, {rounds} rounds: {part}");
            }
            kinds += 1;
        }
        assert_eq!(kinds, 3);
    }

    #[test]
    fn the_last_time_is_taken() {
        let text = "Step 1 took 3 s\nSolve   1.25e+00 s\nSolve 2.5 s\n";
        let time = |regex: &str| printed(&regex::Regex::new(regex).unwrap(), text);
        assert_eq!(time("Solve.*"), Some(2.5));
        assert_eq!(time("Solve +([^ ]+)"), Some(2.5));
        assert_eq!(time("took (.*)"), Some(3.0));
        assert_eq!(time("Other.*"), None);
    }
}
