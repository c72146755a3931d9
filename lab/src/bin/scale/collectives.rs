//! `scale collectives`: single collectives of 64 processes by the replay's model, and by SMPI with the same algorithms.

use std::error::Error;
use std::path::Path;

use cartograph_jobs::replay::{
    CollectiveKind, Event, Host, Link, Network, Op, Program, RankLocations, replay,
};
use cartograph_lab::{File, Table, top};

use crate::machine::{FAT_TREE, Machine};
use crate::smpi;

/// Eight nodes on one switch.
const MACHINE: Machine = Machine { network: FAT_TREE, gbits: 200, processes: 8, selector: "mpich" };

const PROCESSES: u32 = 64;

/// The sizes, in bytes per process, and per pair in all-to-alls.
const SIZES: [u64; 4] = [8, 1024, 65_536, 1 << 20];

/// Smaller differences count as equal.
const CLOSE: f64 = 0.15;

/// The collectives, with the name of the algorithm that SMPI has for each size.
const COLLECTIVES: [(CollectiveKind, [&str; 4]); 12] = [
    (CollectiveKind::Barrier, ["barrier:ompi_bruck"; 4]),
    (
        CollectiveKind::Bcast(0),
        [
            "bcast:binomial_tree",
            "bcast:binomial_tree",
            "bcast:scatter_rdb_allgather",
            "bcast:scatter_LR_allgather",
        ],
    ),
    (
        CollectiveKind::Reduce(0),
        ["reduce:binomial", "reduce:binomial", "reduce:scatter_gather", "reduce:scatter_gather"],
    ),
    (
        CollectiveKind::Allreduce,
        ["allreduce:rdb", "allreduce:rdb", "allreduce:rab_rdb", "allreduce:rab_rdb"],
    ),
    (CollectiveKind::Gather(0), ["gather:ompi_binomial"; 4]),
    (CollectiveKind::Scatter(0), ["scatter:ompi_binomial"; 4]),
    (
        CollectiveKind::Allgather,
        ["allgather:rdb", "allgather:rdb", "allgather:NTSLR", "allgather:NTSLR"],
    ),
    (
        CollectiveKind::Alltoall,
        [
            "alltoall:bruck",
            "alltoall:basic_linear",
            "alltoall:basic_linear",
            "alltoall:basic_linear",
        ],
    ),
    (
        CollectiveKind::ReduceScatter,
        [
            "reduce_scatter:ompi_basic_recursivehalving",
            "reduce_scatter:ompi_basic_recursivehalving",
            "reduce_scatter:mpich_pair",
            "reduce_scatter:mpich_pair",
        ],
    ),
    // SMPI has one algorithm for each of these two, which no option selects.
    (CollectiveKind::Gatherv(0), ["barrier:ompi_bruck"; 4]),
    (CollectiveKind::Scatterv(0), ["barrier:ompi_bruck"; 4]),
    (CollectiveKind::Alltoallv, ["alltoallv:mpich"; 4]),
];

/// The orders of ranks: the node of each.
fn orders() -> [(&'static str, Vec<u32>); 3] {
    let nodes = PROCESSES / MACHINE.processes;
    [
        ("blocks", (0..PROCESSES).map(|rank| rank / MACHINE.processes).collect()),
        ("round-robin", (0..PROCESSES).map(|rank| rank % nodes).collect()),
        // 5 and 64 are coprime.
        (
            "scrambled",
            (0..PROCESSES).map(|rank| rank * 5 % PROCESSES / MACHINE.processes).collect(),
        ),
    ]
}

/// One collective of all processes.
fn program(kind: CollectiveKind, bytes: u64) -> Program {
    let event = Event { work: 0.0, op: Op::Collective { group: 0, kind, bytes } };
    let ranks = vec![vec![event]; PROCESSES as usize];
    Program { ranks, groups: vec![(0..PROCESSES).collect()], host: Host::Smpi }
}

/// # Errors
///
/// If a replay fails.
pub(crate) fn all() -> Result<(), Box<dyn Error>> {
    // Two links of 250 ns.
    let link = Link { latency: 0.5e-6, bandwidth: f64::from(MACHINE.gbits) / 8.0 * 0.95e9 };
    let inside = Link { latency: 0.4e-6, bandwidth: 10e9 };
    let network = Network { inside, ..Network::new(link) };
    let mut table = Table::new(
        "Collectives",
        "collective | bytes | order | SMPI, us | model, us | model / SMPI",
    );
    let (mut close, mut count) = (0, 0);
    for (kind, algorithms) in COLLECTIVES {
        for (bytes, algorithm) in SIZES.into_iter().zip(algorithms) {
            let bytes = if kind == CollectiveKind::Barrier { 0 } else { bytes };
            for (order, node_of) in orders() {
                let simulated = simulated(kind, bytes, algorithm, &node_of);
                let places = RankLocations { node_of: &node_of, above: &[] };
                let model = replay(&program(kind, bytes), places, &network, &[]).seconds;
                let row = format!("{} | {bytes} | {order}", smpi::name(kind));
                let Ok(seconds) = simulated else {
                    eprintln!("{row}: {simulated:?}");
                    continue;
                };
                let ratio = model / seconds;
                count += 1;
                close += u32::from((ratio - 1.0).abs() <= CLOSE);
                table.row(&format!(
                    "{row} | {:.2} | {:.2} | {ratio:.2}",
                    seconds * 1e6,
                    model * 1e6
                ));
                println!("{}", table.rows.last().expect("it was added").join(" | "));
            }
            if kind == CollectiveKind::Barrier {
                break;
            }
        }
    }
    println!("{close} of {count} within {:.0} %", CLOSE * 100.0);
    File::put("scale", "scale collectives", vec![table])?;
    Ok(())
}

/// The seconds of a collective in SMPI.
fn simulated(
    kind: CollectiveKind,
    bytes: u64,
    algorithm: &str,
    node_of: &[u32],
) -> Result<f64, Box<dyn Error>> {
    let directory: &Path = &top().join("build/scale/collective");
    smpi::write(&program(kind, bytes), directory)?;
    MACHINE.replay_with(&[algorithm], directory, node_of)
}
