//! Plans: which process of a communicator takes which vertex, and what that brings.

use super::cost::{Adjacency, Cost, Objective};
use super::csr::Csr;
use super::grid::Grid;
use super::layout::Layout;

/// What a caller may ask of a mapping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Which figure comes first.
    pub objective: Objective,
    /// How many seconds the search may take, on a machine of today. It is counted in steps, not by
    /// a clock, so that the same question always has the same answer. `None`: what is worth it.
    pub seconds: Option<f64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { objective: Objective::Sum, seconds: None }
    }
}

/// Which process takes which vertex of a grid or graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// `old_rank[v]` is the rank of the old communicator whose process takes vertex `v`, which
    /// becomes rank `v`; `None` where every process keeps its rank, because nothing else is better.
    pub old_rank: Option<Box<[i32]>>,
    /// How many vertices there are; processes of the old communicator may be more.
    pub vertices: i32,
    /// No mapping has fewer edges between nodes.
    pub lower_bound: i64,
    /// With every process keeping its rank.
    pub before: Cost,
    /// As planned.
    pub after: Cost,
    /// What found it, in a word or two.
    pub algorithm: &'static str,
}

impl Plan {
    /// Every process keeps its rank; those beyond the last vertex are left out.
    pub fn identity(graph: &impl Adjacency, layout: &Layout, lower_bound: i64) -> Self {
        let vertices = graph.vertices();
        let cost = graph.cost(&layout.nodes()[..vertices]);
        Self {
            old_rank: None,
            vertices: vertices as i32,
            lower_bound,
            before: cost,
            after: cost,
            algorithm: "none",
        }
    }

    /// The rank of the old communicator whose process takes each vertex.
    pub fn old_ranks(&self) -> impl Iterator<Item = i32> + '_ {
        (0..self.vertices).map(|v| self.old_rank.as_ref().map_or(v, |old| old[v as usize]))
    }
}

/// Plans a grid. What `MPI_Cart_map` answers and `MPI_Cart_create` does. Deterministic.
///
/// `layout` has at least as many ranks as the grid has cells.
pub fn plan_cart(grid: &Grid, layout: &Layout, _options: &Options) -> Plan {
    Plan::identity(grid, layout, 0)
}

/// Plans a graph. What `MPI_Graph_map` answers and the constructors of graphs do. Deterministic.
///
/// `layout` has at least as many ranks as the graph has vertices.
pub fn plan_graph(graph: &Csr, layout: &Layout, _options: &Options) -> Plan {
    Plan::identity(graph, layout, 0)
}
