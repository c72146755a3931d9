//! Placements for numbers of processes with which a program has not run, as predicted by the rule of its messages.

use std::error::Error;
use std::fs;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Csr, Objective, Options, plan_graph};
use cartograph_core::topology::dims_create;
use cartograph_jobs::learn::{Rule, Scaling, busiest};
use cartograph_lab::{Table, top};
use cartograph_traffic::{Count, Edge, Recording, Topology};

/// The programs of `lab/traces/sizes`, and their numbers of processes there. Of these, only TeaLeaf calls
/// `MPI_Dims_create`.
const PROGRAMS: [(&str, bool, &[u32]); 5] = [
    ("CloverLeaf", false, &[16, 36, 64, 100]),
    ("CoMD", false, &[16, 32, 64, 128]),
    ("LULESH", false, &[27, 64, 125]),
    ("miniMD", false, &[16, 32, 64, 128]),
    ("TeaLeaf", true, &[16, 36, 64, 100]),
];

/// The numbers of processes of generated halo exchanges.
const GENERATED: &[u32] = &[64, 144, 512, 1000, 4096];

/// The processes of a node.
const NODE: u32 = 8;

/// The most bytes of the busiest node in a good prediction, relative to the placement based on the job's own messages.
const GOOD: f64 = 1.05;

/// The required fraction of good predictions.
const MOST: f64 = 0.9;

/// A recording with the grids that `MPI_Dims_create` chooses for its processes.
fn recording(size: u32, edges: Vec<Edge>) -> Recording {
    let grid = |dimensions: usize| {
        let mut dims = vec![0; dimensions];
        dims_create(i32::try_from(size).ok()?, &mut dims).ok()?;
        let dims: Vec<u32> = dims.into_iter().filter_map(|side| u32::try_from(side).ok()).collect();
        Some(Topology::new("MPI_Dims_create", &dims, &vec![false; dimensions]))
    };
    let topologies = (2..4).filter_map(grid).collect();
    Recording { size, edges, topologies, ..Recording::default() }
}

/// The recording of a program: a line for each pair of ranks, with the messages and bytes.
fn read(name: &str, size: u32) -> Result<Recording, Box<dyn Error>> {
    let path = top().join("lab/traces/sizes").join(format!("{}.{size}", name.to_lowercase()));
    let text = fs::read_to_string(&path)?;
    let mut edges = Vec::new();
    for line in text.lines() {
        let numbers: Vec<u64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [from, to, messages, bytes] = numbers[..] else { return Err(line.into()) };
        let (from, to) = (u32::try_from(from)?, u32::try_from(to)?);
        edges.push(Edge { from, to, count: Count { messages, bytes } });
    }
    Ok(recording(size, edges))
}

/// The cells of a generated domain along each dimension, of all processes or of each.
const CELLS: u64 = 480;

/// A halo exchange of faces, in the grid that `MPI_Dims_create` chooses. With strong scaling, the cells are those of
/// all processes together, otherwise of each process.
fn generated(size: u32, dimensions: usize, scaling: Scaling) -> Recording {
    let mut dims = vec![0; dimensions];
    dims_create(i32::try_from(size).expect("small"), &mut dims).expect("all sides are free");
    let dims: Vec<u32> =
        dims.into_iter().map(|side| u32::try_from(side).expect("positive")).collect();
    let cells = |side: &u32| match scaling {
        Scaling::Strong => CELLS / u64::from(*side),
        Scaling::Weak => CELLS,
    };
    let mut edges = Vec::new();
    for from in 0..size {
        let mut stride = 1;
        for (at, side) in dims.iter().enumerate().rev() {
            let others = dims.iter().enumerate().filter(|(other, _)| *other != at);
            let bytes = 8 * others.map(|(_, side)| cells(side)).product::<u64>();
            let count = Count { messages: 1, bytes };
            let here = from / stride % side;
            if here > 0 {
                edges.push(Edge { from, to: from - stride, count });
            }
            if here + 1 < *side {
                edges.push(Edge { from, to: from + stride, count });
            }
            stride *= side;
        }
    }
    edges.sort_unstable_by_key(|edge| (edge.from, edge.to));
    let mut recording = recording(size, edges);
    recording.topologies.push(Topology::new("MPI_Cart_create", &dims, &vec![false; dimensions]));
    recording
}

/// The node of each rank in the placement with the fewest bytes from the busiest node.
fn placed(edges: &[Edge], machine: &Machine) -> Vec<u32> {
    let weights = edges
        .iter()
        .map(|edge| (edge.from, edge.to, i64::try_from(edge.count.bytes).unwrap_or(i64::MAX)));
    let graph = Csr::from_edges(machine.nodes().len(), weights);
    let plan = plan_graph(&graph, machine, &Options::default().with_objective(Objective::Max));
    match &plan.old_rank {
        Some(old) => old.iter().map(|rank| machine.nodes()[*rank as usize]).collect(),
        None => machine.nodes().to_vec(),
    }
}

/// The predictions of each size from every other size.
#[derive(Default)]
struct Found {
    pairs: u32,
    predicted: u32,
    good: u32,
    /// Busier than in the default order.
    worse: u32,
    worst: f64,
}

impl Found {
    fn of(known: &[Recording]) -> Self {
        let mut found = Self::default();
        for (from, to) in known.iter().flat_map(|from| known.iter().map(move |to| (from, to))) {
            if from.size == to.size {
                continue;
            }
            found.pairs += 1;
            // Like `run`: a placement for strong scaling that also gains with weak scaling.
            let rule = |scaling| Rule::of(from).and_then(|rule| rule.at(to.size, scaling));
            let Some((strong, weak)) = rule(Scaling::Strong).zip(rule(Scaling::Weak)) else {
                continue;
            };
            let ids: Vec<u64> = (0..to.size).map(|rank| u64::from(rank / NODE)).collect();
            let machine = Machine::from_ids(&ids);
            let (there, weak) = (placed(&strong.edges(), &machine), weak.edges());
            if busiest(&weak, &there) >= busiest(&weak, machine.nodes()) {
                continue;
            }
            found.predicted += 1;
            let default = busiest(&to.edges, machine.nodes());
            let own = default.min(busiest(&to.edges, &placed(&to.edges, &machine)));
            let predicted = busiest(&to.edges, &there);
            let ratio = predicted as f64 / own.max(1) as f64;
            found.good += u32::from(ratio <= GOOD);
            found.worse += u32::from(predicted > default);
            found.worst = found.worst.max(ratio);
        }
        found
    }
}

/// The sides of the grid that explains the messages of each size.
fn grids(known: &[Recording]) -> String {
    let grid = |recording: &Recording| match Rule::of(recording) {
        Some(rule) => rule.dims().iter().map(u32::to_string).collect::<Vec<_>>().join("x"),
        None => "none".to_owned(),
    };
    known.iter().map(grid).collect::<Vec<_>>().join(", ")
}

/// The predictions of programs if `MPI_Dims_create` had chosen their grids, and of generated ones, whose grids it chose.
///
/// # Panics
///
/// If a file of `lab/traces/sizes` is missing or damaged.
pub(crate) fn section() -> (Vec<Table>, bool) {
    let mut table = Table::new(
        "Other numbers of processes",
        "program | processes | grids | calls MPI_Dims_create | pairs | predicted | good | worse than the default order | predicted / own, at most",
    );
    let mut add = |name: &str, does: bool, known: &[Recording]| {
        let sizes: Vec<String> = known.iter().map(|one| one.size.to_string()).collect();
        let found = Found::of(known);
        table.row(&format!(
            "{name} | {} | {} | {} | {} | {} | {} | {} | {:.2}",
            sizes.join(", "),
            grids(known),
            if does { "yes" } else { "no" },
            found.pairs,
            found.predicted,
            found.good,
            found.worse,
            found.worst
        ));
        found
    };
    for (name, does, sizes) in PROGRAMS {
        let known = sizes.iter().map(|size| read(name, *size));
        let known = known.collect::<Result<Vec<_>, _>>();
        add(name, does, &known.unwrap_or_else(|error| panic!("{name}: {error}")));
    }
    let mut generated_ones = Found::default();
    for (dimensions, scaling) in [2, 3].into_iter().flat_map(|dimensions| {
        [Scaling::Strong, Scaling::Weak].map(|scaling| (dimensions, scaling))
    }) {
        let known: Vec<Recording> =
            GENERATED.iter().map(|size| generated(*size, dimensions, scaling)).collect();
        let name = format!("a halo exchange, {dimensions}D, {scaling:?}").to_lowercase();
        let found = add(&name, true, &known);
        generated_ones.predicted += found.predicted;
        generated_ones.good += found.good;
        generated_ones.worse += found.worse;
    }
    let Found { predicted, good, worse, .. } = generated_ones;
    let met = worse == 0 && f64::from(good) >= MOST * f64::from(predicted);
    (vec![table], met)
}
