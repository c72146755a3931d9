//! The placements of a program's ranks in which `run` and `tune` start jobs: by the launcher's rank file, or by relays.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::IntoRawFd;
use std::path::{Path, PathBuf};
use std::process;

use cartograph_core::launcher::{Format, LauncherKind};
use cartograph_core::machine::Machine;
use serde::{Deserialize, Serialize};

use crate::error::{self, Failure, Result};
use crate::launch::binding::{self, Binding};
use crate::launch::{Launch, Line, Placement, Places};
use crate::learn::Gain;
use crate::pmi::{Order, Version};
use crate::predict::{Forecast, LEAST_GAIN, Prediction, old_ranks};

/// A smaller saving of bytes is not worth a run if replay predicts no gain.
const FEWER_BYTES: f64 = 0.95;

/// How ranks get to the nodes of a placement.
#[derive(Clone)]
pub enum Means {
    /// The launcher of this command line places them with a rank file.
    Launcher(Box<(Line, Placement)>),
    /// Relays give processes other ranks than the launcher of this command line, with which they speak this version of PMI.
    Relays(Box<(Line, Version)>),
}

impl Means {
    /// The means for a program of this MPI.
    ///
    /// # Errors
    ///
    /// Why there are none.
    pub fn of(line: &Line, mpi: &str) -> core::result::Result<Self, String> {
        let variable = |name: &str| env::var(name).ok();
        if line.takes_relays(variable) {
            let is_srun = line.launcher.kind == LauncherKind::Srun;
            line.check_streams(variable).map_err(|why| why.to_string())?;
            let version = if is_srun { Version::Two } else { Version::One };
            return Ok(Self::Relays(Box::new((line.clone(), version))));
        }
        let placement = line.placement(mpi, variable);
        let placement = placement.map_err(|why| why.to_string())?;
        Ok(Self::Launcher(Box::new((line.clone(), placement))))
    }

    /// True if ranks take CPUs of their node that are known before the job.
    pub(crate) fn binds(&self) -> bool {
        matches!(self, Self::Launcher(by) if by.1.format != Format::Cray)
    }

    /// The name in results: relays, or the format of rank files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Launcher(by) => by.1.format.name(),
            Self::Relays(_) => "relays",
        }
    }

    /// The means in words.
    pub fn words(&self) -> String {
        match self {
            Self::Launcher(_) => format!("the launcher, with a rank file ({})", self.name()),
            Self::Relays(_) => "relays between processes and launcher".to_owned(),
        }
    }
}

/// A placement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Its name.
    pub order: String,
    /// The predicted speed relative to the default order, if there is a prediction.
    pub predicted: Option<f64>,
    /// Bytes, or messages if all are empty, that leave the busiest node.
    pub busiest: Option<i64>,
    /// The node of each rank.
    pub node_of: Vec<u32>,
    /// The process of its node by default whose CPUs each rank takes; if empty, ranks and processes are in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<u32>,
}

/// Describes the measured speedup of a placement.
pub fn faster(order: &str, gain: &Gain, runs: usize) -> String {
    let Gain { mean, least, most, .. } = gain;
    format!(
        "{order}: {mean:.2}x faster than the default order ({runs} runs, 95 % CI {least:.2}-{most:.2})"
    )
}

impl Arm {
    /// The placement of a prediction, where `first` is that of the default order.
    pub(crate) fn new(one: &Prediction, first: &Prediction, machine: &Machine) -> Self {
        Self {
            order: one.order.clone(),
            predicted: Some(first.seconds / one.seconds.max(1e-12)),
            busiest: Some(one.busiest),
            node_of: one.plan.node_of(machine),
            slots: Vec::new(),
        }
    }

    /// The default order, and the placements that are worth a run: those that gain, the best first, and then the one with
    /// the fewest bytes if it is predicted to be about as fast as the default order. Recorded computation may include
    /// other work on the machine, which hides messages: two recordings of NPB BT predicted speeds of 1.16 and 1.00 for an
    /// order with a measured speed of 1.18. With relays as the means, rank 0 stays in place.
    pub fn of_forecast(forecast: &Forecast, machine: &Machine, means: &Means) -> (Self, Vec<Self>) {
        let first = &forecast.all[0];
        let is_close = |one: &&Prediction| {
            one.seconds * LEAST_GAIN >= first.seconds
                && one.seconds < first.seconds * LEAST_GAIN
                && (one.busiest as f64) < first.busiest as f64 * FEWER_BYTES
        };
        let mut found = forecast.gaining();
        found.extend(forecast.all[1..].iter().filter(is_close).min_by_key(|one| one.busiest));
        // Equal candidates, such as mirrored orders: one of them is enough.
        found.dedup_by_key(|one| (one.seconds.to_bits(), one.busiest));
        let arm = |one| Self::new(one, first, machine);
        let found = found.into_iter().filter_map(|one| arm(one).by(means, machine));
        (arm(first), found.collect())
    }

    /// The predicted gain, or 1.
    pub fn gain(&self) -> f64 {
        self.predicted.unwrap_or(1.0)
    }

    /// The same placement, but with rank 0 in place if relays are the means; `None` if nodes have too few processes for
    /// that.
    pub(crate) fn by(self, means: &Means, machine: &Machine) -> Option<Self> {
        match means {
            Means::Launcher(_) => Some(self),
            Means::Relays(_) => {
                let node_of = order(machine, &self.node_of)?.node_of_rank;
                Some(Self { node_of, ..self })
            }
        }
    }
}

/// The ranks that relays give processes to bring ranks to these nodes of a machine; `None` if a node has too few
/// processes.
///
/// Rank 0 stays in place. If it belongs on another node, that node and the node of rank 0 swap ranks or, if their sizes
/// differ, rank 0 swaps with the first rank that belongs on the node of rank 0.
pub fn order(machine: &Machine, node_of: &[u32]) -> Option<Order> {
    let mut node_of_rank = node_of.to_vec();
    let (own, wanted) = (*machine.nodes().first()?, *node_of.first()?);
    let sizes = machine.node_sizes();
    if sizes.get(own as usize)? == sizes.get(wanted as usize)? {
        for node in &mut node_of_rank {
            *node = match *node {
                node if node == own => wanted,
                node if node == wanted => own,
                node => node,
            };
        }
    } else {
        let other = node_of_rank.iter().position(|node| *node == own)?;
        node_of_rank.swap(0, other);
    }
    let old = old_ranks(machine, &node_of_rank)?;
    let mut new_ranks = vec![0; old.len()];
    for (new, old) in (0..).zip(&old) {
        *new_ranks.get_mut(*old as usize)? = new;
    }
    Some(Order { new_ranks, node_of_rank, pretends: false })
}

/// The options of `cartograph exec` for relays with the order in a file.
pub fn relay_options(version: Version, file: &Path) -> [OsString; 4] {
    ["--relay".into(), file.into(), "--pmi".into(), version.number().into()]
}

/// Starts a command in different placements.
pub struct Placer {
    means: Means,
    /// The MPI that the user names.
    mpi: Option<String>,
    /// The places in the default order, whose CPUs ranks take if a launcher places them.
    own: Option<Places>,
}

/// The start of a job in a placement.
pub struct Start {
    pub(crate) launch: Launch,
    options: Vec<OsString>,
    /// The CPUs of ranks, and the file with them.
    bound: Option<(Binding, PathBuf)>,
    /// True if the program is to run without this command on nodes that lack it.
    pub(crate) does_without: bool,
    /// The rank file, if the launcher takes one.
    pub rank_file: Option<RankFile>,
}

/// A rank file, and the command line whose launcher takes it.
pub struct RankFile {
    /// Its text.
    pub text: String,
    /// The command line.
    pub line: Line,
    /// How its launcher takes the file.
    pub placement: Placement,
}

impl Placer {
    /// Starts a command by these means, from these places in the default order.
    pub fn new(means: Means, mpi: Option<String>, own: Option<Places>) -> Self {
        Self { means, mpi, own }
    }

    /// The start of a job in a placement on nodes with these names, with a file of this name for its rank file or the
    /// ranks of its processes; or why that is impossible.
    pub fn start(
        &self,
        arm: &Arm,
        machine: &Machine,
        names: &[String],
        file: &Path,
    ) -> Result<core::result::Result<Start, String>> {
        match &self.means {
            Means::Relays(by) => {
                let Some(order) = order(machine, &arm.node_of) else {
                    return Ok(Err("a node has too few processes for it".to_owned()));
                };
                error::write(file, &order.text())?;
                let mut start = Start::of(self.launch(by.0.as_one()));
                start.options.extend(relay_options(by.1, file));
                Ok(Ok(start))
            }
            Means::Launcher(by) => self.with_rank_file(by, arm, names, file),
        }
    }

    /// The command of a line.
    fn launch(&self, line: Line) -> Launch {
        Launch { mpi: self.mpi.clone(), ..line.into() }
    }

    /// The same by the launcher.
    fn with_rank_file(
        &self,
        (line, placement): &(Line, Placement),
        arm: &Arm,
        names: &[String],
        file: &Path,
    ) -> Result<core::result::Result<Start, String>> {
        let text = match placement.format.write(&arm.node_of, names) {
            Ok(text) => text,
            Err(why) => return Ok(Err(why)),
        };
        let Some(own) = &self.own else {
            let why = "`cartograph where` did not show which CPUs its processes may use";
            return Ok(Err(why.to_owned()));
        };
        let text = match placement.kind {
            LauncherKind::Orterun => on_any_core(&text, own.cores()),
            _ => text,
        };
        error::write(file, &text)?;
        let name = name_for(placement, file)?;
        let placed = line.placed(placement, name.as_os_str(), &text, arm.node_of.len());
        let mut start = Start::of(self.launch(placed));
        // Cray MPICH renumbers processes, which stay where they are.
        if placement.format != Format::Cray {
            let Some(binding) = own.binding(&arm.node_of, &arm.slots, names) else {
                return Ok(Err("its nodes have other numbers of processes".to_owned()));
            };
            start.bind(binding, file)?;
        }
        let (line, placement) = (line.clone(), placement.clone());
        start.rank_file = Some(RankFile { text, line, placement });
        Ok(Ok(start))
    }
}

impl Start {
    /// The start of a job in the default order.
    pub fn of(launch: Launch) -> Self {
        let options = Vec::new();
        Self { launch, options, bound: None, does_without: false, rank_file: None }
    }

    /// Lets each rank take its CPUs, which are written next to a rank file.
    fn bind(&mut self, binding: Binding, rank_file: &Path) -> Result<()> {
        let file = binding::file_for(rank_file);
        binding.write(&file)?;
        self.options.extend(["--cpus".into(), file.clone().into()]);
        self.bound = Some((binding, file));
        Ok(())
    }

    /// The CPUs that ranks take.
    pub(crate) fn binding(&self) -> Option<&Binding> {
        self.bound.as_ref().map(|(binding, _)| binding)
    }

    /// Why a process of the job did not take its CPUs, if one did not.
    pub fn unbound(&self) -> Option<String> {
        binding::missed(&self.bound.as_ref()?.1)
    }

    /// The command line of `cartograph where` in place of the program.
    pub(crate) fn of_places(&self) -> Result<Vec<OsString>> {
        self.launch.of_places(&self.options)
    }

    /// The command line, with these options for `cartograph exec`.
    pub fn words(&self, options: &[OsString]) -> Result<Vec<OsString>> {
        let options = [options, &self.options].concat();
        match self.does_without {
            true => self.launch.under_optional_exec(&options),
            false => self.launch.under_exec(None, &options),
        }
    }
}

/// The name by which the launcher finds a file while this process lives: another than its own if the launcher misreads that.
fn name_for(placement: &Placement, file: &Path) -> Result<PathBuf> {
    if placement.takes(file) {
        return Ok(file.to_owned());
    }
    let open = File::open(file)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))?;
    Ok(format!("/proc/{}/fd/{}", process::id(), open.into_raw_fd()).into())
}

/// Open MPI 4's rank file with ranks on any core of their node, until they take their CPUs: this launcher cannot leave
/// ranks unbound, and ends if a core does not exist.
fn on_any_core(text: &str, cores: usize) -> String {
    let slot = |line: &str| {
        let rank = line.split(" slot=").next().unwrap_or_default();
        format!("{rank} slot=0-{}\n", cores.max(1) - 1)
    };
    text.lines().map(slot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_zero_stays() {
        let ranks = |sizes: &[usize], node_of: &[u32]| {
            order(&Machine::blocks(sizes), node_of).map(|order| order.new_ranks)
        };
        assert_eq!(ranks(&[2, 2], &[0, 1, 0, 1]), Some(vec![0, 2, 1, 3]));
        // The two nodes swap.
        assert_eq!(ranks(&[2, 2], &[1, 0, 0, 1]), Some(vec![0, 3, 1, 2]));
        // Ranks 0 and 1 swap.
        assert_eq!(ranks(&[1, 3], &[1, 0, 1, 1]), Some(vec![0, 1, 2, 3]));
        assert_eq!(ranks(&[2, 2], &[1, 1, 1, 0]), None);
        let round_robin = Machine::from_ids(&[0, 1, 0, 1]);
        let order = order(&round_robin, &[0, 0, 1, 1]).unwrap();
        assert_eq!(order.new_ranks, [0, 2, 1, 3]);
        assert_eq!(order.node_of_rank, [0, 0, 1, 1]);
    }
}
