//! The joined parts of a job.

use std::collections::BTreeMap;

use crate::Window;
use crate::line::{Address, Count, Device, SCHEMA, Work};

/// A larger job in a file is an error.
pub(crate) const MOST_PROCESSES: u32 = 1 << 25;

/// Why a text is not a recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// An empty recording.
    #[error("no process has written to it")]
    Empty,
    /// An invalid line.
    #[error("line {line} is not an entry of a recording ({reason})")]
    Malformed {
        /// From 1.
        line: usize,
        /// The message of the parser.
        reason: String,
    },
    /// Written by a later version.
    #[error("it has format version {0}, but this Cartograph reads version {SCHEMA}")]
    OtherSchema(u32),
    /// Parts of different jobs.
    #[error("it mixes jobs of {0} and {1} processes; remove it and record again")]
    OtherSize(u32, u32),
    /// A part occurs twice.
    #[error("it has two parts of rank {0}; remove it and record again")]
    Twice(u32),
    /// A part occurs without the one before it.
    #[error("it lacks an earlier part of rank {0}; record again")]
    PartMissing(u32),
    /// A rank, or a grid, is beyond the job.
    #[error("line {line} names rank {rank}, but the job has {size} processes")]
    NoSuchRank {
        /// From 1.
        line: usize,
        /// The rank.
        rank: u64,
        /// The number of processes of the job.
        size: u32,
    },
}

/// The node of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeIdentity {
    /// Its name; letters, digits, dots, underscores and hyphens.
    pub name: String,
    /// Its address in the network, if the launcher set it.
    pub address: Option<Address>,
}

/// The messages from one process to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The rank that sent, in `MPI_COMM_WORLD`.
    pub from: u32,
    /// The rank that received.
    pub to: u32,
    /// The messages and their bytes.
    pub count: Count,
}

/// All grids of one form that one function made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// The MPI function.
    pub function: String,
    /// The number of processes along each dimension.
    pub dims: Vec<u32>,
    /// The periodic dimensions: true for each that is.
    pub periodic: Vec<bool>,
    /// The program's argument `reorder`.
    pub reorder: bool,
    /// The number of grids of different processes.
    pub grids: usize,
    /// For each dimension, the messages between neighbors along it, on any communicator. Processes that are neighbors
    /// along several dimensions count for the first of them.
    pub along: Vec<Count>,
    /// The messages between processes of the grid that are not neighbors.
    pub elsewhere: Count,
}

impl Topology {
    /// One grid without messages, created with `reorder = 0`.
    pub fn new(function: &str, dims: &[u32], periodic: &[bool]) -> Self {
        Self {
            function: function.to_owned(),
            dims: dims.to_vec(),
            periodic: periodic.to_vec(),
            reorder: false,
            grids: 1,
            along: vec![Count::default(); dims.len()],
            elsewhere: Count::default(),
        }
    }
}

/// The traffic of a whole job: the parts of all its processes, joined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// The size of `MPI_COMM_WORLD`.
    pub size: u32,
    /// The command line of the program.
    pub program: String,
    /// The name and version of the MPI.
    pub mpi: String,
    /// The node of each rank with a part.
    pub hosts: BTreeMap<u32, NodeIdentity>,
    /// The number of processes that, by their last part, did not complete.
    pub cut_short: usize,
    /// The longest time of a process from `MPI_Init` to its last part, in nanoseconds.
    pub nanoseconds: u64,
    /// The time that the recorder took in all processes together, in nanoseconds, if that is measured.
    pub cost: u64,
    /// The number of processes in which the recorder stopped counting because that took too long.
    pub stopped: usize,
    /// The work of all processes together.
    pub work: Work,
    /// The devices that processes used, by rank.
    pub devices: BTreeMap<u32, Device>,
    /// The weighted bytes of each rank, which show whether two runs sent them to the same ranks; empty if they are
    /// unknown for a rank.
    pub patterns: Vec<i64>,
    /// The messages between ranks, ascending by sender and receiver, including those of a process to itself.
    pub edges: Vec<Edge>,
    /// The grids, in the order of their names and sizes.
    pub topologies: Vec<Topology>,
    /// The number of calls of collectives whose messages are not counted, over all processes.
    pub collectives: BTreeMap<String, u64>,
    /// The nanoseconds in collectives over all processes, by function.
    pub in_collectives: BTreeMap<String, u64>,
    /// The nanoseconds that a process spent receiving and waiting, by its rank and that of the awaited process, if
    /// known.
    pub waits: BTreeMap<(u32, Option<u32>), u64>,
    /// The first calls of each process, by its rank.
    pub windows: BTreeMap<u32, Window>,
}

impl Count {
    /// Adds another count to this one.
    pub fn add(&mut self, other: Self) {
        self.messages = self.messages.saturating_add(other.messages);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

impl Recording {
    /// True if a text begins like a part, whatever follows.
    pub fn is_one(text: &str) -> bool {
        text.trim_start().starts_with("{\"process\":")
    }

    /// The number of ranks without a part.
    pub fn missing(&self) -> usize {
        (self.size as usize).saturating_sub(self.hosts.len())
    }

    /// The first rank without a part.
    pub fn first_missing(&self) -> Option<u32> {
        let first = self.hosts.keys().zip(0..).find(|(rank, at)| **rank != *at);
        let first = first.map_or(self.hosts.len() as u32, |(_, at)| at);
        Some(first).filter(|first| *first < self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{Grid, Line, Process};

    fn part(rank: u32, size: u32, lines: &[Line]) -> String {
        let process = Process {
            schema: SCHEMA,
            rank,
            size,
            host: format!("n{}", rank / 2),
            address: None,
            part: 0,
            program: "./app".into(),
            mpi: "some MPI".into(),
            complete: rank != 0,
            nanoseconds: 1000 * u64::from(rank),
            cost: 10,
            stopped: rank == 5,
            work: Work { messages: 1, bytes: u64::from(rank), collectives: 2 },
            pattern: Some(-10 * i64::from(rank)),
            device: (rank == 3).then(|| Device {
                number: 1,
                visible: 4,
                bus: "0000:3b:00.0".into(),
            }),
            lines: lines.len(),
        };
        std::iter::once(&Line::Process(process))
            .chain(lines)
            .map(|line| serde_json::to_string(line).unwrap() + "\n")
            .collect()
    }

    fn sent(to: u32, messages: u64, bytes: u64) -> Line {
        Line::Sent { to, count: Count { messages, bytes } }
    }

    /// The messages from one rank to another.
    fn between(recording: &Recording, from: u32, to: u32) -> Count {
        let found = recording.edges.iter().find(|edge| (edge.from, edge.to) == (from, to));
        found.map_or(Count::default(), |edge| edge.count)
    }

    fn grid(rank: u32) -> Line {
        Line::Grid(Grid {
            function: "MPI_Cart_create".into(),
            dims: vec![2, 3],
            periodic: vec![false, true],
            reorder: false,
            rank,
            first: 0,
        })
    }

    #[test]
    fn parts_are_joined_in_any_order() {
        let calls = Line::Collective { function: "MPI_Bcast".into(), calls: 2, nanoseconds: 5 };
        let got = Line::Got { from: 1, count: Count { messages: 1, bytes: 7 } };
        let parts = [
            part(5, 6, &[grid(5), sent(2, 1, 10), sent(3, 1, 1), calls.clone(), sent(0, 4, 4)]),
            part(0, 6, &[grid(0), sent(0, 9, 9), sent(1, 2, 20), sent(3, 1, 5), calls, got]),
            part(1, 6, &[grid(1), sent(0, 1, 30)]),
            part(2, 6, &[grid(2)]) + &part(3, 6, &[grid(3)]),
        ];
        let recording = Recording::read(parts.iter().map(String::as_str)).unwrap();
        assert_eq!((recording.size, &recording.program[..], recording.cut_short), (6, "./app", 1));
        assert_eq!((recording.missing(), recording.first_missing()), (1, Some(4)));
        assert_eq!((&recording.hosts[&5].name[..], recording.nanoseconds), ("n2", 5000));
        assert_eq!((recording.cost, recording.stopped), (50, 1));
        assert_eq!(recording.devices.keys().collect::<Vec<_>>(), [&3]);
        assert_eq!((recording.devices[&3].number, recording.devices[&3].visible), (1, 4));
        assert_eq!(recording.work, Work { messages: 5, bytes: 11, collectives: 10 });
        let edges: Vec<(u32, u32, u64)> =
            recording.edges.iter().map(|edge| (edge.from, edge.to, edge.count.bytes)).collect();
        let known =
            [(0, 0, 9), (0, 1, 20), (0, 3, 5), (1, 0, 37), (5, 0, 4), (5, 2, 10), (5, 3, 1)];
        assert_eq!(edges, known);
        assert_eq!(recording.collectives["MPI_Bcast"], 4);
        let [topology] = &recording.topologies[..] else { panic!("{recording:?}") };
        // 5 is next to 2 along the first dimension, and to 3 around the second; 0 is diagonal.
        let bytes: Vec<u64> = topology.along.iter().map(|count| count.bytes).collect();
        assert_eq!((bytes, topology.elsewhere.bytes, topology.grids), (vec![15, 58], 4, 1));
    }

    #[test]
    fn later_parts_are_added() {
        let later = |number: u32, complete: bool, lines: &[Line]| {
            let part = format!("\"part\":{number},\"complete\":{complete}");
            super::tests::part(1, 2, lines).replace("\"part\":0,\"complete\":true", &part)
        };
        let calls = || Line::Collective { function: "MPI_Bcast".into(), calls: 2, nanoseconds: 5 };
        let parts = [
            later(0, false, &[sent(0, 1, 10), calls()]),
            part(0, 2, &[]),
            later(1, false, &[]),
            later(2, true, &[sent(0, 2, 5), sent(1, 1, 1), calls()]),
        ];
        let recording = Recording::read(parts.iter().map(String::as_str)).unwrap();
        assert_eq!((recording.cut_short, recording.missing()), (1, 0));
        assert_eq!(between(&recording, 1, 0), Count { messages: 3, bytes: 15 });
        assert_eq!(recording.collectives["MPI_Bcast"], 4);
        assert_eq!(recording.patterns, [0, -30]);
        // The patterns are unknown if a process did not write one, as in older versions, or stopped.
        let patterns = |from: &str, to: &str| {
            let parts = parts.iter().map(|part| part.replace(from, to)).collect::<Vec<_>>();
            Recording::read(parts.iter().map(String::as_str)).unwrap().patterns
        };
        assert!(patterns("\"pattern\":0,", "").is_empty());
        assert!(patterns("\"cost\":10,", "\"cost\":10,\"stopped\":true,").is_empty());
        let refused = |parts: &[&str]| Recording::read(parts.iter().copied()).unwrap_err();
        assert_eq!(refused(&[&parts[0], &parts[3]]), ReadError::PartMissing(1));
        assert_eq!(refused(&[&parts[0], &parts[2], &parts[2]]), ReadError::Twice(1));
    }

    #[test]
    fn a_truncated_part_is_ignored() {
        let whole = part(1, 2, &[sent(0, 1, 10), sent(0, 2, 5)]);
        let other = part(0, 2, &[sent(1, 1, 1)]);
        let lines: Vec<&str> = whole.lines().collect();
        let half = &lines[2][..9];
        for cut in [lines[0].to_owned(), lines[..2].join("\n"), lines[..2].join("\n") + "\n" + half]
        {
            // A full disk truncated the part, which was then written again, perhaps after another process's part.
            for again in [format!("{cut}\n\n{whole}{other}"), format!("{cut}\n\n{other}{whole}")] {
                let recording = Recording::read([&again[..]]).unwrap();
                assert_eq!((recording.cut_short, recording.missing()), (1, 0), "{again}");
                assert_eq!(between(&recording, 1, 0), Count { messages: 3, bytes: 15 });
                assert_eq!(between(&recording, 0, 1), Count { messages: 1, bytes: 1 });
            }
            let never = Recording::read([&format!("{other}{cut}")[..]]).unwrap();
            assert_eq!((never.missing(), never.first_missing()), (1, Some(1)));
            assert_eq!(between(&never, 1, 0), Count::default());
        }
        let refused =
            Recording::read([&format!("{}\n{half}\n{}", lines[0], lines[1])[..]]).unwrap_err();
        assert!(refused.to_string().contains("line 3"), "{refused}");
    }

    #[test]
    fn an_untrusted_recording_takes_little_memory_and_changes_no_terminal() {
        let huge = part(0, 2, &[]).replace("\"size\":2", "\"size\":33554432");
        let recording = Recording::read([&huge[..]]).unwrap();
        assert_eq!((recording.missing(), recording.first_missing()), (33_554_431, Some(1)));
        assert_eq!(recording.hosts.len(), 1);
        let program = part(0, 1, &[]).replace("./app", "\\u001b[2Japp");
        assert_eq!(Recording::read([&program[..]]).unwrap().program, "\u{fffd}[2Japp");
        for host in ["-launcher", "a -launcher ssh", "", "\\u001b[2J", "a,b"] {
            let text = part(0, 1, &[]).replace("\"n0\"", &format!("\"{host}\""));
            let refused = Recording::read([&text[..]]).unwrap_err().to_string();
            assert!(refused.contains("the host name has"), "{refused}");
        }
        for line in [
            "{\"\\u001b[2J\":1}",
            "{\"collective\":{\"function\":\"\\u001b[2J\",\"calls\":1}}",
            "{\"sent\":\"\\u001b\"}",
        ] {
            let text = part(0, 1, &[]).replace("\"lines\":0", "\"lines\":1") + line;
            let refused = Recording::read([&text[..]]).unwrap_err().to_string();
            assert!(refused.contains("line 2") && !refused.contains('\u{1b}'), "{refused}");
        }
        let many: Vec<Line> = (0..300).map(|_| grid(0)).collect();
        let refused = Recording::read([&part(0, 6, &many)[..]]).unwrap_err().to_string();
        assert!(refused.contains("more than 256 grids"), "{refused}");
        let most = [sent(1, u64::MAX, u64::MAX), sent(1, u64::MAX, u64::MAX), grid(0)];
        let most = part(0, 6, &most) + &part(1, 6, &[grid(1), sent(0, 1, u64::MAX)]);
        let recording = Recording::read([&most[..]]).unwrap();
        assert_eq!(between(&recording, 0, 1).bytes, u64::MAX);
        assert_eq!(recording.topologies[0].along[1].bytes, u64::MAX);
    }

    #[test]
    fn an_invalid_recording_is_refused_with_a_reason() {
        let refused = |text: &str| Recording::read([text]).unwrap_err().to_string();
        assert!(refused("").contains("no process has written"));
        assert!(refused("hello").contains("line 1"));
        assert!(refused("{\"schema\":1}").contains("line 1"));
        let whole = part(1, 2, &[sent(0, 1, 1), sent(1, 1, 1)]);
        let lines: Vec<&str> = whole.lines().collect();
        assert!(refused(&lines[1..].join("\n")).contains("before the line of a process"));
        assert!(
            refused(&(whole.clone() + lines[1]))
                .contains("line 4 is not an entry of a recording (it belongs")
        );
        assert!(refused(&whole[..whole.len() - 9].replace("\"to\"", "to")).contains("line 2"));
        assert!(
            refused(&(part(0, 2, &[]) + &part(1, 3, &[]))).contains("jobs of 2 and 3 processes")
        );
        assert!(refused(&(whole.clone() + &whole)).contains("two parts of rank 1"));
        assert!(refused(&part(2, 2, &[])).contains("rank 2, but the job has 2"));
        assert!(refused(&part(0, 2, &[sent(2, 1, 1)])).contains("line 2 names rank 2"));
        assert!(refused(&part(0, 2, &[grid(0)])).contains("no grid of 2"));
        assert!(refused("{\"process\":{\"schema\":2,\"who\":3}}").contains("version 2"));
        let huge = part(0, 2, &[]).replace("\"size\":2", "\"size\":4000000000");
        assert!(refused(&huge).contains("4000000000"));
    }
}
