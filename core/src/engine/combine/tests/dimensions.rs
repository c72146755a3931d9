//! Messages along the dimensions of tori.

use super::super::dimensions::TorusCandidates;
use super::*;

/// An offset, coordinate by coordinate, and the pairing of its edges.
type Offset = (Vec<i32>, i32);

/// The ends of the processes of a torus that all have their neighbors at the same offsets, each in an order of its
/// own. By coordinates, one dimension after the other.
fn ends_of_torus(extents: &[i32], offsets: &[Offset], seed: u64) -> Vec<Ends> {
    let size: i32 = extents.iter().product();
    let moved = |rank: i32, offset: &[i32], sign: i32| {
        let (mut rank, mut stride, mut moved) = (rank, 1, 0);
        for (extent, coordinate) in extents.iter().zip(offset).rev() {
            moved += stride * (rank % extent + sign * coordinate).rem_euclid(*extent);
            (rank, stride) = (rank / extent, stride * extent);
        }
        moved
    };
    let mut random = seed;
    let mut next = || {
        random = super::super::super::digest::mix(random);
        random
    };
    let mut ends = |rank| {
        [1, -1].map(|sign| {
            let end = |(offset, pairing): &Offset| Endpoint {
                rank: moved(rank, offset, sign),
                pairing: *pairing,
            };
            let mut ends: Vec<(u64, Endpoint)> =
                offsets.iter().map(|offset| (next(), end(offset))).collect();
            if seed != 0 {
                ends.sort_by_key(|(place, _)| *place);
            }
            ends.into_iter().map(|(_, end)| end).collect()
        })
    };
    (0..size).map(&mut ends).collect()
}

/// All offsets of at most `radius` in each dimension but that of the process itself.
fn moore(dimensions: usize, radius: i32) -> Vec<Offset> {
    let mut offsets = vec![Vec::new()];
    for _ in 0..dimensions {
        let along = |offset: &Vec<i32>| {
            let offset = offset.clone();
            (-radius..=radius).map(move |last| [&offset[..], &[last]].concat())
        };
        offsets = offsets.iter().flat_map(along).collect();
    }
    let away = offsets.into_iter().filter(|offset| offset.iter().any(|step| *step != 0));
    away.map(|offset| (offset, 0)).collect()
}

/// The number of messages that a process sends by the definition: in each dimension those that go differently far.
fn messages(extents: &[i32], offsets: &[Offset]) -> usize {
    let different = |dimension: usize| {
        let far =
            offsets.iter().map(|(offset, _)| offset[dimension].rem_euclid(extents[dimension]));
        far.filter(|far| *far != 0).collect::<BTreeSet<_>>().len()
    };
    (0..extents.len()).map(different).sum()
}

/// The number of edges of a process that lead to others.
fn blocks(extents: &[i32], offsets: &[Offset]) -> usize {
    let leaves = |offset: &[i32]| {
        offset.iter().zip(extents).any(|(step, extent)| step.rem_euclid(*extent) != 0)
    };
    offsets.iter().filter(|(offset, _)| leaves(offset)).count()
}

/// Carries both schedules out. The most messages that a process sends, and the parts in them for either payload.
fn carry_out_both(schedules: &[Schedules], ends: &[Ends]) -> (usize, [usize; 2]) {
    let each: Vec<Schedule> = schedules.iter().map(|s| s.each.clone()).collect();
    let same: Vec<Schedule> = schedules.iter().map(|s| s.same.clone()).collect();
    let [by_each, by_same] =
        [(&each, Payload::Each), (&same, Payload::Same)].map(|(schedules, payload)| {
            let mut sent: BTreeMap<i32, usize> = BTreeMap::new();
            for ((_, from, to), count) in carry_out(schedules, payload, ends) {
                if from != to {
                    *sent.entry(from).or_default() += count;
                }
            }
            sent.values().copied().max().unwrap_or(0)
        });
    assert_eq!(by_each, by_same);
    let parts = |schedule: &Schedule| {
        let messages = schedule.stages.iter().flat_map(|stage| &stage.sends);
        messages.map(|message| message.slots.len()).sum()
    };
    (by_each, [parts(&each[0]), parts(&same[0])])
}

fn alone(processes: usize) -> Vec<i64> {
    (0..processes as i64).collect()
}

/// With all settings, one process a node.
fn agreed_by_all(combine: Combine, ends: &[Ends]) -> Option<Vec<Schedules>> {
    agreed(&alone(ends.len()), &vec![combine; ends.len()], ends)
}

#[test]
fn a_process_sends_a_message_for_each_distance_in_each_dimension() {
    let boxes: [(&[i32], i32, usize, [usize; 2]); 6] = [
        (&[3, 3], 1, 4, [12, 8]),
        (&[3, 2, 2], 1, 4, [54, 11]),
        (&[4, 2, 2], 1, 4, [54, 11]),
        (&[3, 3, 3], 1, 6, [54, 26]),
        (&[4, 4, 3], 1, 6, [54, 26]),
        (&[5, 7], 2, 8, [40, 24]),
    ];
    for (extents, radius, expected, parts) in boxes {
        let offsets = moore(extents.len(), radius);
        let ends = ends_of_torus(extents, &offsets, 0);
        for combine in [Combine::Dimensions, Combine::All] {
            let schedules = agreed_by_all(combine, &ends).expect("it is a torus");
            assert_eq!(carry_out_both(&schedules, &ends), (expected, parts), "{extents:?}");
        }
        let saved = offsets.len() - expected;
        let paying = agreed_by_all(Combine::On, &ends);
        assert_eq!(paying.is_some(), saved >= 6 * extents.len(), "{extents:?}");
    }
}

/// Without the corners of a box a process saves 12 messages of 18, and waits in three dimensions.
#[test]
fn where_it_must_pay_each_dimension_saves_six_messages() {
    let away = |(offset, _): &Offset| offset.iter().filter(|step| **step != 0).count();
    let offsets: Vec<Offset> = moore(3, 1).into_iter().filter(|offset| away(offset) < 3).collect();
    let ends = ends_of_torus(&[3, 3, 3], &offsets, 0);
    let all = agreed_by_all(Combine::All, &ends).unwrap();
    assert_eq!(carry_out_both(&all, &ends).0, 6);
    assert_eq!(agreed_by_all(Combine::On, &ends), None);
}

#[test]
fn faces_take_no_fewer_messages() {
    let ends = ends_of_grid(&[4, 4, 4], true);
    assert_eq!(agreed_by_all(Combine::Dimensions, &ends), None);
    // Both neighbors along a dimension of two are the same process.
    let ends = ends_of_grid(&[4, 2, 2], true);
    let schedules = agreed_by_all(Combine::Dimensions, &ends).unwrap();
    assert_eq!(carry_out_both(&schedules, &ends).0, 4);
}

#[test]
fn allgather_goes_along_the_dimensions_in_the_order_that_sends_least() {
    for turned in [false, true] {
        let offset = |step| if turned { vec![step, 1] } else { vec![1, step] };
        let offsets: Vec<Offset> =
            (0..4).map(|step| (offset(step), 0)).chain([(vec![1, 1], 0)]).collect();
        let ends = ends_of_torus(&[7, 7], &offsets, 0);
        let schedules = agreed_by_all(Combine::Dimensions, &ends).unwrap();
        // By the other order seven.
        assert_eq!(carry_out_both(&schedules, &ends), (4, [9, 4]));
    }
}

#[test]
fn nothing_is_sent_along_dimensions_where_one_process_differs() {
    let offsets = moore(3, 1);
    let nodes = alone(27);
    let alike = ends_of_torus(&[3, 3, 3], &offsets, 5);
    let settings = [Combine::Dimensions; 27];
    assert!(agreed(&nodes, &settings, &alike).is_some());
    // One more edge, from 20 to 7.
    let mut ends = alike.clone();
    ends[20][0].push(Endpoint { rank: 7, pairing: 0 });
    ends[7][1].push(Endpoint { rank: 20, pairing: 0 });
    assert_eq!(agreed(&nodes, &settings, &ends), None);
    // As many edges as others, of which two end elsewhere.
    let mut ends = alike.clone();
    for (rank, was, is) in [(13, 14, 12), (16, 12, 14)] {
        let end = ends[rank][0].iter_mut().find(|end| end.rank == was).unwrap();
        end.rank = is;
        let source = ends[was as usize][1].iter().position(|end| end.rank == rank as i32).unwrap();
        ends[was as usize][1].remove(source);
        ends[is as usize][1].push(Endpoint { rank: rank as i32, pairing: 0 });
    }
    assert_eq!(agreed(&nodes, &settings, &ends), None);
    // A different pairing.
    let mut ends = alike;
    let [to, from] = [(20, 0), (19, 1)].map(|(rank, side)| (rank as usize, side));
    ends[to.0][to.1].iter_mut().find(|end| end.rank == 19).unwrap().pairing = 1;
    ends[from.0][from.1].iter_mut().find(|end| end.rank == 20).unwrap().pairing = 1;
    assert_eq!(agreed(&nodes, &settings, &ends), None);
}

#[test]
fn a_box_that_ends_at_the_borders_is_not_alike() {
    let [x, y] = [4, 4];
    let mut edges = Vec::new();
    for (at, step) in (0..x * y).flat_map(|at| (0..9).map(move |step| (at, step))) {
        let (a, b) = (at / y + step / 3 - 1, at % y + step % 3 - 1);
        if step != 4 && (0..x).contains(&a) && (0..y).contains(&b) {
            edges.push((at, a * y + b));
        }
    }
    assert_eq!(agreed_by_all(Combine::Dimensions, &ends_of_graph(16, &edges)), None);
}

/// The largest number of messages that a process sends to other nodes.
fn busiest(nodes: &[i64], combine: Combine, ends: &[Ends]) -> Option<usize> {
    let made = agreed(nodes, &vec![combine; nodes.len()], ends)?;
    let each: Vec<Schedule> = made.into_iter().map(|made| made.each).collect();
    let mut sent: BTreeMap<i32, usize> = BTreeMap::new();
    for ((_, from, to), count) in carry_out(&each, Payload::Each, ends) {
        if nodes[from as usize] != nodes[to as usize] {
            *sent.entry(from).or_default() += count;
        }
    }
    sent.values().copied().max()
}

#[test]
fn the_way_with_fewer_messages_between_nodes_is_taken() {
    let nodes = |processes: i64, of: i64| (0..processes).map(|rank| rank / of).collect::<Vec<_>>();
    use Combine::{All, Dimensions, Nodes, On};
    let cases = [
        // Planes of four: 36 edges to each of two other nodes.
        ([4, 2, 2], 4, [Some(1), Some(2), Some(1), Some(1)]),
        // Rows of two: 17 other nodes for two processes.
        ([3, 3, 4], 2, [Some(9), Some(5), Some(5), Some(5)]),
        ([3, 3, 3], 1, [None, Some(6), Some(6), Some(6)]),
        // All on one node; `dimensions` alone does not ask for nodes.
        ([3, 3, 3], 27, [None, Some(0), None, None]),
    ];
    for (extents, of, expected) in cases {
        let ends = ends_of_torus(&extents, &moore(3, 1), 0);
        let nodes = nodes(ends.len() as i64, of);
        let found = [Nodes, Dimensions, All, On].map(|combine| {
            let most = busiest(&nodes, combine, &ends);
            let made = agreed(&nodes, &vec![combine; nodes.len()], &ends);
            made.map(|_| most.unwrap_or(0))
        });
        assert_eq!(found, expected, "{extents:?} on nodes of {of}");
    }
}

#[test]
fn what_processes_want_differently_is_what_all_want() {
    let ends = ends_of_torus(&[3, 3, 3], &moore(3, 1), 0);
    let nodes = alone(27);
    let with = |other| {
        let mut settings = [Combine::Dimensions; 27];
        settings[11] = other;
        agreed(&nodes, &settings, &ends).is_some()
    };
    assert!(with(Combine::Dimensions) && with(Combine::All));
    // With 26 neighbors what takes fewer messages pays.
    assert!(with(Combine::On));
    assert!(!with(Combine::Nodes) && !with(Combine::Off));
}

#[test]
fn dimensions_alone_gather_nothing() {
    let ends = ends_of_torus(&[3, 3, 3], &moore(3, 1), 0);
    let calls = sim::run(27, |comm| {
        let rank = crate::engine::Comm::rank(comm).unwrap() as usize;
        let [sends, receives] = &ends[rank];
        let made = agree(comm, Some(rank as i64), Combine::Dimensions, sends, receives).unwrap();
        assert!(made.is_some());
        comm.calls()
    });
    assert_eq!(calls[0], ["sum", "broadcast", "min", "min"]);
}

/// Process 0 alone looks for tori; numbers with many divisors have the most.
#[test]
fn the_torus_is_found_among_a_million_processes() {
    let cases = [[90, 88, 91], [128, 128, 64], [97, 101, 103]];
    for (extents, radius) in cases.into_iter().flat_map(|extents| [(extents, 1), (extents, 2)]) {
        let size: i32 = extents.iter().product();
        let offsets = moore(3, radius);
        let ends = |rank: i32| {
            let [_, y, z] = extents;
            let at = [rank / (y * z), rank / z % y, rank % z];
            let [to, from] = [1, -1].map(|sign| {
                let end = |(offset, _): &Offset| {
                    let to = |d: usize| (at[d] + sign * offset[d]).rem_euclid(extents[d]);
                    Endpoint { rank: (to(0) * y + to(1)) * z + to(2), pairing: 0 }
                };
                offsets.iter().map(end).collect::<Vec<_>>()
            });
            let arriving =
                |end: &Endpoint, copy| Edge { from: end.rank, to: rank, pairing: 0, copy };
            [edges(&to, |end, copy| edge(rank, end, copy)), edges(&from, arriving)]
        };
        let first = ends(0);
        let candidates = TorusCandidates::new(size, first.each_ref().map(Vec::as_slice));
        let candidates = TorusCandidates::from_words(&candidates.to_words());
        let mut fit = vec![1; 1];
        for rank in [0, 1, 7, 90, 12345, size / 2, size - 1] {
            let here = candidates.fits(rank, ends(rank).each_ref().map(Vec::as_slice));
            fit.resize(here.len(), 1);
            fit.iter_mut().zip(here).for_each(|(fit, here)| *fit &= here);
        }
        let torus = fit.iter().position(|fit| *fit == 1).expect("one fits all");
        let along = candidates.accept(0, torus);
        let schedule = along.schedule(Payload::Each, first.each_ref().map(Vec::as_slice));
        let messages: usize = schedule.stages.iter().map(|stage| stage.sends.len()).sum();
        assert_eq!(messages, 6 * radius as usize);
    }
}

fn torus_and_offsets() -> impl Strategy<Value = (Vec<i32>, Vec<Offset>, u64)> {
    prop::collection::vec(1i32..7, 1..5)
        .prop_filter("few processes", |extents| extents.iter().product::<i32>() <= 64)
        .prop_flat_map(|extents| {
            let offset: Vec<_> = extents.iter().map(|extent| -*extent..=*extent).collect();
            let offsets = prop::collection::vec((offset, 0..2), 1..24);
            (Just(extents), offsets, any::<u64>())
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 100 }))]

    /// Offsets several times, the process itself, in any order, extents of one and two.
    #[test]
    fn all_blocks_arrive_on_any_torus((extents, offsets, seed) in torus_and_offsets()) {
        let ends = ends_of_torus(&extents, &offsets, seed);
        let fewest = messages(&extents, &offsets);
        match agreed_by_all(Combine::Dimensions, &ends) {
            Some(schedules) => {
                let (messages, _) = carry_out_both(&schedules, &ends);
                prop_assert!(messages <= fewest, "{messages} messages, not {fewest}");
            }
            None => prop_assert!(fewest >= blocks(&extents, &offsets)),
        }
    }

    /// Cases in which other tori may seem to take fewer messages.
    #[test]
    fn all_blocks_arrive_in_a_box_on_any_torus(
        (extents, radius) in (prop::collection::vec(2i32..9, 1..4), 1..3)
            .prop_filter("few processes", |(extents, _)| extents.iter().product::<i32>() <= 64),
        seed in any::<u64>(),
    ) {
        let offsets = moore(extents.len(), radius);
        let ends = ends_of_torus(&extents, &offsets, seed);
        let fewest = messages(&extents, &offsets);
        match agreed_by_all(Combine::All, &ends) {
            Some(schedules) => prop_assert!(carry_out_both(&schedules, &ends).0 <= fewest),
            None => prop_assert!(fewest >= blocks(&extents, &offsets)),
        }
    }
}
