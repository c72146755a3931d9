//! A communicator made of threads, so that the engine's collective code runs under `cargo test`.

use std::any::Any;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::advisor::{Advisor, MachineKnowledge};
use super::comm::Comm;
use super::error::Error;
use super::history::{History, Identities};
use crate::machine::Machine;

/// The contribution of a process to a collective call, and the call's name.
type Slot = Option<(&'static str, Box<dyn Any + Send>)>;

/// A thread that waits longer than this is taken to wait forever.
const DEADLOCK: Duration = Duration::from_secs(20);

/// One process's handle of a simulated communicator.
pub(crate) struct Sim {
    rank: i32,
    group: Arc<Group>,
    process: Arc<Process>,
    has_topology: bool,
}

/// A simulated process, in all its communicators.
#[derive(Default)]
struct Process {
    identity: u64,
    of_world: i32,
    history: History,
}

#[cfg(test)]
thread_local! {
    /// The cases in which the process of this thread wants native neighborhood collectives.
    pub(crate) static HOST_GRAPH: std::cell::Cell<HostGraph> = const { std::cell::Cell::new(HostGraph::Nowhere) };
}

#[cfg(test)]
thread_local! {
    /// The pairing of blocks that the process of this thread wants.
    pub(crate) static PAIRING: std::cell::Cell<i32> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
thread_local! {
    /// True if the process of this thread does not know the identities of others.
    pub(crate) static ANONYMOUS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The cases in which neighborhood collectives are to be native.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostGraph {
    Nowhere,
    /// True if a process is a neighbor of a process more than once.
    WhereRepeated,
    Everywhere,
}

/// The collective calls of rank 0 of each group, and of the groups split from it.
type Calls = Arc<Mutex<Vec<&'static str>>>;

struct Group {
    slots: Mutex<Vec<Slot>>,
    meeting: Meeting,
    layout: Option<Arc<Machine>>,
    identities: Vec<u64>,
    calls: Calls,
}

impl Group {
    fn new(identities: Vec<u64>, layout: Option<Machine>, calls: Calls) -> Arc<Self> {
        let size = identities.len();
        let slots = Mutex::new((0..size).map(|_| None).collect());
        let meeting = Meeting { size, state: Mutex::default(), all_here: Condvar::new() };
        Arc::new(Self { slots, meeting, layout: layout.map(Arc::new), identities, calls })
    }
}

/// A barrier at which no thread waits forever.
struct Meeting {
    size: usize,
    /// The number of completed meetings, and of processes waiting for the next.
    state: Mutex<(u64, usize)>,
    all_here: Condvar,
}

impl Meeting {
    fn wait(&self) {
        let mut state = self.state.lock().unwrap();
        let before = state.0;
        state.1 += 1;
        if state.1 == self.size {
            *state = (before + 1, 0);
            self.all_here.notify_all();
            return;
        }
        let absent = |state: &mut (u64, usize)| state.0 == before;
        let waited = self.all_here.wait_timeout_while(state, DEADLOCK, absent).unwrap();
        assert!(!waited.1.timed_out(), "a deadlock: others are not in this call");
    }
}

/// Runs `program` on `size` simulated processes; returns the results by rank.
#[cfg(test)]
pub(crate) fn run<T: Send>(size: i32, program: impl Fn(&Sim) -> T + Sync) -> Vec<T> {
    run_on(None, size, program)
}

/// Runs a program on processes with a layout.
pub(crate) fn run_on<T: Send>(
    layout: Option<Machine>,
    size: i32,
    program: impl Fn(&Sim) -> T + Sync,
) -> Vec<T> {
    let group = Group::new((0..size as u64).collect(), layout, Calls::default());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..size)
            .map(|rank| {
                let process =
                    Process { identity: rank as u64, of_world: size, ..Process::default() };
                let (group, process) = (Arc::clone(&group), Arc::new(process));
                let sim = Sim { rank, group, process, has_topology: false };
                let program = &program;
                scope.spawn(move || program(&sim))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

impl Sim {
    /// The calls of rank 0 so far, on this communicator and those split from it.
    #[cfg(test)]
    pub(crate) fn calls(&self) -> Vec<&'static str> {
        self.all("calls", ());
        let calls = self.group.calls.lock().unwrap().clone();
        self.all("calls", ());
        calls
    }

    /// Another handle of the same process.
    #[cfg(test)]
    pub(crate) fn share(&self) -> Self {
        let (group, process) = (Arc::clone(&self.group), Arc::clone(&self.process));
        Self { rank: self.rank, group, process, has_topology: self.has_topology }
    }

    /// The same communicator with a topology.
    #[cfg(test)]
    pub(crate) fn with_topology(&self) -> Self {
        Self { has_topology: true, ..self.share() }
    }

    /// The values that all processes pass, by rank. Not recorded as a call.
    #[cfg(test)]
    pub(crate) fn everyones<T: Clone + Send + 'static>(&self, own: T) -> Vec<T> {
        self.all("everyones", own)
    }

    fn note(&self, call: &'static str) {
        if self.rank == 0 {
            self.group.calls.lock().unwrap().push(call);
        }
    }

    /// The contributions of all processes, by rank: every collective operation is built on this.
    fn all<T: Clone + Send + 'static>(&self, call: &'static str, own: T) -> Vec<T> {
        self.group.slots.lock().unwrap()[self.rank as usize] = Some((call, Box::new(own)));
        self.group.meeting.wait();
        let all = {
            let slots = self.group.slots.lock().unwrap();
            let value = |slot: &Slot| {
                let (theirs, value) = slot.as_ref().expect("every rank is here");
                assert_eq!(*theirs, call, "ranks are in different calls");
                value.downcast_ref::<T>().expect("one call has one type").clone()
            };
            slots.iter().map(value).collect()
        };
        self.group.meeting.wait();
        all
    }
}

impl Comm for Sim {
    type Error = Error;

    fn rank(&self) -> Result<i32, Error> {
        Ok(self.rank)
    }

    fn size(&self) -> Result<i32, Error> {
        Ok(self.group.slots.lock().unwrap().len() as i32)
    }

    fn split(&self, color: Option<i32>, key: i32) -> Result<Option<Self>, Error> {
        self.note("split");
        let all = self.all("split", (color, key));
        let mut members: Vec<usize> = (0..all.len()).filter(|r| all[*r].0 == color).collect();
        members.sort_by_key(|r| (all[*r].1, *r));
        let rank = members.iter().position(|r| *r == self.rank as usize).unwrap();
        let made = (rank == 0).then(|| {
            let layout = self.group.layout.as_ref();
            let layout = layout.map(|layout| layout.select(members.iter().copied()));
            let identities = members.iter().map(|rank| self.group.identities[*rank]).collect();
            Group::new(identities, layout, Arc::clone(&self.group.calls))
        });
        let group = self.all("splitting", made)[members[0]].clone().unwrap();
        let process = Arc::clone(&self.process);
        Ok(color.map(|_| Self { rank: rank as i32, group, process, has_topology: false }))
    }

    fn free(self) -> Result<(), Error> {
        self.note("free");
        self.all("free", ());
        Ok(())
    }

    fn min(&self, words: &mut [i64]) -> Result<(), Error> {
        self.note("min");
        for other in self.all("min", words.to_vec()) {
            for (word, other) in words.iter_mut().zip(other) {
                *word = other.min(*word);
            }
        }
        Ok(())
    }

    fn sum(&self, words: &mut [i64]) -> Result<(), Error> {
        self.note("sum");
        let all = self.all("sum", words.to_vec());
        for (i, word) in words.iter_mut().enumerate() {
            *word = all.iter().map(|other| other[i]).sum();
        }
        Ok(())
    }

    fn broadcast(&self, root: i32, bytes: &mut [u8]) -> Result<(), Error> {
        self.note("broadcast");
        bytes.copy_from_slice(&self.all("broadcast", bytes.to_vec())[root as usize]);
        Ok(())
    }

    fn scatter(&self, rows: &[[i32; 7]]) -> Result<[i32; 7], Error> {
        assert!(self.rank == 0 || rows.is_empty());
        self.note("scatter");
        Ok(self.all("scatter", rows.to_vec())[0][self.rank as usize])
    }

    fn gather(&self, words: &[i32]) -> Result<Vec<i32>, Error> {
        self.note("gather");
        let all = self.all("gather", words.to_vec());
        Ok(if self.rank == 0 { all.concat() } else { Vec::new() })
    }

    fn send_receive(&self, to: i32, words: &[i32], from: i32) -> Result<Vec<i32>, Error> {
        let (receiver, words) =
            self.all("send_receive", (to, words.to_vec()))[from as usize].clone();
        assert_eq!(receiver, self.rank);
        Ok(words)
    }
}

impl Advisor<Self> for Sim {
    fn knowledge(&self) -> MachineKnowledge {
        match &self.group.layout {
            None => MachineKnowledge::Unknown,
            Some(layout) if layout.is_flat() => MachineKnowledge::OneNode,
            Some(_) => MachineKnowledge::Known,
        }
    }

    fn has_topology(&self) -> bool {
        self.has_topology
    }

    fn identity(&self) -> u64 {
        self.process.identity
    }

    fn identities(&self) -> Option<Identities> {
        #[cfg(test)]
        if ANONYMOUS.get() {
            return None;
        }
        let of_ranks = self.group.identities.clone();
        Some(Identities { of_ranks, of_world: self.process.of_world })
    }

    fn history(&self) -> &History {
        &self.process.history
    }

    fn process(&self) -> u64 {
        0
    }

    fn weights(&self, _dims: &[i32]) -> Option<Vec<i64>> {
        assert_eq!(self.rank, 0, "only rank 0 is asked");
        None
    }

    #[cfg(not(test))]
    fn pairing(&self, _repeated: &dyn Fn() -> bool) -> i32 {
        0
    }

    #[cfg(test)]
    fn pairing(&self, repeated: &dyn Fn() -> bool) -> i32 {
        if repeated() { PAIRING.get() } else { 0 }
    }

    #[cfg(not(test))]
    fn host_graph(&self, _processes: i32, _repeated: &dyn Fn() -> bool) -> bool {
        false
    }

    #[cfg(test)]
    fn host_graph(&self, processes: i32, repeated: &dyn Fn() -> bool) -> bool {
        match HOST_GRAPH.get() {
            _ if processes < 2 => false,
            HostGraph::Nowhere => false,
            HostGraph::WhereRepeated => repeated(),
            HostGraph::Everywhere => true,
        }
    }

    fn machine(&self, known: bool) -> Result<Option<Arc<Machine>>, Error> {
        if !known {
            self.all("layout", ());
        }
        Ok(self.group.layout.clone().filter(|_| self.rank == 0))
    }
}
