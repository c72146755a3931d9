use cartograph_traffic::{Count, Edge, Topology, Work};

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
fn runs_of_others_are_experience_and_prove_nothing() {
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
        entry.choose(&guess, &blocks, &conditions).arm
    };
    assert_eq!(choose(&known), 0, "its next job is compared");
    let mut there = known.clone().of_others();
    assert_eq!(choose(&there), 1);
    there.add(run("blocks", 5.0));
    assert_eq!(choose(&there), 0, "its second job is compared");
    assert_eq!(choose(&known.at(36, Scaling::Strong).unwrap()), 1);
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
    assert_eq!((there.processes, there.runs.len()), (36, 1));
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
fn entries_disagree_if_a_grid_grows_otherwise() {
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
