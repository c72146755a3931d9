//! The variants of a run: the default order, grids reordered by weights, or ranks started in another order; and how they
//! are started.

use std::path::Path;
use std::time::Duration;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::Options;

use super::recorded::Recorded;
use crate::arms::{Arm, Placer, Start, Way};
use crate::exec;
use crate::output::{self, Failure, Result};
use crate::predict::{Forecast, MOST_CALLS, Ways, grid};
use crate::run;
use crate::runs::command::Launch;
use crate::runs::input::Input;
use crate::runs::job;
use crate::traffic::{BetterDims, better_dims};

/// The number of variants that run besides the baseline.
const MOST_VARIANTS: usize = 3;

/// A placement with its start, or why it cannot be run.
pub(super) type Variant = (Arm, core::result::Result<Start, String>);

/// The forecast of all variants, and those that are worth a run: the default order first. Prints what speaks for them.
/// Rank files are written to a directory.
pub(super) fn choose(
    recorded: &Recorded,
    tries_dims: bool,
    directory: &Path,
) -> Result<(Forecast, Vec<Variant>)> {
    let Recorded { recording, machine, names, launch, by_launcher, relays, .. } = recorded;
    let options = Options::default().with_stop(job::stop());
    // Relays give a grid's ranks their places, too.
    let grid = grid(recording).filter(|_| !relays);
    let ways = Ways { starts: grid.is_none(), grid };
    let forecast = Forecast::new(recording, machine, &options, None, ways, MOST_CALLS);
    let forecast = forecast.ok_or_else(|| {
        Failure::new(
            "the recorded run cannot be replayed, perhaps because several threads call MPI: cartograph plan --traffic places \
             ranks by their bytes",
        )
    })?;
    if job::is_interrupted() {
        return Err(job::interrupted());
    }
    output::print(&forecast.text())?;
    let better = recording.topologies.iter().filter_map(|grid| better_dims(recording, grid));
    let better: Vec<_> = better.collect();
    for line in &better {
        output::print(&format!("{line}\n"))?;
    }
    let no_world = exec::check_world(launch.program(), launch.mpi.as_deref()).err();
    let start = match by_launcher {
        _ if *relays => Way::Relay,
        Err(_) if no_world.is_none() => Way::World,
        _ => Way::Launcher,
    };
    let mut arms = of_forecast(&forecast, machine, &start);
    if let (Err(why), true) = (by_launcher, arms.iter().any(|arm| arm.way == Way::World)) {
        output::print(&format!(
            "\nthe launcher does not place ranks: {why}; reordering MPI_COMM_WORLD instead\n"
        ))?;
    }
    if tries_dims {
        arms.extend(better.into_iter().find_map(|better| of_dims(better, machine)));
    }
    let is_placed = arms.iter().any(|arm| arm.way == Way::Launcher);
    let cores = if is_placed { free_cores(launch, machine) } else { None };
    let placer = Placer::new(launch.clone(), by_launcher.clone(), None, cores);
    let variant = |(number, arm): (usize, Arm)| {
        let file = directory.join(format!("ranks-{number}"));
        let start = placer.start(&arm, machine, names, &file)?.map_err(|why| match &no_world {
            Some(Failure { text, .. }) => {
                format!("{why}; MPI_COMM_WORLD cannot be reordered either: {text}")
            }
            None => why,
        });
        Ok((arm, start))
    };
    let variants = arms.into_iter().enumerate().map(variant).collect::<Result<_>>()?;
    Ok((forecast, variants))
}

/// The default order, and the best of the others; `start` is how ranks are started on other nodes.
fn of_forecast(forecast: &Forecast, machine: &Machine, start: &Way) -> Vec<Arm> {
    let (own, others) = Arm::of_forecast(forecast, machine, start);
    let mut arms = vec![own];
    arms.extend(others.into_iter().take(MOST_VARIANTS).filter_map(|arm| match arm.way {
        Way::World => arm.in_world(machine),
        Way::Relay => arm.relayed(machine),
        _ => Some(arm),
    }));
    arms
}

/// The number of cores of a node, if ranks must not be bound to one core each: if the launcher does not bind them that
/// way, as `cartograph where` in place of the program shows, or there are too few cores.
fn free_cores(launch: &Launch, machine: &Machine) -> Option<usize> {
    const LONGEST: Duration = Duration::from_secs(60);
    let asked =
        launch.of_places().and_then(|words| job::run(&words, None, &Input::Nothing, LONGEST));
    let found = asked.ok().and_then(|run| run::free_cores(&run.stdout));
    found.unwrap_or_else(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        machine.node_sizes().iter().any(|size| *size > cores).then_some(cores)
    })
}

/// The default order with other dims; `None` if no small box has them.
fn of_dims(better: BetterDims, machine: &Machine) -> Option<Arm> {
    Some(Arm {
        order: format!("dims {}", better.better),
        predicted: None,
        busiest: None,
        way: Way::Dims(better.sides?),
        node_of: machine.nodes().to_vec(),
    })
}
