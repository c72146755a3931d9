//! From a grid or graph and a machine to a plan: the parts of the search, and their times.

pub(super) mod best;
mod cart;
mod devices;
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
/// `machine` must have at least as many ranks as the grid has cells. If it has more, a choice of ranks on few nodes
/// takes part. Time: under half a second for a million cells, unless [`Options::seconds`] is set, nearly all of it for
/// constructions; grids of some hundred cells are searched for up to 0.25 s. Memory: 17 bytes per cell beyond the
/// layout from 100,000 cells on (docs/results/quality.md), up to about 300 if smaller grids are improved as graphs.
///
/// ```
/// use cartograph_core::machine::Machine;
/// use cartograph_core::mapping::{Grid, Options, plan_grid};
/// use cartograph_core::topology::Cart;
///
/// // 4 x 4 processes on four nodes of four, in rank order: a row on each node.
/// let cart = Cart::new(&[4, 4], &[false, false], 16)?;
/// let grid = Grid::of_cart(&cart, Some(&[1, 1]));
/// let plan = plan_grid(&grid, &Machine::blocks(&[4; 4]), &Options::default());
/// assert_eq!((plan.before.inter_node_edges, plan.after.inter_node_edges), (24, 16));
/// // The process of rank `old_rank[v]` takes cell v.
/// let old_rank: Vec<i32> = plan.old_ranks().collect();
/// assert_eq!(old_rank[..8], [0, 1, 4, 5, 2, 3, 6, 7]);
/// # Ok::<(), cartograph_core::topology::Error>(())
/// ```
pub fn plan_grid(grid: &Grid, machine: &Machine, options: &Options) -> Plan {
    match options.scramble {
        Some(how) => scramble(grid, machine, how),
        None if grid.has_unknown_weights() => {
            let plan = unknown_weights::guard(grid, machine, options);
            devices::keep(grid, machine, plan, options)
        }
        None => {
            let plan = devices::keep(grid, machine, plan_by(grid, machine, options), options);
            // With known weights.
            if plan.gains_little(machine) { plan.undone() } else { plan }
        }
    }
}

/// Maps a graph, for the constructors of graphs (MPI 4.1, 8.5.3 and 8.5.4) and `MPI_Graph_map` (8.5.9).
/// Deterministic. The process of rank 0 keeps its rank.
///
/// `machine` must have at least as many ranks as the graph has vertices.
///
/// ```
/// use cartograph_core::machine::Machine;
/// use cartograph_core::mapping::{Csr, Options, plan_graph};
///
/// // Processes 0 and 2 exchange most, and so do 1 and 3. The first two are on node 7, the others on node 8.
/// let edges = [(0, 2, 100), (2, 0, 100), (1, 3, 100), (3, 1, 100), (0, 1, 1), (1, 0, 1)];
/// let graph = Csr::from_edges(4, edges.into_iter());
/// let plan = plan_graph(&graph, &Machine::from_ids(&[7, 7, 8, 8]), &Options::default());
/// assert_eq!((plan.before.inter_node_edges, plan.after.inter_node_edges), (400, 2));
/// // The process of rank 1 takes vertex 2.
/// assert_eq!(plan.old_ranks().collect::<Vec<_>>(), [0, 2, 1, 3]);
/// ```
pub fn plan_graph(graph: &Csr, machine: &Machine, options: &Options) -> Plan {
    match options.scramble {
        Some(how) => scramble(graph, machine, how),
        None => devices::keep(graph, machine, plan_by(graph, machine, options), options),
    }
}

/// A plan in which each node has as many ranks of each remainder by [`Options::devices`] as in rank order: the given one
/// or one near it, or rank order if that is better. Unchanged if these are not equally many in rank order.
pub fn keep_devices(graph: &Csr, machine: &Machine, plan: Plan, options: &Options) -> Plan {
    devices::keep(graph, machine, plan, options)
}
