//! Tables of `make lab-programs`: public programs without Cartograph, with `CARTOGRAPH_REORDER=on`, and as tuned.

use cartograph_lab::Table;

use super::measured::{MOST, Measured, TIME, shown};

/// Variants of a program.
pub(crate) const ALONE: &str = "alone";
pub(crate) const REORDERED: &str = "reordered";
pub(crate) const TUNED: &str = "tuned";
pub(crate) const BYTES: &str = "bytes";
pub(crate) const TURN: &str = "turn";
pub(crate) const TURN_REORDERED: &str = "turn-reordered";
/// A job by `cartograph run`.
pub(crate) const LEARNS: &str = "learns";

/// The median of the times, the name of a failure, or a dash.
fn seconds(runs: &Measured, case: &str, variant: &str) -> String {
    match (runs.word(case, variant), runs.median(case, variant, TIME)) {
        (Some(fault), _) => format!("**{fault}**"),
        (None, time) if time.is_nan() => "-".to_owned(),
        (None, time) => format!("{time:.2}"),
    }
}

/// The speed of one variant relative to another.
fn speed(runs: &Measured, case: &str, now: &str, other: &str) -> String {
    let gain = runs.gain(case, now, other, 0).filter(|_| runs.word(case, other).is_none());
    gain.map_or_else(|| "-".to_owned(), shown)
}

/// The tables of measured runs and of notes on their cases: the links, the result of tune, and the predicted speeds.
pub(crate) fn programs(runs: &Measured) -> Vec<Table> {
    let mut times = Table::new(
        "Real programs",
        "program | links | baseline, s | reordered, s | tuned, s | baseline / reordered | baseline / tuned | tune says",
    );
    let mut bytes = Table::new(
        "Bytes of real programs",
        "program | baseline, MB | reordered, MB | tuned, MB | fewest bytes, MB",
    );
    let mut turn = Table::new(
        "Ranks started round-robin",
        "program | round-robin, s | reordered, s | round-robin / reordered",
    );
    let mut predicted = Table::new(
        "Predicted speeds",
        "program | round-robin, predicted | round-robin, measured | fewest bytes, predicted | fewest bytes, measured",
    );
    for case in runs.cases() {
        let seconds = |variant| seconds(runs, case, variant);
        let speed = |now, other| speed(runs, case, now, other);
        let note = |about| runs.word(case, about).unwrap_or("-");
        times.row(&format!(
            "{case} | {} | {} | {} | {} | {} | {} | {}",
            note("links"),
            seconds(ALONE),
            seconds(REORDERED),
            seconds(TUNED),
            speed(ALONE, REORDERED),
            speed(ALONE, TUNED),
            note("found")
        ));
        let sent = [ALONE, REORDERED, TUNED, BYTES].map(|variant| {
            let bytes = runs.median(case, variant, MOST);
            if bytes.is_nan() { "-".to_owned() } else { format!("{:.1}", bytes / 1e6) }
        });
        bytes.row(&format!("{case} | {}", sent.join(" | ")));
        if seconds(TURN_REORDERED) != "-" {
            turn.row(&format!(
                "{case} | {} | {} | {}",
                seconds(TURN),
                seconds(TURN_REORDERED),
                speed(TURN, TURN_REORDERED)
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
    all.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_speeds_with_limits_and_faults() {
        let mut runs = Measured::default();
        let times =
            [(ALONE, 2.0), (TUNED, 1.0), (TURN, 1.0), (ALONE, 2.2), (TUNED, 1.1), (TURN, 4.0)];
        for (variant, time) in times {
            runs.add("SNAP", variant, &[time, 4e6, 2e6]);
        }
        for (about, word) in [
            (REORDERED, "differs"),
            (TURN_REORDERED, "fails"),
            ("links", "20mbit"),
            ("found", "squares: 2.00x faster"),
            ("predicted round-robin", "0.95"),
        ] {
            runs.note("SNAP", about, word);
        }
        let tables = programs(&runs);
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
