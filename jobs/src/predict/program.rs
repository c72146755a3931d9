//! Builds the program to replay from a recording.

use std::collections::BTreeMap;

use cartograph_traffic::{Call, Collective, Recording};

use crate::replay::{CollectiveKind, Event, Host, Op, Program};

/// The program of a recording, with at most `each` calls per rank; `None` if a rank has no window.
pub(super) fn of(recording: &Recording, each: usize) -> Option<Program> {
    let size = recording.size as usize;
    if recording.windows.len() != size || size < 2 {
        return None;
    }
    let mut members: BTreeMap<(u64, u32), Vec<u32>> = BTreeMap::new();
    for (rank, window) in &recording.windows {
        for call in &window.calls {
            if let Call::Collective(Collective { group, size, .. }) = call {
                let group = members.entry((*group, *size)).or_default();
                if group.last() != Some(rank) {
                    group.push(*rank);
                }
            }
        }
    }
    // A collective with an unknown rank would block forever.
    members.retain(|(_, size), ranks| ranks.len() == *size as usize);
    let number: BTreeMap<(u64, u32), u32> = members.keys().copied().zip(0..).collect();
    let ranks = recording.windows.values().map(|window| {
        let mut waiting = 0;
        let mut events = Vec::new();
        for (call, gap) in window.events()?.into_iter().take(each) {
            let work = (waiting + gap) as f64 * 1e-9;
            match op(call, &number) {
                Some(op) => {
                    events.push(Event { work, op });
                    waiting = 0;
                }
                None => waiting += gap,
            }
        }
        Some(events)
    });
    let ranks: Option<Vec<Vec<Event>>> = ranks.collect();
    let (groups, host) = (members.into_values().collect(), Host::of(&recording.mpi));
    Some(Program { ranks: ranks?, groups, host })
}

fn op(call: &Call, number: &BTreeMap<(u64, u32), u32>) -> Option<Op> {
    Some(match call {
        Call::Send(to, bytes, tag) => {
            Op::Send { to: *to, bytes: *bytes, tag: *tag, request: false }
        }
        Call::Isend(to, bytes, tag) => {
            Op::Send { to: *to, bytes: *bytes, tag: *tag, request: true }
        }
        Call::Recv(from, tag) => Op::Recv { from: *from, tag: *tag, request: false },
        Call::Irecv(from, tag) => Op::Recv { from: *from, tag: *tag, request: true },
        Call::Wait(back, count) => Op::Wait { back: *back, count: *count },
        Call::Collective(Collective { function, group, size, root, bytes }) => {
            let kind = match (&function[4..], root) {
                ("Bcast", Some(root)) => CollectiveKind::Bcast(*root),
                ("Scatter", Some(root)) => CollectiveKind::Scatter(*root),
                ("Scatterv", Some(root)) => CollectiveKind::Scatterv(*root),
                ("Reduce", Some(root)) => CollectiveKind::Reduce(*root),
                ("Gather", Some(root)) => CollectiveKind::Gather(*root),
                ("Gatherv", Some(root)) => CollectiveKind::Gatherv(*root),
                ("Allgather" | "Allgatherv", _) => CollectiveKind::Allgather,
                ("Alltoall", _) => CollectiveKind::Alltoall,
                ("Alltoallv" | "Alltoallw", _) => CollectiveKind::Alltoallv,
                ("Reduce_scatter" | "Reduce_scatter_block", _) => CollectiveKind::ReduceScatter,
                ("Scan" | "Exscan", _) => CollectiveKind::Scan,
                ("Barrier", _) => CollectiveKind::Barrier,
                _ => CollectiveKind::Allreduce,
            };
            Op::Collective { group: *number.get(&(*group, *size))?, kind, bytes: *bytes }
        }
    })
}
