//! Graphs of the literature on mapping through levels, which are not ours to pass on: `CARTOGRAPH_GRAPHS` names a
//! directory that has them.

use std::path::PathBuf;

use cartograph_core::machine::{LevelKind, Machine};
use cartograph_core::mapping::{Adjacency, Csr, Distances, Objective, Options, plan_graph};
use cartograph_core::metis;
use cartograph_lab::Table;

use crate::clock;
use crate::rivals::Rivals;
use crate::switches::MODES;

/// A graph's file, the levels' widths from the innermost on, and the J that is published.
type Instance = (&'static str, [usize; 3], Option<i64>);

/// VieM's example, and the graph that KaHIP's examples have.
const INSTANCES: [Instance; 2] =
    [("3elt", [16, 4, 2], Some(30316)), ("rgg_n_2_15_s0", [4, 16, 16], None)];

/// The weight of an edge from the innermost level on; within a part it counts nothing.
const DISTANCES: [i64; 3] = [1, 10, 100];

/// A table, or how to get it.
pub(crate) fn table(mut rival: Option<&mut Rivals>) -> Table {
    let directory = PathBuf::from(std::env::var("CARTOGRAPH_GRAPHS").unwrap_or_default());
    let mut table = Table::new(
        "Graphs of the literature",
        "graph | hierarchy | parts | published | eco | strong | Cartograph | time: Cartograph, eco, strong",
    );
    for (name, widths, published) in INSTANCES {
        let file = directory.join(name).with_extension("graph");
        let graph = std::fs::read_to_string(&file).ok().map(|text| metis::read(&text));
        let Some(Ok(graph)) = graph else {
            eprintln!("quality: {} is not there, and not in the table", file.display());
            continue;
        };
        let parts: usize = widths.iter().product();
        let (ours, seconds) = cartograph(&graph, widths, parts);
        let mut shared = |mode: &str| {
            let rival = rival.as_deref_mut()?;
            let (part, seconds) = rival.map(&graph, &widths, &DISTANCES, mode)?;
            Some((sum(&graph, &part, widths), seconds))
        };
        let shared = MODES.map(&mut shared);
        let cost = |found: Option<(i64, f64)>| found.map_or("-".into(), |(sum, _)| sum.to_string());
        let time = |found: Option<(i64, f64)>| {
            found.map_or("-".to_owned(), |(_, seconds)| format!("{:.0} ms", 1e3 * seconds))
        };
        table.row(&format!(
            "{name} | {} | {parts} | {} | {} | {} | {ours} | {}, {}, {}",
            widths.map(|width| width.to_string()).join(":"),
            published.map_or("-".to_owned(), |published| published.to_string()),
            cost(shared[0]),
            cost(shared[1]),
            time(Some((ours, seconds))),
            time(shared[0]),
            time(shared[1]),
        ));
        eprintln!("{name}");
    }
    table
}

/// The cost of a mapping to parts that are numbered through all levels.
fn sum(graph: &Csr, part: &[u32], [near, middle, _]: [usize; 3]) -> i64 {
    let mut sum = 0;
    for vertex in 0..graph.vertices() {
        let from = part[vertex] as usize;
        for (to, weight) in graph.edges(vertex) {
            let to = part[to] as usize;
            let distance = match (from == to, from / near == to / near) {
                (true, _) => 0,
                (_, true) => DISTANCES[0],
                _ if from / near / middle == to / near / middle => DISTANCES[1],
                _ => DISTANCES[2],
            };
            sum += distance * weight;
        }
    }
    sum
}

fn cartograph(graph: &Csr, widths: [usize; 3], parts: usize) -> (i64, f64) {
    let (least, more) = (graph.vertices() / parts, graph.vertices() % parts);
    let sizes: Vec<usize> = (0..parts).map(|part| least + usize::from(part < more)).collect();
    let nodes = Machine::blocks(&sizes);
    let ids = |width: usize| -> Vec<u64> {
        nodes.nodes().iter().map(|part| u64::from(*part) / width as u64).collect()
    };
    let (inner, outer) = (ids(widths[0]), ids(widths[0] * widths[1]));
    let layout = nodes
        .clone()
        .under(LevelKind::Switch, &inner)
        .and_then(|l| l.under(LevelKind::Switch, &outer));
    let layout = layout.expect("groups nest");
    // No distance is less than 1, which every edge counts more by then.
    let distances = Distances::parse("1,2,11,101").expect("these grow");
    let begin = clock::now();
    let options = Options::default().with_objective(Objective::Sum).with_distances(distances);
    let plan = plan_graph(graph, &layout, &options);
    let seconds = clock::now() - begin;
    let part: Vec<u32> = plan.old_ranks().map(|old| nodes.nodes()[old as usize]).collect();
    (sum(graph, &part, widths), seconds)
}
