//! The levels above the nodes: switches and other groups of nodes, between which an edge costs more than
//! between two nodes of one group.
//!
//! The sum over all edges of the distance of their ends is minimized. A mapping comes from the top down (`multisect`:
//! vertices are divided among the switches, then those of each switch among its nodes), or from the nodes upward
//! (`rematch`: the parts of a mapping to nodes only go to the node where they are nearest to what they
//! sends to).

mod matching;
mod multisection;
#[cfg(test)]
mod tests;

pub(super) use self::matching::rematch;
pub(super) use self::multisection::multisect;
