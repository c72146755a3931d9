//! The constructors of grids and graphs, and `MPI_Cart_sub`: agree, place, split.
//!
//! Each constructor gets the result of checking this rank's own arguments. A fault found there must take part in the
//! agreement, so it is passed in instead of being returned early.

use super::advisor::Advisor;
use super::agree::{Agreement, Collectives, agree, agree_by_reduction};
use super::arguments::{Argument, CartArguments, Function, GraphArguments, Shared};
use super::assign_ranks::{Assignment, Placement, PlacementInput, assign_ranks};
use super::comm::{Comm, keep};
use super::contribution::{AT_FAULT, Contribution, Neighbors};
use super::decision::{CallSettings, ReorderRequest};
use super::error::Error;
use super::planned::Shape;
use crate::topology::cart::SubGrid;
use crate::topology::{self, Cart, Class, Graph, Topology};

/// The result of a constructor.
pub struct Created<C> {
    /// The new communicator and its topology; `None` on a process that gets `MPI_COMM_NULL`.
    pub member: Option<(C, Topology)>,
    /// True if the new communicator is known to have all processes of the old one with unchanged ranks; the same on all
    /// processes.
    pub keeps_ranks: bool,
    /// The old rank of this process, if it is the one that watches whether the program still uses it on a reordered
    /// grid.
    pub watched: Option<i32>,
    /// The placement of ranks, if a report was requested.
    pub placement: Option<Placement>,
    /// How neighborhood collectives run.
    pub collectives: Collectives,
}

/// Truth values as numbers that can be compared between ranks.
fn numbers(flags: &[bool]) -> Vec<i32> {
    flags.iter().map(|flag| i32::from(*flag)).collect()
}

/// The request of a constructor of grids or graphs.
fn request<C: Comm>(
    advisor: &impl Advisor<C>,
    reorder: bool,
    settings: CallSettings,
) -> ReorderRequest {
    ReorderRequest {
        reorder,
        distributed: false,
        has_topology: reorder && advisor.has_topology(),
        settings,
    }
}

/// Either a value or a fault.
fn parted<T>(result: Result<T, topology::Error>) -> (Option<T>, Option<topology::Error>) {
    match result {
        Ok(value) => (Some(value), None),
        Err(fault) => (None, Some(fault)),
    }
}

/// `MPI_Cart_create`: MPI 4.1, 8.5.1. Collective.
///
/// # Errors
///
/// The same on every rank: [`OnRank`](Error::OnRank) for a fault in the arguments of any rank or for arguments that
/// differ, or an error of the communicator's own methods.
pub fn cart_create<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    settings: CallSettings,
    arguments: Result<CartArguments<'_>, topology::Error>,
) -> Result<Created<C>, C::Error> {
    let size = comm.size()?;
    let (checked, fault) =
        parted(arguments.and_then(|a| Ok((Cart::new(a.dims, a.periods, size)?, a))));
    let (ndims, periods, reorder) = match &checked {
        Some((grid, a)) => ([grid.ndims() as i32], numbers(a.periods), [i32::from(a.reorder)]),
        None => ([0], Vec::new(), [0]),
    };
    let arguments = [
        Argument::exact("ndims", &ndims),
        Argument::exact("dims", checked.as_ref().map_or(&[], |(_, a)| a.dims)),
        Argument::tolerated("periods", &periods),
        Argument::exact("reorder", &reorder),
    ];
    let repeated = || checked.as_ref().is_some_and(|(grid, _)| grid.repeats_neighbors());
    let neighbors = |processes| Neighbors { processes, repeated: &repeated };
    let contribution = Contribution {
        fault,
        shared: Shared { function: Function::CartCreate, arguments: &arguments },
        vertices: Some(checked.as_ref().map_or(0, |(grid, _)| grid.size())),
        request: Some(request(advisor, reorder != [0], settings)),
        choice: None,
        neighbors: checked.as_ref().map(|(grid, _)| grid.size()).map(neighbors),
    };
    let (all, Agreement { decision, broken, collectives, .. }) =
        agree(comm, advisor, contribution)?;

    let (grid, CartArguments { dims, .. }) =
        checked.expect("a fault here would have ended the agreement");
    let is_planner = decision.planning && comm.rank()? == 0;
    let weights = if is_planner { advisor.weights(dims) } else { None };
    let shape = Shape::Cart { grid: &grid, dims, weights };
    let input = PlacementInput { decision, broken, options: settings.options, shape };
    let places = assign_ranks(comm, advisor, input);
    let (all, (assignment, placement)) = keep(all, places)?;
    let keeps_ranks = !assignment.moved && grid.size() == size;
    let watched = if assignment.watches { Some(comm.rank()?) } else { None };
    let made = split_members(comm, all, assignment, grid.size())?;
    let member = made.map(|made| (made, Topology::Cart(grid)));
    Ok(Created { member, keeps_ranks, watched, placement, collectives })
}

/// `MPI_Graph_create`: MPI 4.1, 8.5.3. Collective.
///
/// # Errors
///
/// Like [`cart_create`].
pub fn graph_create<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    settings: CallSettings,
    arguments: Result<GraphArguments<'_>, topology::Error>,
) -> Result<Created<C>, C::Error> {
    let (checked, fault) =
        parted(arguments.and_then(|a| Ok((Graph::new(a.index, a.edges)?, a.reorder))));
    let graph = checked.as_ref().map(|(graph, _)| graph);
    let nnodes = [graph.map_or(0, Graph::nnodes)];
    let reorder = [checked.as_ref().map_or(0, |(_, reorder)| i32::from(*reorder))];
    let arguments = [
        Argument::exact("nnodes", &nnodes),
        Argument::tolerated("index", graph.map_or(&[], Graph::index)),
        Argument::tolerated("edges", graph.map_or(&[], Graph::edges)),
        Argument::exact("reorder", &reorder),
    ];
    let repeated = || graph.is_some_and(Graph::repeats_neighbors);
    let neighbors = |processes| Neighbors { processes, repeated: &repeated };
    let contribution = Contribution {
        fault,
        shared: Shared { function: Function::GraphCreate, arguments: &arguments },
        vertices: Some(nnodes[0]),
        request: Some(request(advisor, reorder != [0], settings)),
        choice: None,
        neighbors: graph.map(Graph::nnodes).map(neighbors),
    };
    let (all, Agreement { decision, broken, collectives, .. }) =
        agree(comm, advisor, contribution)?;

    let (graph, _) = checked.expect("a fault here would have ended the agreement");
    if graph.nnodes() == 0 {
        // All processes are left out.
        all.free()?;
        return Ok(Created {
            member: None,
            keeps_ranks: false,
            watched: None,
            placement: None,
            collectives: Collectives::default(),
        });
    }
    let (options, shape) = (settings.options, Shape::Graph(&graph));
    let places = assign_ranks(comm, advisor, PlacementInput { decision, broken, options, shape });
    let (all, (assignment, placement)) = keep(all, places)?;
    let keeps_ranks = !assignment.moved && graph.nnodes() == all.size()?;
    let made = split_members(comm, all, assignment, graph.nnodes())?;
    let member = made.map(|made| (made, Topology::Graph(graph)));
    Ok(Created { member, keeps_ranks, watched: None, placement, collectives })
}

/// `MPI_Cart_sub`: MPI 4.1, 8.5.8. Collective. `arguments` are the grid of `comm` and the dimensions to keep.
///
/// # Errors
///
/// Like [`cart_create`].
pub fn cart_sub<C: Comm>(
    comm: &C,
    advisor: &impl Advisor<C>,
    arguments: Result<(&Cart, &[bool]), topology::Error>,
) -> Result<Created<C>, C::Error> {
    let rank = comm.rank()?;
    let (checked, fault) =
        parted(arguments.and_then(|(grid, remain)| Ok((grid.sub(remain, rank)?, remain))));
    let remain = checked.as_ref().map_or(Vec::new(), |(_, remain)| numbers(remain));
    // The parts of a grid have several colors, so a reduction after the split checks that all ranks agree.
    let (color, key) = checked.as_ref().map_or((AT_FAULT, 0), |(sub, _)| (sub.color, sub.rank));
    let part = comm.split(Some(color), key)?.expect("a color was given");
    let remain = [Argument::exact("remain_dims", &remain)];
    let shared = Shared { function: Function::CartSub, arguments: &remain };
    let repeated = || checked.as_ref().is_some_and(|(sub, _)| sub.grid.repeats_neighbors());
    let neighbors = |processes| Neighbors { processes, repeated: &repeated };
    let neighbors = checked.as_ref().map(|(sub, _)| sub.grid.size()).map(neighbors);
    let contribution =
        Contribution { fault, shared, vertices: None, request: None, choice: None, neighbors };
    let as_expected = |sub: &SubGrid| -> Result<bool, C::Error> {
        Ok(part.size()? == sub.grid.size() && part.rank()? == sub.rank)
    };
    let fits = checked.as_ref().map_or(Ok(true), |(sub, _)| as_expected(sub));
    let agreed = fits.and_then(|fits| agree_by_reduction(comm, advisor, contribution, fits));
    let (part, Agreement { collectives, .. }) = keep(part, agreed)?;

    let (sub, _) = checked.expect("a fault here would have ended the agreement");
    let member = Some((part, Topology::Cart(sub.grid)));
    Ok(Created { member, keeps_ranks: false, watched: None, placement: None, collectives })
}

/// The communicator of the processes that have new ranks, in the order of these ranks. It is the communicator of all
/// processes if no rank changes.
///
/// # Errors
///
/// [`Error::OnRank`] if ranks whose digests collide differ in the number of processes: each rank then gets either this
/// error or a communicator of the size that it expects.
pub(super) fn split_members<C: Comm>(
    comm: &C,
    all: C,
    assignment: Assignment,
    vertices: i32,
) -> Result<Option<C>, C::Error> {
    if !assignment.moved && all.size()? == vertices {
        return Ok(Some(all));
    }
    // Freed first, since a host's memory for a communicator may grow with its processes.
    all.free()?;
    let color = assignment.new_rank.map(|_| vertices);
    match comm.split(color, assignment.new_rank.unwrap_or(0))? {
        Some(made) if made.size()? != vertices => {
            made.free()?;
            let text = format!(
                "ranks disagree on the number of processes in the topology ({vertices} on this rank)"
            );
            Err(Error::OnRank { rank: comm.rank()?, class: Class::Arg, text }.into())
        }
        made => Ok(made),
    }
}
