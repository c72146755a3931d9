//! The algorithms that MPIs choose for collectives, by bytes and number of processes.
//!
//! MPICH's thresholds are those of `maint/tuning/coll` (4.0 to 5.0), of operations that it knows on elements of 8 bytes;
//! Open MPI's those of `coll_tuned_decision_fixed.c` (4.1 to 5.0), where rings stand for neighbor exchanges, halving for
//! butterflies, and trees and doubling for chains and rings of few bytes.

mod steps;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::iter;

use super::program::{CollectiveKind, Host};
pub(super) use steps::{Message, Step};
use steps::{
    allgather_by_doubling, bruck, chain, divided, linear, rabenseifner, rabenseifner_to,
    recursive_doubling, recursive_halving, ring, scan, scatter_and_allgather, times, tree_from,
    tree_nearest_first, tree_to,
};

/// The steps of a collective whose processes are on these nodes.
pub(super) fn of(
    host: Host,
    kind: CollectiveKind,
    nodes: &[u32],
    root: u32,
    bytes: u64,
) -> Vec<Step> {
    let of_node = by_node(nodes, root);
    match has_two_levels(host, kind, nodes, &of_node, bytes) {
        true => two_levels(host, kind, &of_node, bytes),
        false => flat(host, kind, nodes.len() as u32, root, bytes),
    }
}

/// The members on each node, the root and its node first.
fn by_node(nodes: &[u32], root: u32) -> Vec<Vec<u32>> {
    let mut of_node: Vec<Vec<u32>> = Vec::new();
    let mut number: HashMap<u32, usize> = HashMap::new();
    let others = (0..nodes.len() as u32).filter(|member| *member != root);
    for member in iter::once(root).chain(others) {
        let number = *number.entry(nodes[member as usize]).or_insert(of_node.len());
        match of_node.get_mut(number) {
            Some(members) => members.push(member),
            None => of_node.push(vec![member]),
        }
    }
    of_node
}

/// True if an MPI runs the collective inside nodes and between them.
fn has_two_levels(
    host: Host,
    kind: CollectiveKind,
    nodes: &[u32],
    of_node: &[Vec<u32>],
    bytes: u64,
) -> bool {
    use CollectiveKind::{Allgather, Allreduce, Barrier, Bcast, Gather, Reduce, Scatter};
    let count = nodes.len();
    match (host, kind) {
        (Host::Mpich, Bcast(_)) => {
            count < 8 || bytes < 12_288 || count.is_power_of_two() && bytes < 524_288
        }
        (Host::Mpich, Barrier | Allreduce | Reduce(_)) => true,
        // HAN: on several nodes, one with several processes, and all with as many for most collectives. In other orders
        // than blocks, `exec` sets another component for gathers and scatters, where HAN's are wrong.
        (Host::OpenMpi5, _) if !(2..count).contains(&of_node.len()) => false,
        (Host::OpenMpi5, Barrier | Allreduce) => true,
        (Host::OpenMpi5, Bcast(_) | Reduce(_) | Gather(_) | Scatter(_) | Allgather) => {
            let is_equal = of_node.iter().all(|members| members.len() == of_node[0].len());
            let blocks = nodes.chunk_by(|one, next| one == next).count();
            is_equal && (blocks == of_node.len() || !matches!(kind, Gather(_) | Scatter(_)))
        }
        _ => false,
    }
}

/// A collective inside nodes, between the first process of each, and inside nodes again.
fn two_levels(host: Host, kind: CollectiveKind, of_node: &[Vec<u32>], bytes: u64) -> Vec<Step> {
    use CollectiveKind::{Allgather, Bcast, Gather, Reduce, Scatter};
    // The steps of all nodes; messages of different nodes do not wait for each other.
    let inside = |kind, bytes| {
        let steps = move |members: &Vec<u32>| {
            let steps = flat(host, kind, members.len() as u32, 0, bytes).into_iter();
            steps.map(|step| step.of(members)).collect::<Vec<_>>()
        };
        of_node.iter().flat_map(steps)
    };
    let first: Vec<u32> = of_node.iter().map(|members| members[0]).collect();
    let between = |bytes| {
        let steps = flat(host, kind, first.len() as u32, 0, bytes).into_iter();
        steps.map(|step| step.of(&first))
    };
    let of_first = times(bytes, of_node[0].len() as u32);
    match kind {
        Bcast(_) => between(bytes).chain(inside(kind, bytes)).collect(),
        Reduce(_) => inside(kind, bytes).chain(between(bytes)).collect(),
        Scatter(_) => between(of_first).chain(inside(kind, bytes)).collect(),
        Gather(_) => inside(kind, bytes).chain(between(of_first)).collect(),
        Allgather => {
            let all = times(of_first, first.len() as u32);
            let gathered = inside(Gather(0), bytes).chain(between(of_first));
            gathered.chain(inside(Bcast(0), all)).collect()
        }
        _ => {
            let reduced = inside(Reduce(0), bytes).chain(between(bytes));
            reduced.chain(inside(Bcast(0), bytes)).collect()
        }
    }
}

/// The steps of a collective that does not know of nodes.
fn flat(host: Host, kind: CollectiveKind, count: u32, root: u32, bytes: u64) -> Vec<Step> {
    match host {
        Host::OpenMpi4 | Host::OpenMpi5 => of_open_mpi(kind, count, root, bytes),
        Host::Mpich | Host::Smpi => of_mpich(host, kind, count, root, bytes),
    }
}

/// True if MPICH reduces few bytes: all of them at each step. It has fewer elements than processes, or about one (SMPI:
/// 2048 bytes).
fn is_small(host: Host, count: u32, bytes: u64) -> bool {
    match host {
        Host::Smpi => bytes <= 2048,
        _ => bytes <= 8 || bytes / 8 < u64::from(divided(count).0),
    }
}

fn of_mpich(host: Host, kind: CollectiveKind, count: u32, root: u32, bytes: u64) -> Vec<Step> {
    use CollectiveKind::*;
    let all = times(bytes, count);
    match kind {
        Barrier => bruck(count, |_| 0),
        Allreduce if is_small(host, count, bytes) => recursive_doubling(count, bytes),
        Allreduce => rabenseifner(count, bytes),
        Reduce(_) if bytes <= 2048 || is_small(host, count, bytes) => {
            tree_to(count, root, 2, |_| bytes)
        }
        Reduce(_) => rabenseifner_to(count, root, bytes),
        Bcast(_) if bytes < 12_288 || count < 8 => tree_from(count, root, 2, |_| bytes),
        Bcast(_) => scatter_and_allgather(count, root, bytes, 524_288),
        Gather(_) => tree_to(count, root, 2, |part| times(bytes, part)),
        Scatter(_) if host == Host::Smpi => {
            tree_nearest_first(count, root, |part| times(bytes, part))
        }
        Scatter(_) => tree_from(count, root, 2, |part| times(bytes, part)),
        Gatherv(_) => vec![linear(count, root, bytes).turned()],
        Scatterv(_) => vec![linear(count, root, bytes)],
        Allgather if all < 524_288 && count.is_power_of_two() => {
            allgather_by_doubling(count, bytes)
        }
        Allgather if all < 81_920 => bruck(count, |part| times(bytes, part)),
        Allgather => ring(count, bytes),
        Alltoall if bytes <= 256 && count >= 8 => bruck(count, |_| all / 2),
        Alltoall | Alltoallv => vec![Step::Exchange(bytes)],
        ReduceScatter if all < 524_288 => recursive_halving(count, all),
        ReduceScatter => vec![Step::Exchange(bytes)],
        Scan => scan(count, bytes),
    }
}

/// How Open MPI runs an allreduce: from the first number of bytes on by Rabenseifner's algorithm, below the second as a
/// reduce and a broadcast, else by recursive doubling.
fn allreduce_of_open_mpi(count: u32) -> (u64, u64) {
    match count {
        ..16 => (8192, 0),
        16..32 => (4096, 0),
        32..64 => (128, 0),
        64..128 => (262_144, 0),
        128..256 => (262_144, 131_072),
        256..512 => (4096, 4096),
        512..4096 => (16_384, 2048),
        _ => (32_768, 2048),
    }
}

/// The bytes from which Open MPI sends the blocks of an all-to-all directly.
fn alltoall_of_open_mpi(count: u32) -> u64 {
    match count {
        ..16 => 0,
        16..64 => 512,
        64..512 => 1024,
        512..2048 => 512,
        2048..4096 => 1024,
        _ => 2048,
    }
}

fn of_open_mpi(kind: CollectiveKind, count: u32, root: u32, bytes: u64) -> Vec<Step> {
    use CollectiveKind::*;
    let all = times(bytes, count);
    match kind {
        Barrier => bruck(count, |_| 0),
        Allreduce => match allreduce_of_open_mpi(count) {
            (_, least) if bytes < least => {
                let back = tree_from(count, 0, 4, |_| bytes);
                tree_to(count, 0, 2, |_| bytes).into_iter().chain(back).collect()
            }
            (most, _) if bytes < most => recursive_doubling(count, bytes),
            _ => rabenseifner(count, bytes),
        },
        Reduce(_) => tree_to(count, root, 2, |_| bytes),
        Bcast(_) if (16..32).contains(&count) && bytes >= 1 << 20 => {
            scatter_and_allgather(count, root, bytes, u64::MAX)
        }
        Bcast(_) if count >= 1024 && bytes >= 1 << 19 => {
            scatter_and_allgather(count, root, bytes, u64::MAX)
        }
        Bcast(_) => tree_from(count, root, 4, |_| bytes),
        Gather(_) => tree_to(count, root, 2, |part| times(bytes, part)),
        Scatter(_) if bytes < 512 => tree_nearest_first(count, root, |part| times(bytes, part)),
        Gatherv(_) => vec![linear(count, root, bytes).turned()],
        Scatter(_) | Scatterv(_) => vec![linear(count, root, bytes)],
        Allgather if bytes < 512 || count < 32 => allgather_by_doubling(count, bytes),
        Allgather => ring(count, bytes),
        Alltoall if bytes < alltoall_of_open_mpi(count) => bruck(count, |_| all / 2),
        Alltoall | Alltoallv => vec![Step::Exchange(bytes)],
        ReduceScatter if count < 32 && all >= 262_144 => ring(count, bytes),
        ReduceScatter => recursive_halving(count, all),
        Scan => chain(count, bytes),
    }
}
