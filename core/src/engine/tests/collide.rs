//! Digests that collide, by chance or by malice: differing arguments must result in an error or a matching
//! communicator, and no rank may wait forever for another.

use super::*;
use crate::engine::calls::{ConstructorCall, fits, make};
use crate::engine::check::Rule;
use crate::engine::policy::Reorder;
use crate::machine::Machine;

/// Every rank makes its own call, with equal digests.
fn collide(
    machine: Option<Machine>,
    settings: impl Fn(i32) -> CallSettings + Sync,
    calls: [&ConstructorCall; 4],
) {
    let grid = Cart::new(&[2, 2], &[false; 2], 4).unwrap();
    sim::run_on(machine, 4, |comm| {
        COLLIDING.set(true);
        let rank = comm.rank().unwrap();
        if let Ok(Some((made, topology))) = make(comm, settings(rank), &grid, calls[rank as usize])
        {
            assert!(
                fits(&made, &topology, 4),
                "{topology:?} on {} processes",
                made.size().unwrap()
            );
            // All members enter a call on it.
            made.min(&mut [0]).unwrap();
        }
        comm.min(&mut [0]).unwrap();
    });
}

fn every_call() -> Vec<ConstructorCall> {
    let mut calls = Vec::new();
    for reorder in [false, true] {
        for dims in [&[4][..], &[3], &[2], &[2, 2], &[4, 1], &[1], &[], &[5]] {
            for periodic in [false, true] {
                let periods = vec![periodic; dims.len()];
                calls.push(ConstructorCall::Cart { dims: dims.to_vec(), periods, reorder });
            }
        }
        for (index, edges) in [
            (&[1, 2, 3, 4][..], &[1, 2, 3, 0][..]),
            (&[1, 2, 3, 4], &[2, 3, 0, 1]),
            (&[0, 1, 2], &[2, 0]),
            (&[0, 0], &[]),
            (&[], &[]),
            (&[1], &[1]),
        ] {
            calls.push(ConstructorCall::Graph {
                index: index.to_vec(),
                edges: edges.to_vec(),
                reorder,
            });
        }
        for weighted in [None, Some(false), Some(true)] {
            let (edges, into) = if weighted.is_none() {
                (vec![], vec![])
            } else {
                (vec![[0, 1, 2], [3, 3, 4]], vec![[2, 2]])
            };
            calls.push(ConstructorCall::Edges { edges, weighted, reorder });
            calls.push(ConstructorCall::Adjacent { away: into.clone(), into, weighted, reorder });
        }
    }
    for remain in [[false, false], [true, false], [false, true], [true, true]] {
        calls.push(ConstructorCall::Sub { remain });
    }
    calls
}

#[test]
fn no_rank_waits_forever_if_digests_collide() {
    let calls = every_call();
    let settings = |_| CallSettings { reorder: Reorder::All, ..CallSettings::default() };
    for one in &calls {
        for other in &calls {
            let round_robin = Some(Machine::from_ids(&[0, 1, 0, 1]));
            collide(None, settings, [one, one, other, one]);
            collide(round_robin, settings, [other, one, one, other]);
        }
    }
}

#[test]
fn no_rank_waits_forever_if_environments_differ_and_digests_collide() {
    let calls = every_call();
    let settings = |rank: i32| CallSettings {
        reorder: [Reorder::Always, Reorder::On, Reorder::Off, Reorder::On][rank as usize],
        reporting: rank % 3 == 0,
        check: if rank % 2 == 0 { Check::ALL } else { Check::default() },
        ..CallSettings::default()
    };
    for (i, one) in calls.iter().enumerate() {
        let other = &calls[(i * 7 + 3) % calls.len()];
        for machine in [None, Some(Machine::from_ids(&[0, 1, 0, 1]))] {
            for first in 0..4 {
                let settings = |rank| settings((rank + first) % 4);
                collide(machine.clone(), settings, [one; 4]);
                collide(machine.clone(), settings, [one, one, other, one]);
            }
        }
    }
}

/// Some processes then check all edges, and others do not.
#[test]
fn no_rank_waits_forever_if_only_checks_differ_and_digests_collide() {
    for check in [Check::ALL, Check::default().with(Rule::Edges)] {
        let settings = |rank: i32| CallSettings {
            check: if rank % 2 == 0 { check } else { Check::default() },
            ..CallSettings::default()
        };
        for call in &every_call() {
            collide(None, settings, [call; 4]);
        }
    }
}

/// Two ranks pass a grid of three cells, two others a grid of four: no rank may wait for a split that only the first
/// two make.
#[test]
fn sizes_are_agreed_on_if_digests_collide() {
    let results = sim::run(4, |comm| {
        COLLIDING.set(true);
        let dims = if comm.rank().unwrap() < 2 { [3] } else { [4] };
        cart(comm, &dims, &[false], false)
    });
    let (rank, _, text) = fault(results);
    assert_eq!(rank, 2);
    assert_eq!(text, "dims is 4, but 3 on rank 0; it must be the same on all ranks");
}
