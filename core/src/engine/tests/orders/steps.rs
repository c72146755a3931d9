//! The steps of simulated processes, and all orders in which they can be taken.
//!
//! Each receive names its sender and each wait its requests (tests/deadlock.rs), so a process takes the same steps in
//! every order of messages: one run shows the steps, and the positions of all processes are the whole state of a job. A
//! search of all reachable states covers all interleavings.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use crate::engine::history::{History, Identities};
use crate::engine::sim::{self, Sim};
use crate::engine::{Advisor, Comm, Error, MachineKnowledge};
use crate::machine::Machine;

type Result<T> = std::result::Result<T, Error>;

/// A step of a process: it ends when each of these processes has begun the step with the given number.
pub(super) type Step = Vec<(usize, usize)>;

/// When sends and collectives complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Waiting {
    /// Sends end when their receives have begun, and no process leaves a collective before all have entered it.
    Longest,
    /// Sends end at once, and a process leaves a collective when the contributions that it needs have been sent.
    Shortest,
}

/// Searches all states of processes with these steps; returns their number, or `None` if there is a deadlock: a state
/// in which no process can continue although not all have finished.
pub(super) fn explore(steps: &[Vec<Step>]) -> Option<usize> {
    let start = vec![0u16; steps.len()];
    let (mut seen, mut left) = (HashSet::from([start.clone()]), vec![start]);
    while let Some(state) = left.pop() {
        let (mut is_stuck, mut is_over) = (true, true);
        for (rank, own) in steps.iter().enumerate() {
            let Some(step) = own.get(usize::from(state[rank])) else { continue };
            is_over = false;
            if step.iter().all(|(process, begun)| usize::from(state[*process]) >= *begun) {
                is_stuck = false;
                let mut next = state.clone();
                next[rank] += 1;
                if seen.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
        if is_stuck && !is_over {
            return None;
        }
    }
    Some(seen.len())
}

/// Returns whether all processes finish in one order. A possible step stays possible after steps of other processes,
/// since no process goes back; so all orders end in one state, and this order represents all.
pub(super) fn all_end(steps: &[Vec<Step>]) -> bool {
    let mut state = vec![0; steps.len()];
    loop {
        let before = state.clone();
        for (rank, own) in steps.iter().enumerate() {
            let can_go =
                |step: &Step| step.iter().all(|(process, begun)| state[*process] >= *begun);
            if own.get(state[rank]).is_some_and(can_go) {
                state[rank] += 1;
            }
        }
        if state == before {
            return steps.iter().zip(&state).all(|(own, at)| own.len() == *at);
        }
    }
}

/// A collective, or a message each way, as seen by one process.
#[derive(Debug, Clone)]
enum Kind {
    /// All processes need the contributions of all.
    All,
    /// All processes need the contribution of one.
    Of(usize),
    /// Only the root needs the contributions of all.
    To {
        is_root: bool,
    },
    /// Needs no other process.
    Free,
    SendReceive {
        to: usize,
        from: usize,
    },
}

/// A call on a communicator, identified by the splits that created it and by the number of earlier calls on it.
#[derive(Debug, Clone)]
struct Taken {
    comm: Arc<Vec<(usize, Option<i32>)>>,
    number: usize,
    members: Arc<Vec<usize>>,
    kind: Kind,
}

/// A simulated process whose calls are recorded.
pub(super) struct Recorded {
    sim: Sim,
    comm: Arc<Vec<(usize, Option<i32>)>>,
    members: Arc<Vec<usize>>,
    calls: std::cell::Cell<usize>,
    log: Arc<Mutex<Vec<Taken>>>,
}

impl Recorded {
    fn note(&self, kind: Kind) -> usize {
        let (comm, members) = (Arc::clone(&self.comm), Arc::clone(&self.members));
        let number = self.calls.replace(self.calls.get() + 1);
        self.log.lock().unwrap().push(Taken { comm, number, members, kind });
        number
    }
}

impl Comm for Recorded {
    type Error = Error;

    fn rank(&self) -> Result<i32> {
        self.sim.rank()
    }

    fn size(&self) -> Result<i32> {
        self.sim.size()
    }

    fn split(&self, color: Option<i32>, key: i32) -> Result<Option<Self>> {
        let number = self.note(Kind::All);
        let own = self.members[self.sim.rank()? as usize];
        let made = self.sim.split(color, key)?;
        Ok(made.map(|sim| {
            let comm = [&self.comm[..], &[(number, color)]].concat();
            let members = sim.everyones(own);
            let (comm, members, log) = (Arc::new(comm), Arc::new(members), Arc::clone(&self.log));
            Self { sim, comm, members, calls: Default::default(), log }
        }))
    }

    fn free(self) -> Result<()> {
        self.note(Kind::Free);
        self.sim.free()
    }

    fn min(&self, words: &mut [i64]) -> Result<()> {
        self.note(Kind::All);
        self.sim.min(words)
    }

    fn sum(&self, words: &mut [i64]) -> Result<()> {
        self.note(Kind::All);
        self.sim.sum(words)
    }

    fn broadcast(&self, root: i32, bytes: &mut [u8]) -> Result<()> {
        self.note(Kind::Of(self.members[root as usize]));
        self.sim.broadcast(root, bytes)
    }

    fn scatter(&self, rows: &[[i32; 7]]) -> Result<[i32; 7]> {
        self.note(Kind::Of(self.members[0]));
        self.sim.scatter(rows)
    }

    fn gather(&self, words: &[i32]) -> Result<Vec<i32>> {
        self.note(Kind::To { is_root: self.sim.rank()? == 0 });
        self.sim.gather(words)
    }

    fn send_receive(&self, to: i32, words: &[i32], from: i32) -> Result<Vec<i32>> {
        let [to_process, from_process] = [to, from].map(|rank| self.members[rank as usize]);
        self.note(Kind::SendReceive { to: to_process, from: from_process });
        self.sim.send_receive(to, words, from)
    }
}

impl Advisor<Self> for Recorded {
    fn knowledge(&self) -> MachineKnowledge {
        self.sim.knowledge()
    }

    fn has_topology(&self) -> bool {
        self.sim.has_topology()
    }

    fn identity(&self) -> u64 {
        self.sim.identity()
    }

    fn identities(&self) -> Option<Identities> {
        self.sim.identities()
    }

    fn history(&self) -> &History {
        self.sim.history()
    }

    fn process(&self) -> u64 {
        self.sim.process()
    }

    fn weights(&self, dims: &[i32]) -> Option<Vec<i64>> {
        self.sim.weights(dims)
    }

    fn host_graph(&self, processes: i32, repeated: &dyn Fn() -> bool) -> bool {
        self.sim.host_graph(processes, repeated)
    }

    fn pairing(&self, repeated: &dyn Fn() -> bool) -> i32 {
        self.sim.pairing(repeated)
    }

    fn machine(&self, known: bool) -> Result<Option<Arc<Machine>>> {
        if !known {
            self.note(Kind::All);
        }
        self.sim.machine(known)
    }
}

/// The calls of all processes in one run.
pub(super) struct Calls(Vec<Vec<Taken>>);

/// Runs `program` and records its calls.
pub(super) fn record<T: Send>(
    machine: Option<Machine>,
    size: usize,
    program: impl Fn(&Recorded) -> T + Sync,
) -> (Vec<T>, Calls) {
    let made = sim::run_on(machine, size as i32, |sim| {
        let log = Arc::default();
        let members = Arc::new((0..size).collect());
        let recorded = Recorded {
            sim: sim.share(),
            comm: Arc::default(),
            members,
            calls: Default::default(),
            log: Arc::clone(&log),
        };
        let result = program(&recorded);
        drop(recorded);
        let calls: Vec<Taken> = log.lock().unwrap().clone();
        (result, calls)
    });
    let (results, calls) = made.into_iter().unzip();
    (results, Calls(calls))
}

impl Calls {
    /// The steps of all processes.
    pub(super) fn steps(&self, waiting: Waiting) -> Vec<Vec<Step>> {
        // The position of a call among all calls of a process.
        let places: Vec<std::collections::HashMap<_, usize>> = self
            .0
            .iter()
            .map(|calls| {
                (0..).zip(calls).map(|(at, call)| ((&call.comm, call.number), at)).collect()
            })
            .collect();
        let step = |call: &Taken| -> Step {
            let of = |process: usize| {
                let place = places[process].get(&(&call.comm, call.number));
                // A process that never makes the call is waited for forever.
                (process, place.copied().unwrap_or(usize::MAX))
            };
            let everybody = || call.members.iter().map(|process| of(*process)).collect();
            match (waiting, &call.kind) {
                (Waiting::Longest, Kind::SendReceive { to, from }) => vec![of(*to), of(*from)],
                (Waiting::Shortest, Kind::SendReceive { from, .. }) => vec![of(*from)],
                (Waiting::Longest, _) | (_, Kind::All | Kind::To { is_root: true }) => everybody(),
                (_, Kind::Of(root)) => vec![of(*root)],
                (_, Kind::To { is_root: false } | Kind::Free) => Vec::new(),
            }
        };
        self.0.iter().map(|calls| calls.iter().map(step).collect()).collect()
    }
}

proptest::proptest! {
    #[test]
    fn one_order_represents_all(
        steps in prop::collection::vec(prop::collection::vec(prop::collection::vec((0..3usize, 0..5usize), 0..2), 0..5), 3)
    ) {
        prop_assert_eq!(all_end(&steps), explore(&steps).is_some());
    }
}
