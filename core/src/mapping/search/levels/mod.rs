//! The levels above the nodes: switches and other groups of nodes. An edge between two groups costs more than one
//! between two nodes of one group.
//!
//! The sum over all edges of the distance between their ends is minimized. A mapping is found from the top down
//! (`multisect`: vertices are divided among the switches, then those of each switch among its nodes), or from the nodes
//! upward (`rematch`: each part of a mapping to nodes goes to the node where it is nearest to the parts that it sends
//! to).

mod matching;
mod multisection;
#[cfg(test)]
mod tests;

pub(super) use self::matching::rematch;
pub(super) use self::multisection::multisect;
