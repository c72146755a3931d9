//! The effect of reordering with unknown weights on the time of programs that wait for their neighbors in different ways, by
//! replay.

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Options, plan_grid};
use cartograph_jobs::replay::{Event, Link, Network, Op, Program, RankLocations, replay};
use cartograph_lab::Table;

use crate::instances::{Instance, by_dims_create, everyday};

/// The way in which a program exchanges with its neighbors on a grid.
#[derive(Clone, Copy)]
enum Pattern {
    /// With all neighbors at once.
    AtOnce,
    /// With the neighbors along one dimension after the other.
    ByDimension,
    /// From each corner: a process works after its predecessors in each dimension, block by block.
    Sweep,
}

const PATTERNS: [(&str, Pattern); 3] = [
    ("at once", Pattern::AtOnce),
    ("by dimension", Pattern::ByDimension),
    ("a sweep", Pattern::Sweep),
];

/// The number of blocks that a process works on in a sweep from one corner.
const BLOCKS: usize = 8;

/// Bytes of a message.
const BYTES: [u64; 2] = [2 << 10, 64 << 10];

/// The work before a message of a sweep, as a multiple of the time of the message between nodes.
const WORK: [f64; 2] = [0.2, 2.0];

/// The limit for a program's time relative to rank order.
const MOST_TIME: f64 = 1.05;

/// Replays with more processes would take long.
const MOST_PROCESSES: usize = 700;

/// Links of 100 Gbit/s, as in docs/results/simulate.md, and of 200 Mbit/s, as on the nodes of `make lab-cluster`.
fn networks() -> [Network; 2] {
    let fast = Network {
        inside: Link { latency: 200e-9, bandwidth: 50e9 },
        between: vec![Link { latency: 2e-6, bandwidth: 12.5e9 }],
    };
    [fast, Network::new(Link { latency: 60e-6, bandwidth: 25e6 })]
}

/// Two exchanges, or a sweep from each corner with `work` seconds of work before each message.
fn program(dims: &[usize], pattern: Pattern, bytes: u64, work: f64) -> Program {
    let strides: Vec<usize> = (0..dims.len()).map(|i| dims[i + 1..].iter().product()).collect();
    let of_rank = |rank: usize| {
        // The neighbor along a dimension.
        let next = |dimension: usize, up: bool| {
            let (at, stride) = (rank / strides[dimension] % dims[dimension], strides[dimension]);
            let inside = if up { at + 1 < dims[dimension] } else { at > 0 };
            inside.then(|| if up { rank + stride } else { rank.wrapping_sub(stride) } as u32)
        };
        let both = |dimension| [false, true].into_iter().filter_map(move |up| next(dimension, up));
        let send = |to, tag, request| Op::Send { to, bytes, tag, request };
        let recv = |from, tag, request| Op::Recv { from: Some(from), tag: Some(tag), request };
        let exchange = |dimension: usize| {
            let tag = dimension as i32;
            let receives = both(dimension).map(move |from| recv(from, tag, true));
            receives.chain(both(dimension).map(move |to| send(to, tag, true)))
        };
        let waited = |mut ops: Vec<Op>| {
            let count = ops.len() as u32;
            ops.extend((count > 0).then_some(Op::Wait { back: count, count }));
            ops
        };
        let along = 0..dims.len();
        let ops: Vec<Op> = match pattern {
            Pattern::AtOnce => waited(along.flat_map(exchange).collect()).repeat(2),
            Pattern::ByDimension => along
                .flat_map(|dimension| waited(exchange(dimension).collect()))
                .collect::<Vec<_>>()
                .repeat(2),
            Pattern::Sweep => {
                let from_corner = |corner: usize| {
                    let up = move |dimension: usize| corner >> dimension & 1 == 0;
                    let before = along.clone().filter_map(move |d| next(d, !up(d)));
                    let after = along.clone().filter_map(move |d| next(d, up(d)));
                    let receives = before.map(move |from| recv(from, corner as i32, false));
                    let block = receives.chain(after.map(move |to| send(to, corner as i32, false)));
                    block.collect::<Vec<_>>().repeat(BLOCKS)
                };
                (0..1 << dims.len()).flat_map(from_corner).collect()
            }
        };
        let work = |op: &Op| if matches!(op, Op::Send { .. }) { work } else { 0.0 };
        ops.into_iter().map(|op| Event { work: work(&op), op }).collect()
    };
    Program { ranks: (0..dims.iter().product()).map(of_rank).collect(), ..Program::default() }
}

/// The time of a pattern on a grid after reordering with unknown weights, relative to rank order; `None` if ranks are kept.
fn ratios(dims: &[usize], machine: &Machine, placed: &[u32], pattern: Pattern) -> Vec<f64> {
    let works = if matches!(pattern, Pattern::Sweep) { &WORK[..] } else { &[0.0] };
    let mut ratios = Vec::new();
    for network in networks() {
        for bytes in BYTES {
            let link = network.between[0];
            for work in works {
                let work = work * (link.latency + bytes as f64 / link.bandwidth);
                let program = program(dims, pattern, bytes, work);
                let time = |node_of| {
                    let places = RankLocations { node_of, above: &[] };
                    replay(&program, places, &network, &[]).seconds
                };
                ratios.push(time(placed) / time(machine.nodes()));
            }
        }
    }
    ratios
}

/// For each initial order of ranks and each pattern, the number of reordered grids, and the time of programs on them.
pub(crate) fn section() -> (Vec<Table>, bool) {
    let mut table = Table::new(
        "Patterns",
        "ranks started | grids | moved | neighbors exchange | time, mean | time, at most",
    );
    let grids: Vec<Instance> = [4, 8, 16, 32]
        .into_iter()
        .flat_map(|nodes| {
            let small = [4, 8, 16]
                .into_iter()
                .flat_map(move |size| [2, 3].map(|ndims| by_dims_create(nodes, size, ndims)));
            small.chain(everyday(nodes))
        })
        .filter(|grid| grid.layout.nodes().len() <= MOST_PROCESSES)
        .collect();
    let mut met = true;
    for (order, in_turn) in [("in blocks", false), ("round-robin", true)] {
        let mut moved = 0;
        let mut found: [Vec<f64>; 3] = Default::default();
        for grid in &grids {
            let blocks = grid.layout.nodes();
            let nodes = u64::from(*blocks.last().expect("a process")) + 1;
            let ids = (0..blocks.len()).map(|rank| match in_turn {
                true => rank as u64 % nodes,
                false => u64::from(blocks[rank]),
            });
            let machine = Machine::from_ids(&ids.collect::<Vec<_>>());
            let plan =
                plan_grid(&grid.grid().with_unknown_weights(), &machine, &Options::default());
            if plan.old_rank.is_none() {
                continue;
            }
            moved += 1;
            let placed: Vec<u32> =
                plan.old_ranks().map(|old| machine.nodes()[old as usize]).collect();
            for ((_, pattern), found) in PATTERNS.iter().zip(&mut found) {
                found.extend(ratios(&grid.dims, &machine, &placed, *pattern));
            }
        }
        for ((name, _), found) in PATTERNS.iter().zip(&found) {
            let mean =
                (found.iter().map(|ratio| ratio.ln()).sum::<f64>() / found.len() as f64).exp();
            let most = found.iter().copied().fold(0.0, f64::max);
            let count = grids.len();
            met &= most <= MOST_TIME;
            table.row(&format!("{order} | {count} | {moved} | {name} | {mean:.2} | {most:.2}"));
        }
    }
    (vec![table], met)
}
