//! Predicts the run time of a recorded program for other placements of its ranks, by replay.

mod candidates;
mod program;

use std::fmt::Write;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Options, Plan, Stop};
use cartograph_core::replay::{Link, Network, RankLocations, Replayed, replay};
use cartograph_traffic::{Recording, Window};
use serde::Serialize;

use crate::traffic;
pub(crate) use candidates::{By, Candidate, Ways, fewest_bytes, of_grid, old_ranks};

/// The smallest gain that is proposed: replay is not more accurate.
pub(crate) const LEAST_GAIN: f64 = 1.03;

/// The smallest saving of bytes that is worth a measured run if replay predicts no gain.
const FEWER_BYTES: f64 = 0.95;

/// A recording of which less than this part can be replayed gives no forecast.
const LEAST_REPLAYED: f64 = 0.25;

/// The most calls of all ranks in all replays together that find the network, and as many in those of candidates: a
/// second for each few millions.
const MOST_CALLS: usize = 8_000_000;

/// The fewest calls of a rank that are replayed: of larger jobs fewer candidates are.
const LEAST_CALLS: usize = 32;

/// Networks that may be those of a recorded run, by their latency and bandwidth, the fastest first.
const NETWORKS: [Link; 7] = [
    Link { latency: 1.5e-6, bandwidth: 12.5e9 },
    Link { latency: 3e-6, bandwidth: 3e9 },
    Link { latency: 20e-6, bandwidth: 1.25e9 },
    Link { latency: 40e-6, bandwidth: 125e6 },
    Link { latency: 60e-6, bandwidth: 25e6 },
    Link { latency: 80e-6, bandwidth: 6e6 },
    Link { latency: 100e-6, bandwidth: 2.5e6 },
];

/// A slower network has to explain the recorded time better by this.
const BETTER_FIT: f64 = 1.1;

/// A candidate with its forecast.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Prediction {
    pub(crate) order: String,
    /// Seconds of what was replayed.
    pub(crate) seconds: f64,
    /// Bytes, or messages where all are empty, that leave the busiest node.
    pub(crate) busiest: i64,
    /// The origin of the order.
    #[serde(skip)]
    pub(crate) by: By,
    #[serde(skip)]
    pub(crate) plan: Plan,
}

/// The forecast for all candidates, the order of the ranks first.
pub(crate) struct Forecast {
    pub(crate) all: Vec<Prediction>,
    network: Network,
    /// True if the network is the user's and not fitted to the recording.
    is_told: bool,
    /// True if more calls followed than are replayed.
    cut: bool,
    pub(crate) unit: &'static str,
}

impl Forecast {
    /// Replays a recording on a machine, in the order of its ranks and in others, of which `ways` says how ranks may come
    /// to them; `None` if it has too little to replay. Without a network the model takes the one that explains the recorded run.
    pub(crate) fn new(
        recording: &Recording,
        machine: &Machine,
        options: &Options,
        told: Option<Link>,
        ways: Ways<'_>,
    ) -> Option<Self> {
        let (graph, unit) = traffic::graph(recording);
        let candidates = candidates::all(recording, &graph, machine, options, ways);
        Self::of(recording, machine, candidates, unit, told, options.stop)
    }

    fn of(
        recording: &Recording,
        machine: &Machine,
        candidates: Vec<Candidate>,
        unit: &'static str,
        told: Option<Link>,
        stop: Stop,
    ) -> Option<Self> {
        let size = recording.size as usize;
        let (kept, each) = shares(size, candidates.len());
        let candidates = candidates::fewest(candidates, kept);
        let program = program::of(recording, each)?;
        let recorded = traffic::layout(recording);
        let found = || recorded.and_then(|(machine, _)| network(recording, &machine, stop));
        let network = told.map(Network::new).or_else(found).unwrap_or_default();
        let above = above(machine);
        let run = |plan: &Plan, mark: &[u32]| {
            let node_of: Vec<u32> =
                plan.old_ranks().map(|old| machine.nodes()[old as usize]).collect();
            replay(&program, RankLocations { node_of: &node_of, above: &above }, &network, mark)
        };
        let first = run(&candidates.first()?.plan, &[]);
        let calls: usize = program.ranks.iter().map(Vec::len).sum();
        let replayed: usize = first.calls.iter().map(|calls| *calls as usize).sum();
        if calls == 0 || (replayed as f64) < LEAST_REPLAYED * calls as f64 {
            return None;
        }
        // In a long run the first half is skipped, which may be setup.
        let is_cut = |(window, replayed): (&Window, &Vec<_>)| window.cut || replayed.len() == each;
        let cut = recording.windows.values().zip(&program.ranks).any(is_cut);
        let mark: Vec<u32> = first.calls.iter().map(|calls| calls / 2).collect();
        let seconds = |plan: &Plan| match cut {
            true => run(plan, &mark).after_mark,
            false => run(plan, &[]).seconds,
        };
        let predicted = |Candidate { order, by, plan }| Prediction {
            order,
            by,
            seconds: seconds(&plan),
            busiest: plan.after.max_node_edges,
            plan,
        };
        // The first is what the others are compared with; of these, what is known when the search is to end.
        let is_known = |(at, _): &(usize, Candidate)| *at == 0 || !stop.is_set();
        let candidates = candidates.into_iter().enumerate().take_while(is_known);
        let all = candidates.map(|(_, candidate)| predicted(candidate)).collect();
        Some(Self { all, network, is_told: told.is_some(), cut, unit })
    }

    /// The candidates that are predicted to gain, the best first; among equals, the one with fewer bytes first.
    pub(crate) fn gaining(&self) -> Vec<&Prediction> {
        let now = self.all[0].seconds;
        let mut found: Vec<&Prediction> =
            self.all[1..].iter().filter(|one| one.seconds * LEAST_GAIN < now).collect();
        found.sort_by(|one, other| {
            one.seconds.total_cmp(&other.seconds).then(one.busiest.cmp(&other.busiest))
        });
        found
    }

    /// The candidates that are worth a run: those that gain, and then the one with the fewest bytes if it is predicted
    /// to be about as fast as the rank order. Recorded computation may include other work on the machine, which hides
    /// messages: two recordings of NPB BT predicted speeds of 1.16 and 1.00 for an order with a measured speed of 1.18.
    pub(crate) fn worth_running(&self) -> Vec<&Prediction> {
        let first = &self.all[0];
        let mut found = self.gaining();
        let is_close = |one: &&Prediction| {
            one.seconds * LEAST_GAIN >= first.seconds
                && one.seconds < first.seconds * LEAST_GAIN
                && (one.busiest as f64) < first.busiest as f64 * FEWER_BYTES
        };
        found.extend(self.all[1..].iter().filter(is_close).min_by_key(|one| one.busiest));
        // Mirrored orders, for example: one of them is enough.
        found.dedup_by_key(|one| (one.seconds.to_bits(), one.busiest));
        found
    }

    /// The network between nodes.
    pub(crate) fn link(&self) -> Link {
        self.network.between[0]
    }

    /// A table of the candidates, the best first.
    pub(crate) fn text(&self) -> String {
        let Link { latency, bandwidth } = self.link();
        let how = if self.is_told { "from --network" } else { "fitted to the recorded run" };
        let what = if self.cut { "the recorded steps" } else { "the recorded run" };
        let mut text = format!(
            "\npredicted time of {what} with {:.1} us and {} between nodes ({how}):\n{:32}{:>11}{:>12}{:>14}\n",
            latency * 1e6,
            bits(bandwidth),
            "",
            "seconds",
            "gain",
            format!("{}, worst", self.unit)
        );
        let now = self.all[0].seconds;
        let mut rows: Vec<&Prediction> = self.all[1..].iter().collect();
        rows.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        for Prediction { order, seconds, busiest, .. } in
            std::iter::once(&self.all[0]).chain(rows.into_iter().take(MOST_SHOWN))
        {
            let gain = now / seconds.max(1e-12);
            let busiest = traffic::amount(*busiest, self.unit);
            let _ = writeln!(text, "{order:31} {seconds:>11.6}{gain:>12.2}{busiest:>14}");
        }
        text
    }
}

/// The number of candidates that are replayed, the order of the ranks among them, and the calls of each rank; that
/// order is replayed twice.
fn shares(size: usize, candidates: usize) -> (usize, usize) {
    let size = size.max(1);
    let kept = (MOST_CALLS / (LEAST_CALLS * size)).max(2).min(candidates);
    (kept, MOST_CALLS / (kept + 1) / size)
}

/// Candidates that are listed.
const MOST_SHOWN: usize = 8;

fn bits(bandwidth: f64) -> String {
    match bandwidth * 8.0 {
        bits if bits < 1e9 => format!("{:.0} Mbit/s", bits / 1e6),
        bits => format!("{:.0} Gbit/s", bits / 1e9),
    }
}

/// For each level above the nodes, the lowest first, the group of each node.
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

/// The link between nodes that explains a recorded run, if it is known where its processes ran.
pub(crate) fn link(recording: &Recording) -> Option<Link> {
    let (machine, _) = traffic::layout(recording)?;
    network(recording, &machine, Stop::default()).map(|network| network.between[0])
}

/// The network by which the recorded run takes about as long as it took; `None` if it was on one node.
fn network(recording: &Recording, machine: &Machine, stop: Stop) -> Option<Network> {
    if machine.is_flat() {
        return None;
    }
    let program = &program::of(recording, MOST_CALLS / NETWORKS.len() / machine.ranks().max(1))?;
    // Ranks of which all is replayed can be compared.
    let is_whole = |(window, replayed): (&Window, &Vec<_>)| {
        window.events().is_some_and(|events| events.len() == replayed.len())
    };
    let whole: Vec<bool> = recording.windows.values().zip(&program.ranks).map(is_whole).collect();
    if !whole.contains(&true) {
        return None;
    }
    let above = above(machine);
    let places = RankLocations { node_of: machine.nodes(), above: &above };
    // How far off it is, as a ratio.
    let off = |network: &Network| {
        let Replayed { ends, calls, .. } = replay(program, places, network, &[]);
        let ratios = (0..program.ranks.len()).filter_map(|rank| {
            let window = recording.windows.get(&(rank as u32))?;
            let whole = whole[rank] && calls[rank] as usize == program.ranks[rank].len();
            let took = window.nanoseconds as f64 * 1e-9;
            (whole && took > 0.0 && ends[rank] > 0.0).then(|| ends[rank] / took)
        });
        let mut ratios: Vec<f64> = ratios.collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).map(|middle| middle.max(middle.recip()))
    };
    let mut best: Option<(f64, Network)> = None;
    for link in NETWORKS.into_iter().take_while(|_| !stop.is_set()) {
        let network = Network::new(link);
        let off = off(&network)?;
        if best.as_ref().is_none_or(|(least, _)| off * BETTER_FIT < *least) {
            best = Some((off, network));
        }
    }
    best.map(|(_, network)| network)
}

/// "1.5us,100Gbit": a latency and the bits of a second.
pub(crate) fn parse_network(text: &str) -> Result<Link, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replays_of_large_jobs_have_fewer_calls_and_candidates() {
        assert_eq!(shares(16, 20), (20, 8_000_000 / 21 / 16));
        // Several steps of a halo exchange of six neighbors, which are 13 calls each.
        let (kept, each) = shares(10_000, 8);
        assert!(kept == 8 && each >= 80, "{each}");
        for (size, candidates) in [(2, 2), (1000, 25), (10_000, 25), (100_000, 25), (1 << 25, 25)] {
            let (kept, each) = shares(size, candidates);
            assert!(kept >= 2 && (kept + 1) * each * size <= MOST_CALLS, "{size}");
        }
    }

    #[test]
    fn networks_are_written_with_units() {
        let link = parse_network("60us, 200Mbit/s").unwrap();
        assert!((link.latency - 60e-6).abs() < 1e-12 && (link.bandwidth - 25e6).abs() < 1e-3);
        for wrong in ["60us", "60,200Mbit", "1us,200", "-1us,1Gbit", "1us,0Gbit", "infus,1Gbit"] {
            assert!(parse_network(wrong).is_err(), "{wrong}");
        }
    }
}
