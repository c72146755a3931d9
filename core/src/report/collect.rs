//! Collects records while the job runs.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::json::{Document, Job, Warning};
use super::record::Record;

/// The most different records of a process, whose memory must not grow with use; further ones are only counted.
const MOST_RECORDS: usize = 1000;

/// The most different warnings.
const MOST_WARNINGS: usize = 100;

/// Collects topologies and warnings. Any thread may add to it. Memory is bounded, however many topologies a program
/// creates: equal records are stored once, with a count.
#[derive(Debug, Default)]
pub struct Report {
    collected: Mutex<Collected>,
}

#[derive(Debug, Default)]
struct Collected {
    document: Document,
    /// Records by a hash of their content.
    known: HashMap<u64, usize>,
    hasher: RandomState,
    /// The number of additions.
    added: u64,
    written: WrittenText,
}

/// The part of the document that was already written as text.
#[derive(Debug, Default)]
struct WrittenText {
    head: bool,
    /// The counts of the records that were written, at that time.
    records: Vec<u64>,
    /// The number of times that each warning occurred.
    warnings: Vec<u64>,
}

impl Report {
    /// An empty report.
    pub fn new() -> Self {
        Self::default()
    }

    /// A panic of another thread ends the process anyway.
    fn collected(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the job that is reported on.
    pub fn job(&self, job: Job) {
        self.collected().document.job = Some(job);
    }

    /// Adds a topology communicator. True if output elsewhere should be updated: whenever there is something new,
    /// otherwise ever more rarely, so that the cost is negligible.
    pub fn add(&self, record: Record) -> bool {
        let mut collected = self.collected();
        let is_new = collected.add(record);
        collected.is_due(is_new)
    }

    /// Adds a warning to the user; equal texts are stored once. The result is as for [`add`](Self::add).
    pub fn warn(&self, text: impl Into<String>) -> bool {
        let mut collected = self.collected();
        let is_new = collected.warn(text.into());
        collected.is_due(is_new)
    }

    /// The text of everything new since the last call.
    pub fn news(&self) -> String {
        self.collected().news(false)
    }

    /// The news at the end of the job, with the number of topologies of each reported kind.
    pub fn last_news(&self) -> String {
        self.collected().news(true)
    }

    /// The whole report as text.
    pub fn text(&self) -> String {
        self.collected().document.to_string()
    }

    /// The report in JSON, as described in `docs/design/report-schema.md`.
    pub fn json(&self) -> String {
        self.collected().document.json()
    }

    /// The report in JSON in at most about `most` bytes.
    pub fn short_json(&self, most: usize) -> String {
        self.collected().document.clone().shortened(most)
    }
}

impl Collected {
    /// Adds a record; true if its kind is new.
    fn add(&mut self, record: Record) -> bool {
        let records = &mut self.document.topologies;
        let hash = self.hasher.hash_one(record.dedup_key());
        if let Some(known) = self.known.get(&hash).map(|at| &mut records[*at])
            && known.dedup_key() == record.dedup_key()
        {
            known.count += record.count;
            known.mapping_seconds += record.mapping_seconds;
            known.seconds += record.seconds;
            return false;
        }
        if records.len() >= MOST_RECORDS {
            self.document.not_recorded += record.count;
            return false;
        }
        self.known.insert(hash, records.len());
        records.push(record);
        true
    }

    /// The result is as for [`add`](Self::add).
    fn warn(&mut self, text: String) -> bool {
        let warnings = &mut self.document.warnings;
        if let Some(known) = warnings.iter_mut().find(|known| known.text == text) {
            known.count += 1;
            return false;
        }
        let has_room = warnings.len() < MOST_WARNINGS;
        if has_room {
            warnings.push(Warning { text, count: 1 });
        }
        has_room
    }

    /// True if the report should be written after one more addition.
    fn is_due(&mut self, is_new: bool) -> bool {
        self.added += 1;
        is_new || self.added.is_power_of_two()
    }

    fn news(&mut self, is_last: bool) -> String {
        let Self { document, written, .. } = self;
        let mut lines = String::new();
        let (old, new) = document.topologies.split_at(written.records.len());
        new.iter().for_each(|record| lines += &record.to_string());
        if is_last {
            let again =
                old.iter().zip(&written.records).filter(|(record, count)| record.count > **count);
            again.for_each(|(record, _)| lines += &format!("{}\n", record.in_all()));
            lines += &document.rest();
        }
        let (old, new) = document.warnings.split_at(written.warnings.len());
        let again = old.iter().zip(&written.warnings);
        let again = again.filter(|(warning, count)| is_last && warning.count > **count);
        let warnings = again.map(|(warning, _)| warning).chain(new);
        warnings.for_each(|warning| lines += &warning.to_string());

        written
            .records
            .extend(document.topologies[written.records.len()..].iter().map(|new| new.count));
        written
            .warnings
            .extend(document.warnings[written.warnings.len()..].iter().map(|new| new.count));
        if lines.is_empty() || std::mem::replace(&mut written.head, true) {
            return lines;
        }
        let rank = document.job.as_ref().map_or(0, |job| job.rank);
        let of = if rank == 0 { String::new() } else { format!(" on rank {rank}") };
        document.head(&of) + &lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Reason;
    use crate::report::record::ReorderOrigin;
    use crate::topology::Cart;

    fn grid(side: i32) -> Cart {
        Cart::new(&[side, 2], &[true, false], i32::MAX).unwrap()
    }

    fn plain(side: i32) -> Record {
        Record::new("MPI_Cart_create", &grid(side), 2 * side, ReorderOrigin::No, Reason::NotAsked)
    }

    #[test]
    fn memory_does_not_grow_with_use() {
        let report = Report::new();
        // Two kinds in alternation, not only one after the other.
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
    fn entries_are_written_as_they_come() {
        let report = Report::new();
        assert!(report.news().is_empty() && report.last_news().is_empty());
        assert!(report.add(plain(2)));
        report.job(Job { mpi: "some MPI".into(), processes: 9, rank: 4, ..Job::default() });
        let first = report.news();
        let head =
            format!("Cartograph {} on rank 4: 9 processes, some MPI\n", env!("CARGO_PKG_VERSION"));
        assert!(first.starts_with(&format!("{head}MPI_Cart_create: grid 2 x 2")), "{first}");
        report.add(plain(2).took(0.0, 2.0));
        assert_eq!(report.news(), "");
        assert!(report.add(plain(3)) && report.warn("careful"));
        let second = report.news();
        assert!(second.starts_with("MPI_Cart_create: grid 3 x 2"), "{second}");
        assert!(second.ends_with("warning: careful\n"), "{second}");
        report.warn("careful");
        let last = "MPI_Cart_create, 2 times in all: grid 2 x 2, periodic along 0, 4 of 4 processes; 1.0 s each, including waiting for other ranks
warning: careful (2 times)
";
        assert_eq!(report.last_news(), last);
    }

    #[test]
    fn repeated_entries_are_rarely_written() {
        let report = Report::new();
        let due = (0..100_000).filter(|_| report.add(plain(2))).count();
        assert_eq!(due, 17);
        // A record beyond the limit does not cause a write either.
        let due = (3..100_000).filter(|side| report.add(plain(*side))).count();
        assert!((999..1030).contains(&due), "{due}");
    }

    #[test]
    fn short_reports_keep_the_size_limit() {
        let report = Report::new();
        (0..900).for_each(|side| _ = report.add(plain(2 + side)));
        (0..90).for_each(|i| _ = report.warn(format!("{i}: {}", "careful ".repeat(20))));
        let short = report.short_json(4096);
        assert!(short.len() <= 4096 && !short.contains('\n'), "{short}");
        let document = Document::read(&short).unwrap();
        assert!(!document.topologies.is_empty());
        assert_eq!(document.topologies.len() as u64 + document.not_recorded, 900);
        assert_eq!(report.short_json(1 << 20), report.json());
    }

    #[test]
    fn several_threads_add_records_at_once() {
        let report = Report::new();
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| (0..1000).for_each(|_| _ = report.add(plain(3))));
            }
        });
        assert_eq!(report.collected().document.topologies[0].count, 4000);
    }
}
