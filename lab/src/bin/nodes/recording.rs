//! `make lab-recording`: the cost of the recorder of `cartograph run` for programs with one processor per process, two
//! on this machine.

use std::fs;
use std::path::Path;

use cartograph_jobs::learn::Gain;
use cartograph_lab::host::command;
use cartograph_lab::{File, Table};
use cartograph_traffic::Recording;

use super::cases::{Cases, Recorded};
use super::measured::{Measured, TIME};
use super::programs::{NONE, OPENMPI, Places, fresh, succeeds};
use super::tables::ALONE;
use super::{Outcome, repetitions, tool};

/// The recordings of a program's first job, and of later jobs.
const KEPT: [&str; 2] = ["calls", "work"];

/// The column of the cost that the recorder measures, as a fraction of the time.
const OWN: usize = 1;

/// Measures the programs, each without recording, as a first job and as a later one.
pub(crate) fn recording(built: &str) -> Outcome {
    let Cases { recorded, programs, .. } = Cases::read()?;
    let places = Places::new(built, OPENMPI)?;
    let at = Path::new("/dev/shm/recording");
    let traffic = at.with_extension("traffic").display().to_string();
    let mut all = Measured::default();
    for Recorded { title, line, inputs } in &recorded {
        let Some(path) = places.line(title, line) else { continue };
        let program = &programs[line.split(' ').next().unwrap_or_default()];
        for round in 0..repetitions("12")? {
            let mut variants = [ALONE, KEPT[0], KEPT[1]];
            variants.rotate_left(round as usize % 3);
            for variant in variants {
                fresh(at)?;
                let _ = fs::remove_dir_all(&traffic);
                for [file, from, to] in inputs {
                    let text = fs::read_to_string(at.join(file))?;
                    fs::write(at.join(file), text.replace(from, to))?;
                }
                let under = match variant {
                    ALONE => String::new(),
                    kept => format!("{} exec --record {traffic} --limited {kept}", tool()?),
                };
                let launcher =
                    "timeout -k 5 120 mpiexec.openmpi --allow-run-as-root --bind-to core -n 2";
                let mut command = command(&format!("{launcher} {under} {path}"));
                if !succeeds(&mut command, at, &at.join("said"))? {
                    return Err(fs::read_to_string(at.join("said"))?.into());
                }
                let (time, _) = program.found(at)?;
                let cost = if variant == ALONE { 0.0 } else { cost(Path::new(&traffic))? };
                all.add(title, variant, &[time, cost]);
            }
        }
    }
    if all.cases().is_empty() {
        return Err(NONE.into());
    }
    File::put("programs", "make lab-recording", vec![table(&all)])?;
    Ok(())
}

/// The recorder's cost according to a recording, as a fraction of the time of its processes.
fn cost(traffic: &Path) -> Outcome<f64> {
    let recording = Recording::open(traffic).map_err(|error| error.to_string())?;
    let time = recording.nanoseconds as f64 * f64::from(recording.size);
    Ok(recording.cost as f64 / time)
}

/// A slowdown in percent, with its 95 % confidence interval.
fn percent(slower: Option<Gain>) -> String {
    slower.map_or_else(
        || "-".to_owned(),
        |Gain { mean, least, most, .. }| {
            let [mean, least, most] = [mean, least, most].map(|ratio| (ratio - 1.0) * 100.0);
            format!("{mean:.1} ({least:.1} to {most:.1})")
        },
    )
}

/// The table of measured runs; its last row summarizes all programs.
fn table(runs: &Measured) -> Table {
    let mut table = Table::new(
        "Cost of recording",
        "program, 2 processes | not recorded, s | runs of each | first job, % slower | later job, % slower | first job, recorder's measure, % | later job, recorder's measure, %",
    );
    let mut together = Measured::default();
    let row = |table: &mut Table, runs: &Measured, case: &str, time: &str| {
        let slower = KEPT.map(|kept| percent(runs.gain(case, kept, ALONE, 0)));
        let own = KEPT.map(|kept| format!("{:.1}", runs.median(case, kept, OWN) * 100.0));
        let count = runs.in_order(case, ALONE, TIME).len();
        let [slower, own] = [slower, own].map(|both| both.join(" | "));
        table.row(&format!("{case} | {time} | {count} | {slower} | {own}"));
    };
    for case in runs.cases() {
        row(&mut table, runs, case, &format!("{:.2}", runs.median(case, ALONE, TIME)));
        for variant in [ALONE, KEPT[0], KEPT[1]] {
            let columns = [TIME, OWN].map(|column| runs.in_order(case, variant, column));
            for (time, own) in columns[0].iter().zip(&columns[1]) {
                together.put(ALL, variant, &[*time, *own]);
            }
        }
    }
    row(&mut table, &together, ALL, "-");
    table
}

const ALL: &str = "all";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_runs_are_compared_in_pairs_and_together() {
        let mut runs = Measured::default();
        for noise in [1.0, 1.5, 0.5] {
            for (case, time) in [("one", 2.0), ("other", 8.0)] {
                runs.add(case, ALONE, &[time * noise, 0.0]);
                runs.add(case, "calls", &[time * noise * 1.02, 0.011]);
                runs.add(case, "work", &[time * noise, 0.004]);
            }
        }
        let rows: Vec<String> = table(&runs).rows.iter().map(|row| row.join(" | ")).collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0], "one | 2.00 | 3 | 2.0 (1.2 to 2.8) | 0.0 (-0.7 to 0.7) | 1.1 | 0.4");
        assert_eq!(rows[2], "all | - | 6 | 2.0 (1.7 to 2.3) | 0.0 (-0.3 to 0.3) | 1.1 | 0.4");
    }
}
