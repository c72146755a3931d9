//! The variants of a run: the default order, and the best placements; and how they are started.

use std::path::Path;

use cartograph_core::mapping::Options;
use cartograph_jobs::launch::Places;
use cartograph_jobs::place::{Arm, Means, Placer, Start};
use cartograph_jobs::predict::{Forecast, MOST_CALLS};
use cartograph_jobs::processes::job;
use cartograph_jobs::traffic::limit;

use super::recorded::Recorded;
use crate::output::{self, Failure, Result};
use crate::traffic::{better_dims, table};

/// The number of variants that run in addition to the baseline.
const MOST_VARIANTS: usize = 3;

/// A placement with its start, or why it cannot be run.
pub(super) type Variant = (Arm, core::result::Result<Start, String>);

/// The forecast of all variants, and the variants worth a run, the default order first. Prints the reasons.
/// Rank files are written to a directory.
pub(super) fn choose(
    recorded: &Recorded,
    devices: Option<u32>,
    directory: &Path,
) -> Result<(Forecast, Vec<Variant>)> {
    let Recorded { recording, machine, names, launch, means, .. } = recorded;
    let devices = devices.unwrap_or_else(|| limit(recording));
    let options = Options::default().with_stop(job::stop()).with_devices(devices);
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
    output::print(&table(&forecast))?;
    for better in recording.topologies.iter().filter_map(|grid| better_dims(recording, grid)) {
        output::print(&format!("{better}\n"))?;
    }
    let mut variants = Vec::new();
    if let Ok(means) = means {
        let (first, mut others) = Arm::of_forecast(&forecast, machine, means);
        others.truncate(MOST_VARIANTS);
        let is_asked = matches!(means, Means::Launcher(_)) && !others.is_empty();
        let own = if is_asked { Places::of_launch(launch) } else { None };
        let placer = Placer::new(means.clone(), launch.mpi.clone(), own);
        variants.push((first, Ok(Start::of(launch.clone()))));
        for (number, arm) in (1..).zip(others) {
            let file = directory.join(format!("ranks-{number}"));
            let start = placer.start(&arm, machine, names, &file)?;
            variants.push((arm, start));
        }
    }
    Ok((forecast, variants))
}
