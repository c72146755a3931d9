//! Reordering by default: grids with unknown weights, starting from ranks in blocks.

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Grid, Options, plan_grid};
use cartograph_core::topology::Cart;

use super::*;

/// The loss that is accepted.
const REGRET: f64 = 0.05;

#[derive(Clone, Copy)]
enum Pattern {
    /// All faces at once.
    Halo,
    /// The faces along each dimension after those along the previous one have arrived.
    OneAfterTheOther,
    /// From each corner, one after the other, with work of these seconds.
    Sweep(f64),
}

/// The cells adjacent to a cell, each with its dimension and whether it comes after it.
fn around(cell: usize, dims: &[usize]) -> Vec<(usize, bool, usize)> {
    let (mut found, mut stride) = (Vec::new(), 1);
    for (dimension, side) in dims.iter().enumerate().rev() {
        let at = cell / stride % side;
        if at > 0 {
            found.push((dimension, false, cell - stride));
        }
        if at + 1 < *side {
            found.push((dimension, true, cell + stride));
        }
        stride *= side;
    }
    found
}

fn exchange(events: &mut Vec<Event>, others: &[usize], bytes: u64) {
    let event = |op| Event { work: 0.0, op };
    let post = |other: &usize| Op::Recv { from: Some(*other as u32), tag: None, request: true };
    events.extend(others.iter().map(|other| event(post(other))));
    let sent = |other: &usize| Op::Send { to: *other as u32, bytes, tag: 0, request: true };
    events.extend(others.iter().map(|other| event(sent(other))));
    let count = 2 * others.len() as u32;
    events.push(event(Op::Wait { back: count, count }));
}

fn steps(dims: &[usize], pattern: Pattern, bytes: u64) -> Program {
    let of_cell = |cell: usize| {
        let around = around(cell, dims);
        let those = |wanted: &dyn Fn(usize, bool) -> bool| -> Vec<usize> {
            around
                .iter()
                .filter(|(dimension, after, _)| wanted(*dimension, *after))
                .map(|one| one.2)
                .collect()
        };
        let mut events = Vec::new();
        for number in 0..4 {
            match pattern {
                Pattern::Halo => exchange(&mut events, &those(&|_, _| true), bytes),
                Pattern::OneAfterTheOther => (0..dims.len()).for_each(|along| {
                    exchange(&mut events, &those(&|other, _| other == along), bytes)
                }),
                Pattern::Sweep(work) => {
                    // Twelve blocks from each of four corners.
                    let ahead = |dimension: usize, after: bool| {
                        (number >> dimension.min(1) & 1 == 0) == after
                    };
                    for _ in 0..12 {
                        let before = those(&|dimension, after| !ahead(dimension, after));
                        events.extend(
                            before.into_iter().map(|from| Event { work: 0.0, op: recv(from) }),
                        );
                        let mut work = work;
                        for to in those(&ahead) {
                            events.push(Event { work, op: send(to, bytes) });
                            work = 0.0;
                        }
                    }
                }
            }
        }
        events
    };
    Program { ranks: (0..dims.iter().product()).map(of_cell).collect(), ..Program::default() }
}

#[test]
fn no_pattern_loses_if_ranks_start_in_blocks() {
    let mut moved = 0;
    for (dims, nodes) in [
        (&[8, 8][..], 8),
        (&[8, 16], 8),
        (&[12, 12], 12),
        (&[16, 16], 16),
        (&[8, 32], 16),
        (&[16, 32], 16),
        (&[8, 8, 8], 16),
        (&[4, 8, 8], 16),
    ] {
        let cells: usize = dims.iter().product();
        let machine = Machine::blocks(&vec![cells / nodes; nodes]);
        let sides: Vec<i32> = dims.iter().map(|side| *side as i32).collect();
        let cart = Cart::new(&sides, &vec![false; dims.len()], i32::MAX).unwrap();
        let plan = plan_grid(&Grid::from(&cart), &machine, &Options::default());
        let after: Vec<u32> = plan.old_ranks().map(|old| machine.nodes()[old as usize]).collect();
        moved += usize::from(after != machine.nodes());
        for link in [SLOW, Link { latency: 1.5e-6, bandwidth: 12.5e9 }] {
            for (pattern, bytes) in [
                (Pattern::Halo, 65_536),
                (Pattern::OneAfterTheOther, 65_536),
                (Pattern::OneAfterTheOther, 2048),
                (Pattern::Sweep(0.0), 8192),
                (Pattern::Sweep(20e-6), 8192),
            ] {
                let program = steps(dims, pattern, bytes);
                let time = |node_of: &[u32]| {
                    replay(
                        &program,
                        RankLocations { node_of, above: &[] },
                        &Network::new(link),
                        &[],
                    )
                    .seconds
                };
                let gain = time(machine.nodes()) / time(&after);
                assert!(gain >= 1.0 - REGRET, "{dims:?} on {nodes} nodes: {gain}");
            }
        }
    }
    // The node shape is not 8 x 8, where small messages by dimension would wait twice.
    assert_eq!(moved, 7);
}
