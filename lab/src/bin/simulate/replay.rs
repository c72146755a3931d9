//! The replay of `cartograph plan --traffic` compared with SMPI: the exchanges of six faces in
//! `lab/results/simulate.json`.

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Grid, Options, plan_grid};
use cartograph_core::topology::Cart;
use cartograph_jobs::replay::{Event, Link, Network, Op, Program, RankLocations, replay};

/// Two exchanges with the six neighbors.
fn exchanges(dims: [usize; 3], periodic: bool, bytes: u64) -> Program {
    let [_, y, z] = dims;
    let of_rank = |rank: usize| {
        let coordinates = [rank / (y * z), rank / z % y, rank % z];
        let mut ops = Vec::new();
        for dimension in 0..3 {
            let side = dims[dimension];
            let next = |ahead: usize| {
                let mut other = coordinates;
                let at = other[dimension] + side - 1 + 2 * ahead;
                other[dimension] = at % side;
                let inside = (side..2 * side).contains(&at);
                let rank = (other[0] * y + other[1]) * z + other[2];
                (periodic || inside).then_some((2 * dimension + ahead, rank as u32))
            };
            let neighbors: Vec<(usize, u32)> = [0, 1].into_iter().filter_map(next).collect();
            ops.extend(neighbors.iter().map(|(face, from)| Op::Recv {
                from: Some(*from),
                tag: Some(*face as i32 ^ 1),
                request: true,
            }));
            ops.extend(neighbors.iter().map(|(face, to)| Op::Send {
                to: *to,
                bytes,
                tag: *face as i32,
                request: true,
            }));
        }
        let count = ops.len() as u32;
        ops.push(Op::Wait { back: count, count });
        let step = ops.into_iter().map(|op| Event { work: 0.0, op });
        let step: Vec<Event> = step.collect();
        [&step[..], &step].concat()
    };
    let ranks = dims.iter().product();
    Program { ranks: (0..ranks).map(of_rank).collect(), ..Program::default() }
}

/// Milliseconds of an exchange with cyclic ranks, with ranks in blocks, and with Cartograph's placement.
fn replayed(dims: [usize; 3], periodic: bool, nodes: usize, bytes: u64) -> [f64; 3] {
    let count: usize = dims.iter().product();
    let cyclic: Vec<u32> = (0..count).map(|rank| (rank % nodes) as u32).collect();
    let block: Vec<u32> = (0..count).map(|rank| (rank / (count / nodes)) as u32).collect();
    let machine =
        Machine::from_ids(&cyclic.iter().map(|node| u64::from(*node)).collect::<Vec<_>>());
    let cart = Cart::new(&dims.map(|side| side as i32), &[periodic; 3], i32::MAX).unwrap();
    let plan = plan_grid(&Grid::from(&cart), &machine, &Options::default());
    let placed: Vec<u32> = plan.old_ranks().map(|old| machine.nodes()[old as usize]).collect();
    // A message crosses two links of 1 us.
    let network = Network {
        inside: Link { latency: 200e-9, bandwidth: 50e9 },
        between: vec![Link { latency: 2e-6, bandwidth: 12.5e9 }],
    };
    let program = exchanges(dims, periodic, bytes);
    [&cyclic, &block, &placed].map(|node_of| {
        replay(&program, RankLocations { node_of, above: &[] }, &network, &[]).seconds * 1e3 / 2.0
    })
}

#[test]
fn the_replay_predicts_the_times_of_smpi() {
    let results = include_str!("../../../results/simulate.json");
    let results: serde_json::Value = serde_json::from_str(results).unwrap();
    let table = results["tables"][0].clone();
    assert_eq!(table["name"], "Exchange of six faces");
    let rows: Vec<[String; 6]> = serde_json::from_value(table["rows"].clone()).unwrap();
    assert_eq!(rows.len(), 12);
    for row in rows {
        let [grid, nodes, face, cyclic, block, ours] = row.each_ref().map(String::as_str);
        let numbers = |text: &str| -> Vec<f64> {
            text.split(|c: char| !c.is_ascii_digit() && c != '.')
                .filter_map(|word| word.parse().ok())
                .collect()
        };
        let (sides, nodes) = (grid.split_once(',').unwrap(), nodes.split_once(" of ").unwrap());
        let dims: Vec<usize> = numbers(sides.0).iter().map(|side| *side as usize).collect();
        let unit = if face.ends_with("MiB") { 20 } else { 10 };
        let bytes = (numbers(face)[0] as u64) << unit;
        let simulated = [cyclic, block, ours].map(|cell| numbers(cell)[0]);
        let nodes = numbers(nodes.0)[0] as usize;
        let dims: [usize; 3] = dims.try_into().unwrap();
        let predicted = replayed(dims, sides.1.trim() == "periodic", nodes, bytes);
        for (predicted, simulated) in predicted.iter().zip(simulated) {
            let off = predicted / simulated;
            assert!((0.8..1.1).contains(&off), "{row:?}: {predicted:.3} ms for {simulated}");
        }
        assert!(
            predicted[0] > predicted[1] && predicted[1] > predicted[2],
            "{row:?}: {predicted:?}"
        );
    }
}

/// Sweeps over a grid from each corner, one after the other, in the given number of blocks each: a process works on a
/// block after its predecessors.
fn sweeps([rows, columns]: [usize; 2], blocks: usize, bytes: u64) -> Program {
    let of_rank = |rank: usize| {
        let (row, column) = (rank / columns, rank % columns);
        // The neighbor ahead along each dimension, or the one behind.
        let next = |down: bool, along: usize| {
            let (at, side, stride) = [(row, rows, columns), (column, columns, 1)][along];
            let inside = if down { at + 1 < side } else { at > 0 };
            inside.then(|| (if down { rank + stride } else { rank - stride }) as u32)
        };
        let from_corner = |corner: usize| {
            let down = [corner & 1 == 0, corner & 2 == 0];
            let behind = [0, 1].into_iter().filter_map(|along| next(!down[along], along));
            let ahead = [0, 1].into_iter().filter_map(|along| next(down[along], along));
            let receives =
                behind.map(|from| Op::Recv { from: Some(from), tag: Some(0), request: false });
            let sends = ahead.map(|to| Op::Send { to, bytes, tag: 0, request: false });
            receives.chain(sends).collect::<Vec<Op>>().repeat(blocks)
        };
        let ops = (0..4).flat_map(from_corner);
        ops.map(|op| Event { work: 0.0, op }).collect()
    };
    Program { ranks: (0..rows * columns).map(of_rank).collect(), ..Program::default() }
}

/// SNAP on SMPI, to which the replay was not fitted: of two orders of its ranks, the replay finds the faster one if
/// they differ by three tenths; if they differ by one, it does not predict that the slower one is a tenth faster.
#[test]
fn the_replay_ranks_sweeps_like_smpi() {
    let results = include_str!("../../../results/programs.json");
    let results: serde_json::Value = serde_json::from_str(results).unwrap();
    let tables = results["tables"].as_array().unwrap();
    let table = tables.iter().find(|table| table["name"] == "A sweep, 128 processes").unwrap();
    let rows: Vec<[String; 5]> = serde_json::from_value(table["rows"].clone()).unwrap();
    let dims = [8, 16];
    let bricks = |height: usize, width: usize| -> Vec<u32> {
        let node = |rank: usize| rank / 16 / height * (16 / width) + rank % 16 / width;
        (0..128).map(|rank| node(rank) as u32).collect()
    };
    let network = Network {
        inside: Link { latency: 200e-9, bandwidth: 50e9 },
        between: vec![Link { latency: 2e-6, bandwidth: 0.125e9 }],
    };
    let found = rows.iter().map(|[order, _, _, simulated, _]| {
        let node_of = match order.as_str() {
            "round-robin" => (0..128).map(|rank| rank % 8).collect(),
            "4 x 4 on each node" => bricks(4, 4),
            "2 x 8 on each node" => bricks(2, 8),
            "8 x 2 on each node" => bricks(8, 2),
            _ => bricks(1, 16),
        };
        let places = RankLocations { node_of: &node_of, above: &[] };
        let replayed = replay(&sweeps(dims, 8, 8192), places, &network, &[]).seconds;
        (simulated.trim_end_matches(" ms").parse::<f64>().unwrap(), replayed)
    });
    let found: Vec<(f64, f64)> = found.collect();
    assert_eq!(found.len(), 5);
    for (one, other) in found.iter().flat_map(|one| found.iter().map(move |other| (one, other))) {
        assert!(one.0 < other.0 * 1.3 || one.1 > other.1, "{one:?} {other:?}");
        assert!(one.0 < other.0 * 1.1 || one.1 * 1.1 > other.1, "{one:?} {other:?}");
    }
}
