//! The replays, and the tables.

use std::error::Error;
use std::path::PathBuf;

use cartograph_jobs::replay::{Link, Network, RankLocations, replay};
use cartograph_lab::{File, Table, top};

use crate::machine::{DRAGONFLY, FAT_TREE, Machine};
use crate::trace::Trace;
use crate::{orders, smpi};

const USUAL: Machine = Machine { network: FAT_TREE, gbits: 200, processes: 32, selector: "mpich" };

/// The machines, with the name of each in the table.
const MACHINES: [(&str, Machine); 7] = [
    ("fat tree, 32", USUAL),
    ("fat tree, 128", Machine { processes: 128, ..USUAL }),
    ("dragonfly, 32", Machine { network: DRAGONFLY, ..USUAL }),
    ("dragonfly, 128", Machine { network: DRAGONFLY, processes: 128, ..USUAL }),
    ("100 Gbit/s", Machine { gbits: 100, ..USUAL }),
    ("400 Gbit/s", Machine { gbits: 400, ..USUAL }),
    ("as Open MPI", Machine { selector: "ompi", ..USUAL }),
];

/// Work that takes a tenth of the time, as if processes used accelerators.
const FASTER: f64 = 10.0;
const FASTER_NAME: &str = "work / 10";

/// Above this number of processes, only the usual machine is simulated: a replay takes minutes.
const MOST: u32 = 512;

/// A lower bound of a program's time if messages took no time: the most work of a rank.
fn work(trace: &Trace) -> f64 {
    let ranks = trace.program.ranks.iter();
    ranks.map(|events| events.iter().map(|event| event.work).sum()).fold(0.0, f64::max)
}

/// Replays of one program.
struct Measuring<'a> {
    trace: &'a Trace,
    directory: PathBuf,
}

impl<'a> Measuring<'a> {
    /// Writes the trace for SimGrid.
    fn new(trace: &'a Trace, name: &str) -> Result<Self, Box<dyn Error>> {
        let directory = top().join("build/scale").join(name);
        smpi::write(&trace.program, &directory)?;
        Ok(Self { trace, directory })
    }
}

/// Times in one machine.
struct Times {
    block: f64,
    round_robin: f64,
    planned: f64,
    predicted: f64,
    reordered: Option<f64>,
}

impl Measuring<'_> {
    fn on(&self, machine: Machine) -> Result<Times, Box<dyn Error>> {
        let ranks = self.trace.size();
        let run = |node_of: &[u32]| machine.replay(&self.directory, node_of);
        let block_order = orders::block(machine, ranks);
        let block = run(&block_order)?;
        let planned = orders::planned(self.trace, machine, &self.directory)?;
        let is_moved = planned.node_of != block_order;
        let reordered = orders::reordered(self.trace, machine);
        Ok(Times {
            block,
            round_robin: run(&orders::round_robin(machine, ranks))?,
            planned: if is_moved { run(&planned.node_of)? } else { block },
            predicted: planned.gain,
            reordered: reordered.map(|order| run(&order)).transpose()?,
        })
    }

    /// The rank correlations with the simulated time: for the busiest node's bytes, hop-bytes, the bytes between nodes
    /// and the replay's time.
    fn objectives(&self, machine: Machine) -> Result<[f64; 4], Box<dyn Error>> {
        let graph = orders::graph(self.trace);
        let orders = orders::many(self.trace, machine, &graph);
        let link = Link { latency: 0.7e-6, bandwidth: f64::from(machine.gbits) / 8.0 * 1e9 };
        let network = Network::new(link);
        let (mut seconds, mut found) = (Vec::new(), [const { Vec::new() }; 4]);
        for order in &orders {
            seconds.push(machine.replay(&self.directory, order)?);
            let [busiest, hops, sum] = costs(&graph, machine, order);
            let place = RankLocations { node_of: order, above: &machine.above() };
            let replayed = replay(&self.trace.program, place, &network, &[]).seconds;
            for (list, value) in found.iter_mut().zip([busiest, hops, sum, replayed]) {
                list.push(value);
            }
        }
        Ok(found.map(|values| correlation(&values, &seconds)))
    }
}

/// The bytes of the busiest node, hop-bytes, and all bytes between nodes.
fn costs(graph: &cartograph_core::mapping::Csr, machine: Machine, node_of: &[u32]) -> [f64; 3] {
    let mut of_node = std::collections::HashMap::new();
    let (mut hops, mut sum) = (0.0, 0.0);
    for rank in 0..node_of.len() {
        for (other, bytes) in graph.edges(rank) {
            let [from, to] = [node_of[rank], node_of[other]];
            if from != to {
                *of_node.entry(from).or_insert(0.0) += bytes as f64;
                sum += bytes as f64;
                hops += bytes as f64 * machine.hops(from, to);
            }
        }
    }
    [of_node.values().copied().fold(0.0, f64::max), hops, sum]
}

/// Spearman's rank correlation; equal values share the mean of their ranks.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |value: &f64| {
            let below = values.iter().filter(|other| *other < value).count();
            let equal = values.iter().filter(|other| *other == value).count();
            below as f64 + equal as f64 / 2.0
        };
        values.iter().map(rank).collect()
    };
    let (one, other) = (ranks(one), ranks(other));
    let mean = one.len() as f64 / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    product(&one, &other) / (product(&one, &one) * product(&other, &other)).sqrt()
}

/// Compares forecasts with simulated times, for placements other than block order.
fn forecasts(times: &Table) -> Table {
    let mut count = [0u32; 3];
    for row in &times.rows {
        let [gain, predicted] = [6, 7].map(|at| row[at].parse().unwrap_or(f64::NAN));
        // The forecast and the time of block order itself are equal by definition.
        let is_placed = predicted != 1.0;
        let is_close = is_placed && (predicted / gain - 1.0).abs() <= 0.1;
        let found = [is_placed, is_close, is_placed && gain < 0.99];
        for (count, found) in count.iter_mut().zip(found) {
            *count += u32::from(found);
        }
    }
    let mut table = Table::new("Forecasts", "forecasts | within 10 % | slower");
    table.row(&count.map(|count| count.to_string()).join(" | "));
    table
}

/// Replays the traces with these names, or all traces. Rows of other programs are kept.
///
/// # Errors
///
/// If there is no such trace, or a replay fails.
pub(crate) fn all(chosen: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut names: Vec<String> = chosen.iter().map(|name| format!("{name}.trace")).collect();
    if names.is_empty() {
        for file in std::fs::read_dir(orders::traces())? {
            names.push(file?.file_name().to_string_lossy().into_owned());
        }
        names.retain(|name| name.ends_with(".trace"));
    }
    for name in &names {
        let trace = Trace::read(&orders::traces().join(name))?;
        let mut tables = tables();
        one(&trace, &mut tables)?;
        let file = top().join("lab/results/scale.json");
        let before = if file.exists() { File::read(&file)? } else { File::default() };
        for table in &mut tables {
            let known = before.table(&table.name).map_or(&[][..], |known| &known.rows);
            table.rows.extend(known.iter().filter(|row| row[0] != trace.title).cloned());
            // A program's rows keep their order.
            table.rows.sort_by_key(|row| row[0].to_lowercase());
        }
        let summary = forecasts(&tables[1]);
        File::put("scale", "make lab-scale", tables.into_iter().chain([summary]).collect())?;
    }
    Ok(())
}

/// Gains, times and correlations, without rows.
fn tables() -> [Table; 3] {
    let names: Vec<&str> = MACHINES.iter().map(|(name, _)| *name).collect();
    let names = names.join(" | ");
    let gains = format!(
        "program | processes | work, % | {names} | {FASTER_NAME} | round-robin | reordered"
    );
    let times = "program | machine | block, ms | round-robin, ms | reordered, ms | planned, ms | block / planned | predicted";
    let objectives = "program | busiest node | hop-bytes | bytes between nodes | replay";
    [("Block order / planned", &*gains), ("Simulated times", times), ("Objectives", objectives)]
        .map(|(name, columns)| Table::new(name, columns))
}

/// Replays one trace, and adds its rows.
fn one(trace: &Trace, [gains, times, objectives]: &mut [Table; 3]) -> Result<(), Box<dyn Error>> {
    let faster = trace.with_faster_cores(FASTER);
    let [measuring, fast] = [(trace, "as-traced"), (&faster, "faster")]
        .map(|(trace, name)| Measuring::new(trace, name));
    let (measuring, fast) = (measuring?, fast?);
    let (title, is_large) = (&trace.title, trace.size() > MOST);
    let (mut cells, mut last) = (Vec::new(), [const { String::new() }; 3]);
    let usual = MACHINES.map(|(name, machine)| (name, machine, &measuring));
    for (name, machine, measuring) in usual.into_iter().chain([(FASTER_NAME, USUAL, &fast)]) {
        if is_large && machine != USUAL {
            cells.push("-".to_owned());
            continue;
        }
        let Times { block, round_robin, planned, predicted, reordered } = measuring.on(machine)?;
        let gain = block / planned;
        cells.push(format!("{gain:.2}"));
        let ms = |seconds: f64| format!("{:.3}", seconds * 1e3);
        let moved = reordered.map_or("-".into(), ms);
        times.row(&format!(
            "{title} | {name} | {} | {} | {moved} | {} | {gain:.3} | {predicted:.3}",
            ms(block),
            ms(round_robin),
            ms(planned)
        ));
        println!("{}", times.rows.last().expect("it was added").join(" | "));
        if name == MACHINES[0].0 {
            let reordered = reordered.map_or("-".into(), |found| format!("{:.2}", block / found));
            let part = 100.0 * work(trace) / block;
            last = [format!("{part:.0}"), format!("{:.2}", block / round_robin), reordered];
        }
    }
    let [part, round_robin, reordered] = last;
    let (ranks, cells) = (trace.size(), cells.join(" | "));
    gains.row(&format!("{title} | {ranks} | {part} | {cells} | {round_robin} | {reordered}"));
    if is_large {
        return Ok(());
    }
    // In an all-to-all, all orders have the same bytes.
    let correlation =
        |value: f64| if value.is_nan() { "-".to_owned() } else { format!("{value:.2}") };
    let found = measuring.objectives(USUAL)?.map(correlation);
    objectives.row(&format!("{title} | {}", found.join(" | ")));
    println!("{title}: {}", found.join(" | "));
    Ok(())
}
