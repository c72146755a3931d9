//! The report as a document, and as JSON.

use serde::{Deserialize, Serialize};

use super::effect::NodeSizes;
use super::origin::Origin;
use super::record::Record;

/// The version of the format. It increases when a field changes its meaning or is removed, not when one is added.
pub const SCHEMA: u32 = 1;

/// A report as described in `docs/design/report-schema.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of the library that wrote it.
    pub cartograph: String,
    /// The job, if it is known.
    pub job: Option<Job>,
    /// The topologies that were created, in the order of first occurrence.
    pub topologies: Vec<Record>,
    /// The number of further topologies, which were not recorded because there were too many kinds.
    pub not_recorded: u64,
    /// The warnings.
    pub warnings: Vec<Warning>,
}

/// The job that is reported on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The MPI library's name and version, as it reports them.
    pub mpi: String,
    /// The number of processes of `MPI_COMM_WORLD`.
    pub processes: i32,
    /// The rank of the reporting process in it.
    pub rank: i32,
    /// The sizes of the nodes of `MPI_COMM_WORLD`, if they are known.
    pub nodes: Option<NodeSizes>,
    /// The origin of the report, if a site collects reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// A warning to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Its text, one line.
    pub text: String,
    /// The number of times it was given.
    pub count: u64,
}

/// Why a text is not a report.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not of this form.
    #[error("it is not a JSON report ({0})")]
    Malformed(#[from] serde_json::Error),
    /// Written by a later version.
    #[error("it has format version {0}, but this Cartograph reads version {SCHEMA}")]
    OtherSchema(u32),
}

impl Default for Document {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            cartograph: env!("CARGO_PKG_VERSION").to_owned(),
            job: None,
            topologies: Vec::new(),
            not_recorded: 0,
            warnings: Vec::new(),
        }
    }
}

impl Document {
    /// The document in JSON, on one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("all keys are strings")
    }

    /// The document in JSON in at most about `most` bytes: with only the first topologies and warnings if all are too
    /// much. The others are counted.
    pub fn shortened(mut self, most: usize) -> String {
        loop {
            let json = self.json();
            let (topologies, warnings) = (self.topologies.len(), self.warnings.len());
            if json.len() <= most || topologies + warnings == 0 {
                return json;
            }
            // At least one is dropped each time.
            let fewer = |count: usize| (count * most / json.len()).min(count.saturating_sub(1));
            self.not_recorded +=
                self.topologies.drain(fewer(topologies)..).map(|record| record.count).sum::<u64>();
            self.warnings.truncate(fewer(warnings));
        }
    }

    /// Reads the output of [`json`](Self::json).
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub fn read(json: &str) -> Result<Self, ReadError> {
        /// The fields that all versions have.
        #[derive(Deserialize)]
        struct Head {
            schema: u32,
        }
        let head: Head = serde_json::from_str(json)?;
        if head.schema != SCHEMA {
            return Err(ReadError::OtherSchema(head.schema));
        }
        Ok(serde_json::from_str(json)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{LevelKind, Machine};
    use crate::mapping::{Csr, Distances, Grid, Plan};
    use crate::report::{Origin, Reason, Record, ReorderOrigin, Report};
    use crate::topology::Cart;
    use crate::topology::TopologySummary;

    #[test]
    fn a_written_report_is_read_back() {
        let report = Report::new();
        let nodes = Some([2, 2, 1].into_iter().collect());
        let origin = Some(Origin { id: "17.0".into(), ..Origin::default() });
        report.job(Job { mpi: "An \"MPI\"\n".into(), processes: 5, rank: 0, nodes, origin });
        let grid = Cart::new(&[2, 2], &[true, false], 5).unwrap();
        let machine = Machine::parse("2,2,1", 5).unwrap();
        let switches = machine.clone().under(LevelKind::Switch, &[0, 0, 1, 1, 0]).unwrap();
        let plan = Plan {
            old_rank: Some([0, 2, 1, 3].into()),
            ..Plan::identity(&Grid::from(&grid), &switches, &Distances::default(), |_| 2)
        };
        report.add(
            Record::planned("MPI_Cart_create", &grid, ReorderOrigin::Forced, &switches, &plan)
                .took(0.5, 1.0),
        );
        let graph = Csr::from_edges(5, [(0, 4, 3)].into_iter());
        let plan = Plan::identity(&graph, &machine, &Distances::default(), |_| 0);
        let shape = TopologySummary::DistGraph { edges: None, weighted: true };
        report.add(
            Record::planned("MPI_Dist_graph_create", shape, ReorderOrigin::Asked, &machine, &plan)
                .kept(Reason::TooLarge),
        );
        report.warn("careful");
        let json = report.json();
        let read = Document::read(&json).unwrap();
        assert_eq!(read.json(), json);
        assert_eq!(read.to_string(), report.news());

        // docs/design/report-schema.md has the same keys as the output.
        let shown = include_str!("../../../docs/design/report-schema.md");
        let shown = shown.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
        let keys = |value: &serde_json::Value| -> Vec<String> {
            let mut keys = Vec::new();
            let mut stack = vec![(String::new(), value)];
            while let Some((path, value)) = stack.pop() {
                match value {
                    serde_json::Value::Object(fields) => stack
                        .extend(fields.iter().map(|(key, value)| (format!("{path}.{key}"), value))),
                    serde_json::Value::Array(items) => {
                        stack.extend(items.iter().map(|item| (format!("{path}[]"), item)));
                    }
                    _ => keys.push(path),
                }
            }
            keys.sort_unstable();
            keys.dedup();
            keys
        };
        let written = serde_json::from_str(&json).unwrap();
        assert_eq!(keys(&serde_json::from_str(shown).unwrap()), keys(&written));
    }

    #[test]
    fn reports_in_other_forms_are_refused() {
        let refused = |json: &str| Document::read(json).unwrap_err().to_string();
        assert!(refused("{\"schema\": 2}").contains("version 2"));
        assert!(refused("{}").contains("not a JSON report"));
        assert!(refused("").contains("not a JSON report"));
    }
}
