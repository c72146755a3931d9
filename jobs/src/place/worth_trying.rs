//! The placements that a program's next job may take on its nodes.

use std::thread;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Distances, Objective, Options, Plan, plan_graph};
use cartograph_traffic::Recording;

use super::arms::{Arm, Means};
use super::domains::{self, Domains, base};
use super::forecasts;
use crate::learn::{self, Entry, Traffic, median_times};
use crate::predict::{Forecast, LEAST_GAIN, MOST_CALLS, Prediction, link};
use crate::replay::Link;
use crate::store::Store;
use crate::traffic::graph;

/// The most placements in addition to the default order, each with other nodes of ranks.
const MOST: usize = 2;

/// The number of calls replayed while a job waits: less than a second, or two for a large job.
const CALLS: usize = 2_000_000;
const CALLS_OF_RANK: usize = 400;

/// Placements are equally fast if their predicted times differ by less.
const CLOSE: f64 = 1.01;

/// A smaller measured gain does not count.
const LEAST_MEASURED: f64 = 1.02;

/// A search for placements by predictions.
struct Search<'a> {
    known: &'a Traffic,
    /// Rebuilt from the known traffic.
    recording: &'a Recording,
    machine: &'a Machine,
    domains: &'a Domains,
    means: &'a Means,
    options: Options,
}

/// The placements worth trying for a kind of work on the nodes of a job, of this shape, best first; none if its traffic
/// is unknown. Without domains, the ranks of a node keep their order.
pub(crate) fn worth_trying(
    store: &Store,
    (entry, kind): (&Entry, u32),
    (machine, domains, shape): (&Machine, &Domains, u64),
    means: &Means,
    devices: u32,
) -> Vec<Arm> {
    let known = entry.kind(kind).and_then(|kind| kind.traffic.as_ref());
    let Some((known, recording)) =
        known.and_then(|known| Some((known, recording(known, entry.processes)?)))
    else {
        return Vec::new();
    };
    let options = Options::default().with_devices(devices);
    let search = Search { known, recording: &recording, machine, domains, means, options };
    let on = (known, machine, domains);
    let found = forecasts::kept(store, on, means, devices, || search.arms());
    best(entry, kind, shape, found)
}

/// The recording rebuilt from the stored traffic of a kind of work.
fn recording(known: &Traffic, processes: u32) -> Option<Recording> {
    let mut recording = known.recording(processes)?;
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

/// The best placements: first by measurements on such nodes, then by prediction.
fn best(entry: &Entry, kind: u32, shape: u64, found: Vec<Arm>) -> Vec<Arm> {
    let measured = |arm: &Arm| {
        let placement = learn::Placement { kind, order: arm.order.clone() };
        median_times(&entry.runs_of(kind, shape, &[placement]), 1)
    };
    let mut found: Vec<(Option<f64>, Arm)> = found
        .into_iter()
        // A placement with fewer bytes is worth a trial even if replay predicts no gain, but not if it predicts a loss.
        .map(|arm| (measured(&arm), arm))
        .filter(|(measured, arm)| measured.is_some() || arm.gain() * CLOSE >= 1.0)
        .collect();
    // A placement that was measured to be no faster comes after one that may be.
    let rank = |measured: Option<f64>| match measured {
        Some(ratio) if ratio > LEAST_MEASURED => (2, ratio),
        None => (1, 0.0),
        Some(ratio) => (0, ratio),
    };
    found.sort_by(|(one, _), (other, _)| {
        let [one, other] = [one, other].map(|measured| rank(*measured));
        other.0.cmp(&one.0).then(other.1.total_cmp(&one.1))
    });
    let is_slow = |order: &str, found: &[(Option<f64>, Arm)]| {
        let known = found.iter().find(|(_, arm)| arm.order == order);
        known.and_then(|(measured, _)| *measured).is_some_and(|ratio| ratio <= LEAST_MEASURED)
    };
    let (ordered, others): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(_, arm)| !arm.slots.is_empty());
    // Another order on the nodes is not worth a trial if the nodes are not, nor a second one if it was no faster itself.
    let is_worth = |(_, arm): &(Option<f64>, Arm)| {
        let is_base_slow = base(&arm.order).is_some_and(|base| is_slow(base, &others));
        !is_base_slow && !is_slow(&arm.order, &ordered)
    };
    let ordered: Vec<Arm> =
        ordered.iter().filter(|one| is_worth(one)).map(|(_, arm)| arm.clone()).collect();
    others.into_iter().map(|(_, arm)| arm).take(MOST).chain(ordered).collect()
}

impl Search<'_> {
    /// The placements that are predicted to gain on the nodes of a job, best first.
    fn arms(&self) -> Vec<Arm> {
        let mut found = match self.forecast() {
            Some(forecast) => Arm::of_forecast(&forecast, self.machine, self.means).1,
            None => self.by_bytes(),
        };
        if !self.domains.is_empty() {
            let by_default = Arm {
                order: "default order".to_owned(),
                predicted: Some(1.0),
                busiest: None,
                node_of: self.machine.nodes().to_vec(),
                slots: Vec::new(),
            };
            let (graph, _) = graph(self.recording);
            let first = found.first().unwrap_or(&by_default);
            found.extend(domains::ordered(first, &graph, self.domains));
        }
        found
    }

    /// The forecast by replay, if there are calls to replay.
    fn forecast(&self) -> Option<Forecast> {
        let Self { known, recording, machine, options, .. } = self;
        let network = known.network.map(|(latency, bandwidth)| Link { latency, bandwidth });
        let calls = CALLS.max(CALLS_OF_RANK * recording.size as usize).min(MOST_CALLS);
        Forecast::new(recording, machine, options, network, calls)
    }

    /// The placements if nothing can be replayed: by bytes, as if processes waited for those of the busiest node.
    fn by_bytes(&self) -> Vec<Arm> {
        let Self { known, recording, machine, means, options, .. } = self;
        let (graph, _) = graph(recording);
        let plan = Plan::identity(&graph, machine, &Distances::default(), |_| 0);
        let busiest = plan.after.max_node_edges;
        if busiest == 0 {
            return Vec::new();
        }
        let by = |objective| plan_graph(&graph, machine, &options.with_objective(objective));
        let plans = both(&|| by(Objective::Sum), &|| by(Objective::Max));
        let orders = ["fewest bytes between nodes", "fewest bytes of a node"];
        // The time of the run is 1.
        let own = Prediction { order: "default order".to_owned(), seconds: 1.0, busiest, plan };
        let arm = |(order, plan): (&str, Plan)| {
            let left = plan.after.max_node_edges as f64 / busiest as f64;
            let seconds = (1.0 - known.waited * (1.0 - left)).max(1e-3);
            let busiest = plan.after.max_node_edges;
            let predicted = Prediction { order: order.to_owned(), seconds, busiest, plan };
            Arm::new(&predicted, &own, machine).by(means, machine)
        };
        let mut found: Vec<Arm> = orders.into_iter().zip(plans).filter_map(arm).collect();
        found.retain(|arm| arm.gain() >= LEAST_GAIN);
        found.sort_by(|one, other| other.gain().total_cmp(&one.gain()));
        found.dedup_by(|one, other| one.node_of == other.node_of);
        found
    }
}

/// The traffic of a recorded run, with the network that best reproduces it.
pub(crate) fn traffic(recording: &Recording) -> Traffic {
    let mut known = Traffic::new(recording);
    known.network = link(recording).map(|Link { latency, bandwidth }| (latency, bandwidth));
    known
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
mod tests;
