//! Which process goes where. Pure: no MPI, no I/O, no unsafe.
//!
//! A topology belongs to ranks: vertex i of a grid or graph is always new rank i. What a mapping
//! decides is which process of the old communicator gets that rank.
#![forbid(unsafe_code)]

pub mod cost;
pub mod csr;
pub mod graph;
pub mod grid;
pub mod layout;
pub mod plan;

pub use cost::{Adjacency, Cost, Objective};
pub use csr::Csr;
pub use grid::{Grid, Offset};
pub use layout::{Layout, LayoutError};
pub use plan::{Options, Plan, plan_cart, plan_graph};

use crate::topology::{Cart, Graph};

/// The new rank of every process of the old communicator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// New ranks are `0..vertices`; processes of the old communicator beyond them have none.
    vertices: i32,
}

impl Placement {
    /// Every process keeps its rank; those beyond the last vertex are left out.
    pub const fn identity(vertices: i32) -> Self {
        Self { vertices }
    }

    /// The new rank of the process that has `old_rank`, or `None` if it is left out.
    pub fn new_rank(&self, old_rank: i32) -> Option<i32> {
        (old_rank < self.vertices).then_some(old_rank)
    }
}

/// Places the processes of a grid. What `MPI_Cart_map` answers and `MPI_Cart_create` does.
pub fn place_cart(grid: &Cart) -> Placement {
    Placement::identity(grid.size())
}

/// Places the processes of a graph. What `MPI_Graph_map` answers and `MPI_Graph_create` does.
pub fn place_graph(graph: &Graph) -> Placement {
    Placement::identity(graph.nnodes())
}

/// Places the processes of a distributed graph over a communicator of `size` processes.
pub fn place_dist_graph(size: i32) -> Placement {
    Placement::identity(size)
}
