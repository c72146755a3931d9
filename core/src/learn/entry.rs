//! The entry of a program: the facts learned about it, in a file of the store.

use cartograph_traffic::{Work, mixed};
use serde::{Deserialize, Serialize};

use super::evidence::{Run, mean_times};
use super::traffic::Traffic;

/// The version of the format. It increases when a field changes its meaning or is removed, not when one is added.
pub const SCHEMA: u32 = 2;

/// The most runs that are kept; sums cover all runs.
const MOST_RUNS: usize = 300;

/// The most kinds of work.
const MOST_WORKS: usize = 100;

/// Runs did the same work if their numbers of messages, bytes and collectives differ by no more than this fraction:
/// programs that iterate until convergence do not always take the same number of steps.
const ALIKE: f64 = 0.02;

/// The facts learned about a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The name of the program's file, or the user's name for it.
    pub program: String,
    /// A number for the build.
    pub build: String,
    /// The number of processes.
    pub processes: u32,
    /// The MPI's name and version, once a run was recorded.
    pub mpi: String,
    /// The traffic, once it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// The kinds of work that its runs did.
    #[serde(default)]
    pub works: Vec<Work>,
    /// The last runs, oldest first.
    #[serde(default)]
    pub runs: Vec<Past>,
    /// The sums of all runs.
    #[serde(default)]
    pub totals: Totals,
    /// The placements in which the program failed since it last failed in the default order, each with the number of
    /// runs that were completed before.
    #[serde(default)]
    failed: Vec<(String, u64)>,
}

/// A completed run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// The placement; empty for the default order.
    pub order: String,
    /// Its predicted gain; 1 for the default order.
    pub predicted: f64,
    /// The index of its work.
    pub work: usize,
    /// The shape of the nodes in the default order, as computed by [`shape`].
    pub shape: u64,
    /// The number of nodes.
    pub nodes: u32,
    /// The time from `MPI_Init` to `MPI_Finalize`.
    pub seconds: f64,
}

/// Sums over all runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// The number of completed runs.
    pub runs: u64,
    /// The node-hours that placements saved, as estimated at the end of each run.
    pub saved: f64,
    /// The node-hours that placements lost.
    pub lost: f64,
}

/// Why a file is not used, as text that follows its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Another version of Cartograph wrote it.
    #[error("has format version {0}")]
    Version(u32),
    /// It is not an entry, or damaged.
    #[error("{0}")]
    Wrong(String),
}

/// A hash of a text or of a file's content.
pub fn digest(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let start = mixed(bytes.len() as u64);
    let all = words.iter().fold(start, |digest, word| mixed(digest ^ u64::from_le_bytes(*word)));
    rest.iter().fold(all, |digest, byte| mixed(digest ^ u64::from(*byte)))
}

/// A hash of the nodes of ranks, regardless of their names: equal for jobs whose ranks share nodes in the same way.
pub fn shape(node_of: &[u32]) -> u64 {
    let mut number = std::collections::HashMap::new();
    node_of.iter().fold(0, |digest, node| {
        let next = number.len() as u64;
        mixed(digest ^ *number.entry(node).or_insert(next))
    })
}

impl Entry {
    /// An empty entry.
    pub fn new(program: &str, build: &str, processes: u32) -> Self {
        Self {
            schema: SCHEMA,
            program: program.to_owned(),
            build: build.to_owned(),
            processes,
            mpi: String::new(),
            traffic: None,
            works: Vec::new(),
            runs: Vec::new(),
            totals: Totals::default(),
            failed: Vec::new(),
        }
    }

    /// The entry as the text of its file.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("all keys are strings") + "\n"
    }

    /// Parses an entry's file.
    ///
    /// # Errors
    ///
    /// Why the file is not used.
    pub fn parse(text: &str) -> Result<Self, Unusable> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let wrong = |error: serde_json::Error| {
            let reason = cartograph_traffic::printable(&error.to_string());
            Unusable::Wrong(format!("is not an entry: {reason}"))
        };
        let Version { schema } = serde_json::from_str(text).map_err(wrong)?;
        if schema != SCHEMA {
            return Err(Unusable::Version(schema));
        }
        let entry: Self = serde_json::from_str(text).map_err(wrong)?;
        let orders = entry.runs.iter().map(|run| &run.order);
        let texts = orders.chain(entry.failed.iter().map(|(order, _)| order)).chain([
            &entry.program,
            &entry.build,
            &entry.mpi,
        ]);
        if { texts }.any(|text| text.contains(char::is_control)) {
            return Err(Unusable::Wrong("has control characters".to_owned()));
        }
        let is_time = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        let is_right = |run: &Past| {
            run.work < entry.works.len() && is_time(run.seconds) && is_time(run.predicted)
        };
        if !entry.runs.iter().all(is_right) {
            return Err(Unusable::Wrong("has an invalid run".to_owned()));
        }
        Ok(entry)
    }

    /// The index of a kind of work, which is added if it is new.
    pub fn work(&mut self, work: Work) -> usize {
        if let Some(at) = self.works.iter().position(|known| are_alike(known, &work)) {
            return at;
        }
        if self.works.len() == MOST_WORKS {
            // Jobs that never repeat have nothing to compare with; the last index is shared by all of them.
            self.works.pop();
            let last = self.works.len();
            self.runs.retain(|run| run.work < last);
        }
        self.works.push(work);
        self.works.len() - 1
    }

    /// Records that a run failed.
    pub fn fail(&mut self, order: &str) {
        match order {
            "" => self.failed.clear(),
            order if self.failed.len() < MOST_WORKS => {
                self.failed.push((order.to_owned(), self.totals.runs));
            }
            _ => {}
        }
    }

    /// True if a placement may have made the program fail: it failed twice in that placement, or once without any
    /// completed run since. If the program also fails in the default order, no placement is blamed.
    pub fn is_blamed(&self, order: &str) -> bool {
        let mut found = self.failed.iter().filter(|(failed, _)| failed == order);
        let first = found.next();
        first.is_some_and(|(_, runs)| *runs == self.totals.runs || found.next().is_some())
    }

    /// The runs on nodes of a shape, as arguments of the policy: the default order is arm 0, followed by `orders`; runs
    /// in other placements are omitted.
    pub fn runs_of(&self, shape: u64, orders: &[String]) -> Vec<Run> {
        let mut runs = self.runs_everywhere(shape, orders);
        runs.retain(|run| run.shape == shape);
        runs
    }

    /// Like `runs_of`, but also with the runs on nodes of other shapes, where every placement counts as the first of
    /// `orders`.
    pub fn runs_everywhere(&self, shape: u64, orders: &[String]) -> Vec<Run> {
        let runs = self.runs.iter().filter_map(|run| {
            let arm = match &run.order[..] {
                "" => 0,
                _ if run.shape != shape => 1,
                order => orders.iter().position(|known| known == order)? + 1,
            };
            Some(Run { arm, group: run.work as u64, shape: run.shape, seconds: run.seconds })
        });
        runs.collect()
    }

    /// The predicted and measured gains on nodes of other shapes.
    pub fn experience(&self, shape: u64) -> Vec<(f64, f64)> {
        let mut seen: Vec<(u64, &str, f64)> = Vec::new();
        for run in self.runs.iter().filter(|run| run.shape != shape && !run.order.is_empty()) {
            if !seen.iter().any(|(shape, order, _)| (*shape, *order) == (run.shape, &run.order)) {
                seen.push((run.shape, &run.order, run.predicted));
            }
        }
        let found = seen.into_iter().filter_map(|(shape, order, predicted)| {
            let runs = self.runs_of(shape, &[order.to_owned()]);
            Some((predicted, mean_times(&runs, 1)?))
        });
        found.collect()
    }

    /// Adds a run.
    pub fn add(&mut self, run: Past) {
        self.totals.runs = self.totals.runs.saturating_add(1);
        let (order, shape, hours) = (run.order.clone(), run.shape, run.seconds / 3600.0);
        let nodes = f64::from(run.nodes);
        self.runs.push(run);
        if !order.is_empty() {
            let runs = self.runs_of(shape, std::slice::from_ref(&order));
            let ahead = mean_times(&runs, 1).map_or(0.0, |ratio| (ratio - 1.0) * hours * nodes);
            self.totals.saved += ahead.max(0.0);
            self.totals.lost += (-ahead).max(0.0);
        }
        if self.runs.len() > MOST_RUNS {
            self.runs.remove(0);
        }
    }
}

/// True if two runs did the same work, within the usual variation.
fn are_alike(one: &Work, other: &Work) -> bool {
    let close = |one: u64, other: u64| one.abs_diff(other) as f64 <= ALIKE * one.max(other) as f64;
    close(one.messages, other.messages)
        && close(one.bytes, other.bytes)
        && close(one.collectives, other.collectives)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(order: &str, shape: u64, seconds: f64) -> Past {
        Past { order: order.into(), predicted: 1.2, work: 0, shape, nodes: 2, seconds }
    }

    fn entry() -> Entry {
        let mut entry = Entry::new("app", "abc", 16);
        assert_eq!(entry.work(Work { messages: 1000, bytes: 1_000_000, collectives: 5 }), 0);
        entry
    }

    #[test]
    fn an_entry_is_written_and_read() {
        let mut entry = entry();
        entry.add(run("", 7, 3600.0));
        entry.add(run("blocks", 7, 1800.0));
        assert_eq!(Entry::parse(&entry.json()), Ok(entry.clone()));
        let Totals { runs, saved, lost } = entry.totals;
        assert!(runs == 2 && (saved - 1.0).abs() < 1e-9 && lost == 0.0, "{entry:?}");
        let refused = |text: &str| Entry::parse(text).unwrap_err().to_string();
        assert!(
            refused(&entry.json().replace("\"schema\":2", "\"schema\":1")).contains("version 1")
        );
        assert!(refused(&entry.json().replace("app", "\\u001b[2J")).contains("control"));
        assert!(refused(&entry.json().replace("1800.0", "-1.0")).contains("invalid run"));
        assert!(refused(&entry.json().replace("\"work\":0", "\"work\":9")).contains("invalid run"));
        assert!(refused("hello").contains("not an entry"));
    }

    #[test]
    fn the_same_work_is_known_again() {
        let mut entry = entry();
        assert_eq!(entry.work(Work { messages: 1010, bytes: 1_005_000, collectives: 5 }), 0);
        assert_eq!(entry.work(Work { messages: 2000, bytes: 2_000_000, collectives: 5 }), 1);
        for number in 0..2 * MOST_WORKS as u64 {
            entry.work(Work { messages: 1 << (number % 60), bytes: number, collectives: number });
            assert!(entry.works.len() <= MOST_WORKS);
        }
    }

    #[test]
    fn a_placement_that_fails_is_not_used_until_the_program_fails_without_it() {
        let mut entry = entry();
        entry.fail("blocks");
        entry = Entry::parse(&entry.json()).unwrap();
        assert!(entry.is_blamed("blocks") && !entry.is_blamed("other"));
        // A run in the default order was completed, so the placement gets another chance.
        entry.add(run("", 1, 1.0));
        assert!(!entry.is_blamed("blocks"));
        entry.fail("blocks");
        entry.add(run("", 1, 1.0));
        assert!(entry.is_blamed("blocks"));
        entry.fail("");
        assert!(!entry.is_blamed("blocks"));
    }

    #[test]
    fn shapes_have_no_names() {
        assert_eq!(shape(&[0, 0, 1, 1]), shape(&[5, 5, 3, 3]));
        assert_ne!(shape(&[0, 0, 1, 1]), shape(&[0, 1, 0, 1]));
        assert_ne!(shape(&[0, 0, 1, 1]), shape(&[0, 0, 1]));
    }

    #[test]
    fn other_nodes_teach_what_forecasts_are_worth() {
        let mut entry = entry();
        for (order, shape, seconds) in [("", 1, 10.0), ("blocks", 1, 8.0), ("", 2, 5.0)] {
            entry.add(run(order, shape, seconds));
        }
        let [(predicted, found)] = entry.experience(2)[..] else { panic!() };
        assert!((predicted - 1.2).abs() < 1e-9 && (found - 1.25).abs() < 1e-9);
        assert!(entry.experience(1).is_empty());
        assert_eq!(entry.runs_of(1, &["blocks".into()]).len(), 2);
        assert_eq!(entry.runs_of(2, &["blocks".into()]).len(), 1);
        for _ in 0..2 * MOST_RUNS {
            entry.add(run("", 1, 1.0));
        }
        assert_eq!((entry.runs.len(), entry.totals.runs), (MOST_RUNS, 603));
    }
}
