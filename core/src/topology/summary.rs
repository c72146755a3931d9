//! A summary of a topology, for plans and reports.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Cart, Graph};

/// The kind of a topology and its size.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TopologySummary {
    /// A grid.
    Cart {
        /// Processes along each dimension.
        dims: Vec<i32>,
        /// The periodic dimensions: true for each that is.
        periodic: Vec<bool>,
        /// The weights of edges along each dimension; `None` if unknown, and assumed to be equal.
        #[serde(default)]
        weights: Option<Vec<i64>>,
    },
    /// A graph that every process passed completely.
    Graph {
        /// The number of nodes.
        nnodes: i32,
        /// The number of edges, each direction counted.
        edges: i64,
    },
    /// A distributed graph.
    DistGraph {
        /// The edges of all processes, if they were counted.
        edges: Option<i64>,
        /// True if edges have weights.
        weighted: bool,
    },
}

impl TopologySummary {
    /// A grid with the weights of edges along its dimensions, if they are known.
    pub fn of_cart(grid: &Cart, weights: Option<Vec<i64>>) -> Self {
        let sides = grid.dimensions();
        Self::Cart {
            dims: sides.iter().map(|side| side.size).collect(),
            periodic: sides.iter().map(|side| side.periodic).collect(),
            weights,
        }
    }
}

impl From<&Cart> for TopologySummary {
    fn from(grid: &Cart) -> Self {
        Self::of_cart(grid, None)
    }
}

impl From<&Graph> for TopologySummary {
    fn from(graph: &Graph) -> Self {
        Self::Graph { nnodes: graph.nnodes(), edges: graph.edges().len() as i64 }
    }
}

impl fmt::Display for TopologySummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cart { dims, .. } if dims.is_empty() => f.write_str("grid without dimensions"),
            Self::Cart { dims, periodic, .. } => {
                let sides: Vec<String> = dims.iter().map(i32::to_string).collect();
                write!(f, "grid {}", sides.join(" x "))?;
                let along: Vec<String> = periodic
                    .iter()
                    .enumerate()
                    .filter(|(_, periodic)| **periodic)
                    .map(|(i, _)| i.to_string())
                    .collect();
                match along.len() {
                    0 => Ok(()),
                    all if all == dims.len() => f.write_str(", periodic"),
                    _ => write!(f, ", periodic along {}", along.join(" and ")),
                }
            }
            Self::Graph { nnodes, edges } => write!(f, "graph of {nnodes} nodes and {edges} edges"),
            Self::DistGraph { edges, weighted } => {
                let weights = if *weighted { "weighted " } else { "" };
                write!(f, "{weights}distributed graph")?;
                edges.map_or(Ok(()), |edges| write!(f, " of {edges} edges"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_described_with_their_periodic_dimensions() {
        for (dims, periods, words) in [
            (&[][..], &[][..], "grid without dimensions"),
            (&[4, 3], &[false, false], "grid 4 x 3"),
            (&[4, 3], &[true, true], "grid 4 x 3, periodic"),
            (&[4, 3, 2], &[true, false, true], "grid 4 x 3 x 2, periodic along 0 and 2"),
        ] {
            let grid = Cart::new(dims, periods, 24).expect("a grid");
            assert_eq!(TopologySummary::from(&grid).to_string(), words);
        }
        let graph = Graph::new(&[1, 2], &[1, 0]).expect("a graph");
        let told = TopologySummary::from(&graph).to_string();
        assert_eq!(told, "graph of 2 nodes and 2 edges");
        let told = |edges, weighted| TopologySummary::DistGraph { edges, weighted }.to_string();
        assert_eq!(told(None, false), "distributed graph");
        assert_eq!(told(Some(2), true), "weighted distributed graph of 2 edges");
    }
}
