//! The faults that the engine finds.

use crate::topology::{self, Class};

/// A fault that the engine found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// In this process' own arguments, found without communication.
    #[error(transparent)]
    Here(#[from] topology::Error),
    /// In the arguments of one rank, agreed on by all.
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
