//! From a grid or graph and a machine to a plan: the parts of the search, and their times.

pub(super) mod best;
mod cart;
mod follow;
mod graph;
mod hierarchical;
mod levels;
mod participants;
mod rank_assignment;
mod refine;
pub(super) mod rng;
mod scramble;
mod subject;
mod torus_placement;
mod unknown_weights;

pub use follow::follow_cart;

use best::plan_by;
use scramble::scramble;

use crate::machine::Machine;
use crate::mapping::model::csr::Csr;
use crate::mapping::model::grid::Grid;
use crate::mapping::plan::{Options, Plan};

/// Maps a grid, for `MPI_Cart_create` (MPI 4.1, 8.5.1) and `MPI_Cart_map` (8.5.9). Deterministic. The process of rank
/// 0 keeps its rank.
///
/// `layout` must have at least as many ranks as the grid has cells. If it has more, a choice of ranks on few nodes
/// takes part. Time: under half a second for a million cells, unless [`Options::seconds`] is set, nearly all of it for
/// constructions; grids of some hundred cells are searched for up to 0.25 s. Memory: 17 bytes per cell beyond the
/// layout from 100,000 cells on (docs/results/quality.md), up to about 300 if smaller grids are improved as graphs.
pub fn plan_cart(grid: &Grid, machine: &Machine, options: &Options) -> Plan {
    match options.scramble {
        Some(how) => scramble(grid, machine, how),
        None if grid.has_unknown_weights() => unknown_weights::guard(grid, machine, options),
        None => {
            let plan = plan_by(grid, machine, options);
            // With known weights.
            if plan.gains_little(machine) { plan.undone() } else { plan }
        }
    }
}

/// Maps a graph, for the constructors of graphs (MPI 4.1, 8.5.3 and 8.5.4) and `MPI_Graph_map` (8.5.9).
/// Deterministic. The process of rank 0 keeps its rank.
///
/// `layout` must have at least as many ranks as the graph has vertices.
pub fn plan_graph(graph: &Csr, machine: &Machine, options: &Options) -> Plan {
    match options.scramble {
        Some(how) => scramble(graph, machine, how),
        None => plan_by(graph, machine, options),
    }
}
