//! Calls of constructors on simulated processes, for tests and fuzzing.

use super::advisor::Advisor;
use super::arguments::{
    AdjacentArguments, CartArguments, EdgeArguments, EdgeWeights, GraphArguments,
};
use super::comm::Comm;
use super::create::{cart_create, cart_sub, graph_create};
use super::decision::CallSettings;
use super::dist_graph::{dist_graph_create, dist_graph_create_adjacent};
use super::error::Error;
use crate::topology::{self, Cart, Edges, Graph, Topology};

/// A call of a constructor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ConstructorCall {
    Cart { dims: Vec<i32>, periods: Vec<bool>, reorder: bool },
    Graph { index: Vec<i32>, edges: Vec<i32>, reorder: bool },
    Sub { remain: [bool; 2] },
    Edges { edges: Vec<[i32; 3]>, weighted: Option<bool>, reorder: bool },
    Adjacent { into: Vec<[i32; 2]>, away: Vec<[i32; 2]>, weighted: Option<bool>, reorder: bool },
}

fn column<const N: usize>(rows: &[[i32; N]], i: usize) -> Vec<i32> {
    rows.iter().map(|row| row[i]).collect()
}

fn weights(weighted: Option<bool>, entries: &[i32]) -> EdgeWeights<'_> {
    match weighted {
        Some(true) => EdgeWeights::Given(entries),
        None if entries.is_empty() => EdgeWeights::Either,
        _ => EdgeWeights::Unweighted,
    }
}

/// Makes a call; `grid` is the topology of `comm`.
pub(crate) fn make<C: Comm<Error = Error> + Advisor<C>>(
    comm: &C,
    settings: CallSettings,
    grid: &Cart,
    call: &ConstructorCall,
) -> Result<Option<(C, Topology)>, Error> {
    let made = match call {
        ConstructorCall::Cart { dims, periods, reorder } => cart_create(
            comm,
            comm,
            settings,
            Ok(CartArguments { dims, periods, reorder: *reorder }),
        ),
        ConstructorCall::Graph { index, edges, reorder } => {
            let (nnodes, size) = (index.len() as i32, comm.size().unwrap());
            let arguments = Graph::nedges(index).and_then(|_| match nnodes > size {
                true => Err(topology::Error::GraphTooLarge { nnodes, size }),
                false => Ok(GraphArguments { index, edges, reorder: *reorder }),
            });
            graph_create(comm, comm, settings, arguments)
        }
        ConstructorCall::Sub { remain } => cart_sub(comm, comm, Ok((grid, remain))),
        ConstructorCall::Edges { edges, weighted, reorder } => {
            let (sources, destinations, weight) =
                (column(edges, 0), column(edges, 1), column(edges, 2));
            let arguments = EdgeArguments {
                sources: &sources,
                degrees: &vec![1; edges.len()],
                destinations: &destinations,
                weights: weights(*weighted, &weight),
                reorder: *reorder,
            };
            dist_graph_create(comm, comm, settings, Ok(arguments))
        }
        ConstructorCall::Adjacent { into, away, weighted, reorder } => {
            let [sources, into] = [0, 1].map(|i| column(into, i));
            let [destinations, away] = [0, 1].map(|i| column(away, i));
            let arguments = AdjacentArguments {
                sources: &sources,
                source_weights: weights(*weighted, &into),
                destinations: &destinations,
                dest_weights: weights(*weighted, &away),
                reorder: *reorder,
            };
            dist_graph_create_adjacent(comm, comm, settings, Ok(arguments))
        }
    };
    made.map(|made| made.member)
}

/// True if a communicator matches its topology.
pub(crate) fn fits<C: Comm<Error = Error>>(comm: &C, topology: &Topology, old_size: i32) -> bool {
    let (rank, size) = (comm.rank().unwrap(), comm.size().unwrap());
    let inside = |edges: &Edges| edges.ranks.iter().all(|rank| (0..size).contains(rank));
    match topology {
        Topology::Cart(grid) => grid.size() == size && rank < size,
        Topology::Graph(graph) => graph.nnodes() == size && rank < size,
        Topology::DistGraph(graph) => {
            size == old_size && inside(&graph.sources) && inside(&graph.destinations)
        }
    }
}
