//! The placements that a program's next job may take on the nodes that it gets.

use cartograph_core::learn::{Entry, Traffic};
use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Distances, Objective, Options, Plan, plan_graph};
use cartograph_core::replay::Link;
use cartograph_traffic::Recording;

use crate::predict::{Forecast, LEAST_GAIN};
use crate::{rank_file, traffic};

/// The most placements beside the launcher's own order.
const MOST: usize = 2;

/// Longer recordings are not replayed: a job does not wait for that. A second of replay is a few million calls, and there
/// are some dozens of placements.
const MOST_CALLS: usize = 500_000;

/// Placements whose predicted times differ by less than this are equally fast.
const CLOSE: f64 = 1.01;

/// A placement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arm {
    pub(super) order: String,
    /// The predicted speed relative to the own order.
    pub(super) predicted: f64,
    /// The node of each rank.
    pub(super) node_of: Vec<u32>,
}

/// The placements that are worth a try on the nodes of a job, the best first; none if nothing is known of the program.
pub(super) fn arms(entry: &Entry, machine: &Machine) -> Vec<Arm> {
    let Some(known) = &entry.traffic else { return Vec::new() };
    let Some(recording) = known.recording(entry.processes) else { return Vec::new() };
    let link = known.network.map(|(latency, bandwidth)| Link { latency, bandwidth });
    match forecast(&recording, machine, link) {
        Some(forecast) => replayed(&forecast, machine),
        None => by_bytes(known, &recording, machine),
    }
}

/// The forecast by replay, if there is something to replay and not too much.
fn forecast(recording: &Recording, machine: &Machine, link: Option<Link>) -> Option<Forecast> {
    let windows = recording.windows.values();
    let calls: usize = windows.filter_map(|window| Some(window.events()?.len())).sum();
    if calls > MOST_CALLS {
        return None;
    }
    Forecast::new(recording, machine, &Options::default(), link)
}

/// The traffic of a recorded run with the network that explains it, and the placements for its own nodes.
pub(super) fn of_recorded(recording: &Recording, machine: &Machine) -> (Traffic, Vec<Arm>) {
    let mut known = Traffic::new(recording);
    match forecast(recording, machine, None) {
        Some(forecast) => {
            let Link { latency, bandwidth } = forecast.link();
            known.network = Some((latency, bandwidth));
            (known, replayed(&forecast, machine))
        }
        None => {
            let found = by_bytes(&known, recording, machine);
            (known, found)
        }
    }
}

fn replayed(forecast: &Forecast, machine: &Machine) -> Vec<Arm> {
    let now = forecast.all[0].seconds;
    // One with fewer bytes is among them though replay finds it no faster, but none that it finds slower.
    let mut gaining = forecast.worth_running();
    gaining.retain(|one| one.seconds <= now * CLOSE);
    // Mirrored orders, for example: one of them is enough.
    gaining.dedup_by_key(|one| (one.seconds.to_bits(), one.busiest));
    let best = gaining.into_iter().take(MOST);
    let arms = best.map(|one| Arm {
        order: one.order.clone(),
        predicted: now / one.seconds.max(1e-12),
        node_of: rank_file::launch_order(&one.plan, machine),
    });
    arms.collect()
}

/// Placements where nothing can be replayed: by bytes, as if those of the busiest node were what a process waits for.
fn by_bytes(known: &Traffic, recording: &Recording, machine: &Machine) -> Vec<Arm> {
    let (graph, _) = traffic::graph(recording);
    let now = Plan::identity(&graph, machine, &Distances::default(), |_| 0);
    let bytes = |plan: &Plan| plan.after.max_node_edges as f64;
    let of = |(order, objective): (&str, Objective)| {
        let plan = plan_graph(&graph, machine, &Options { objective, ..Options::default() });
        let left = bytes(&plan) / bytes(&now).max(1.0);
        Arm {
            order: order.to_owned(),
            predicted: (1.0 - known.waited * (1.0 - left)).max(1e-3).recip(),
            node_of: rank_file::launch_order(&plan, machine),
        }
    };
    let objectives = [
        ("fewest bytes between nodes", Objective::Sum),
        ("fewest bytes of a node", Objective::Max),
    ];
    let mut found: Vec<Arm> = objectives.into_iter().map(of).collect();
    found.retain(|arm| arm.predicted >= LEAST_GAIN);
    found.sort_by(|one, other| other.predicted.total_cmp(&one.predicted));
    found.dedup_by(|one, other| one.node_of == other.node_of);
    found
}
