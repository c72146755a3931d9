//! `make lab-collectives`: every collective of Open MPI 5 on four nodes, with ranks in the launcher's order and in others, by
//! its component for nodes (HAN) and without it.

use std::collections::BTreeMap;
use std::process::Stdio;

use cartograph_lab::host::{Host, command};
use cartograph_lab::{File, Table};

use super::measured::{Measured, TIME};
use super::network::Nodes;
use super::{Outcome, repetitions, setting, tool};

/// Slower orders than this, relative to the launcher's order, are listed.
const SLOW: f64 = 1.2;

/// Seconds after which a run counts as hanging.
const PATIENCE: u32 = 120;

const COMPONENTS: [(&str, &str); 2] = [("HAN", ""), ("without HAN", "--mca coll ^han")];
const SHAPES: [(&str, &str); 2] =
    [("4, 4, 4, 4", "n0:4,n1:4,n2:4,n3:4"), ("6, 2, 5, 3", "n0:6,n1:2,n2:5,n3:3")];

/// The orders of ranks: options of the launcher, and options of `cartograph exec`.
const ORDERS: [(&str, &str, &str); 4] = [
    ("the launcher's", "", ""),
    ("round-robin", "--map-by node", ""),
    ("reordered", "", "--reorder on --weights 4x4:1,1"),
    ("scrambled", "", "--reorder scramble:1"),
];

/// Compiles the program.
pub(crate) fn compile() -> Outcome {
    let host = Host::new("openmpi5")?;
    host.compile("cc", "collectives", &["lab/programs/collectives.c"])?;
    Ok(())
}

/// The times of all calls by their names and sizes, and the number of wrong ones; `None` if the run hangs or fails.
fn times(line: &str) -> Outcome<Option<(BTreeMap<String, f64>, u32)>> {
    let output = command(line).stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut times = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            [name, bytes, time, ref wrong @ ..] => {
                wrong.iter().for_each(|word| eprintln!("{name}, {bytes} B: {word}"));
                times.insert(format!("{name}, {bytes} B"), time.parse()?);
            }
            [wrong, "wrong"] => return Ok(Some((times, wrong.parse()?))),
            _ => {}
        }
    }
    eprintln!("{text}{}", String::from_utf8_lossy(&output.stderr));
    Ok(None)
}

/// The row of an order on nodes of a shape: how often it is slower than the launcher's order, and where it is slowest.
fn row(runs: &Measured, case: &str, order: &str) -> String {
    if let Some(fault) = runs.word(case, order) {
        return format!("{order} | - | **{fault}** | -");
    }
    let prefix = format!("{order}: ");
    let calls = runs.variants(case).into_iter().filter_map(|name| name.strip_prefix(&prefix));
    let ratios = calls.map(|call| {
        let time = |order: &str| runs.median(case, &format!("{order}: {call}"), TIME);
        (time(order) / time(ORDERS[0].0), call)
    });
    let ratios: Vec<(f64, &str)> = ratios.filter(|(ratio, _)| ratio.is_finite()).collect();
    let slower = ratios.iter().filter(|(ratio, _)| *ratio > SLOW).count();
    match ratios.iter().max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((most, call)) => {
            format!("{order} | {} | {slower} | {most:.2} ({call})", ratios.len())
        }
        None => format!("{order} | - | - | -"),
    }
}

/// Measures all orders, interleaved.
pub(crate) fn measure() -> Outcome {
    let nodes = Nodes::new(Host::new("openmpi5")?, 4, &setting("RATE", "1gbit"), PATIENCE)?;
    let program = nodes.host.built("programs").join("collectives").display().to_string();
    let mut runs = Measured::default();
    for (component, option) in COMPONENTS {
        for (shape, hosts) in SHAPES {
            let case = format!("{component} | {shape}");
            for _ in 0..repetitions("3")? {
                for (order, placed, exec) in ORDERS {
                    let launcher =
                        nodes.launcher_5(&format!("{option} {placed} --host {hosts}"), 16);
                    let by = if exec.is_empty() {
                        String::new()
                    } else {
                        format!("{} exec {exec}", tool()?)
                    };
                    match times(&format!("{launcher} {by} {program}"))? {
                        None => runs.note(&case, order, "hangs or fails"),
                        Some((_, wrong @ 1..)) => {
                            runs.note(&case, order, &format!("{wrong} wrong"))
                        }
                        Some((times, _)) => times.into_iter().for_each(|(call, time)| {
                            runs.put(&case, &format!("{order}: {call}"), &[time]);
                        }),
                    }
                }
            }
        }
    }
    let columns = "collectives by | processes of the nodes | order of ranks | calls | slower than 1.2 | the slowest, to the launcher's order";
    let mut table = Table::new("Collectives in other orders", columns);
    for case in runs.cases() {
        for (order, ..) in &ORDERS[1..] {
            table.row(&format!("{case} | {}", row(&runs, case, order)));
        }
    }
    File::put("cluster", "make lab-collectives", vec![table])?;
    Ok(())
}
