//! Predicts the run time of a recorded program in other placements of its ranks, by replay.

mod candidates;
mod program;
#[cfg(test)]
mod tests;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Options, Plan, Stop};
use cartograph_traffic::{Recording, Window};
use serde::Serialize;

use crate::replay::{Link, Network, Program, RankLocations, Replay, Replayed};
use crate::traffic;
pub use candidates::fewest_bytes;
pub(crate) use candidates::{Candidate, old_ranks};

/// A smaller gain is not proposed: replay is not that accurate.
pub const LEAST_GAIN: f64 = 1.03;

/// A recording gives no forecast if less than this fraction of it can be replayed.
const LEAST_REPLAYED: f64 = 0.25;

/// The most calls that are replayed, over all ranks and candidates. The search for the network replays about as many.
/// Three million calls take a second.
pub const MOST_CALLS: usize = 5_000_000;

/// The fewest calls of a rank that are replayed, or two steps of the program if those are more: for larger jobs, fewer
/// candidates are replayed.
const LEAST_CALLS: usize = 48;

/// The networks that are tried for a recorded run, by latency and bandwidth, fastest first.
const NETWORKS: [Link; 7] = [
    Link { latency: 1.5e-6, bandwidth: 12.5e9 },
    Link { latency: 3e-6, bandwidth: 3e9 },
    Link { latency: 20e-6, bandwidth: 1.25e9 },
    Link { latency: 40e-6, bandwidth: 125e6 },
    Link { latency: 60e-6, bandwidth: 25e6 },
    Link { latency: 80e-6, bandwidth: 6e6 },
    Link { latency: 100e-6, bandwidth: 2.5e6 },
];

/// A slower network must reproduce the recorded time better by this factor.
const BETTER_FIT: f64 = 1.1;

/// A candidate with its prediction.
#[derive(Debug, Clone, Serialize)]
pub struct Prediction {
    /// The name of the order.
    pub order: String,
    /// The predicted seconds of the replayed calls.
    pub seconds: f64,
    /// The bytes, or messages if all are empty, that leave the busiest node.
    pub busiest: i64,
    /// The placement.
    #[serde(skip)]
    pub plan: Plan,
}

/// The predictions for all candidates, starting with the default rank order.
pub struct Forecast {
    /// The default rank order, and the others.
    pub all: Vec<Prediction>,
    network: Network,
    /// The link between nodes that best reproduces the recorded run, if the network was not given.
    pub fitted: Option<Link>,
    /// The origin of the network parameters.
    pub origin: &'static str,
    /// True if more calls followed than were replayed.
    pub cut: bool,
    /// The unit of the messages: bytes, or messages if all are empty.
    pub unit: &'static str,
}

impl Forecast {
    /// Replays a recording on a machine in rank order and in other orders; `None` if there is too little to replay. Without
    /// a given network, the model takes the one that best reproduces the recorded run. About `most` calls are replayed.
    pub fn new(
        recording: &Recording,
        machine: &Machine,
        options: &Options,
        told: Option<Link>,
        most: usize,
    ) -> Option<Self> {
        let (graph, unit) = traffic::graph(recording);
        let candidates = candidates::all(recording, &graph, machine, options);
        let (size, step) = (recording.size as usize, step(recording));
        let (kept, each) = shares(size, candidates.len(), step, most);
        // Half a step would distort the result.
        if each < step {
            return None;
        }
        let candidates = candidates::fewest(candidates, kept);
        let program = program::of(recording, each)?;
        let recorded = if told.is_none() { traffic::machine_of(recording) } else { None };
        let fitted = recorded.and_then(|(machine, _)| network(recording, &machine, options.stop));
        let origin = match (told, &fitted) {
            (Some(_), _) => "from --network",
            (None, Some(_)) => "fitted to the recorded run",
            (None, None) => "assumed",
        };
        let link = fitted.as_ref().map(|network| network.between[0]);
        let network = told.map(Network::new).or(fitted).unwrap_or_default();
        let above = above(machine);
        let replay = Replay::new(&program);
        let run = |plan: &Plan, mark: &[u32]| {
            let node_of: Vec<u32> =
                plan.old_ranks().map(|old| machine.nodes()[old as usize]).collect();
            replay.run(RankLocations { node_of: &node_of, above: &above }, &network, mark)
        };
        let is_cut = |(window, replayed): (&Window, &Vec<_>)| window.cut || replayed.len() == each;
        let cut = recording.windows.values().zip(&program.ranks).any(is_cut);
        let own = &candidates.first()?.plan;
        let (first, mark) = reference(&program, cut, |mark| run(own, mark))?;
        let of = |replayed: Replayed| if cut { replayed.after_mark } else { replayed.seconds };
        let mut first = Some(first);
        let mut seconds = |plan: &Plan| of(first.take().unwrap_or_else(|| run(plan, &mark)));
        let mut predicted = |Candidate { order, plan }| Prediction {
            order,
            seconds: seconds(&plan),
            busiest: plan.after.max_node_edges,
            plan,
        };
        // The first is the reference; once the search is to end, only the finished ones count.
        let is_known = |(at, _): &(usize, Candidate)| *at == 0 || !options.stop.is_set();
        let candidates = candidates.into_iter().enumerate().take_while(is_known);
        let all = candidates.map(|(_, candidate)| predicted(candidate)).collect();
        Some(Self { all, network, fitted: link, origin, cut, unit })
    }

    /// The candidates that are predicted to gain, the best first; among equals, the one with fewer bytes first.
    pub fn gaining(&self) -> Vec<&Prediction> {
        let now = self.all[0].seconds;
        let mut found: Vec<&Prediction> =
            self.all[1..].iter().filter(|one| one.seconds * LEAST_GAIN < now).collect();
        found.sort_by(|one, other| {
            one.seconds.total_cmp(&other.seconds).then(one.busiest.cmp(&other.busiest))
        });
        found
    }

    /// The network between nodes.
    pub fn link(&self) -> Link {
        self.network.between[0]
    }
}

/// The replay of the default order by `run`, and the calls of each rank after which its time counts: of a long run the
/// first half is skipped, since it may be setup. `None` if too little can be replayed.
fn reference(
    program: &Program,
    is_cut: bool,
    run: impl Fn(&[u32]) -> Replayed,
) -> Option<(Replayed, Vec<u32>)> {
    let halves = |calls: &[u32]| -> Vec<u32> {
        let calls = calls.iter().filter(|_| is_cut);
        calls.map(|calls| calls / 2).collect()
    };
    let all: Vec<u32> = program.ranks.iter().map(|calls| calls.len() as u32).collect();
    let mark = halves(&all);
    let first = run(&mark);
    let sum = |calls: &[u32]| calls.iter().map(|calls| u64::from(*calls)).sum::<u64>() as f64;
    if sum(&all) == 0.0 || sum(&first.calls) < LEAST_REPLAYED * sum(&all) {
        return None;
    }
    if !is_cut || first.calls == all {
        return Some((first, mark));
    }
    let mark = halves(&first.calls);
    Some((run(&mark), mark))
}

/// About the number of calls in a step of a program: the number of distinct calls of the median rank.
fn step(recording: &Recording) -> usize {
    let calls = recording.windows.values().map(|window| window.calls.len());
    let mut calls: Vec<usize> = calls.collect();
    let middle = calls.len() / 2;
    if calls.is_empty() { 0 } else { *calls.select_nth_unstable(middle).1 }
}

/// The number of candidates to replay, including rank order, and the number of calls of each rank.
fn shares(size: usize, candidates: usize, step: usize, most: usize) -> (usize, usize) {
    let least = LEAST_CALLS.max(2 * step) * size.max(1);
    let kept = (most / least).max(2).min(candidates.max(1));
    (kept, most / kept / size.max(1))
}

/// The group of each node at each level above the nodes, from the lowest level up.
fn above(machine: &Machine) -> Vec<Vec<u32>> {
    let nodes = machine.nodes();
    let count = machine.node_sizes().len();
    let groups = machine.above().iter().rev().map(|level| {
        let mut groups = vec![0; count];
        nodes.iter().zip(&level.group_of).for_each(|(node, group)| groups[*node as usize] = *group);
        groups
    });
    groups.collect()
}

/// The link between nodes that best reproduces a recorded run, if the nodes of its processes are known.
pub(crate) fn link(recording: &Recording) -> Option<Link> {
    let (machine, _) = traffic::machine_of(recording)?;
    network(recording, &machine, Stop::default()).map(|network| network.between[0])
}

/// The network with which the model best reproduces the time of the recorded run; `None` if it ran on one node.
fn network(recording: &Recording, machine: &Machine, stop: Stop) -> Option<Network> {
    if machine.is_flat() {
        return None;
    }
    let each = (MOST_CALLS / NETWORKS.len() / machine.ranks().max(1)).max(step(recording));
    let program = &program::of(recording, each)?;
    // The nanoseconds that the replayed calls of each rank took, if all calls can be replayed.
    let took = |(window, replayed): (&Window, &Vec<_>)| {
        let calls = window.events().map_or(0, |events| events.len());
        let first = calls.min(each);
        let is_whole = first > 0 && replayed.len() == first;
        is_whole.then(|| window.nanoseconds as f64 * first as f64 / calls as f64)
    };
    let took: Vec<Option<f64>> = recording.windows.values().zip(&program.ranks).map(took).collect();
    if took.iter().all(Option::is_none) {
        return None;
    }
    let above = above(machine);
    let places = RankLocations { node_of: machine.nodes(), above: &above };
    let replay = Replay::new(program);
    // The ratio of the model's time to that of the recorded run.
    let ratio = |network: &Network| {
        let Replayed { ends, calls, .. } = replay.run(places, network, &[]);
        let ratios = took.iter().enumerate().filter_map(|(rank, took)| {
            let whole = calls[rank] as usize == program.ranks[rank].len();
            let took = took.filter(|_| whole)? * 1e-9;
            (took > 0.0 && ends[rank] > 0.0).then(|| ends[rank] / took)
        });
        let mut ratios: Vec<f64> = ratios.collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied()
    };
    let mut best: Option<(f64, Network)> = None;
    for link in NETWORKS.into_iter().take_while(|_| !stop.is_set()) {
        let network = Network::new(link);
        let ratio = ratio(&network)?;
        let off = ratio.max(ratio.recip());
        if best.as_ref().is_none_or(|(least, _)| off * BETTER_FIT < *least) {
            best = Some((off, network));
        }
        // Even slower networks are too slow as well.
        if ratio >= 1.0 {
            break;
        }
    }
    best.map(|(_, network)| network)
}

/// Parses "1.5us,100Gbit": a latency, and the bits per second.
pub fn parse_network(text: &str) -> Result<Link, String> {
    let wrong = || format!("'{text}': expected a latency and a bandwidth, such as 1.5us,100Gbit");
    let (latency, bandwidth) = text.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str, units: &[(&str, f64)]| -> Option<f64> {
        let (unit, factor) = units.iter().find(|(unit, _)| text.trim().ends_with(unit))?;
        let number: f64 = text.trim().strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * factor).filter(|number| number.is_finite() && *number > 0.0)
    };
    let latency = number(latency, &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)]);
    let bandwidth = bandwidth.trim().trim_end_matches("/s");
    let bandwidth = number(bandwidth, &[("Gbit", 1.25e8), ("Mbit", 1.25e5), ("kbit", 125.0)]);
    match (latency, bandwidth) {
        (Some(latency), Some(bandwidth)) => Ok(Link { latency, bandwidth }),
        _ => Err(wrong()),
    }
}
