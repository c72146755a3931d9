//! The table of `make lab-jobs`: public programs as jobs by `cartograph run` and without it, in turn.

use std::io;

use cartograph_core::learn::measure::paired_gain;
use cartograph_core::learn::{Gain, SHOWN};
use cartograph_lab::{File, Table};

use super::measured::{Measured, TIME};
use super::programs::{ALONE, Notes};

/// Jobs by `cartograph run`, as the lines call them.
const LEARNS: &str = "learns";

/// The jobs after which it knows a program: one is recorded, and one is placed.
const FIRST: usize = 2;

/// What the pairs of jobs show.
fn verdict(gain: &Gain) -> &'static str {
    match gain {
        Gain { most, .. } if *most < 1.0 => "**slower**",
        Gain { least, .. } if *least > 1.0 => "faster",
        _ => "as fast",
    }
}

/// The gain of `tune` for a program, where it was sure of one.
fn tuned(known: &File, case: &str) -> Option<f64> {
    let table = known.table("Real programs")?;
    let column = table.columns.iter().position(|name| name == "baseline / tuned")?;
    let row = table.rows.iter().find(|row| row[0] == case)?;
    row[column].split(' ').next()?.parse().ok()
}

/// The table of measured runs, of notes on their cases, and of what `tune` gained.
pub(crate) fn jobs(runs: &str, notes: &str, known: &File) -> io::Result<Vec<Table>> {
    let runs = Measured::read(runs, 1)?;
    let notes = Notes::read(notes);
    let mut table = Table::new(
        "Jobs by cartograph run",
        "program | links | jobs of each | without / by run | by run | from the third on | tune | part of tune's gain, % | launched, s | launched by run, s",
    );
    for case in runs.cases() {
        let times = |way: &str| runs.in_order(case, way, TIME);
        let (without, by_run) = (times(ALONE), times(LEARNS));
        let shown = |from: usize| {
            let gain = paired_gain(without.get(from..)?, by_run.get(from..)?, SHOWN)?;
            Some((gain, format!("{:.2} ({:.2} to {:.2})", gain.mean, gain.least, gain.most)))
        };
        let (all, late) = (shown(0), shown(FIRST));
        let tuned = tuned(known, case);
        let part = late
            .as_ref()
            .zip(tuned)
            .map(|((gain, _), tuned)| format!("{:.0}", (gain.mean - 1.0) / (tuned - 1.0) * 100.0));
        let fault = [ALONE, LEARNS].into_iter().find_map(|way| runs.fault(case, way));
        let fault = fault.map(|fault| format!("**{fault}**"));
        let launched = |way: &str| {
            let times = times(&format!("{way} launched"));
            format!("{:.1}", times.iter().sum::<f64>())
        };
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        table.row(&format!(
            "{case} | {} | {} | {} | {} | {} | {} | {} | {} | {}",
            notes.get(case, "links"),
            by_run.len(),
            or_dash(all.as_ref().map(|(_, text)| text.clone())),
            or_dash(fault.or_else(|| all.map(|(gain, _)| verdict(&gain).to_owned()))),
            or_dash(late.map(|(_, text)| text)),
            or_dash(tuned.map(|gain| format!("{gain:.2}"))),
            or_dash(part),
            launched(ALONE),
            launched(LEARNS)
        ));
    }
    Ok(vec![table])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_compared_in_pairs_and_with_tune() {
        let mut known = Table::new("Real programs", "program | baseline / tuned");
        known.row("gains | 2.00 (1.90 to 2.10)");
        known.row("nothing | -");
        let known = File { tables: vec![known] };
        let line = |case: &str, way: &str, time: f64| {
            format!("{case}|{way}|{time}|1|1\n{case}|{way} launched|2\n")
        };
        let runs: String = [1.0, 1.01, 0.99, 1.0]
            .into_iter()
            .enumerate()
            .map(|(job, noise)| {
                let gains = if job == 0 { 2.0 * noise } else { noise };
                [
                    line("gains", ALONE, 1.9 * noise),
                    line("gains", LEARNS, gains),
                    line("nothing", ALONE, noise),
                    line("nothing", LEARNS, 2.0 - noise),
                    line("worse", ALONE, noise),
                    line("worse", LEARNS, 1.5 * noise),
                ]
                .concat()
            })
            .collect();
        let runs = runs + "fails|alone|1|1|1\nfails|learns|fails\n";
        let tables = jobs(&runs, "gains|links|20mbit\n", &known).unwrap();
        let rows: Vec<String> = tables[0].rows.iter().map(|row| row.join(" | ")).collect();
        assert_eq!(rows.len(), 4);
        assert!(
            rows[0].starts_with("gains | 20mbit | 4 | 1.60 (") && rows[0].contains("| as fast |")
        );
        assert!(
            rows[0].contains("| 1.90 (") && rows[0].ends_with("| 2.00 | 90 | 8.0 | 8.0"),
            "{}",
            rows[0]
        );
        assert!(rows[1].contains("| as fast |") && rows[1].contains("| - | - | 8.0 |"));
        assert!(rows[2].contains("| **slower** |"), "{}", rows[2]);
        assert!(rows[3].contains("| **fails** |"), "{}", rows[3]);
    }
}
