//! Reads from a run's reports which constructors reordered ranks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cartograph_core::engine::arguments::Function;
use cartograph_core::engine::policy::CONSTRUCTORS;
use cartograph_core::report::Document;

#[derive(Debug, Default)]
pub(super) struct Moves {
    /// True if there is a report.
    pub(super) are_known: bool,
    /// The constructors that were called, and whether they reordered ranks.
    by: BTreeMap<Function, bool>,
}

impl Moves {
    /// Reads and removes the reports in a directory; several processes may write some.
    pub(super) fn take(directory: &Path) -> Self {
        let mut moves = Self::default();
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let text = fs::read_to_string(entry.path());
            if let Some(report) = text.ok().and_then(|text| Document::read(&text).ok()) {
                moves.add(&report);
            }
            // A remaining file would be read again, unless the next run replaces it.
            let _ = fs::remove_file(entry.path());
        }
        moves
    }

    fn add(&mut self, report: &Document) {
        self.are_known = true;
        for record in &report.topologies {
            let named = |function: &Function| function.name() == record.function;
            if let Some(function) = CONSTRUCTORS.into_iter().find(named) {
                *self.by.entry(function).or_default() |= record.kept.is_none();
            }
        }
    }

    /// True if no constructor was called.
    pub(super) fn has_no_topology(&self) -> bool {
        self.by.is_empty()
    }

    /// The constructors that reordered ranks.
    pub(super) fn by(&self) -> Vec<Function> {
        self.by.iter().filter(|(_, moved)| **moved).map(|(function, _)| *function).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reports_of_all_processes_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let moves = Moves::take(directory.path());
        assert!(!moves.are_known && moves.has_no_topology());
        let report = |function: &str, kept: &str| {
            format!(
                r#"{{"schema": 1, "cartograph": "0.1.0", "job": null, "topologies": [{{"function": "{function}", "count": 1,
                "topology": {{"kind": "cart", "dims": [8], "periodic": [false], "weights": null}}, "comm_size": 8,
                "reorder": "asked", "nodes": null, "kept": {kept}, "effect": null, "mapping_seconds": 0, "seconds": 0}}],
                "not_recorded": 0, "warnings": []}}"#
            )
        };
        let kept = r#"{"code": "one_node", "text": "one node"}"#;
        for (name, text) in [
            ("report.json", report("MPI_Cart_create", "null")),
            ("report.json.4", report("MPI_Cart_create", kept)),
            ("report.json.5", report("MPI_Graph_create", kept)),
            ("report.json.6", "{".to_owned()),
        ] {
            fs::write(directory.path().join(name), text).unwrap();
        }
        let moves = Moves::take(directory.path());
        assert!(moves.are_known && !moves.has_no_topology());
        assert_eq!(moves.by(), [Function::CartCreate]);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
