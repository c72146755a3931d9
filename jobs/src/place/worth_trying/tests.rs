//! Entries of measured and of large jobs, and the weights of grids.

use cartograph_traffic::{Call, Count, Edge, Topology, Window, Work};

use super::*;
use crate::learn::{Guess, Past, Seen};
use crate::place::tests::by_launcher;

#[test]
fn measured_orders_come_first() {
    let arm = |order: &str, predicted| Arm {
        order: order.to_owned(),
        predicted: Some(predicted),
        busiest: None,
        node_of: vec![0, 0, 1, 1],
        slots: Vec::new(),
    };
    let others = || [("first", 1.5), ("second", 1.4), ("third", 1.3), ("slower", 0.9)];
    let mut entry = Entry::new("app", 4);
    let best = |entry: &Entry| -> Vec<String> {
        let others = others().map(|(order, predicted)| arm(order, predicted)).into();
        best(entry, 0, 7, others).into_iter().map(|arm| arm.order).collect()
    };
    assert_eq!(best(&entry), ["first", "second"]);
    let work = Work { messages: 1, bytes: 1, collectives: 1 };
    entry.note(Seen { work, ..Seen::default() }, &Guess::default());
    let run = |order: &str, seconds| Past {
        order: order.to_owned(),
        predicted: 1.0,
        units: 1.0,
        shape: 7,
        nodes: 2,
        seconds,
        ..Past::default()
    };
    for (order, seconds) in [("", 10.0), ("third", 8.0), ("first", 10.5)] {
        entry.add(run(order, seconds));
    }
    // A placement that was measured to be slower comes after one that was not measured.
    assert_eq!(best(&entry), ["third", "second"]);
    // An order on the nodes of a placement that is slower is not tried, nor is one that was slower itself.
    let with = |order: &str| {
        let ordered =
            Arm { slots: vec![1, 0, 0, 1], ..arm(&format!("{order}, NUMA domains"), 1.0) };
        let others = others().map(|(order, predicted)| arm(order, predicted));
        let found = super::best(&entry, 0, 7, others.into_iter().chain([ordered]).collect());
        found.into_iter().skip(MOST).map(|arm| arm.order).collect::<Vec<_>>()
    };
    assert_eq!(with("second"), ["second, NUMA domains"]);
    assert_eq!(with("first"), [""; 0]);
    entry.add(run("second, NUMA domains", 10.0));
    let with = |order: &str| {
        let ordered =
            Arm { slots: vec![1, 0, 0, 1], ..arm(&format!("{order}, NUMA domains"), 1.0) };
        super::best(&entry, 0, 7, vec![ordered]).len()
    };
    assert_eq!((with("second"), with("third")), (0, 1));
    // It does not count on other nodes.
    entry.runs.iter_mut().for_each(|run| run.shape = 8);
    assert_eq!(best(&entry), ["first", "second"]);
}

#[test]
fn grids_have_the_weights_of_messages_between_neighbors() {
    let edge = |from, to, bytes| Edge { from, to, count: Count { messages: 1, bytes } };
    let mut recording = Recording {
        size: 6,
        // A row of a periodic grid of 2 x 3, a column, a diagonal.
        edges: vec![edge(0, 2, 10), edge(1, 2, 10), edge(0, 3, 300), edge(0, 4, 7)],
        topologies: vec![Topology {
            reorder: true,
            ..Topology::new("MPI_Cart_create", &[2, 3], &[false, true])
        }],
        ..Recording::default()
    };
    weigh_grids(&mut recording);
    let bytes: Vec<u64> = recording.topologies[0].along.iter().map(|sum| sum.bytes).collect();
    assert_eq!(bytes, [300, 20]);
}

/// A halo exchange on this grid, as recorded.
fn halo(sides: [u32; 3]) -> Recording {
    let size: u32 = sides.iter().product();
    let mut recording = Recording { size, ..Recording::default() };
    for rank in 0..size {
        let mut others = Vec::new();
        let mut stride = 1;
        for side in sides.iter().rev() {
            let at = rank / stride % side;
            others.extend((at > 0).then(|| rank - stride));
            others.extend((at + 1 < *side).then_some(rank + stride));
            stride *= side;
        }
        let count = Count { messages: 100, bytes: 100 << 14 };
        recording.edges.extend(others.iter().map(|to| Edge { from: rank, to: *to, count }));
        let posted = others.iter().map(|from| Call::Irecv(Some(*from), Some(0)));
        let mut calls: Vec<Call> = posted.collect();
        calls.extend(others.iter().map(|to| Call::Isend(*to, 1 << 14, 0)));
        let requests = calls.len() as u32;
        calls.push(Call::Wait(requests, requests));
        let events: Vec<(u32, u64)> =
            (0..20).flat_map(|_| 0..=requests).map(|at| (at, u64::from(rank % 7))).collect();
        recording.windows.insert(rank, Window::new(&calls, &events, 1_000_000, true));
    }
    recording
}

#[test]
fn jobs_of_thousands_of_ranks_are_replayed() {
    let sides = [20, 12, 10];
    let mut entry = Entry::new("app", sides.iter().product());
    let traffic = Some(traffic(&halo(sides)));
    entry.note(Seen { traffic, ..Seen::default() }, &Guess::default());
    let entry = Entry::parse(&entry.json()).unwrap();
    let machine = Machine::blocks(&[40; 60]);
    let known = entry.kind(0).unwrap().traffic.as_ref().unwrap();
    let recording = recording(known, entry.processes).unwrap();
    let (machine, means) = (&machine, &by_launcher());
    let found = Search {
        known,
        recording: &recording,
        machine,
        domains: &[],
        means,
        options: Options::default(),
    }
    .arms();
    // Bytes alone do not reveal the program's grid.
    assert!(found[0].order.starts_with("20x12x10 in bricks of "), "{:?}", found[0].order);
    assert!(found[0].gain() > 1.3, "{}", found[0].gain());
}
