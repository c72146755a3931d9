//! The collection of records, while the job runs.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::json::{Document, Warning};
use super::record::{NodeSizes, Record};

/// Different records that are kept; further ones are only counted.
const MOST_RECORDS: usize = 1000;

/// Different warnings that are kept.
const MOST_WARNINGS: usize = 100;

/// Numbers that are kept for pictures, of all records together.
const MOST_DRAWN: usize = 1 << 20;

/// The job that is reported on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// What the MPI calls itself.
    pub mpi: String,
    /// The nodes of `MPI_COMM_WORLD`.
    pub nodes: NodeSizes,
}

/// Collects what was done. Any thread may add to it. Memory is bounded, whatever a program creates:
/// what would be told alike is one record with a count.
#[derive(Debug, Default)]
pub struct Report {
    collected: Mutex<Collected>,
}

#[derive(Debug, Default)]
struct Collected {
    document: Document,
    /// Records by a hash of what they tell.
    known: HashMap<u64, usize>,
    hasher: RandomState,
    drawn: usize,
}

impl Report {
    /// Nothing so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// A panic of another thread ends the process anyway.
    fn collected(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what job this is.
    pub fn job(&self, job: Job) {
        self.collected().document.job = Some(job);
    }

    /// Adds a topology communicator.
    pub fn add(&self, record: Record) {
        self.collected().add(record);
    }

    /// Adds something that the user should know. The same text is kept once.
    pub fn warn(&self, text: impl Into<String>) {
        self.collected().warn(text.into());
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        let document = &self.collected().document;
        document.topologies.is_empty() && document.warnings.is_empty()
    }

    /// Adds what another process has collected, in the form of [`json`](Self::json). What is no
    /// report is left out.
    pub fn absorb(&self, json: &str) {
        let Ok(other) = Document::read(json) else { return };
        let mut collected = self.collected();
        collected.document.not_recorded += other.not_recorded;
        other.topologies.into_iter().for_each(|record| collected.add(record));
        for Warning { text, count } in other.warnings {
            (0..count.min(1)).for_each(|_| collected.warn(text.clone()));
        }
    }

    /// What there is to tell, for people.
    pub fn text(&self) -> String {
        self.collected().document.to_string()
    }

    /// What there is to tell, for programs; `docs/report-schema.md` describes it.
    pub fn json(&self) -> String {
        self.collected().document.json()
    }
}

impl Collected {
    fn add(&mut self, mut record: Record) {
        let records = &mut self.document.topologies;
        let hash = self.hasher.hash_one(record.told());
        if let Some(known) = self.known.get(&hash).map(|at| &mut records[*at])
            && known.told() == record.told()
        {
            known.count += record.count;
            known.mapping_seconds += record.mapping_seconds;
            known.seconds += record.seconds;
            return;
        }
        if records.len() == MOST_RECORDS {
            self.document.not_recorded += record.count;
            return;
        }
        if self.drawn + record.drawn() > MOST_DRAWN {
            (record.places, record.traffic) = (None, None);
        }
        self.drawn += record.drawn();
        self.known.insert(hash, records.len());
        records.push(record);
    }

    fn warn(&mut self, text: String) {
        let warnings = &mut self.document.warnings;
        if let Some(known) = warnings.iter_mut().find(|known| known.text == text) {
            known.count += 1;
        } else if warnings.len() < MOST_WARNINGS {
            warnings.push(Warning { text, count: 1 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Grid, Layout, Plan};
    use crate::report::record::{Reason, Reorder};
    use crate::topology::Cart;

    fn grid(side: i32) -> Cart {
        Cart::new(&[side, 2], &[true, false], i32::MAX).unwrap()
    }

    fn plain(side: i32) -> Record {
        Record::new("MPI_Cart_create", &grid(side), 2 * side, Reorder::No, Reason::NOT_ASKED)
    }

    #[test]
    fn memory_does_not_grow_with_use() {
        let report = Report::new();
        // Two kinds in turn, not only one after the other.
        for i in 0..100_000 {
            report.add(plain(2 + i % 2).took(0.25, 0.5));
        }
        for side in 0..5_000 {
            report.add(plain(10 + side));
        }
        for i in 0..1_000 {
            report.warn(format!("warning {}", i % 200));
        }
        let document = &report.collected().document;
        assert_eq!(document.topologies.len(), MOST_RECORDS);
        assert_eq!(document.not_recorded, 5_000 + 2 - MOST_RECORDS as u64);
        let first = &document.topologies[0];
        assert_eq!(
            (first.count, first.mapping_seconds, first.seconds),
            (50_000, 12_500.0, 25_000.0)
        );
        assert_eq!(document.warnings.len(), MOST_WARNINGS);
        assert_eq!(document.warnings[0].count, 5);
    }

    #[test]
    fn pictures_are_dropped_when_there_are_too_many() {
        let report = Report::new();
        let sides = [200_000, 200_001, 200_002];
        for side in sides {
            let layout = Layout::blocks(&[side as usize; 2]);
            let plan = Plan::identity(&Grid::from(&grid(side)), &layout, 0);
            report.add(Record::planned(
                "MPI_Cart_create",
                &grid(side),
                Reorder::Asked,
                &layout,
                &plan,
            ));
        }
        let records = &report.collected().document.topologies;
        let drawn: Vec<bool> = records.iter().map(|record| record.places.is_some()).collect();
        assert_eq!(drawn, [true, true, false]);
    }

    #[test]
    fn threads_add_together() {
        let report = Report::new();
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| (0..1000).for_each(|_| report.add(plain(3))));
            }
        });
        assert_eq!(report.collected().document.topologies[0].count, 4000);
    }
}
