//! Tunings of simulated programs.

use cartograph_jobs::learn::is_faster;
use cartograph_jobs::learn::measure::turns;

use super::histories::KINDS;
use super::program::Chance;

/// The noise of runs of real programs, as measured by `make lab-programs`, in round numbers.
const NOISE: [f64; 6] = [0.01, 0.02, 0.03, 0.05, 0.07, 0.08];

#[test]
fn programs_without_an_effect_are_claimed_to_gain_in_one_of_a_hundred() {
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
