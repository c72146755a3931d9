//! `make lab-cluster`: exchanges between neighbors on four nodes of four processes, without and with Cartograph.

use std::fs;

use cartograph_lab::host::{Host, does};
use cartograph_lab::{File, Table};
use regex::Regex;
use serde_json::Value;

use super::measured::{ALL, MOST, Measured, TIME};
use super::network::{Nodes, crossed, program};
use super::{Outcome, repetitions, setting};

/// The figures of a report that are shown.
const EDGES: [&str; 2] = ["inter_node_edges", "max_node_edges"];

const BYTES: u32 = 65536;
const EXCHANGES: u32 = 40;

/// All faces of the grids are equal. Without this setting, grids this small keep their ranks.
const WEIGHTS: &str = "CARTOGRAPH_WEIGHTS=1,1;1,1,1";

/// Slurm's variables give each process its node's address, on one of two switches.
const EACH: &str = r#"#!/bin/sh
case $(hostname) in n1 | n2) switch=s1 ;; *) switch=s0 ;; esac
export SLURM_TOPOLOGY_ADDR=$switch.$(hostname) SLURM_TOPOLOGY_ADDR_PATTERN=switch.node
exec "$@"
"#;

/// Compiles the programs.
pub(crate) fn compile() -> Outcome {
    let host = Host::new("openmpi")?;
    for source in ["cluster/halo", "cluster/sparse"] {
        let name = source.replace('/', "-");
        host.compile("cc", &name, &[&format!("c_tests/{source}.c")])?;
    }
    Ok(())
}

/// The nodes, with links of the usual rate.
pub(crate) fn nodes() -> Outcome<Nodes> {
    Nodes::new(Host::new("openmpi")?, 4, &setting("RATE", "200mbit"), 60)
}

/// The output of a program on all nodes. `before` are options of the launcher, `environment` the arguments of `env`.
fn printed(nodes: &Nodes, before: &str, environment: &str, program: &str) -> Outcome<String> {
    let host = Host::new("openmpi")?;
    let environment =
        environment.replace("LIBRARY", &format!("LD_PRELOAD={}", host.library().display()));
    let (program, arguments) = program.split_once(' ').unwrap_or((program, ""));
    let program = host.built("programs").join(program);
    let line = nodes.launcher(before, 16);
    Ok(does(&format!("{line} {environment} {} {arguments}", program.display()))?)
}

/// The median time in ms that `c_tests/cluster` prints, if it found no wrong word.
fn median(said: &str) -> Outcome<f64> {
    let time = Regex::new(r"(?m)^median ([0-9.]+) ms, .*, 0 words wrong$")?;
    let time = time.captures(said).and_then(|found| found[1].parse().ok());
    time.ok_or_else(|| format!("the program printed: {said}").into())
}

/// Measures all exchanges, and those on two switches.
pub(crate) fn cluster() -> Outcome {
    let nodes = nodes()?;
    let mut runs = Measured::default();
    let halo = format!("cluster-halo {BYTES} {EXCHANGES}");
    let cases = [
        ("4 x 4", "", format!("{halo} 4 4")),
        ("4 x 4 by MPI_Neighbor_alltoall", "", format!("cluster-halo -n {BYTES} {EXCHANGES} 4 4")),
        ("4 x 2 x 2", "", format!("{halo} 4 2 2")),
        ("4 x 4, ranks round-robin", "--map-by node", format!("{halo} 4 4")),
        ("sparse graph", "", format!("cluster-sparse {BYTES} {EXCHANGES} 3 1")),
    ];
    let report = "/dev/shm/report.json";
    let ours = format!("env LIBRARY CARTOGRAPH_REORDER=all {WEIGHTS} CARTOGRAPH_REPORT={report}");
    for _ in 0..repetitions("3")? {
        for (case, options, program) in &cases {
            let off = "env LIBRARY CARTOGRAPH_REORDER=off";
            for (variant, environment) in [("alone", "env"), ("off", off), ("cartograph", &ours)] {
                let _ = fs::remove_file(report);
                let before = nodes.sent()?;
                let time = median(&printed(&nodes, options, environment, program)?)?;
                let bytes = nodes.sent_since(&before)?.map(|bytes| bytes / f64::from(EXCHANGES));
                runs.add(case, variant, &[time, bytes[0], bytes[1]]);
            }
            let edges = edges(&fs::read_to_string(report)?)?;
            EDGES.iter().zip(edges).for_each(|(about, edges)| runs.note(case, about, &edges));
        }
    }
    File::put("cluster", "make lab-cluster", tables(&runs).into())?;
    switches(&nodes, "")
}

/// The edges between nodes and those of the busiest node, before and after, of a report with one topology.
fn edges(report: &str) -> Outcome<[String; 2]> {
    let report: Value = serde_json::from_str(report)?;
    let effect = &report["topologies"][0]["effect"];
    let edges =
        EDGES.map(|edges| format!("{} -> {}", effect["before"][edges], effect["after"][edges]));
    if edges.concat().contains("null") { Err("a report without edges".into()) } else { Ok(edges) }
}

/// The times of Open MPI, of Cartograph switched off, and of another variant, and the gain of the last.
fn row(runs: &Measured, case: &str, variant: &str, digits: usize) -> String {
    let [alone, off, ours] =
        ["alone", "off", variant].map(|variant| runs.median(case, variant, TIME));
    let gains = format!("{:.2} | {:.2}", alone / ours, off / ours);
    format!("{case} | {alone:.digits$} | {off:.digits$} | {ours:.digits$} | {gains}")
}

fn tables(runs: &Measured) -> [Table; 2] {
    let mut times = Table::new(
        "Exchanges between neighbors",
        "exchange | Open MPI, ms | Cartograph, reorder off, ms | Cartograph, ms | Open MPI / Cartograph | off / Cartograph",
    );
    let mut bytes = Table::new(
        "Bytes of these exchanges",
        "exchange | edges between nodes | of the busiest node | Open MPI, MB on the wires | Cartograph, MB on the wires | \
         Open MPI, MB of the busiest node | Cartograph, MB of the busiest node",
    );
    for case in runs.cases() {
        times.row(&row(runs, case, "cartograph", 1));
        let [all, busiest] = EDGES.map(|edges| runs.word(case, edges).unwrap_or("-"));
        let [wires, node] = [ALL, MOST].map(|column| {
            ["alone", "cartograph"].map(|variant| runs.median(case, variant, column) / 1e6)
        });
        bytes.row(&format!(
            "{case} | {all} | {busiest} | {:.2} | {:.2} | {:.2} | {:.2}",
            wires[0], wires[1], node[0], node[1]
        ));
    }
    [times, bytes]
}

/// Two switches: the traffic on the thin link between them.
pub(crate) fn switches(nodes: &Nodes, section: &str) -> Outcome {
    nodes.split("50mbit")?;
    let each = "/dev/shm/each";
    program(each, EACH)?;
    let known = format!("{each} env LIBRARY CARTOGRAPH_REORDER=on {WEIGHTS}");
    let (mut bytes, mut times) = (Vec::new(), Vec::new());
    for environment in [each.to_owned(), format!("{known} CARTOGRAPH_LAYOUT=4x4"), known] {
        let before = crossed()?;
        let said =
            printed(nodes, "", &environment, &format!("cluster-halo {BYTES} {EXCHANGES} 4 4"))?;
        bytes.push((crossed()? - before) / f64::from(EXCHANGES) / 1e6);
        times.push(median(&said)?);
        eprintln!("two switches, {environment}: {bytes:?} MB, {times:?} ms");
    }
    let mut table = Table::new("Two switches", "of an exchange | Open MPI | nodes | levels");
    table.row(&format!(
        "MB on the thin link, an exchange | {:.2} | {:.2} | {:.2}",
        bytes[0], bytes[1], bytes[2]
    ));
    table.row(&format!("ms | {:.3} | {:.3} | {:.3}", times[0], times[1], times[2]));
    File::put("cluster", &format!("make lab-cluster{section}"), vec![table])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_ratios_and_bytes_of_exchanges() {
        let mut runs = Measured::default();
        for (variant, time, bytes) in [
            ("alone", 3.0, 2e6),
            ("off", 4.0, 1.0),
            ("cartograph", 1.0, 1e6),
            ("alone", 9.0, 2e6),
            ("alone", 2.0, 2e6),
            ("cartograph", 2.0, 1e6),
        ] {
            runs.add("4 x 4", variant, &[time, bytes, bytes / 2.0]);
        }
        let report = r#"{"topologies":[{"effect":{"before":{"inter_node_edges":24,"max_node_edges":8},
            "after":{"inter_node_edges":16,"max_node_edges":4}}}]}"#;
        let edges = edges(report).unwrap();
        EDGES.iter().zip(edges).for_each(|(about, edges)| runs.note("4 x 4", about, &edges));
        let rows: Vec<String> =
            tables(&runs).iter().flat_map(|table| &table.rows).map(|row| row.join(" | ")).collect();
        let expected = [
            "4 x 4 | 3.0 | 4.0 | 1.5 | 2.00 | 2.67",
            "4 x 4 | 24 -> 16 | 8 -> 4 | 2.00 | 1.00 | 1.00 | 0.50",
        ];
        assert_eq!(rows, expected);
        assert!(median("median 2 ms, of 40, 1 words wrong").is_err());
    }
}
