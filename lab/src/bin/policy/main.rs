//! `make lab-policy`: the gains and losses of `cartograph run` in simulated histories of jobs, with the gains and the
//! noise measured by `make lab-programs`. Writes `lab/results/policy.json`.

use std::io;

use cartograph_lab::simulated::{KINDS, Measured, Summary, summary};
use cartograph_lab::{File, Table, directory};

/// Histories that were not used to choose the policy's constants, unlike those of its tests.
const BASE: u64 = 100;

/// Histories of each kind, and jobs of each.
const HISTORIES: u64 = 1000;
const JOBS: usize = 60;

/// The number of runs of each variant with which `make lab-programs` measures a gain, and the two-sided 95 % quantile
/// of Student's t for them.
const RUNS: f64 = 5.0;
const STUDENT: f64 = 2.776;

fn main() -> io::Result<()> {
    let programs = File::read(&directory().join("programs.json"))?;
    let table = programs.table("Real programs").ok_or_else(|| io::Error::other("no programs"))?;
    let measured: Vec<Measured> = table.rows.iter().filter_map(|row| measured(row)).collect();
    let columns = "histories | saved, % | lost, % | slower, %";
    let mut found = Table::new("Simulated histories", columns);
    for kind in &KINDS {
        let Summary { saved, lost, slower, wrong, .. } =
            summary(kind, &measured, BASE, HISTORIES, JOBS);
        let part = |part: f64| {
            if part.is_nan() { "-".to_owned() } else { format!("{:.1}", 100.0 * part) }
        };
        let (name, saved) = (kind.0, part(saved));
        let (lost, slower, wrong) = (part(lost), part(slower.max(0.0)), part(wrong));
        found.row(&format!("{name} | {saved} | {lost} | {slower}"));
        println!("{name}: {wrong} % of histories have a wrong claim");
    }
    let path = File::put("policy", "make lab-policy", vec![found])?;
    println!("{} programs; the table is in {}", measured.len(), path.display());
    Ok(())
}

/// The gain of a program as tuned, or 1 if no variant was faster, and the noise of a run, from a row with cells such as
/// `1.29 (1.20 to 1.38)`.
fn measured(row: &[String]) -> Option<Measured> {
    let numbers = |cell: &String| -> Option<[f64; 3]> {
        let words = cell.split(|c: char| !c.is_ascii_digit() && c != '.');
        let all: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
        all.try_into().ok().filter(|_| cell.contains('('))
    };
    let ratios: Vec<[f64; 3]> = row.iter().filter_map(numbers).collect();
    let noise = |[_, least, most]: &[f64; 3]| {
        (most / least).ln() / 2.0 / STUDENT * RUNS.sqrt() / 2f64.sqrt()
    };
    let last = ratios.last()?;
    // The first is that of the library with CARTOGRAPH_REORDER=on, which keeps all ranks in most of them.
    let gain = if ratios.len() > 1 { last[0] } else { 1.0 };
    Some((gain, noise(last).max(0.003)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_gains_and_noise() {
        let row = |cells: &[&str]| {
            let cells: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
            measured(&cells)
        };
        let tuned = row(&["LAMMPS, a plate", "0.44", "0.98 (0.95 to 1.01)", "1.28 (1.18 to 1.38)"]);
        let (gain, noise) = tuned.unwrap();
        assert!((gain - 1.28).abs() < 1e-9 && (0.03..0.06).contains(&noise), "{noise}");
        assert_eq!(row(&["SNAP", "1.2", "0.98 (0.95 to 1.02)", "-"]).unwrap().0, 1.0);
        assert_eq!(row(&["program", "-"]), None);
    }
}
