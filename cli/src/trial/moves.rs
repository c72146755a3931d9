//! Reads what a run's report on stderr says of the processes that were moved.

use std::collections::BTreeMap;

use cartograph_core::engine::arguments::Function;
use cartograph_core::engine::policy::CONSTRUCTORS;

#[derive(Debug, Default)]
pub(super) struct Moves {
    /// True if there is a report.
    pub(super) are_told: bool,
    /// The constructors that were called, and whether they moved processes.
    by: BTreeMap<Function, bool>,
}

impl Moves {
    /// Reads the report among other lines; the launcher may write something before each.
    pub(super) fn read(stderr: &str) -> Self {
        let (mut moves, mut last) = (Self::default(), None);
        for line in stderr.lines() {
            moves.are_told |= line.contains("Cartograph ") && line.contains(" processes");
            let is_of = |function: &Function| {
                [": ", ", "].iter().any(|end| line.contains(&format!("{}{end}", function.name())))
            };
            if let Some(function) = CONSTRUCTORS.into_iter().find(is_of) {
                moves.by.entry(function).or_default();
                last = Some(function);
            } else if let Some(function) = last.filter(|_| line.contains("  ranks reordered")) {
                moves.by.insert(function, true);
            }
        }
        moves
    }

    /// Returns whether no constructor was called.
    pub(super) fn has_no_topology(&self) -> bool {
        self.by.is_empty()
    }

    /// The constructors that moved processes.
    pub(super) fn by(&self) -> Vec<Function> {
        self.by.iter().filter(|(_, moved)| **moved).map(|(function, _)| *function).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_among_other_lines() {
        let moves = Moves::read("warning: MPI\n");
        assert!(!moves.are_told && moves.has_no_topology());
        let moves = Moves::read(
            "[1,0]<stderr>:Cartograph 0.1.0 on rank 2: 8 processes, some MPI
[1,0]<stderr>:MPI_Cart_create, 3 times: grid 8, 8 of 8 processes
[1,0]<stderr>:  ranks reordered by bricks; 1 ms to map
MPI_Dist_graph_create_adjacent: distributed graph, 8 of 8 processes
  ranks kept: one node
MPI_Cart_create, 9 times in all: grid 8, 8 of 8 processes
",
        );
        assert!(moves.are_told && !moves.has_no_topology());
        assert_eq!(moves.by(), [Function::CartCreate]);
    }
}
