//! The faults that the engine finds.

use crate::topology::{self, Class};

/// A fault that the engine found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A fault in this process's own arguments, found without communication.
    #[error(transparent)]
    Here(#[from] topology::Error),
    /// A fault in the arguments of one rank, on which all ranks agreed.
    #[error("on rank {rank}: {text}")]
    OnRank {
        /// The lowest rank that has the fault.
        rank: i32,
        /// The class of the fault.
        class: Class,
        /// The text of the fault.
        text: String,
    },
}

impl Error {
    /// The MPI error class of this fault.
    pub fn class(&self) -> Class {
        match self {
            Self::Here(error) => error.class(),
            Self::OnRank { class, .. } => *class,
        }
    }
}
