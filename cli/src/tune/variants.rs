//! The variants of a run: the default order, grids reordered by weights, or ranks started in another order.

use cartograph_core::engine::combine::Payload;
use cartograph_core::machine::Machine;
use cartograph_core::mapping::Options;
use cartograph_traffic::Recording;

use super::arguments::Arguments;
use super::recorded::Recorded;
use crate::arms::{Arm, Placer, Way, grid};
use crate::output::{self, Failure, Result};
use crate::predict::{Forecast, MOST_CALLS, Ways};
use crate::runs::job;
use crate::traffic::{BetterDims, better_dims};

/// The number of variants that run besides the baseline.
const MOST_VARIANTS: usize = 3;

/// The functions whose blocks the library combines.
const COMBINABLE: [(&str, Payload); 2] =
    [("MPI_Neighbor_allgather", Payload::Same), ("MPI_Neighbor_alltoall", Payload::Each)];

/// The forecast of all variants, and those that are worth a run: the default order first. Prints what speaks for them.
pub(super) fn choose(arguments: &Arguments, recorded: &Recorded) -> Result<(Forecast, Vec<Arm>)> {
    let Recorded { recording, machine, placer, .. } = recorded;
    let options = Options { stop: job::stop(), ..Options::default() };
    let grid = grid(recording);
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
    let mut variants = of_forecast(&forecast, recording, machine, placer);
    if let Some(why) =
        placer.obstacle().filter(|_| variants.iter().any(|arm| arm.way == Way::World))
    {
        output::print(&format!(
            "\nthe launcher does not place ranks: {why}; reordering MPI_COMM_WORLD instead\n"
        ))?;
    }
    if arguments.dims {
        variants.extend(better.into_iter().find_map(|better| of_dims(better, machine)));
    }
    Ok((forecast, variants))
}

/// The default order, and the best of the others.
fn of_forecast(
    forecast: &Forecast,
    recording: &Recording,
    machine: &Machine,
    placer: &Placer,
) -> Vec<Arm> {
    let first = &forecast.all[0];
    let mut variants = vec![Arm::new(first, first, machine, Way::Own)];
    let combines = may_combine(recording, machine);
    let most = if combines { 1 } else { MOST_VARIANTS };
    for one in forecast.worth_running().into_iter().take(most) {
        let arm = Arm::new(one, first, machine, Way::Launcher);
        let by_world = arm.way == Way::Launcher && placer.obstacle().is_some();
        match (by_world && placer.no_world.is_none()).then(|| arm.clone().in_world(machine)) {
            Some(arm) => variants.extend(arm),
            None => variants.push(arm),
        }
    }
    if combines {
        let combined: Vec<Arm> = variants.iter().map(Arm::combined).collect();
        variants.extend(combined);
    }
    variants
}

/// True if small blocks of neighborhood collectives between nodes might share messages.
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

/// The default order with other dims; `None` if no small box has them.
fn of_dims(better: BetterDims, machine: &Machine) -> Option<Arm> {
    Some(Arm {
        order: format!("dims {}", better.better),
        predicted: None,
        busiest: None,
        way: Way::Dims(better.sides?),
        combines: false,
        node_of: machine.nodes().to_vec(),
    })
}
