//! Random calls, valid and invalid, and random collectives, with new seeds for as long as requested; up to the first
//! failure.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::Outcome;
use crate::session::{Session, word};

/// Alternating settings. The layouts are for four processes.
const SETTINGS: [&[&str]; 5] = [
    &[],
    &["CARTOGRAPH_CHECK=all"],
    &["CARTOGRAPH_LAYOUT=2x2", "CARTOGRAPH_REORDER=all"],
    &["CARTOGRAPH_REORDER=scramble:3"],
    &["CARTOGRAPH_NEIGHBOR=graph"],
];

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let seconds = std::env::var("CARTOGRAPH_TEST_SECONDS").ok().and_then(|text| text.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(3600));
    // Different each time; a failed run is reported with its seed, an argument of the program.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    let first = now.as_secs();
    let programs = [("random_calls", "errors", "150"), ("neighbor_random", "neighbor", "30")];
    let programs = programs.map(|(name, folder, rounds)| {
        let source = format!("c_tests/{folder}/{name}.c");
        (session.compile(name, &source, &["-pthread", "-lm"]), rounds)
    });
    session.seconds = 180;
    let (began, mut checks, mut seed) = (Instant::now(), 0, first);
    while began.elapsed() < time {
        for (program, rounds) in &programs {
            let settings = SETTINGS[seed as usize / 2 % SETTINGS.len()];
            let is_of_four = settings.iter().any(|setting| setting.contains("LAYOUT"));
            let processes = if is_of_four { 4 } else { (seed % 5 + 1) as u32 };
            let words = [word(program), &seed.to_string(), rounds];
            let ran = session.run(processes, settings, &words);
            session.check(&format!("-n {processes} env {settings:?} {words:?}"), ran);
            if !ran {
                return session.verdict();
            }
            let passed =
                session.out.lines().find_map(|line| line.strip_suffix(" passed, 0 failed"));
            checks += passed.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
            seed += 1;
        }
    }
    let host = &session.host.name;
    println!("{host}: runs with seeds {first} to {}, {checks} checks passed", seed - 1);
    session.verdict()
}
