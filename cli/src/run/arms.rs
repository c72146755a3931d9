//! The placements that a program's next job may take on its nodes.

use std::thread;

use cartograph_core::learn::{Entry, Traffic, mean_times, shape};
use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Distances, Objective, Options, Plan, plan_graph};
use cartograph_core::replay::Link;
use cartograph_traffic::Recording;

use crate::arms::{Arm, Way};
use crate::predict::{
    By, Candidate, Forecast, LEAST_GAIN, MOST_CALLS, Prediction, Ways, grid, link, of_grid,
};
use crate::traffic;

/// The most placements besides the default order.
const MOST: usize = 2;

/// The number of calls replayed while a job waits: less than a second, or two for a large job.
const CALLS: usize = 2_000_000;
const CALLS_OF_RANK: usize = 400;

/// Placements are equally fast if their predicted times differ by less.
const CLOSE: f64 = 1.01;

/// A smaller measured gain does not count.
const LEAST_MEASURED: f64 = 1.02;

/// The means by which a job's ranks may get to other nodes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Means {
    /// How ranks are started on other nodes, if they can be.
    pub(super) start: Option<Way>,
    /// True if the program's grid of all processes may be reordered.
    pub(super) moves_grids: bool,
}

/// The recording rebuilt from a program's stored traffic.
pub(super) fn recording(entry: &Entry) -> Option<Recording> {
    let mut recording = entry.traffic.as_ref()?.recording(entry.processes)?;
    weigh_grids(&mut recording);
    Some(recording)
}

/// Counts the bytes that neighbors in grids of all processes sent along each dimension.
fn weigh_grids(recording: &mut Recording) {
    let Recording { edges, topologies, size, .. } = recording;
    let whole = |dims: &[u32]| dims.iter().product::<u32>() == *size;
    for known in topologies.iter_mut().filter(|known| whole(&known.dims)) {
        for edge in edges.iter() {
            let (mut from, mut to, mut along) = (edge.from, edge.to, None);
            let mut is_neighbor = true;
            for (at, side) in known.dims.iter().enumerate().rev() {
                let apart = (from % side).abs_diff(to % side);
                (from, to) = (from / side, to / side);
                if apart > 0 {
                    is_neighbor &= along.is_none() && (apart == 1 || apart == side - 1);
                    along = Some(at);
                }
            }
            if let Some(at) = along.filter(|_| is_neighbor) {
                known.along[at].add(edge.count);
            }
        }
    }
}

/// The placements worth trying on the nodes of a job, best first; none if the program is unknown.
pub(super) fn arms(
    entry: &Entry,
    recording: &Recording,
    machine: &Machine,
    means: &Means,
) -> Vec<Arm> {
    let Some(known) = &entry.traffic else { return Vec::new() };
    let grid = grid(recording).filter(|_| means.moves_grids);
    let ways = Ways { starts: means.start.is_some(), grid };
    let start = means.start.clone().unwrap_or(Way::Own);
    let (now, found) = match forecast(known, recording, machine, ways) {
        Some(forecast) => Arm::of_forecast(&forecast, machine, &start),
        None => by_bytes(known, recording, machine, &start, ways),
    };
    let in_world = |arm: Arm| match start {
        Way::World if arm.way == start => arm.in_world(machine),
        _ => Some(arm),
    };
    let found: Vec<Arm> = found.into_iter().filter_map(in_world).collect();
    best(entry, shape(machine.nodes()), now, found)
}

/// The best placements: first by measurements on such nodes, then by prediction. Blocks are combined if `cartograph
/// tune` measured a gain.
fn best(entry: &Entry, shape: u64, now: Arm, found: Vec<Arm>) -> Vec<Arm> {
    let measured = |arm: &Arm| {
        let order = arm.key().to_owned();
        mean_times(&entry.runs_of(shape, &[order]), 1)
    };
    let combined: Vec<Arm> = std::iter::once(&now).chain(&found).map(Arm::combined).collect();
    let mut found: Vec<(Option<f64>, Arm)> = found
        .into_iter()
        // A placement with fewer bytes is worth a trial even if replay predicts no gain, but not if it predicts a loss.
        .map(|arm| (measured(&arm), arm))
        .filter(|(measured, arm)| measured.is_some() || arm.gain() * CLOSE >= 1.0)
        .collect();
    let combined = combined.into_iter().map(|arm| (measured(&arm), arm));
    found.extend(combined.filter(|(measured, _)| measured.is_some()));
    let rank = |measured: &Option<f64>| measured.filter(|ratio| *ratio > LEAST_MEASURED);
    found.sort_by(|(one, _), (other, _)| {
        let [one, other] = [one, other].map(|measured| rank(measured).unwrap_or(0.0));
        other.total_cmp(&one)
    });
    found.into_iter().map(|(_, arm)| arm).take(MOST).collect()
}

/// The forecast by replay, if there are calls to replay.
fn forecast(
    known: &Traffic,
    recording: &Recording,
    machine: &Machine,
    ways: Ways<'_>,
) -> Option<Forecast> {
    let network = known.network.map(|(latency, bandwidth)| Link { latency, bandwidth });
    let calls = CALLS.max(CALLS_OF_RANK * recording.size as usize).min(MOST_CALLS);
    Forecast::new(recording, machine, &Options::default(), network, ways, calls)
}

/// The traffic of a recorded run, with the network that best reproduces it.
pub(super) fn traffic(recording: &Recording) -> Traffic {
    let mut known = Traffic::new(recording);
    known.network = link(recording).map(|Link { latency, bandwidth }| (latency, bandwidth));
    known
}

/// The placements if nothing can be replayed: by bytes, as if processes waited for those of the busiest node.
fn by_bytes(
    known: &Traffic,
    recording: &Recording,
    machine: &Machine,
    start: &Way,
    ways: Ways<'_>,
) -> (Arm, Vec<Arm>) {
    let (graph, _) = traffic::graph(recording);
    let options = Options::default();
    let plan = Plan::identity(&graph, machine, &Distances::default(), |_| 0);
    let bytes = |plan: &Plan| plan.after.max_node_edges as f64;
    let mut candidates = Vec::new();
    if ways.starts {
        let by = |objective| plan_graph(&graph, machine, &Options { objective, ..options });
        let plans = both(&|| by(Objective::Sum), &|| by(Objective::Max));
        let orders = ["fewest bytes between nodes", "fewest bytes of a node"];
        candidates.extend(orders.into_iter().zip(plans).map(|(order, plan)| Candidate {
            order: order.to_owned(),
            by: By::Ranks,
            plan,
        }));
    }
    if let Some(grid) = ways.grid {
        candidates.extend(of_grid(recording, grid, &graph, machine, &options));
    }
    let order = "default order".to_owned();
    let busiest = plan.after.max_node_edges;
    // The time of the run is 1.
    let own = Prediction { order, by: By::Ranks, seconds: 1.0, busiest, plan };
    let of = |Candidate { order, by, plan }| {
        let left = bytes(&plan) / bytes(&own.plan).max(1.0);
        let seconds = (1.0 - known.waited * (1.0 - left)).max(1e-3);
        Prediction { order, by, seconds, busiest: plan.after.max_node_edges, plan }
    };
    let arm = |one: &Prediction, start: &Way| Arm::new(one, &own, machine, start.clone());
    let found = candidates.into_iter().map(of);
    let mut found: Vec<Arm> = found.map(|one| arm(&one, start)).collect();
    found.retain(|arm| arm.gain() >= LEAST_GAIN);
    found.sort_by(|one, other| other.gain().total_cmp(&one.gain()));
    found.dedup_by(|one, other| one.node_of == other.node_of);
    (arm(&own, &Way::Own), found)
}

/// The results of two functions, which run at once if a thread can be started: a job waits for both.
fn both<T: Send>(one: &(impl Fn() -> T + Sync), other: &impl Fn() -> T) -> [T; 2] {
    thread::scope(|scope| {
        let started = thread::Builder::new().spawn_scoped(scope, one).ok();
        let other = other();
        [started.and_then(|thread| thread.join().ok()).unwrap_or_else(one), other]
    })
}

#[cfg(test)]
mod tests {
    use cartograph_core::learn::Past;
    use cartograph_traffic::{Call, Count, Edge, Topology, Window, Work};

    use super::*;

    #[test]
    fn what_was_measured_comes_first() {
        let arm = |order: &str, predicted, way| Arm {
            order: order.to_owned(),
            predicted: Some(predicted),
            busiest: None,
            way,
            combines: false,
            node_of: vec![0, 0, 1, 1],
        };
        let own = || arm("default order", 1.0, Way::Own);
        let others = || [("first", 1.5), ("second", 1.4), ("third", 1.3), ("slower", 0.9)];
        let mut entry = Entry::new("app", "abc", 4);
        let best = |entry: &Entry| -> Vec<String> {
            let others =
                others().map(|(order, predicted)| arm(order, predicted, Way::Launcher)).into();
            best(entry, 7, own(), others).into_iter().map(|arm| arm.order).collect()
        };
        assert_eq!(best(&entry), ["first", "second"]);
        let work = entry.work(Work { messages: 1, bytes: 1, collectives: 1 });
        let run = |order: &str, seconds| Past {
            order: order.to_owned(),
            predicted: 1.0,
            work,
            shape: 7,
            nodes: 2,
            seconds,
        };
        for (order, seconds) in [
            ("", 10.0),
            ("third", 8.0),
            ("first", 10.5),
            ("default order, blocks combined", 5.0),
            ("second, blocks combined", 12.0),
        ] {
            entry.add(run(order, seconds));
        }
        assert_eq!(best(&entry), ["default order, blocks combined", "third"]);
        // It does not count on other nodes.
        entry.runs.iter_mut().for_each(|run| run.shape = 8);
        assert_eq!(best(&entry), ["first", "second"]);
    }

    #[test]
    fn grids_have_the_weights_of_what_neighbors_send() {
        let edge = |from, to, bytes| Edge { from, to, count: Count { messages: 1, bytes } };
        let mut recording = Recording {
            size: 6,
            // A row of a periodic grid of 2 x 3, a column, a diagonal.
            edges: vec![edge(0, 2, 10), edge(1, 2, 10), edge(0, 3, 300), edge(0, 4, 7)],
            topologies: vec![Topology {
                function: "MPI_Cart_create".into(),
                dims: vec![2, 3],
                periodic: vec![false, true],
                reorder: true,
                grids: 1,
                along: vec![Count::default(); 2],
                elsewhere: Count::default(),
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
        let mut entry = Entry::new("app", "abc", sides.iter().product());
        entry.traffic = Some(traffic(&halo(sides)));
        let entry = Entry::parse(&entry.json()).unwrap();
        let machine = Machine::blocks(&[40; 60]);
        let recording = recording(&entry).unwrap();
        let means = Means { start: Some(Way::Launcher), moves_grids: false };
        let found = arms(&entry, &recording, &machine, &means);
        // Bytes alone do not reveal the program's grid.
        assert!(found[0].order.starts_with("20x12x10 in bricks of "), "{:?}", found[0].order);
        assert!(found[0].gain() > 1.5, "{}", found[0].gain());
    }
}
