//! Faults of calls, each described with the argument's name and the numbers.

/// The MPI error class that a fault belongs to. The standard's topology chapter names none;
/// these are the classes that hosts agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `MPI_ERR_COMM`: no communicator, or one of the wrong kind.
    Comm,
    /// `MPI_ERR_RANK`: a rank that the communicator does not have.
    Rank,
    /// `MPI_ERR_TOPOLOGY`: the communicator has another topology, or none.
    Topology,
    /// `MPI_ERR_DIMS`: arguments of `MPI_Dims_create`.
    Dims,
    /// `MPI_ERR_ARG`: any other argument.
    Arg,
    /// `MPI_ERR_UNSUPPORTED_OPERATION`: the host lacks a required function.
    Unsupported,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 6] =
        [Self::Comm, Self::Rank, Self::Topology, Self::Dims, Self::Arg, Self::Unsupported];

    /// The index of the class in [`Class::ALL`], for messages between ranks and for tables.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A fault in the arguments that one process passed to a function.
#[allow(missing_docs, reason = "each message says what its fields are")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("comm is MPI_COMM_NULL")]
    NullComm,
    #[error("comm is an inter-communicator; topologies are for intra-communicators")]
    InterComm,
    #[error("comm has no topology; {wanted} is needed")]
    NoTopology { wanted: &'static str },
    #[error("comm has {found}; {wanted} is needed")]
    OtherTopology { wanted: &'static str, found: &'static str },
    #[error("comm has no topology, and so no neighbors")]
    NoNeighbors,
    #[error("{argument} is MPI_IN_PLACE, which neighborhood collectives do not have")]
    InPlace { argument: &'static str },
    #[error("{argument} is a null pointer")]
    NullPointer { argument: &'static str },
    #[error("{argument} is {value}; it must not be negative")]
    Negative { argument: &'static str, value: i32 },
    #[error("rank is {rank}, outside 0 to {}", size - 1)]
    Rank { rank: i32, size: i32 },
    #[error("ndims is {ndims}; it must not be negative")]
    NegativeNdims { ndims: i32 },
    #[error("nnodes is {nnodes}; it must be at least 1")]
    NnodesNotPositive { nnodes: i32 },
    #[error("dims[{dimension}] is {value}; it must be positive, or 0 to have it chosen")]
    NegativeDim { dimension: usize, value: i32 },
    #[error(
        "nnodes is {nnodes}, not a multiple of {product}, the product of the dims that are set"
    )]
    NotAMultiple { nnodes: i32, product: i64 },
    #[error("nnodes is {nnodes}, but no entry of dims is 0 and their product is {product}")]
    DimsProduct { nnodes: i32, product: i64 },
    #[error("dims[{dimension}] is {value}; it must be at least 1")]
    DimNotPositive { dimension: usize, value: i32 },
    #[error("dims make a grid of {cells} processes, but comm has only {size}")]
    GridTooLarge { cells: u128, size: i32 },
    #[error(
        "coordinate {value} of dimension {dimension} is outside 0 to {} and the dimension is not periodic",
        size - 1
    )]
    Coordinate { dimension: usize, value: i32, size: i32 },
    #[error("direction is {direction}, but the grid has {ndims} dimensions")]
    Direction { direction: i32, ndims: usize },
    #[error("nnodes is {nnodes}, but comm has only {size} processes")]
    GraphTooLarge { nnodes: i32, size: i32 },
    #[error(
        "index[{position}] is {value}, less than the {previous} before it; index must not decrease"
    )]
    IndexDecreases { position: usize, value: i32, previous: i32 },
    #[error("{argument}[{position}] is {value}, outside 0 to {}", nodes - 1)]
    NodeOutOfRange { argument: &'static str, position: usize, value: i32, nodes: i32 },
    #[error("{argument}[{position}] is {value}; it must not be negative")]
    NegativeEntry { argument: &'static str, position: usize, value: i32 },
    #[error("degrees add up to {edges} edges, more than an int can count")]
    TooManyEdges { edges: i64 },
    #[error("{argument} is MPI_WEIGHTS_EMPTY, but there are {edges} edges")]
    EmptyWeights { argument: &'static str, edges: usize },
    #[error(
        "{unweighted} is MPI_UNWEIGHTED but {weighted} is not; a graph has weights on all its edges or on none"
    )]
    HalfWeighted { unweighted: &'static str, weighted: &'static str },
}

impl Error {
    /// The MPI error class of this fault.
    pub const fn class(&self) -> Class {
        match self {
            Self::NullComm | Self::InterComm => Class::Comm,
            Self::NoTopology { .. } | Self::OtherTopology { .. } | Self::NoNeighbors => {
                Class::Topology
            }
            Self::Rank { .. } => Class::Rank,
            Self::NegativeNdims { .. }
            | Self::NnodesNotPositive { .. }
            | Self::NegativeDim { .. }
            | Self::NotAMultiple { .. }
            | Self::DimsProduct { .. } => Class::Dims,
            _ => Class::Arg,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_the_class_of_the_standard() {
        for (place, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class.index(), place);
        }
        for (error, class) in [
            (Error::NullComm, Class::Comm),
            (Error::InterComm, Class::Comm),
            (Error::NoTopology { wanted: "a grid" }, Class::Topology),
            (Error::OtherTopology { wanted: "a grid", found: "a graph" }, Class::Topology),
            (Error::NoNeighbors, Class::Topology),
            (Error::Rank { rank: 2, size: 2 }, Class::Rank),
            (Error::NegativeNdims { ndims: -1 }, Class::Dims),
            (Error::NegativeDim { dimension: 0, value: -1 }, Class::Dims),
            (Error::NotAMultiple { nnodes: 3, product: 2 }, Class::Dims),
            (Error::Direction { direction: 1, ndims: 1 }, Class::Arg),
            (Error::DimNotPositive { dimension: 0, value: 0 }, Class::Arg),
        ] {
            assert_eq!(error.class(), class, "{error}");
        }
    }
}
