//! Schedules of all processes, carried out one stage after the other, against what the edges say.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::engine::sim;
use crate::topology::neighbors::Neighbor;
use crate::topology::{Cart, Direction, Topology};

/// The ends of one process: those that it sends to and those that it receives from.
type Ends = [Vec<Endpoint>; 2];

/// The ends of each process in a graph, in a different order on each process.
fn ends_of_graph(processes: usize, edges: &[(i32, i32)]) -> Vec<Ends> {
    let mut ends = vec![[Vec::new(), Vec::new()]; processes];
    for (from, to) in edges {
        ends[*from as usize][0].push(Endpoint { rank: *to, pairing: 0 });
        ends[*to as usize][1].push(Endpoint { rank: *from, pairing: 0 });
    }
    for (rank, [sends, receives]) in ends.iter_mut().enumerate() {
        match rank % 3 {
            0 => sends.reverse(),
            1 => receives.sort_by_key(|end| end.rank),
            _ => {}
        }
    }
    ends
}

fn ends_of_grid(dims: &[i32], periodic: bool) -> Vec<Ends> {
    let size = dims.iter().product();
    let periods = vec![periodic; dims.len()];
    let grid = Topology::Cart(Cart::new(dims, &periods, size).unwrap());
    let ends = |rank, direction| {
        let neighbors = (0..2 * dims.len()).map(|block| grid.neighbor(rank, direction, block));
        let end = |n: Neighbor| n.rank.map(|rank| Endpoint { rank, pairing: n.pairing });
        neighbors.filter_map(end).collect()
    };
    (0..size).map(|rank| [Direction::Send, Direction::Receive].map(|way| ends(rank, way))).collect()
}

/// The neighbors in a box around each process of a torus.
fn ends_of_box(sides: [i32; 3]) -> Vec<Ends> {
    let [x, y, z] = sides;
    let rank =
        |a: i32, b: i32, c: i32| (a.rem_euclid(x) * y + b.rem_euclid(y)) * z + c.rem_euclid(z);
    let mut edges = Vec::new();
    for at in 0..x * y * z {
        let (a, b, c) = (at / (y * z), at / z % y, at % z);
        for step in (0..27).filter(|step| *step != 13) {
            let to = rank(a + step / 9 - 1, b + step / 3 % 3 - 1, c + step % 3 - 1);
            edges.push((at, to));
        }
    }
    ends_of_graph((x * y * z) as usize, &edges)
}

/// The schedules on which all processes agree.
fn agreed(nodes: &[i64], combine: &[Combine], ends: &[Ends]) -> Option<Vec<Schedules>> {
    let made = sim::run(nodes.len() as i32, |comm| {
        let rank = crate::engine::Comm::rank(comm).unwrap() as usize;
        let [sends, receives] = &ends[rank];
        agree(comm, Some(nodes[rank]), combine[rank], sends, receives).unwrap()
    });
    let all: Option<Vec<Schedules>> = made.iter().cloned().collect();
    assert!(all.is_some() || made.iter().all(Option::is_none));
    all
}

/// Messages by stage, sender and receiver.
type Sent = BTreeMap<(usize, i32, i32), usize>;

/// Carries the schedules out. What a process receives is compared with what the edges say, and how many messages
/// went from where to where is returned; blocks that go as always are counted as one more stage.
fn carry_out(schedules: &[Schedule], payload: Payload, ends: &[Ends]) -> Sent {
    let value = |rank: usize, place: usize| match payload {
        Payload::Each => (rank, place),
        Payload::Same => (rank, 0),
    };
    let mut slots: Vec<Vec<Option<(usize, usize)>>> =
        schedules.iter().map(|schedule| vec![None; schedule.slots]).collect();
    for (rank, schedule) in schedules.iter().enumerate() {
        for own in &schedule.filled {
            let values: BTreeSet<_> = own.ends.iter().map(|place| value(rank, *place)).collect();
            assert_eq!(values.len(), 1, "one part has one value");
            slots[rank][own.slot] = values.first().copied();
        }
    }
    let mut sent = Sent::new();
    let stages = schedules[0].stages.len();
    assert!(schedules.iter().all(|schedule| schedule.stages.len() == stages));
    for stage in 0..stages {
        let mut under_way = BTreeMap::new();
        for (rank, schedule) in schedules.iter().enumerate() {
            for Message { peer, slots: parts } in &schedule.stages[stage].sends {
                assert_ne!(*peer, rank as i32);
                let parts: Vec<_> =
                    parts.iter().map(|slot| slots[rank][*slot].expect("it is here")).collect();
                assert!(under_way.insert((rank as i32, *peer), parts).is_none());
                *sent.entry((stage, rank as i32, *peer)).or_default() += 1;
            }
        }
        for (rank, schedule) in schedules.iter().enumerate() {
            for Message { peer, slots: places } in &schedule.stages[stage].receives {
                let parts = under_way.remove(&(*peer, rank as i32)).expect("it was sent");
                assert_eq!(parts.len(), places.len());
                for (slot, part) in places.iter().zip(parts) {
                    assert!(slots[rank][*slot].replace(part).is_none_or(|had| had == part));
                }
            }
        }
        assert!(under_way.is_empty(), "sent and never received: {under_way:?}");
    }

    // What is to arrive, by the definition: the k-th of those with one pairing is the k-th at both ends.
    let mut waiting: BTreeMap<(i32, i32, i32), Vec<usize>> = BTreeMap::new();
    for (rank, [sends, _]) in (0..).zip(ends) {
        for (place, end) in sends.iter().enumerate() {
            waiting.entry((rank, end.rank, end.pairing)).or_default().push(place);
        }
    }
    let mut direct: BTreeMap<(i32, i32, i32), Vec<usize>> = BTreeMap::new();
    for (rank, schedule) in (0..).zip(schedules) {
        for place in &schedule.direct_sends {
            let end = ends[rank as usize][0][*place];
            direct.entry((rank, end.rank, end.pairing)).or_default().push(*place);
            *sent.entry((stages, rank, end.rank)).or_default() += 1;
        }
    }
    for (rank, schedule) in schedules.iter().enumerate() {
        let mut found = BTreeMap::new();
        for own in &schedule.emptied {
            for place in &own.ends {
                assert!(found.insert(*place, slots[rank][own.slot].unwrap()).is_none());
            }
        }
        let receives = &ends[rank][1];
        for place in &schedule.direct_receives {
            let end = receives[*place];
            let key = (end.rank, rank as i32, end.pairing);
            let from = direct.get_mut(&key).unwrap().remove(0);
            assert!(found.insert(*place, value(end.rank as usize, from)).is_none());
        }
        for (place, end) in receives.iter().enumerate() {
            let key = (end.rank, rank as i32, end.pairing);
            let from = waiting.get_mut(&key).unwrap().remove(0);
            assert_eq!(found.get(&place), Some(&value(end.rank as usize, from)));
        }
    }
    sent
}

/// The largest number of messages from one node to another.
fn most_between_nodes(sent: &Sent, nodes: &[i64]) -> usize {
    let mut between: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    for ((stage, from, to), count) in sent {
        let pair = (nodes[*from as usize], nodes[*to as usize]);
        if pair.0 != pair.1 {
            assert!([1, 3].contains(stage), "the other stages are inside of nodes");
            *between.entry(pair).or_default() += count;
        }
    }
    between.values().copied().max().unwrap_or(0)
}

fn check_all(nodes: &[i64], ends: &[Ends]) {
    let Some(schedules) = agreed(nodes, &vec![Combine::All; nodes.len()], ends) else {
        let carried = |node: usize, other: usize| {
            let [sends, _] = &ends[node];
            sends.iter().filter(|end| nodes[end.rank as usize] == nodes[other]).count()
        };
        for (one, other) in (0..nodes.len()).flat_map(|i| (0..nodes.len()).map(move |j| (i, j))) {
            if nodes[one] != nodes[other] {
                let node_peers = (0..nodes.len()).filter(|mate| nodes[*mate] == nodes[one]);
                assert!(node_peers.map(|mate| carried(mate, other)).sum::<usize>() <= 1);
            }
        }
        return;
    };
    let [each, same]: [Vec<Schedule>; 2] =
        schedules.into_iter().map(|s| [s.each, s.same]).fold([vec![], vec![]], |mut all, both| {
            all.iter_mut().zip(both).for_each(|(all, one)| all.push(one));
            all
        });
    for (schedules, payload) in [(each, Payload::Each), (same, Payload::Same)] {
        let sent = carry_out(&schedules, payload, ends);
        assert!(most_between_nodes(&sent, nodes) <= 1);
    }
}

#[test]
fn one_message_goes_from_node_to_node() {
    let nodes = |count: i64, of: i64| (0..count * of).map(|rank| rank / of).collect::<Vec<_>>();
    check_all(&nodes(4, 4), &ends_of_grid(&[4, 4], true));
    check_all(&nodes(4, 4), &ends_of_grid(&[4, 2, 2], true));
    check_all(&nodes(4, 3), &ends_of_grid(&[2, 6, 1], false));
    check_all(&nodes(4, 4), &ends_of_box([4, 2, 2]));
    check_all(&nodes(9, 3), &ends_of_box([3, 3, 3]));
    // Ranks round-robin on nodes.
    check_all(&(0..16).map(|rank| rank % 4).collect::<Vec<_>>(), &ends_of_grid(&[4, 4], true));
}

#[test]
fn the_work_is_spread_over_the_processes_of_a_node() {
    let nodes: Vec<i64> = (0..32).map(|rank| rank / 4).collect();
    let ends = ends_of_box([4, 4, 2]);
    let schedules = agreed(&nodes, &[Combine::All; 32], &ends).unwrap();
    let sends =
        schedules.iter().map(|s| s.each.stages[1].sends.len() + s.each.stages[1].receives.len());
    let (least, most) = (sends.clone().min().unwrap(), sends.max().unwrap());
    assert!(least > 0 && most <= least + 1, "{least} to {most}");
}

#[test]
fn faces_alone_are_not_combined_where_it_must_pay() {
    let nodes: Vec<i64> = (0..16).map(|rank| rank / 4).collect();
    assert_eq!(agreed(&nodes, &[Combine::On; 16], &ends_of_grid(&[4, 4], true)), None);
    assert_ne!(agreed(&nodes, &[Combine::On; 16], &ends_of_box([4, 2, 2])), None);
}

/// The table in docs/design/combining.md.
#[test]
fn three_edges_a_process_pay() {
    const MATES: i32 = 4;
    let nodes: Vec<i64> = (0..2 * MATES).map(|rank| i64::from(rank / MATES)).collect();
    for (degree, combined) in [(1, 7), (2, 7), (3, 7), (4, 7), (9, 7)] {
        let edges: Vec<(i32, i32)> = (0..MATES)
            .flat_map(|from| (0..degree).map(move |step| (from, MATES + (from + step) % MATES)))
            .collect();
        let ends = ends_of_graph(nodes.len(), &edges);
        let all = agreed(&nodes, &[Combine::All; 2 * MATES as usize], &ends).unwrap();
        let each: Vec<Schedule> = all.into_iter().map(|schedules| schedules.each).collect();
        let messages: usize = carry_out(&each, Payload::Each, &ends).values().sum();
        assert_eq!(messages, combined, "{degree} edges a process");
        let paying = agreed(&nodes, &[Combine::On; 2 * MATES as usize], &ends);
        assert_eq!(paying.is_some(), degree >= 3, "{degree} edges a process");
    }
}

#[test]
fn nothing_is_combined_where_a_process_would_not_or_edges_have_one_end() {
    let nodes: Vec<i64> = (0..16).map(|rank| rank / 4).collect();
    let mut ends = ends_of_box([4, 2, 2]);
    let mut combine = [Combine::All; 16];
    assert_ne!(agreed(&nodes, &combine, &ends), None);
    combine[7] = Combine::Off;
    assert_eq!(agreed(&nodes, &combine, &ends), None);
    combine[7] = Combine::All;
    ends[3][0].pop();
    assert_eq!(agreed(&nodes, &combine, &ends), None);
    // All processes on one node, and each alone on its node.
    assert_eq!(agreed(&[3; 16], &combine, &ends_of_box([4, 2, 2])), None);
    let alone: Vec<i64> = (0..27).collect();
    assert_eq!(agreed(&alone, &[Combine::All; 27], &ends_of_box([3, 3, 3])), None);
}

#[test]
fn two_nodes_combine_beside_one_without_neighbors() {
    let edges: Vec<(i32, i32)> = (0..9).map(|i| (i / 3, 3 + i % 3)).collect();
    let ends = ends_of_graph(9, &edges);
    let nodes: Vec<i64> = (0..9).map(|rank| rank / 3).collect();
    assert_ne!(agreed(&nodes, &[Combine::All; 9], &ends), None);
}

/// Each of the two numbers tells of half of the cases that the other misses.
#[test]
fn an_edge_with_one_end_is_in_both_sums() {
    let edge = Edge { from: 0, to: 1, pairing: 0, copy: 0 };
    let other = Edge { copy: 1, ..edge };
    let [low, high] = imbalance(&[edge], &[]);
    assert!(low > 0 && high > 0);
    assert_eq!(imbalance(&[], &[edge]), [-low, -high]);
    let [also_low, also_high] = imbalance(&[other], &[]);
    assert_eq!(imbalance(&[edge, other], &[]), [low + also_low, high + also_high]);
    assert_eq!(imbalance(&[edge, other], &[other, edge]), [0, 0]);
}

#[test]
fn what_one_node_says_of_no_node_counts_for_all() {
    let ends = ends_of_box([4, 2, 2]);
    let made = sim::run(16, |comm| {
        let rank = crate::engine::Comm::rank(comm).unwrap();
        let [sends, receives] = &ends[rank as usize];
        let node = (rank != 5).then_some(i64::from(rank / 4));
        agree(comm, node, Combine::All, sends, receives).unwrap()
    });
    assert!(made.iter().all(Option::is_none));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 200 }))]

    /// Edges several times, to the process itself, processes without any, nodes of any sizes.
    #[test]
    fn all_blocks_arrive_in_any_graph_on_any_nodes(
        (nodes, edges) in (2usize..12).prop_flat_map(|size| {
            let rank = 0..size as i32;
            (
                prop::collection::vec(0i64..4, size).prop_map(|nodes| {
                    nodes.into_iter().map(|node| node << 32 | 7).collect::<Vec<_>>()
                }),
                prop::collection::vec((rank.clone(), rank), 0..60),
            )
        }),
    ) {
        check_all(&nodes, &ends_of_graph(nodes.len(), &edges));
    }
}
