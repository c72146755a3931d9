//! The variants of a run: the default order, and the best placements; and how they are started.

use std::path::Path;
use std::time::Duration;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::Options;

use super::recorded::Recorded;
use crate::arms::{Arm, Means, Placer, Start};
use crate::output::{self, Failure, Result};
use crate::predict::{Forecast, MOST_CALLS};
use crate::run;
use crate::runs::command::Launch;
use crate::runs::input::Input;
use crate::runs::job;
use crate::traffic::better_dims;

/// The number of variants that run besides the baseline.
const MOST_VARIANTS: usize = 3;

/// A placement with its start, or why it cannot be run.
pub(super) type Variant = (Arm, core::result::Result<Start, String>);

/// The forecast of all variants, and the variants worth a run, the default order first. Prints the reasons.
/// Rank files are written to a directory.
pub(super) fn choose(recorded: &Recorded, directory: &Path) -> Result<(Forecast, Vec<Variant>)> {
    let Recorded { recording, machine, names, launch, means, .. } = recorded;
    let options = Options::default().with_stop(job::stop());
    let forecast = Forecast::new(recording, machine, &options, None, MOST_CALLS);
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
    for better in recording.topologies.iter().filter_map(|grid| better_dims(recording, grid)) {
        output::print(&format!("{better}\n"))?;
    }
    let mut variants = Vec::new();
    if let Ok(means) = means {
        let (own, mut others) = Arm::of_forecast(&forecast, machine, means);
        others.truncate(MOST_VARIANTS);
        let is_bound = matches!(means, Means::Launcher(_)) && !others.is_empty();
        let cores = if is_bound { free_cores(launch, machine) } else { None };
        let placer = Placer::new(launch.clone(), means.clone(), cores);
        variants.push((own, Ok(Start::of(launch.clone()))));
        for (number, arm) in (1..).zip(others) {
            let file = directory.join(format!("ranks-{number}"));
            let start = placer.start(&arm, machine, names, &file)?;
            variants.push((arm, start));
        }
    }
    Ok((forecast, variants))
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
