//! The placements that a program's next job may take on its nodes: through the launcher if possible, otherwise as far as
//! the user, or `cartograph try`, allows.

use std::env;
use std::thread;

use cartograph_core::launcher::{Line, Placement};
use cartograph_core::learn::{self, Entry, Traffic, median_times};
use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Distances, Objective, Options, Plan, plan_graph};
use cartograph_core::replay::Link;
use cartograph_traffic::Recording;

use super::forecasts;
use super::relays;
use crate::arms::{Arm, Way};
use crate::exec;
use crate::predict::{
    By, Candidate, Forecast, LEAST_GAIN, MOST_CALLS, Prediction, Ways, grid, link, of_grid,
};
use crate::runs::command::Launch;
use crate::store::{Key, Store, Verdict};
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

/// The command line of a job, and the means of placement that the user and `cartograph try` allow.
pub(super) struct Placing {
    line: Line,
    /// True if MPI_COMM_WORLD may be reordered.
    world: bool,
    /// True if grids may be reordered, unless `cartograph try` found otherwise.
    moves_grids: bool,
    /// The result of `cartograph try` for this build.
    verdict: Option<Verdict>,
    store: Store,
}

impl Placing {
    pub(super) fn new(line: &Line, store: &Store, world: bool, moves_grids: bool) -> Self {
        let key = Key::of(&line.clone().into(), None);
        let verdict = key.ok().and_then(|key| store.verdict(&key));
        Self { line: line.clone(), world, moves_grids, verdict, store: store.clone() }
    }

    /// The placements worth trying for a kind of work on the nodes of a job, of this shape, best first, and the means for
    /// them; `None` if its traffic is unknown.
    pub(super) fn arms(
        &self,
        entry: &Entry,
        kind: u32,
        machine: &Machine,
        shape: u64,
    ) -> Option<Result<(Vec<Arm>, Means), String>> {
        let known = entry.kind(kind)?.traffic.as_ref()?;
        let recording = recording(known, entry.processes)?;
        let means = self.means(&entry.mpi, grid(&recording).is_some());
        Some(means.map(|means| {
            let ways = (means.start.as_ref(), means.moves_grids);
            let find = || arms(known, &recording, machine, &means);
            let found = forecasts::kept(&self.store, (known, machine), ways, find);
            (best(entry, kind, shape, found), means)
        }))
    }

    /// The means for a program of this MPI, which may allow reordering a grid of all its processes.
    ///
    /// # Errors
    ///
    /// Why there are none.
    fn means(&self, mpi: &str, has_grid: bool) -> Result<Means, String> {
        if relays::take(&self.line) {
            let start = Some(Way::Relay);
            let by_launcher = Err(String::new());
            return Ok(Means { start, moves_grids: false, by_launcher, setting: None });
        }
        let placement = self.line.placement(mpi, |name| env::var(name).ok());
        let by_launcher = placement
            .map(|placement| (self.line.clone(), placement))
            .map_err(|why| why.to_string());
        let launch = Launch::from(self.line.clone());
        let no_world = exec::check_world(launch.program(), None).err();
        let is_off = env::var_os("CARTOGRAPH_REORDER").is_some_and(|word| word == "off");
        let library = exec::check(launch.program(), None);
        let (moves_grids, setting) = match self.verdict {
            _ if !has_grid || is_off || library.is_err() => (false, None),
            Some(Verdict { moves_well, pairs_as_host }) => {
                (moves_well, pairs_as_host.then_some("CARTOGRAPH_PAIRING=host"))
            }
            None => (self.moves_grids, None),
        };
        let start = match &by_launcher {
            Ok(_) => Some(Way::Launcher),
            Err(_) if self.world && no_world.is_none() => Some(Way::World),
            Err(_) => None,
        };
        match &by_launcher {
            Err(why) if start.is_none() && !moves_grids => {
                let no_world = no_world.as_ref().map(|failure| &failure.text[..]);
                Err(why.to_owned() + &self.others(has_grid && !is_off, no_world))
            }
            _ => Ok(Means { start, moves_grids, by_launcher, setting }),
        }
    }

    /// Explains which alternatives to the launcher's placement exist.
    fn others(&self, has_grid: bool, no_world: Option<&str>) -> String {
        let grids = match self.verdict {
            Some(_) if has_grid => "; cartograph try found that its grids must not be reordered",
            None if has_grid => {
                "; cartograph try checks whether its grids may be reordered instead"
            }
            _ => "",
        };
        let world = match no_world {
            Some(why) if self.world => {
                format!("; MPI_COMM_WORLD cannot be reordered either: {why}")
            }
            None => "; --world reorders MPI_COMM_WORLD instead".to_owned(),
            Some(_) => String::new(),
        };
        format!("{grids}{world}")
    }
}

/// The means by which a job's ranks may get to other nodes.
pub(super) struct Means {
    /// How ranks are started on other nodes, if they can be.
    start: Option<Way>,
    /// True if the program's grid of all processes may be reordered.
    moves_grids: bool,
    /// The command line and how its launcher places ranks, or why it does not.
    pub(super) by_launcher: Result<(Line, Placement), String>,
    /// A variable for the environment of a program whose grids are reordered.
    pub(super) setting: Option<&'static str>,
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

/// The placements that are predicted to gain on the nodes of a job, best first.
fn arms(known: &Traffic, recording: &Recording, machine: &Machine, means: &Means) -> Vec<Arm> {
    let grid = grid(recording).filter(|_| means.moves_grids);
    let ways = Ways { starts: means.start.is_some(), grid };
    let start = means.start.clone().unwrap_or(Way::Own);
    let found = match forecast(known, recording, machine, ways) {
        Some(forecast) => Arm::of_forecast(&forecast, machine, &start).1,
        None => by_bytes(known, recording, machine, &start, ways),
    };
    let in_world = |arm: Arm| match start {
        Way::Relay => arm.relayed(machine),
        Way::World if arm.way == start => arm.in_world(machine),
        _ => Some(arm),
    };
    found.into_iter().filter_map(in_world).collect()
}

/// The best placements: first by measurements on such nodes, then by prediction.
fn best(entry: &Entry, kind: u32, shape: u64, found: Vec<Arm>) -> Vec<Arm> {
    let measured = |arm: &Arm| {
        let placement = learn::Placement { kind, order: arm.key().to_owned() };
        median_times(&entry.runs_of(kind, shape, &[placement]), 1)
    };
    let mut found: Vec<(Option<f64>, Arm)> = found
        .into_iter()
        // A placement with fewer bytes is worth a trial even if replay predicts no gain, but not if it predicts a loss.
        .map(|arm| (measured(&arm), arm))
        .filter(|(measured, arm)| measured.is_some() || arm.gain() * CLOSE >= 1.0)
        .collect();
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
) -> Vec<Arm> {
    let (graph, _) = traffic::graph(recording);
    let options = Options::default();
    let plan = Plan::identity(&graph, machine, &Distances::default(), |_| 0);
    let bytes = |plan: &Plan| plan.after.max_node_edges as f64;
    let mut candidates = Vec::new();
    if ways.starts {
        let by = |objective| plan_graph(&graph, machine, &options.with_objective(objective));
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
    let arm = |candidate| Arm::new(&of(candidate), &own, machine, start.clone());
    let mut found: Vec<Arm> = candidates.into_iter().map(arm).collect();
    found.retain(|arm| arm.gain() >= LEAST_GAIN);
    found.sort_by(|one, other| other.gain().total_cmp(&one.gain()));
    found.dedup_by(|one, other| one.node_of == other.node_of);
    found
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
