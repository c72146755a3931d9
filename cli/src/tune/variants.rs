//! The variants of a run: the baseline, grids reordered by weights, or ranks started in another order.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cartograph_core::engine::combine::Payload;
use cartograph_core::machine::Machine;
use cartograph_core::mapping::Options;
use cartograph_core::profile::{Profile, SCHEMA};
use cartograph_core::replay::Link;
use cartograph_traffic::{Recording, Topology};

use crate::output::{self, Failure, Result};
use crate::predict::{By, Forecast, Prediction};
use crate::rank_file;
use crate::runs::command::Launch;
use crate::traffic::BetterDims;

use super::MOST_VARIANTS;
use super::order::WorldOrder;
use super::placer::{Placed, Placer};

/// The functions whose blocks the library combines.
const COMBINABLE: [(&str, Payload); 2] =
    [("MPI_Neighbor_allgather", Payload::Same), ("MPI_Neighbor_alltoall", Payload::Each)];

/// The setting of a variant.
#[derive(Clone)]
pub(crate) enum Setting {
    /// None: the baseline.
    Baseline,
    /// The library, with the weights of grids, or its default.
    Weights(Option<String>),
    /// The library, and `CARTOGRAPH_DIMS`.
    Dims(String),
    /// A rank file with this text, with which the launcher places ranks; stored in `file` during the runs.
    Ranks { placed: Placed, text: String, file: PathBuf },
    /// MPI_COMM_WORLD in the order of this profile, if the launcher cannot place ranks.
    World(PathBuf),
    /// It cannot run, for this reason.
    Impossible(String),
}

/// A variant.
#[derive(Clone)]
pub(crate) struct Variant {
    pub(super) order: String,
    /// The predicted speed of the placement relative to the baseline; only known for the recorded grid.
    pub(super) predicted: Option<f64>,
    /// Bytes, or messages if all are empty, that leave the busiest node.
    pub(super) busiest: Option<i64>,
    pub(crate) setting: Setting,
    /// True if small blocks of neighborhood collectives share messages.
    pub(super) combines: bool,
    /// The node of each rank.
    pub(super) node_of: Vec<u32>,
}

/// The grid of all processes for which the program allows reordering, if any.
fn grid(recording: &Recording) -> Option<&Topology> {
    recording.topologies.iter().find(|known| {
        known.reorder
            && known.function == "MPI_Cart_create"
            && known.dims.iter().product::<u32>() == recording.size
    })
}

/// The forecast of all variants, of which a profile can be made; on this network, if one is given.
pub(crate) fn forecast(
    recording: &Recording,
    machine: &Machine,
    options: &Options,
    told: Option<Link>,
) -> Result<Forecast> {
    let found = match grid(recording) {
        Some(grid) => Forecast::of_grid(recording, grid, machine, options, told),
        None => Forecast::new(recording, machine, options, told),
    };
    found.ok_or_else(|| {
        Failure::new(
            "the recorded run cannot be replayed, perhaps because several threads call MPI: cartograph plan --traffic places \
             ranks by their bytes",
        )
    })
}

/// The baseline, and the best of the others; rank files are in `directory`. Also returns why the launcher cannot place
/// ranks, if that would have been useful.
pub(super) fn chosen(
    forecast: &Forecast,
    recording: &Recording,
    machine: &Machine,
    names: &[String],
    placer: &Placer,
    directory: &Path,
) -> Result<(Vec<Variant>, Option<String>)> {
    let first = &forecast.all[0];
    let mut variants = vec![Variant::new(first, first, machine, Setting::Baseline)];
    let mut note = None;
    let combines = may_combine(recording, machine);
    let most = if combines { 1 } else { MOST_VARIANTS };
    let mut worth_running = forecast.worth_running();
    // Mirrored orders, for example: one of them is enough.
    worth_running.dedup_by_key(|one| (one.seconds.to_bits(), one.busiest));
    for (number, one) in (1..).zip(worth_running.into_iter().take(most)) {
        let setting = match &one.by {
            By::Weights(weights) => Setting::Weights(weights.clone()),
            By::Ranks => {
                let node_of = rank_file::launch_order(&one.plan, machine);
                let file = directory.join(format!("ranks-{number}"));
                let profile = directory.join(format!("profile-{number}.json"));
                match (placer.place(&node_of, names, machine, &file)?, &placer.no_world) {
                    (Ok((placed, text)), _) => Setting::Ranks { placed, text, file },
                    (Err(why), None) => {
                        note = Some(format!("{why}; MPI_COMM_WORLD gets another order instead"));
                        let variant =
                            Variant::new(one, first, machine, Setting::World(profile.clone()));
                        output::write(&profile, &variant.profile(recording, machine, None))?;
                        variant.setting
                    }
                    (Err(why), Some(no_world)) => Setting::Impossible(format!(
                        "{why}; nor can MPI_COMM_WORLD get another order: {no_world}"
                    )),
                }
            }
        };
        variants.push(Variant::new(one, first, machine, setting));
    }
    if combines {
        let combined: Vec<Variant> = variants.iter().map(Variant::combined).collect();
        variants.extend(combined);
    }
    Ok((variants, note))
}

/// Returns whether small blocks of neighborhood collectives between nodes might share messages.
fn may_combine(recording: &Recording, machine: &Machine) -> bool {
    let nodes = machine.nodes();
    let called = COMBINABLE.iter().filter(|(name, _)| recording.collectives.contains_key(*name));
    let Some(most) = called.map(|(_, payload)| payload.most_bytes() as u64).max() else {
        return false;
    };
    recording.edges.iter().any(|edge| {
        nodes[edge.from as usize] != nodes[edge.to as usize]
            && edge.count.bytes <= most.saturating_mul(edge.count.messages)
    })
}

impl Variant {
    fn new(one: &Prediction, first: &Prediction, machine: &Machine, setting: Setting) -> Self {
        let nodes = machine.nodes();
        Self {
            order: one.order.clone(),
            predicted: Some(first.seconds / one.seconds.max(1e-12)),
            busiest: Some(one.busiest),
            setting,
            combines: false,
            node_of: one.plan.old_ranks().map(|old| nodes[old as usize]).collect(),
        }
    }

    /// The order in which the program is started, with other dims; `None` if no small box has them.
    pub(super) fn of_dims(better: BetterDims, machine: &Machine) -> Option<Self> {
        Some(Self {
            order: format!("dims {}", better.better),
            predicted: None,
            busiest: None,
            setting: Setting::Dims(better.sides?),
            combines: false,
            node_of: machine.nodes().to_vec(),
        })
    }

    /// This placement with small blocks combined.
    fn combined(&self) -> Self {
        let order = format!("{}, blocks combined", self.order);
        Self { order, combines: true, ..self.clone() }
    }

    /// A variant that was not measured.
    pub(super) fn predicted(one: &Prediction, first: &Prediction, machine: &Machine) -> Self {
        let setting = match &one.by {
            By::Weights(weights) => Setting::Weights(weights.clone()),
            By::Ranks => Setting::Baseline,
        };
        Self::new(one, first, machine, setting)
    }

    /// The command; `mpi` is for `cartograph exec`, which takes the time in the directory `clock`, if there is one.
    pub(super) fn command(
        &self,
        launch: &Launch,
        mpi: &[OsString],
        clock: Option<&Path>,
    ) -> Result<Vec<OsString>> {
        let by_launcher;
        let launch = match &self.setting {
            Setting::Ranks { placed, text, file } => {
                by_launcher = placed.with(file, text).into();
                &by_launcher
            }
            Setting::Impossible(why) => return Err(Failure::new(why.clone())),
            _ => launch,
        };
        let mut options: Vec<OsString> = Vec::new();
        if let Some(directory) = clock {
            options.extend(["--clock".into(), directory.into()]);
        }
        match &self.setting {
            Setting::Weights(weights) => {
                options.extend(["--reorder".into(), "on".into()]);
                if let Some(weights) = weights {
                    options.extend(["--weights".into(), weights.into()]);
                }
            }
            Setting::Dims(_) => options.extend(["--reorder".into(), "on".into()]),
            Setting::World(profile) => {
                options.extend(["--profile".into(), profile.into()]);
            }
            _ if self.combines => options.extend(["--reorder".into(), "off".into()]),
            _ if options.is_empty() => return Ok(launch.baseline()),
            _ => {}
        }
        options.extend(mpi.iter().cloned());
        let setting = match &self.setting {
            Setting::Dims(sides) => Some(format!("CARTOGRAPH_DIMS={sides}")),
            _ => self.combines.then(|| "CARTOGRAPH_COMBINE=on".to_owned()),
        };
        launch.under_exec(setting.as_deref(), &options)
    }

    /// Why it cannot run.
    pub(super) fn obstacle(&self) -> Option<&str> {
        match &self.setting {
            Setting::Impossible(why) => Some(why),
            _ => None,
        }
    }

    /// The message of a run whose MPI_COMM_WORLD kept its order; a reordered one prints none.
    pub(super) fn refusal<'a>(&self, stderr: &'a str) -> Option<&'a str> {
        let lines = || stderr.lines().filter_map(|line| line.split_once("cartograph: "));
        matches!(self.setting, Setting::World(_)).then(lines)?.next().map(|(_, why)| why)
    }

    /// The file of this variant's profile.
    pub(super) fn profile(
        &self,
        recording: &Recording,
        machine: &Machine,
        measured: Option<(f64, f64)>,
    ) -> String {
        let (weights, dims) = match &self.setting {
            Setting::Weights(weights) => (weights.clone(), None),
            Setting::Dims(sides) => (None, Some(sides.clone())),
            _ => (None, None),
        };
        let moves_grids = matches!(self.setting, Setting::Weights(_) | Setting::Dims(_));
        let world = if moves_grids { None } else { WorldOrder::new(machine, &self.node_of) };
        let world = world.filter(|world| (0..).zip(&world.new_ranks).any(|(old, new)| old != *new));
        let mut node_sizes = machine.node_sizes();
        node_sizes.sort_unstable();
        node_sizes.dedup();
        let program = recording.program.split(' ').next().unwrap_or_default();
        let profile = Profile {
            schema: SCHEMA,
            program: program.rsplit('/').next().unwrap_or_default().to_owned(),
            processes: recording.size as usize,
            node_sizes,
            order: self.order.clone(),
            weights,
            dims,
            moves_grids,
            combines_blocks: self.combines,
            orders_world: world.is_some(),
            predicted: self.predicted,
            measured,
        };
        let lines = [Some(profile.json()), world.map(|world| world.json())];
        lines.into_iter().flatten().map(|line| line + "\n").collect()
    }
}
