use cartograph_traffic::{Count, Topology, Work};

use super::*;
use crate::learn::{Build, Conditions, Guess, Past, Placement, Seen};

/// A program's first job with this grid and input, on nodes of four ranks.
fn entry(dims: &[u32], digest: u64) -> Entry {
    let size = dims.iter().product();
    let grid = |function: &str| Topology::new(function, dims, &vec![false; dims.len()]);
    let topologies = ["MPI_Cart_create", "MPI_Dims_create"].map(grid).to_vec();
    let mut recording = Recording { size, topologies, ..Recording::default() };
    for (from, to) in (0..size).flat_map(|from| (from + 1..size).map(move |to| (from, to))) {
        let (mut one, mut other, mut apart) = (from, to, 0);
        for side in dims.iter().rev() {
            apart += (one % side).abs_diff(other % side);
            (one, other) = (one / side, other / side);
        }
        let count = Count { messages: 1, bytes: 100_000 };
        if apart == 1 {
            recording.edges.extend([Edge { from, to, count }, Edge { from: to, to: from, count }]);
        }
    }
    recording.edges.sort_unstable_by_key(|edge| (edge.from, edge.to));
    let mut entry = Entry::new("app", size);
    let (traffic, build) = (Some(Traffic::new(&recording)), Build { id: 1, place: 2 });
    let work = Work { messages: 1000, bytes: 1_000_000, collectives: 5 };
    let seen = Seen { work, digest: Some(digest), build, traffic, ..Seen::default() };
    entry.note(seen, &Guess::default());
    entry.nodes = Mapping::new((0..size).map(|rank| rank / 4).collect()).text();
    entry
}

fn run(order: &str, seconds: f64) -> Past {
    let order = order.to_owned();
    Past { order, predicted: 1.2, shape: 7, nodes: 2, seconds, units: 1.0, ..Past::default() }
}

#[test]
fn runs_of_others_count_as_experience_but_prove_nothing() {
    let mut own = entry(&[4, 4], 5);
    for _ in 0..6 {
        own.add(run("blocks", 5.0));
        own.add(run("", 10.0));
    }
    own.fail("other");
    assert!(own.hours().0 > 0.0);
    let there = own.clone().of_others();
    assert_eq!(there.hours(), (0.0, 0.0));
    let blocks = Placement { kind: 0, order: "blocks".into() };
    assert!(there.runs_in(&blocks).is_empty() && there.runs_of(0, 7, &[blocks]).is_empty());
    let [(_, found)] = there.experience(0, 7)[..] else { panic!() };
    assert!((found - 2.0).abs() < 1e-9);
    let build = Build { id: 9, place: 2 };
    assert_eq!(there.guess(Some(5), build).kinds, [0]);
    assert_eq!(Entry::parse(&there.json()), Ok(there));
}

#[test]
fn a_first_job_elsewhere_is_placed_although_no_placement_was_compared() {
    let mut known = entry(&[4, 4], 5);
    known.add(Past { is_first: true, ..run("", 10.0) });
    known.add(run("blocks", 5.0));
    let blocks = [(Placement { kind: 0, order: "blocks".into() }, 1.9)];
    let conditions = Conditions { shape: 7, ..Conditions::default() };
    let choose = |entry: &Entry| {
        let guess = entry.guess(Some(5), Build { id: 1, place: 2 });
        entry.choose(&[], &guess, &blocks, &conditions).arm
    };
    assert_eq!(choose(&known), 0, "its next job is compared");
    let mut there = known.clone().of_others();
    assert_eq!(choose(&there), 1);
    there.add(run("blocks", 5.0));
    assert_eq!(choose(&there), 0, "its second job is compared");
    assert_eq!(choose(&known.at(36, Scaling::Strong).unwrap()), 1);
}

/// The arm of the first job on 36 processes of a program with these entries for others.
fn first_of(others: &[Entry]) -> usize {
    predicted_of(others, 1.6)
}

/// The same with this predicted gain.
fn predicted_of(others: &[Entry], predicted: f64) -> usize {
    let there = others[0].at(36, Scaling::Strong).unwrap();
    let guess = there.guess(Some(5), Build { id: 1, place: 2 });
    let blocks = [(Placement { kind: 0, order: "blocks".into() }, predicted)];
    there.choose(others, &guess, &blocks, &Conditions { shape: 9, ..Conditions::default() }).arm
}

#[test]
fn only_one_placement_at_a_time_is_uncompared_across_numbers_of_processes() {
    let mut known = entry(&[4, 4], 5);
    known.add(Past { is_first: true, ended: 1, ..run("", 10.0) });
    assert_eq!(first_of(&[known.clone()]), 1);
    known.add(Past { ended: 2, ..run("blocks", 8.0) });
    assert_eq!(first_of(&[known.clone()]), 0, "a placement on 16 processes was not compared");
    assert_eq!(predicted_of(&[known.clone()], 2.0), 1, "so large a gain is believed");
    known.add(Past { ended: 3, ..run("", 10.0) });
    assert_eq!(first_of(&[known]), 1);
}

#[test]
fn placements_that_were_slower_with_several_numbers_of_processes_are_not_tried_with_another() {
    let slower = |dims: &[u32]| {
        let mut entry = entry(dims, 5);
        for ended in 1..30 {
            entry.add(Past { ended, ..run(if ended == 1 { "blocks" } else { "" }, 10.0) });
        }
        entry
    };
    let (one, other) = (slower(&[4, 4]), slower(&[8, 8]));
    assert_eq!(first_of(std::slice::from_ref(&one)), 1, "one number proves little");
    assert_eq!(first_of(&[one, other]), 0);
}

#[test]
fn the_cost_of_placements_counts_for_all_numbers_of_processes() {
    let known = entry(&[4, 4], 5);
    // Jobs with another input, whose times do not count as experience.
    let mut other = entry(&[8, 8], 6);
    for ended in 1..8 {
        let seconds = if ended == 2 { 20.0 } else { 10.0 };
        other.add(Past { ended, ..run(if ended == 2 { "blocks" } else { "" }, seconds) });
    }
    assert_eq!(first_of(&[known.clone(), other.clone()]), 0);
    // Twenty jobs later, as much may be lost again.
    for ended in 8..30 {
        other.add(Past { ended, ..run("", 10.0) });
    }
    assert_eq!(first_of(&[known, other]), 1);
}

#[test]
fn two_known_numbers_of_processes_show_how_messages_scale() {
    let known = entry(&[4, 4], 5);
    let larger = |scaling| {
        let predicted = known.at(64, scaling).unwrap();
        let traffic = predicted.kind(0).unwrap().traffic.clone();
        let mut entry = Entry::new("app", 64);
        let seen = Seen { digest: Some(5), traffic, ..Seen::default() };
        entry.note(seen, &Guess::default());
        entry
    };
    let traffic = |entry: &Entry| entry.kind(0).unwrap().traffic.clone();
    let likely = |all: &[Entry]| {
        let [likely, other] = Entry::predicted(all, 36).unwrap();
        assert_ne!(traffic(&likely), traffic(&other));
        let is = |scaling| traffic(&likely) == traffic(&all[0].at(36, scaling).unwrap());
        [is(Scaling::Strong), is(Scaling::Weak)]
    };
    assert_eq!(likely(std::slice::from_ref(&known)), [true, false]);
    assert_eq!(likely(&[known.clone(), larger(Scaling::Strong)]), [true, false]);
    assert_eq!(likely(&[known.clone(), larger(Scaling::Weak)]), [false, true]);
    // Another input may have other data.
    assert_eq!(likely(&[known.clone(), entry(&[8, 8], 6)]), [true, false]);
}

#[test]
fn another_number_of_processes_is_predicted_with_its_nodes() {
    let mut known = entry(&[4, 4], 5);
    known.add(run("", 10.0));
    let there = known.at(36, Scaling::Strong).unwrap();
    let recording = |entry: &Entry| {
        let traffic = entry.kind(0).unwrap().traffic.clone();
        traffic.unwrap().recording(entry.processes).unwrap()
    };
    let (predicted, own) = (recording(&there), recording(&entry(&[6, 6], 5)));
    let pairs =
        |it: &Recording| it.edges.iter().map(|edge| (edge.from, edge.to)).collect::<Vec<_>>();
    assert_eq!(pairs(&predicted), pairs(&own));
    assert_eq!(predicted.topologies, own.topologies);
    // A side of the grid is longer in half as many processes.
    assert!(predicted.edges.iter().all(|edge| edge.count.bytes == 66_667));
    assert_eq!((there.processes, there.runs.len()), (36, 0));
    assert_eq!(there.nodes, entry(&[6, 6], 5).nodes);
    let uneven = Mapping::new((0..16u32).map(|rank| rank / 5).collect()).text();
    let unknown = Entry { nodes: uneven, ..known.clone() };
    assert_eq!(unknown.at(36, Scaling::Weak).unwrap().nodes, "(vector,(0,7,5),(7,1,1))");
    let round = Mapping::new((0..16u32).map(|rank| rank % 4).collect()).text();
    assert_eq!(Entry { nodes: round, ..known }.at(36, Scaling::Weak).unwrap().nodes, "");
    // Random messages have no rule.
    let mut other = entry(&[4, 4], 5);
    other.kinds[0].traffic = Some(Traffic::new(&Recording { size: 16, ..Recording::default() }));
    assert_eq!(other.at(36, Scaling::Weak), None);
}

#[test]
fn entries_disagree_if_a_grid_grows_differently() {
    let [small, large] = [entry(&[4, 4], 5), entry(&[6, 6], 5)];
    assert!(small.agrees_with(&large) && large.agrees_with(&small));
    assert!(!small.agrees_with(&entry(&[12, 3], 5)));
    // Another input may be another kind of work.
    assert!(small.agrees_with(&entry(&[12, 3], 6)));
}

#[test]
fn a_placement_gains_if_the_busiest_node_sends_less() {
    let known = entry(&[4, 4], 5);
    let rows: Vec<u32> = (0..16).map(|rank| rank / 4).collect();
    let blocks: Vec<u32> = (0..16).map(|rank| rank / 8 * 2 + rank % 4 / 2).collect();
    assert!(known.sends_less(0, [&rows, &blocks]));
    assert!(!known.sends_less(0, [&blocks, &rows]) && !known.sends_less(0, [&rows, &rows]));
    assert!(!known.sends_less(1, [&rows, &blocks]));
}
