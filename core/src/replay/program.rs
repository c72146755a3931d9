//! The recorded calls of a program.

/// A call of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A send; with a request or, if not, blocking.
    Send {
        /// The rank of the destination.
        to: u32,
        /// Its length.
        bytes: u64,
        /// Its tag.
        tag: i32,
        /// True if the call returns at once.
        request: bool,
    },
    /// A receive; with a request or, if not, blocking.
    Recv {
        /// The rank of the source; `None` for any.
        from: Option<u32>,
        /// The tag; `None` for any.
        tag: Option<i32>,
        /// True if the call returns at once.
        request: bool,
    },
    /// Waits until requests are done: `count` of them, the first of which was made by the call with a request that is
    /// `back` of these calls ago.
    Wait {
        /// The distance back to the first; 1 for the last one.
        back: u32,
        /// The number of requests, in the order of the calls.
        count: u32,
    },
    /// A collective of a group.
    Meet {
        /// The group: its index in what is replayed.
        group: u32,
        /// Who waits for whom.
        kind: Meeting,
        /// The bytes that each process gives; in all-to-alls to each other process.
        bytes: u64,
    },
}

/// Who waits for whom in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// Everybody for everybody, and each gets as much as it gives.
    All,
    /// Everybody for everybody, and each gets what all give.
    Gather,
    /// Everybody for everybody, and each gives all others something else.
    Exchange,
    /// Everybody for this rank.
    FromRoot(u32),
    /// This rank for everybody.
    ToRoot(u32),
}

/// A call with the work before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// The seconds between the call before and this one.
    pub work: f64,
    /// The call.
    pub op: Op,
}

/// The calls of the processes of a job.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The calls of each rank, in order.
    pub ranks: Vec<Vec<Event>>,
    /// The ranks of each group, ascending.
    pub groups: Vec<Vec<u32>>,
}
