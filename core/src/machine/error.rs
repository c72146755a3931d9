//! Errors in a layout as it was written.

use super::MOST_LEVELS;

/// Why the text of a layout is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Neither "4x16" nor "16,16,8".
    #[error(
        "invalid layout '{0}' (expected NODESxRANKS such as 4x16, with switches 2x4x16, a list of these 40*48,16,8, or \
         a file)"
    )]
    Malformed(String),
    /// Parts of a list that have another number of levels than the first.
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
    /// Not of that form, and no file that can be read either.
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
    /// The nodes have another number of places than there are processes.
    #[error("the layout '{text}' has {places} places, but there are {ranks} processes")]
    OtherSize {
        /// The text.
        text: String,
        /// The number of processes that it speaks of.
        places: usize,
        /// The number of there that are.
        ranks: usize,
    },
    /// A file that says where nodes are, and not which ranks run on them.
    #[error(
        "'{0}' describes the network, not the node of each rank, which only the processes of a job know"
    )]
    NetworkMap(String),
    /// A line of a file is wrong.
    #[error("line {line} of the file: {what}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// The error on that line.
        what: String,
    },
}
