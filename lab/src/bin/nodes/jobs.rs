//! The table of `make lab-jobs`: public programs as jobs without and with `cartograph run`, and as tuned, interleaved.

use cartograph_jobs::learn::Gain;
use cartograph_lab::Table;

use super::measured::{Measured, TIME, shown};
use super::tables::{ALONE, LEARNS, TUNED};

/// The number of jobs after which the command knows a program: one is recorded, and one is placed.
const FIRST: usize = 2;

/// The result of the pairs of jobs.
fn verdict(gain: &Gain) -> &'static str {
    match gain {
        Gain { most, .. } if *most < 1.0 => "**slower**",
        Gain { least, .. } if *least > 1.0 => "faster",
        _ => "as fast",
    }
}

/// The table of measured runs and of notes on their cases.
pub(crate) fn table(name: &str, runs: &Measured) -> Table {
    let mut table = Table::new(
        name,
        "program | links | jobs of each | without / by run | by run | from the third on | without / as tuned | tune says | launched, s | launched by run, s",
    );
    for case in runs.cases() {
        let [all, late] = [0, FIRST].map(|from| runs.gain(case, ALONE, LEARNS, from));
        let tuned = runs.gain(case, ALONE, TUNED, 0).filter(|_| runs.word(case, TUNED).is_none());
        let fault = [ALONE, LEARNS].into_iter().find_map(|variant| {
            runs.word(case, variant).map(|fault| format!("**{variant} {fault}**"))
        });
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let found = runs.word(case, "found").unwrap_or("-");
        let is_tuned = !found.starts_with("cartograph: ");
        table.row(&format!(
            "{case} | {} | {} | {} | {} | {} | {} | {} | {} | {}",
            runs.word(case, "links").unwrap_or("-"),
            runs.in_order(case, LEARNS, TIME).len(),
            or_dash(all.map(shown)),
            or_dash(fault.or_else(|| all.map(|gain| verdict(&gain).to_owned()))),
            or_dash(late.map(shown)),
            tuned.map(shown).unwrap_or_else(|| if is_tuned { "-" } else { "not tuned" }.to_owned()),
            found,
            launched(runs, case, ALONE),
            launched(runs, case, LEARNS)
        ));
    }
    table
}

/// The table of jobs in circumstances that change.
pub(crate) fn changing(runs: &Measured) -> Table {
    let columns = "jobs | links | jobs of each | without / by run | by run | launched, s | launched by run, s";
    let mut table = Table::new("Jobs that change", columns);
    for case in runs.cases() {
        let gain = runs.gain(case, ALONE, LEARNS, 0);
        let [alone, learns] = [ALONE, LEARNS].map(|variant| launched(runs, case, variant));
        table.row(&format!(
            "{case} | {} | {} | {} | {} | {alone} | {learns}",
            runs.word(case, "links").unwrap_or("-"),
            runs.in_order(case, LEARNS, TIME).len(),
            gain.map_or_else(|| "-".to_owned(), shown),
            gain.map_or("-", |gain| verdict(&gain)),
        ));
    }
    table
}

/// The seconds of all jobs of a case from the start of their launchers to their end.
fn launched(runs: &Measured, case: &str, variant: &str) -> String {
    let times = runs.in_order(case, &format!("{variant} launched"), TIME);
    format!("{:.1}", times.iter().sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_compared_in_pairs() {
        let mut runs = Measured::default();
        let mut add = |case: &str, variant: &str, time: f64| {
            runs.add(case, variant, &[time, 1.0, 1.0]);
            runs.add(case, &format!("{variant} launched"), &[2.0]);
        };
        for (job, noise) in [1.0, 1.01, 0.99, 1.0].into_iter().enumerate() {
            add("gains", ALONE, 1.9 * noise);
            add("gains", LEARNS, if job == 0 { 2.0 * noise } else { noise });
            add("gains", TUNED, 0.5 * noise);
            add("nothing", ALONE, noise);
            add("nothing", LEARNS, 2.0 - noise);
            add("worse", ALONE, noise);
            add("worse", LEARNS, 1.5 * noise);
        }
        for job in [1.0, 2.0, 3.0] {
            runs.add("fails", ALONE, &[2.0 * job]);
            runs.put("fails", LEARNS, if job == 1.0 { &[] } else { std::slice::from_ref(&job) });
        }
        runs.note("fails", LEARNS, "fails");
        runs.note("gains", "links", "20mbit");
        runs.note("gains", "found", "blocks: 3.80x faster");
        let rows: Vec<String> =
            table("Jobs", &runs).rows.iter().map(|row| row.join(" | ")).collect();
        assert_eq!(rows.len(), 4);
        let changing = changing(&runs).rows;
        assert!(changing[0].join(" | ").starts_with("gains | 20mbit | 4 | 1.60 ("), "{changing:?}");
        assert!(
            rows[0].starts_with("gains | 20mbit | 4 | 1.60 (") && rows[0].contains("| as fast |")
        );
        assert!(rows[0].contains("| 1.90 (") && rows[0].contains("| 3.80 ("), "{}", rows[0]);
        assert!(rows[0].ends_with("| blocks: 3.80x faster | 8.0 | 8.0"), "{}", rows[0]);
        assert!(rows[1].contains("| as fast |") && rows[1].contains(" | - | - | "));
        assert!(rows[2].contains("| **slower** |"), "{}", rows[2]);
        assert!(rows[3].contains("| 2.00 (1.95 to 2.05) | **learns fails** |"), "{}", rows[3]);
    }
}
