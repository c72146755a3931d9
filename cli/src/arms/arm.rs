//! A placement, and its profile.

use cartograph_core::learn::Gain;
use cartograph_core::machine::Machine;
use cartograph_core::profile::{Profile, SCHEMA};
use cartograph_traffic::{Recording, Topology};

use super::world::WorldOrder;
use crate::predict::{By, Prediction};

/// How ranks get to the nodes of a placement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Way {
    /// The default order: ranks are already there.
    Own,
    /// The launcher places them.
    Launcher,
    /// MPI_COMM_WORLD is reordered.
    World,
    /// The library reorders a grid, with these `CARTOGRAPH_WEIGHTS` or by default.
    Weights(Option<String>),
    /// The library reorders a grid with these `CARTOGRAPH_DIMS`.
    Dims(String),
}

/// A placement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arm {
    pub(crate) order: String,
    /// The predicted speed relative to the default order, if there is a prediction.
    pub(crate) predicted: Option<f64>,
    /// Bytes, or messages if all are empty, that leave the busiest node.
    pub(crate) busiest: Option<i64>,
    pub(crate) way: Way,
    /// True if small blocks of neighborhood collectives share messages.
    pub(crate) combines: bool,
    /// The node of each rank.
    pub(crate) node_of: Vec<u32>,
}

/// Describes the measured speedup of a placement.
pub(crate) fn faster(order: &str, gain: &Gain, runs: usize) -> String {
    let Gain { mean, least, most, .. } = gain;
    format!(
        "{order}: {mean:.2}x faster than the default order ({runs} runs, 95 % CI {least:.2}-{most:.2})"
    )
}

/// The grid of all processes for which the program allows reordering, if any.
pub(crate) fn grid(recording: &Recording) -> Option<&Topology> {
    recording.topologies.iter().find(|known| {
        known.reorder
            && known.function == "MPI_Cart_create"
            && known.dims.iter().product::<u32>() == recording.size
    })
}

impl Arm {
    /// The placement of a prediction, where `first` is that of the default order. `start` is how ranks are started on
    /// other nodes.
    pub(crate) fn new(one: &Prediction, first: &Prediction, machine: &Machine, start: Way) -> Self {
        Self {
            order: one.order.clone(),
            predicted: Some(first.seconds / one.seconds.max(1e-12)),
            busiest: Some(one.busiest),
            way: match &one.by {
                By::Ranks => start,
                By::Weights(weights) => Way::Weights(weights.clone()),
            },
            combines: false,
            node_of: one.plan.node_of(machine),
        }
    }

    /// The predicted gain, or 1.
    pub(crate) fn gain(&self) -> f64 {
        self.predicted.unwrap_or(1.0)
    }

    /// The same placement with small blocks combined.
    pub(crate) fn combined(&self) -> Self {
        let order = format!("{}, blocks combined", self.order);
        Self { order, combines: true, ..self.clone() }
    }

    /// The name of the placement in the store; empty for the default order.
    pub(crate) fn key(&self) -> &str {
        if self.way == Way::Own && !self.combines { "" } else { &self.order }
    }

    /// The same placement through a reordered MPI_COMM_WORLD in which rank 0 stays in place; `None` if nodes have too
    /// few processes for it.
    pub(crate) fn in_world(self, machine: &Machine) -> Option<Self> {
        let node_of = WorldOrder::new(machine, &self.node_of)?.node_of_rank;
        let order = format!("{}, world reordered", self.order);
        Some(Self { order, way: Way::World, node_of, ..self })
    }

    /// The text of a profile with this placement, for a program file of this name.
    pub(crate) fn profile(
        &self,
        program: &str,
        machine: &Machine,
        measured: Option<(f64, f64)>,
    ) -> String {
        let (weights, dims) = match &self.way {
            Way::Weights(weights) => (weights.clone(), None),
            Way::Dims(sides) => (None, Some(sides.clone())),
            _ => (None, None),
        };
        let moves_grids = matches!(self.way, Way::Weights(_) | Way::Dims(_));
        let world = if moves_grids { None } else { WorldOrder::new(machine, &self.node_of) };
        let world = world.filter(|world| (0..).zip(&world.new_ranks).any(|(old, new)| old != *new));
        let mut node_sizes = machine.node_sizes();
        node_sizes.sort_unstable();
        node_sizes.dedup();
        let profile = Profile {
            schema: SCHEMA,
            program: program.to_owned(),
            processes: machine.ranks(),
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
