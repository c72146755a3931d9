//! Tables of `make lab-programs`: public programs without Cartograph, by default and as tuned.

use std::collections::HashMap;
use std::io;

use cartograph_core::learn::measure::{median, paired_gain};
use cartograph_core::learn::{Gain, SHOWN};
use cartograph_lab::Table;

use super::measured::{MOST, Measured, TIME};

/// Ways of a program, as the lines call them.
pub(crate) const ALONE: &str = "alone";
const DEFAULT: &str = "default";
const TUNED: &str = "tuned";
const BYTES: &str = "bytes";
const TURN: &str = "turn";
const TURN_DEFAULT: &str = "turn-default";

/// Notes on cases: a case, a word, and its value.
pub(crate) struct Notes<'a>(HashMap<(&'a str, &'a str), &'a str>);

impl<'a> Notes<'a> {
    pub(crate) fn read(text: &'a str) -> Self {
        let note = |line: &'a str| {
            let (case, rest) = line.split_once('|')?;
            let (word, value) = rest.split_once('|')?;
            Some(((case, word), value))
        };
        Self(text.lines().filter_map(note).collect())
    }

    pub(crate) fn get(&self, case: &'a str, word: &'a str) -> &'a str {
        self.0.get(&(case, word)).copied().unwrap_or("-")
    }
}

/// The median of the times, what went wrong, or a dash.
fn seconds(runs: &Measured, case: &str, way: &str) -> String {
    match (runs.fault(case, way), &runs.in_order(case, way, TIME)[..]) {
        (Some(fault), _) => format!("**{fault}**"),
        (None, []) => "-".to_owned(),
        (None, times) => format!("{:.2}", median(times)),
    }
}

/// The speed of one variant relative to another, with its 95 % confidence interval.
fn speed(runs: &Measured, case: &str, now: &str, other: &str) -> String {
    let times = |way| runs.in_order(case, way, TIME);
    match (runs.fault(case, other), paired_gain(&times(now), &times(other), SHOWN)) {
        (None, Some(Gain { mean, least, most, .. })) => {
            format!("{mean:.2} ({least:.2} to {most:.2})")
        }
        _ => "-".to_owned(),
    }
}

/// The tables of measured runs and of notes on their cases: the links, the result of tune, and the predicted speeds.
pub(crate) fn programs(runs: &str, notes: &str) -> io::Result<Vec<Table>> {
    let runs = Measured::read(runs, 1)?;
    let notes = Notes::read(notes);
    let mut times = Table::new(
        "Real programs",
        "program | links | baseline, s | by default, s | tuned, s | baseline / default | baseline / tuned | tune says",
    );
    let mut bytes = Table::new(
        "Bytes of real programs",
        "program | baseline, MB | by default, MB | tuned, MB | fewest bytes, MB",
    );
    let mut turn = Table::new(
        "Ranks started round-robin",
        "program | round-robin, s | by default, s | round-robin / default",
    );
    let mut predicted = Table::new(
        "Predicted speeds",
        "program | round-robin, predicted | round-robin, measured | fewest bytes, predicted | fewest bytes, measured",
    );
    for case in runs.cases() {
        let seconds = |way| seconds(&runs, case, way);
        let speed = |now, other| speed(&runs, case, now, other);
        let note = |word| notes.get(case, word);
        times.row(&format!(
            "{case} | {} | {} | {} | {} | {} | {} | {}",
            note("links"),
            seconds(ALONE),
            seconds(DEFAULT),
            seconds(TUNED),
            speed(ALONE, DEFAULT),
            speed(ALONE, TUNED),
            note("found")
        ));
        let sent =
            [ALONE, DEFAULT, TUNED, BYTES].map(|way| match &runs.in_order(case, way, MOST)[..] {
                [] => "-".to_owned(),
                all => format!("{:.1}", median(all) / 1e6),
            });
        bytes.row(&format!("{case} | {}", sent.join(" | ")));
        if seconds(TURN_DEFAULT) != "-" {
            turn.row(&format!(
                "{case} | {} | {} | {}",
                seconds(TURN),
                seconds(TURN_DEFAULT),
                speed(TURN, TURN_DEFAULT)
            ));
        }
        predicted.row(&format!(
            "{case} | {} | {} | {} | {}",
            note("predicted round-robin"),
            speed(ALONE, TURN),
            note("predicted by bytes"),
            speed(ALONE, BYTES)
        ));
    }
    let all = [times, bytes, turn, predicted];
    Ok(all.into_iter().filter(|table| !table.rows.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_speeds_with_limits_and_faults() {
        let run = |way: &str, time: f64| format!("SNAP|{way}|{time}|4e6|2e6\n");
        let runs: String =
            [(ALONE, 2.0), (TUNED, 1.0), (TURN, 1.0), (ALONE, 2.2), (TUNED, 1.1), (TURN, 4.0)]
                .map(|(way, time)| run(way, time))
                .concat();
        let runs = runs + "SNAP|default|differs\nSNAP|turn-default|fails\n";
        let notes = "SNAP|links|20mbit\nSNAP|found|squares: 2.00x faster\nSNAP|predicted round-robin|0.95\n";
        let tables = programs(&runs, notes).unwrap();
        let rows: Vec<String> =
            tables.iter().flat_map(|table| &table.rows).map(|row| row.join(" | ")).collect();
        let expected = [
            "SNAP | 20mbit | 2.10 | **differs** | 1.05 | - | 2.00 (1.95 to 2.05) | squares: 2.00x faster",
            "SNAP | 2.0 | - | 2.0 | -",
            "SNAP | 2.50 | **fails** | -",
        ];
        assert_eq!(rows[..3], expected);
        assert!(
            rows[3].starts_with("SNAP | 0.95 | 1.05 (0.00 to ") && rows[3].ends_with("| - | -")
        );
    }
}
