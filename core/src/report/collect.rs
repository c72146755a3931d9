//! Collects records while the job runs.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::json::{Document, Job, Warning};
use super::record::Record;

/// The limits of the collection.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// The number of different records; further ones are only counted.
    records: usize,
    /// The number of different warnings.
    warnings: usize,
    /// The number of numbers for pictures, over all records.
    drawn: usize,
}

impl Room {
    /// Limits for a process, whose memory must not grow with use.
    const OF_PROCESS: Self = Self { records: 1000, warnings: 100, drawn: 1 << 20 };
    const ENDLESS: Self = Self { records: usize::MAX, warnings: usize::MAX, drawn: usize::MAX };
}

/// Collects topologies and warnings. Any thread may add to it. Memory is bounded, however many topologies a program
/// creates: equal records are stored once, with a count.
#[derive(Debug)]
pub struct Report {
    collected: Mutex<Collected>,
}

#[derive(Debug)]
struct Collected {
    document: Document,
    /// Records by a hash of their content.
    known: HashMap<u64, usize>,
    hasher: RandomState,
    drawn: usize,
    room: Room,
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

impl Default for Report {
    fn default() -> Self {
        Self { collected: Mutex::new(Collected::new(Room::OF_PROCESS)) }
    }
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
        let is_new = collected.warn(Warning { text: text.into(), count: 1 });
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

    /// The report in JSON in at most about `most` bytes, without the data for pictures.
    pub fn short_json(&self, most: usize) -> String {
        self.collected().document.clone().shortened(most)
    }
}

impl Document {
    /// The reports of several processes, merged. Equal records become one with a count.
    pub fn merged(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut merged = Collected::new(Room::ENDLESS);
        for part in parts {
            match (&mut merged.document.job, part.job) {
                (Some(job), Some(other)) => job.nodes = job.nodes.take().or(other.nodes),
                (job, other) => *job = job.take().or(other),
            }
            merged.document.not_recorded += part.not_recorded;
            part.topologies.into_iter().for_each(|record| _ = merged.add(record));
            part.warnings.into_iter().for_each(|warning| _ = merged.warn(warning));
        }
        merged.document
    }
}

impl Collected {
    fn new(room: Room) -> Self {
        Self {
            document: Document::default(),
            known: HashMap::new(),
            hasher: RandomState::new(),
            drawn: 0,
            room,
            added: 0,
            written: WrittenText::default(),
        }
    }

    /// Adds a record; true if its kind is new.
    fn add(&mut self, mut record: Record) -> bool {
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
        if records.len() >= self.room.records {
            self.document.not_recorded += record.count;
            return false;
        }
        if self.drawn.saturating_add(record.drawn()) > self.room.drawn {
            (record.places, record.traffic) = (None, None);
        }
        self.drawn += record.drawn();
        self.known.insert(hash, records.len());
        records.push(record);
        true
    }

    /// The result is as for [`add`](Self::add).
    fn warn(&mut self, warning: Warning) -> bool {
        let warnings = &mut self.document.warnings;
        if let Some(known) = warnings.iter_mut().find(|known| known.text == warning.text) {
            known.count += warning.count;
            return false;
        }
        let has_room = warnings.len() < self.room.warnings;
        if has_room {
            warnings.push(warning);
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
    use crate::machine::Machine;
    use crate::mapping::{Distances, Grid, Plan};
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
        assert_eq!(document.topologies.len(), Room::OF_PROCESS.records);
        assert_eq!(document.not_recorded, 5_000 + 2 - Room::OF_PROCESS.records as u64);
        let first = &document.topologies[0];
        assert_eq!(
            (first.count, first.mapping_seconds, first.seconds),
            (50_000, 12_500.0, 25_000.0)
        );
        assert_eq!(document.warnings.len(), Room::OF_PROCESS.warnings);
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
    fn repeated_entries_are_rarely_due() {
        let report = Report::new();
        let due = (0..100_000).filter(|_| report.add(plain(2))).count();
        assert_eq!(due, 17);
        // A record beyond the limit does not cause a write either.
        let due = (3..100_000).filter(|side| report.add(plain(*side))).count();
        assert!((999..1030).contains(&due), "{due}");
    }

    #[test]
    fn parts_are_combined() {
        let part = |sides: &[i32], nodes: Option<&Machine>| {
            let report = Report::new();
            let nodes = nodes.map(Into::into);
            let mpi = "some MPI".into();
            report.job(Job { mpi, processes: 8, rank: sides[0], nodes, ..Job::default() });
            sides.iter().for_each(|side| _ = report.add(plain(*side)));
            report.warn("careful");
            Document::read(&report.json()).unwrap()
        };
        let machine = Machine::blocks(&[4, 4]);
        let merged = Document::merged([part(&[2, 3], None), part(&[4, 3], Some(&machine))]);
        let job = merged.job.as_ref().unwrap();
        assert_eq!((job.rank, &job.nodes), (2, &Some((&machine).into())));
        let counts: Vec<u64> = merged.topologies.iter().map(|record| record.count).collect();
        assert_eq!((counts, merged.warnings[0].count), (vec![1, 2, 1], 2));
        let many = Document::merged((0..20).map(|i| part(&[10 + i, 40 + i], None)));
        assert_eq!(many.topologies.len(), 40);
    }

    #[test]
    fn pictures_are_dropped_when_there_are_too_many() {
        let report = Report::new();
        let sides = [200_000, 200_001, 200_002];
        for side in sides {
            let machine = Machine::blocks(&[side as usize; 2]);
            let plan =
                Plan::identity(&Grid::from(&grid(side)), &machine, &Distances::default(), |_| 0);
            report.add(Record::planned(
                "MPI_Cart_create",
                &grid(side),
                ReorderOrigin::Asked,
                &machine,
                &plan,
            ));
        }
        let records = &report.collected().document.topologies;
        let drawn: Vec<bool> = records.iter().map(|record| record.places.is_some()).collect();
        assert_eq!(drawn, [true, true, false]);
    }

    #[test]
    fn short_reports_are_short() {
        let report = Report::new();
        (0..900).for_each(|side| _ = report.add(plain(2 + side)));
        (0..90).for_each(|i| _ = report.warn(format!("{i}: {}", "careful ".repeat(20))));
        let short = report.short_json(4096);
        assert!(short.len() <= 4096 && !short.contains('\n'), "{short}");
        let document = Document::read(&short).unwrap();
        assert!(!document.topologies.is_empty());
        assert_eq!(document.topologies.len() as u64 + document.not_recorded, 900);
        assert_eq!(report.short_json(1 << 20), {
            let mut whole = Document::read(&report.json()).unwrap();
            whole.topologies.iter_mut().for_each(|record| record.places = None);
            whole.json()
        });
    }

    #[test]
    fn threads_add_together() {
        let report = Report::new();
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| (0..1000).for_each(|_| _ = report.add(plain(3))));
            }
        });
        assert_eq!(report.collected().document.topologies[0].count, 4000);
    }
}
