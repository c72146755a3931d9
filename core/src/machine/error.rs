//! Errors in the text of a layout.

use super::MOST_LEVELS;

/// Why the text of a layout is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Neither "4x16" nor "16,16,8".
    #[error(
        "invalid layout '{0}' (expected NODESxRANKS such as 4x16, with switches 2x4x16, a list of these 40*48,16,8, or \
         a file)"
    )]
    Malformed(String),
    /// Parts of a list with a different number of levels than the first part.
    #[error("'{text}': '{part}' has {levels} levels, but the first part has {first}")]
    OtherDepth {
        /// The text.
        text: String,
        /// The part that differs.
        part: String,
        /// The number of levels that it has.
        levels: usize,
        /// The number of levels that the first part has.
        first: usize,
    },
    /// More levels than [`MOST_LEVELS`].
    #[error("'{text}' has {levels} levels, but at most {MOST_LEVELS} are supported")]
    TooDeep {
        /// The text.
        text: String,
        /// The number of levels that it has.
        levels: usize,
    },
    /// The text does not have that form, and is not a readable file either.
    #[error(
        "'{name}' is neither NODESxRANKS (4x16) nor a list of node sizes (40*48,16,8), and as a file it cannot be \
         read: {why}"
    )]
    Unreadable {
        /// The text.
        name: String,
        /// The system's error for the file.
        why: String,
    },
    /// The numbers of places on the nodes and of processes differ.
    #[error("the layout '{text}' has {places} places, but there are {ranks} processes")]
    OtherSize {
        /// The text.
        text: String,
        /// The number of places.
        places: usize,
        /// The number of processes.
        ranks: usize,
    },
    /// A file that gives the location of nodes, but not the ranks on them.
    #[error(
        "'{0}' describes the network, not the node of each rank, which only the processes of a job know"
    )]
    NetworkMap(String),
    /// A line of a file is wrong.
    #[error("line {line} of the file: {what}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The error on that line.
        what: String,
    },
}
