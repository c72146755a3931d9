//! The recorded calls of a program.

/// A call of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A send; blocking unless it has a request.
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
    /// A receive; blocking unless it has a request.
    Recv {
        /// The rank of the source; `None` for any.
        from: Option<u32>,
        /// The tag; `None` for any.
        tag: Option<i32>,
        /// True if the call returns at once.
        request: bool,
    },
    /// Waits until requests complete: `count` of them, the first of which belongs to the call with a request that is
    /// `back` of these calls ago.
    Wait {
        /// The distance back to the first; 1 for the last one.
        back: u32,
        /// The number of requests, in the order of the calls.
        count: u32,
    },
    /// A collective of a group.
    Collective {
        /// The group: its index in the replay.
        group: u32,
        /// Which collective.
        kind: CollectiveKind,
        /// The bytes that each process contributes; in all-to-alls and reductions with scattered results, to each other
        /// process.
        bytes: u64,
    },
}

/// A collective, with its root if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the standard's functions")]
pub enum CollectiveKind {
    Barrier,
    Allreduce,
    ReduceScatter,
    Scan,
    Allgather,
    Alltoall,
    /// Also `MPI_Alltoallw`.
    Alltoallv,
    Bcast(u32),
    Scatter(u32),
    Reduce(u32),
    Gather(u32),
    Scatterv(u32),
    Gatherv(u32),
}

/// Which ranks wait for which in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    AllForAll,
    AllForRoot(u32),
    RootForAll(u32),
}

impl CollectiveKind {
    pub(super) fn waits(self) -> Waits {
        match self {
            Self::Bcast(root) | Self::Scatter(root) | Self::Scatterv(root) => {
                Waits::AllForRoot(root)
            }
            Self::Reduce(root) | Self::Gather(root) | Self::Gatherv(root) => {
                Waits::RootForAll(root)
            }
            _ => Waits::AllForAll,
        }
    }

    pub(super) fn root(self) -> Option<u32> {
        match self.waits() {
            Waits::AllForRoot(root) | Waits::RootForAll(root) => Some(root),
            Waits::AllForAll => None,
        }
    }
}

/// A call with the work before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// The seconds between the previous call and this one.
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
    /// The MPI that runs its collectives.
    pub host: Host,
}

/// The MPI whose algorithms run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Host {
    /// MPICH and MPIs derived from it: most collectives run inside nodes, and between one process of each node.
    #[default]
    Mpich,
    /// Open MPI up to 4: its component `tuned` ignores nodes.
    OpenMpi4,
    /// Open MPI 5: its component `han` runs most collectives inside nodes and between them, the others are as in 4.
    OpenMpi5,
    /// SimGrid's SMPI: MPICH's algorithms, which ignore nodes there.
    Smpi,
}

impl Host {
    /// The MPI that a recording names.
    pub fn of(name: &str) -> Self {
        match name.split_once("Open MPI v") {
            Some((_, version)) if version.starts_with(['1', '2', '3', '4']) => Self::OpenMpi4,
            Some(_) => Self::OpenMpi5,
            None if name.contains("SMPI") || name.contains("SimGrid") => Self::Smpi,
            None => Self::Mpich,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_recognized_by_their_names() {
        for (name, host) in [
            ("Open MPI v4.1.4, package: Debian OpenMPI", Host::OpenMpi4),
            ("Open MPI v5.0.11", Host::OpenMpi5),
            ("MPICH Version: 4.0.2", Host::Mpich),
            ("Intel(R) MPI Library 2021.17", Host::Mpich),
            ("SMPI Version 3.32.0", Host::Smpi),
        ] {
            assert_eq!(Host::of(name), host, "{name}");
        }
    }
}
