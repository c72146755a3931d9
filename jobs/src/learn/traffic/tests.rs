use std::collections::BTreeMap;

use cartograph_traffic::{Call, Collective, Window};

use super::*;
use crate::learn::{Entry, Guess, Seen};

/// A halo exchange on a periodic grid.
fn grid(sides: &[u32], different: bool) -> Recording {
    let size: u32 = sides.iter().product();
    let mut edges = Vec::new();
    for from in 0..size {
        let mut stride = 1;
        for (at, side) in sides.iter().enumerate() {
            let along = from / stride % side;
            for step in [1, side - 1] {
                let to = from - along * stride + (along + step) % side * stride;
                let bytes = if different { 1_000_003 * u64::from(from + 1) } else { 800 << at };
                edges.push(Edge { from, to, count: Count { messages: 1000, bytes } });
            }
            stride *= side;
        }
    }
    edges.sort_unstable_by_key(|edge| (edge.from, edge.to));
    Recording { size, edges, ..Recording::default() }
}

#[test]
fn stored_traffic_is_restored() {
    let recording = grid(&[4, 6, 5], false);
    let text = serde_json::to_string(&Traffic::new(&recording)).unwrap();
    let kept: Traffic = serde_json::from_str(&text).unwrap();
    assert_eq!(kept.recording(recording.size).unwrap().edges, recording.edges);
    assert_eq!(kept.recording(recording.size - 1), None);
}

#[test]
fn entries_of_large_jobs_are_small() {
    let length = |recording: &Recording| {
        let kept = Traffic::new(recording);
        assert_eq!(kept.recording(recording.size).unwrap().size, recording.size);
        serde_json::to_string(&kept).unwrap().len()
    };
    let large = length(&grid(&[20, 25, 20], false));
    assert!(large < 200_000, "{large}");
    // All ranks have different rows.
    let different = length(&grid(&[20, 25, 20], true));
    assert!(different <= 500_000, "{different}");
}

/// The first calls of each rank of a halo exchange, with all cells around it or only those that share a face: messages
/// tagged with its own rank, and collectives of all ranks, its row and its column; times differ.
fn halo(sides: [u32; 3], all: bool, periodic: bool) -> BTreeMap<u32, Window> {
    let size: u32 = sides.iter().product();
    let cell =
        |rank: u32| [rank / (sides[1] * sides[2]), rank / sides[2] % sides[1], rank % sides[2]];
    let around = |rank: u32| -> Vec<(u32, u64)> {
        let steps =
            (0..27).map(|step| [step / 9, step / 3 % 3, step % 3].map(|part: i64| part - 1));
        let other = |step: [i64; 3]| {
            let apart = step.iter().filter(|part| **part != 0).count();
            let mut to = 0;
            for ((at, side), part) in cell(rank).into_iter().zip(sides).zip(step) {
                let (at, side) = (i64::from(at) + part, i64::from(side));
                if !periodic && !(0..side).contains(&at) {
                    return None;
                }
                to = to * side + at.rem_euclid(side);
            }
            ((1..=if all { 3 } else { 1 }).contains(&apart))
                .then(|| (to as u32, 65_536 >> (4 * apart)))
        };
        steps.filter_map(other).collect()
    };
    let collective = |function: &'static str, group: u64, size: u32, root| {
        Call::Collective(Collective { function: function.into(), group, size, root, bytes: 8 })
    };
    let of = |rank: u32| {
        let (others, [_, _, column]) = (around(rank), cell(rank));
        let row = rank / sides[2];
        let mut calls: Vec<Call> = others
            .iter()
            .map(|(other, _)| Call::Irecv(Some(*other), Some(*other as i32)))
            .collect();
        calls.extend(others.iter().map(|(other, bytes)| Call::Isend(*other, *bytes, rank as i32)));
        let requests = calls.len() as u32;
        calls.push(Call::Wait(requests, requests));
        calls.push(collective("MPI_Allreduce", 1 << 60, size, None));
        calls.push(collective("MPI_Bcast", u64::from(row) << 32, sides[2], Some(row * sides[2])));
        let group = (1 << 50) + u64::from(column);
        calls.push(collective("MPI_Reduce", group, sides[0] * sides[1], Some(column)));
        let time = |at: u32| u64::from((rank ^ at).wrapping_mul(0x9e37_79b9) >> 20);
        let calls_of_step = calls.len() as u32;
        let events: Vec<(u32, u64)> =
            (0..6 * calls_of_step).map(|at| (at % calls_of_step, time(at))).collect();
        (rank, Window::new(&calls, &events, 1_000_000, true))
    };
    (0..size).map(of).collect()
}

#[test]
fn the_calls_of_ten_thousand_ranks_fit_in_an_entry() {
    let sides = [25, 20, 20];
    for (all, periodic) in [(false, false), (true, false), (true, true)] {
        let recording = Recording { windows: halo(sides, all, periodic), ..grid(&sides, false) };
        let mut entry = Entry::new("app", recording.size);
        let traffic = Some(Traffic::new(&recording));
        entry.note(Seen { traffic, ..Seen::default() }, &Guess::default());
        let text = entry.json();
        assert!(text.len() <= 1_000_000, "{}", text.len());
        let kept = Entry::parse(&text).unwrap().kinds.remove(0).traffic.unwrap();
        let kept = kept.recording(recording.size).unwrap();
        assert_eq!(kept.edges, recording.edges);
        assert_eq!(kept.windows.len(), recording.windows.len());
        for (window, before) in kept.windows.values().zip(recording.windows.values()) {
            let [now, before] = [window, before].map(|window| window.events().unwrap());
            let messages = |events: &[(&Call, u64)]| -> Vec<(u32, u64)> {
                let message = |call: &Call| match call {
                    Call::Isend(to, bytes, _) => (*to, *bytes),
                    Call::Irecv(from, _) => (from.unwrap(), 0),
                    Call::Wait(back, count) => (*back, (*count).into()),
                    Call::Collective(Collective { size, root, bytes, .. }) => {
                        (*size, bytes + u64::from(root.unwrap_or(0)))
                    }
                    call => panic!("{call:?}"),
                };
                events.iter().map(|(call, _)| message(call)).collect()
            };
            assert_eq!(messages(&now), messages(&before));
            let work = |events: &[(&Call, u64)]| events.iter().map(|one| one.1).sum::<u64>() as f64;
            assert!((work(&now) / work(&before) - 1.0).abs() < 0.01);
        }
    }
}
