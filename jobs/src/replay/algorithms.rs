//! The messages of collectives, step by step, by the algorithms that MPIs choose for a size and a number of processes.
//!
//! MPICH's thresholds are those of `maint/tuning/coll` (4.0 to 5.0), of operations that it knows on elements of 8 bytes;
//! Open MPI's those of `coll_tuned_decision_fixed.c` (4.1 to 5.0), where rings stand for neighbor exchanges, halving for
//! butterflies, and trees and doubling for chains and rings of few bytes.

use super::program::{Host, Meeting};

/// Messages between members of a group, which are numbered from 0, that are sent before any of them is awaited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// The sender, the receiver and the bytes.
    pub(super) messages: Vec<(u32, u32, u64)>,
    /// The number of times that they are sent, each after the other.
    pub(super) times: u32,
}

/// How the data of a collective moves.
pub(super) enum Algorithm {
    Steps(Vec<Step>),
    /// Each process sends bytes to each other one, all at once.
    Exchange(u64),
}

/// The algorithm for a collective whose processes are on these nodes.
pub(super) fn of(host: Host, kind: Meeting, nodes: &[u32], root: u32, bytes: u64) -> Algorithm {
    let count = nodes.len() as u32;
    let is_open_mpi = matches!(host, Host::OpenMpi4 | Host::OpenMpi5);
    let is_exchange = match kind {
        Meeting::Alltoallv => true,
        Meeting::Alltoall if is_open_mpi => bytes >= least_of_linear(count),
        Meeting::Alltoall => bytes > 256 || count < 8,
        Meeting::ReduceScatter => !is_open_mpi && times(bytes, count) >= 524_288,
        _ => false,
    };
    if is_exchange {
        return Algorithm::Exchange(bytes);
    }
    Algorithm::Steps(match host {
        Host::Mpich if is_of_levels(kind, count, bytes) => on_levels(kind, nodes, root, bytes),
        Host::OpenMpi5 if is_of_levels(kind, count, 0) => on_levels(kind, nodes, root, bytes),
        Host::OpenMpi4 | Host::OpenMpi5 => of_open_mpi(kind, count, root, bytes),
        Host::Mpich | Host::Smpi => of_mpich(host, kind, count, root, bytes),
    })
}

/// The bytes of so many members.
fn times(bytes: u64, count: u32) -> u64 {
    bytes.saturating_mul(u64::from(count))
}

/// The bytes from which Open MPI sends the blocks of an all-to-all directly.
fn least_of_linear(count: u32) -> u64 {
    match count {
        ..16 => 0,
        16..64 => 512,
        64..512 => 1024,
        512..2048 => 512,
        2048..4096 => 1024,
        _ => 2048,
    }
}

/// True if MPICH runs the collective inside nodes and between them.
fn is_of_levels(kind: Meeting, count: u32, bytes: u64) -> bool {
    match kind {
        Meeting::Barrier | Meeting::Allreduce | Meeting::Reduce(_) => true,
        Meeting::Bcast(_) => {
            count < 8 || bytes < 12_288 || count.is_power_of_two() && bytes < 524_288
        }
        _ => false,
    }
}

/// True if MPICH reduces few bytes: all of them at each step. It has fewer elements than processes, or, of an allreduce,
/// about one (SMPI: 2048 bytes).
fn is_small(host: Host, count: u32, bytes: u64) -> bool {
    match host {
        Host::Smpi => bytes <= 2048,
        _ => bytes <= 8 || bytes / 8 < u64::from(divided(count).0),
    }
}

fn of_mpich(host: Host, kind: Meeting, count: u32, root: u32, bytes: u64) -> Vec<Step> {
    let all = times(bytes, count);
    match kind {
        Meeting::Barrier => around(count, |_| 0),
        Meeting::Allreduce if is_small(host, count, bytes) => doubling(count, bytes),
        Meeting::Allreduce => halving_and_doubling(count, bytes),
        Meeting::Reduce(_) if bytes <= 2048 || is_small(host, count, bytes) => {
            up(count, root, 2, |_| bytes)
        }
        Meeting::Reduce(_) => halving_to(count, root, bytes),
        Meeting::Bcast(_) if bytes < 12_288 || count < 8 => down(count, root, 2, |_| bytes),
        Meeting::Bcast(_) => scatter_and_gather(count, root, bytes, 524_288),
        Meeting::Gather(_) => up(count, root, 2, |part| times(bytes, part)),
        Meeting::Scatter(_) if host == Host::Smpi => {
            nearest_first(count, root, |part| times(bytes, part))
        }
        Meeting::Scatter(_) => down(count, root, 2, |part| times(bytes, part)),
        Meeting::Gatherv(_) => vec![turned(from_one(count, root, bytes))],
        Meeting::Scatterv(_) => vec![from_one(count, root, bytes)],
        Meeting::Allgather if all < 524_288 && count.is_power_of_two() => gathering(count, bytes),
        Meeting::Allgather if all < 81_920 => around(count, |part| times(bytes, part)),
        Meeting::Allgather => ring(count, bytes),
        Meeting::Alltoall | Meeting::Alltoallv => around(count, |_| all / 2),
        Meeting::ReduceScatter => halving_of_farthest(count, all),
        Meeting::Scan => scan(count, bytes),
    }
}

/// The bytes of an allreduce from which Open MPI halves them, and below which it reduces and broadcasts them.
fn of_open_mpi_allreduce(count: u32) -> (u64, u64) {
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

fn of_open_mpi(kind: Meeting, count: u32, root: u32, bytes: u64) -> Vec<Step> {
    let all = times(bytes, count);
    match kind {
        Meeting::Barrier => around(count, |_| 0),
        Meeting::Allreduce => match of_open_mpi_allreduce(count) {
            (_, least) if bytes < least => {
                let back = down(count, 0, 4, |_| bytes);
                up(count, 0, 2, |_| bytes).into_iter().chain(back).collect()
            }
            (most, _) if bytes < most => doubling(count, bytes),
            _ => halving_and_doubling(count, bytes),
        },
        Meeting::Reduce(_) => up(count, root, 2, |_| bytes),
        Meeting::Bcast(_)
            if (16..32).contains(&count) && bytes >= 1 << 20
                || count >= 1024 && bytes >= 1 << 19 =>
        {
            scatter_and_gather(count, root, bytes, u64::MAX)
        }
        // Its trees have four children at each level, when they broadcast.
        Meeting::Bcast(_) => down(count, root, 4, |_| bytes),
        Meeting::Gather(_) => up(count, root, 2, |part| times(bytes, part)),
        Meeting::Scatter(_) if bytes < 512 => nearest_first(count, root, |part| times(bytes, part)),
        Meeting::Gatherv(_) => vec![turned(from_one(count, root, bytes))],
        Meeting::Scatter(_) | Meeting::Scatterv(_) => vec![from_one(count, root, bytes)],
        Meeting::Allgather if bytes < 512 || count < 32 => gathering(count, bytes),
        Meeting::Allgather => ring(count, bytes),
        Meeting::Alltoall | Meeting::Alltoallv => around(count, |_| all / 2),
        Meeting::ReduceScatter if count < 32 && all >= 262_144 => ring(count, bytes),
        Meeting::ReduceScatter => halving_of_farthest(count, all),
        Meeting::Scan => (1..count).map(|member| once(vec![(member - 1, member, bytes)])).collect(),
    }
}

/// A message from the root to each other member.
fn from_one(count: u32, root: u32, bytes: u64) -> Step {
    let others = (0..count).filter(|member| *member != root);
    once(others.map(|member| (root, member, bytes)).collect())
}

/// A collective inside nodes, between the first process of each, and inside nodes again.
fn on_levels(kind: Meeting, nodes: &[u32], root: u32, bytes: u64) -> Vec<Step> {
    let mut of_node: Vec<Vec<u32>> = Vec::new();
    let mut at: std::collections::HashMap<u32, usize> = std::collections::HashMap::new();
    let root_first =
        std::iter::once(root).chain((0..nodes.len() as u32).filter(|one| *one != root));
    for member in root_first {
        let place = *at.entry(nodes[member as usize]).or_insert(of_node.len());
        match of_node.get_mut(place) {
            Some(members) => members.push(member),
            None => of_node.push(vec![member]),
        }
    }
    let inside = |steps: fn(u32, u64) -> Vec<Step>| {
        let mut joined: Vec<Step> = Vec::new();
        for members in &of_node {
            let named =
                steps(members.len() as u32, bytes).into_iter().map(|step| named(step, members));
            for (at, step) in named.enumerate() {
                match joined.get_mut(at) {
                    Some(all) => all.messages.extend(step.messages),
                    None => joined.push(step),
                }
            }
        }
        joined
    };
    let up = || inside(|count, bytes| self::up(count, 0, 2, |_| bytes));
    let down = || inside(|count, bytes| self::down(count, 0, 2, |_| bytes));
    let first: Vec<u32> = of_node.iter().map(|members| members[0]).collect();
    let between = of_mpich(Host::Mpich, kind, first.len() as u32, 0, bytes);
    let between = between.into_iter().map(|step| named(step, &first));
    match kind {
        Meeting::Bcast(_) => between.chain(down()).collect(),
        Meeting::Reduce(_) => up().into_iter().chain(between).collect(),
        _ => up().into_iter().chain(between).chain(down()).collect(),
    }
}

/// A step of members whose numbers are these.
fn named(mut step: Step, members: &[u32]) -> Step {
    for (from, to, _) in &mut step.messages {
        [*from, *to] = [*from, *to].map(|member| members[member as usize]);
    }
    step
}

fn once(messages: Vec<(u32, u32, u64)>) -> Step {
    Step { messages, times: 1 }
}

/// The powers of two below a number.
fn powers(count: u32) -> impl DoubleEndedIterator<Item = u32> {
    (0..31)
        .map(|power| 1 << power)
        .take_while(move |power| *power < count)
        .collect::<Vec<_>>()
        .into_iter()
}

/// A tree from its root, the largest subtrees first: a message has the bytes for the members of a subtree.
fn down(count: u32, root: u32, radix: u32, bytes: impl Fn(u32) -> u64) -> Vec<Step> {
    let mut width = 1;
    while width * radix < count {
        width *= radix;
    }
    let mut steps = Vec::new();
    while width > 0 {
        let parents = (0..count).step_by((width * radix) as usize);
        let children = parents.flat_map(|parent| {
            let children = (1..radix).map(move |child| parent + child * width);
            children.take_while(move |child| *child < count).map(move |child| (parent, child))
        });
        let messages = children.map(|(parent, child)| {
            let part = width.min(count - child);
            ((parent + root) % count, (child + root) % count, bytes(part))
        });
        steps.push(once(messages.collect()));
        width /= radix;
    }
    steps
}

/// A tree of pairs whose parents send to the smallest subtrees first, so that the largest wait: Open MPI's.
fn nearest_first(count: u32, root: u32, bytes: impl Fn(u32) -> u64) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    // The number of the step after which each member has its data.
    let mut after = vec![0; count as usize];
    for child in 1..count {
        let width = child & child.wrapping_neg();
        let parent = child - width;
        let at = after[parent as usize] + width.trailing_zeros() as usize;
        after[child as usize] = at + 1;
        steps.resize_with(steps.len().max(at + 1), || once(Vec::new()));
        let part = width.min(count - child);
        let ends = ((parent + root) % count, (child + root) % count);
        steps[at].messages.push((ends.0, ends.1, bytes(part)));
    }
    steps
}

/// A step in the other direction.
fn turned(mut step: Step) -> Step {
    step.messages.iter_mut().for_each(|(from, to, _)| std::mem::swap(from, to));
    step
}

/// The tree of [`down`] toward its root.
fn up(count: u32, root: u32, radix: u32, bytes: impl Fn(u32) -> u64) -> Vec<Step> {
    down(count, root, radix, bytes).into_iter().rev().map(turned).collect()
}

/// Each member sends to one whose number is larger by a power of two, for each power, with the bytes for so many members.
fn around(count: u32, bytes: impl Fn(u32) -> u64) -> Vec<Step> {
    let step = |away: u32| {
        let part = bytes(away.min(count - away));
        once((0..count).map(|member| (member, (member + away) % count, part)).collect())
    };
    powers(count).map(step).collect()
}

fn ring(count: u32, bytes: u64) -> Vec<Step> {
    let messages = (0..count).map(|member| (member, (member + 1) % count, bytes)).collect();
    let times = count.saturating_sub(1);
    if times == 0 { Vec::new() } else { vec![Step { messages, times }] }
}

/// The largest power of two of members, and the number of others, which take part through a neighbor.
fn divided(count: u32) -> (u32, u32) {
    let most = (count + 1).next_power_of_two() / 2;
    (most, count - most)
}

/// The member with a number among the largest power of two, if so many are left.
fn member(number: u32, left: u32) -> u32 {
    if number < left { 2 * number + 1 } else { number + left }
}

/// Exchanges between members whose numbers differ by powers of two, with the bytes for each. If their number is no power of
/// two, some take part through a neighbor, with which they exchange so many bytes before and after.
fn between_powers(count: u32, [before, after]: [u64; 2], exchanges: &[(u32, u64)]) -> Vec<Step> {
    let (most, left) = divided(count);
    let exchange = |(away, bytes): &(u32, u64)| {
        let pair = |one: u32| (member(one, left), member(one ^ away, left), *bytes);
        once((0..most).map(pair).collect())
    };
    let first = once((0..left).map(|pair| (2 * pair, 2 * pair + 1, before)).collect());
    let last = once((0..left).map(|pair| (2 * pair + 1, 2 * pair, after)).collect());
    let all = std::iter::once(first).chain(exchanges.iter().map(exchange)).chain([last]);
    all.filter(|step| !step.messages.is_empty()).collect()
}

/// The powers of two by which the members of [`between_powers`] differ.
fn distances(count: u32) -> impl DoubleEndedIterator<Item = u32> {
    powers(divided(count).0)
}

/// Recursive doubling of a reduction: all bytes at each step.
fn doubling(count: u32, bytes: u64) -> Vec<Step> {
    let exchanges: Vec<_> = distances(count).map(|away| (away, bytes)).collect();
    between_powers(count, [bytes; 2], &exchanges)
}

/// Rabenseifner's: half of the bytes between neighbors, half of the rest at each further distance.
fn halves(count: u32, bytes: u64) -> Vec<(u32, u64)> {
    distances(count).map(|away| (away, bytes / u64::from(2 * away))).collect()
}

/// Rabenseifner's reduction: its halves go to the root by the same pairs.
fn halving_to(count: u32, root: u32, bytes: u64) -> Vec<Step> {
    let (_, left) = divided(count);
    let number = if root < 2 * left { root / 2 } else { root - left };
    let halves = halves(count, bytes);
    let mut steps = between_powers(count, [bytes, 0], &halves);
    steps.retain(|step| step.messages.iter().any(|(.., bytes)| *bytes > 0));
    for (away, part) in halves.into_iter().rev() {
        let pair = |one: u32| (member(one ^ number, left), member(one ^ number ^ away, left), part);
        steps.push(once((away..2 * away).map(pair).collect()));
    }
    if member(number, left) != root {
        steps.push(once(vec![(member(number, left), root, bytes)]));
    }
    steps
}

fn halving_and_doubling(count: u32, bytes: u64) -> Vec<Step> {
    let halves = halves(count, bytes);
    let exchanges: Vec<_> = halves.iter().chain(halves.iter().rev()).copied().collect();
    between_powers(count, [bytes; 2], &exchanges)
}

/// Half of all bytes with the farthest, half of the rest at each nearer distance.
fn halving_of_farthest(count: u32, all: u64) -> Vec<Step> {
    let exchanges = (1..32).map(|power| all >> power);
    let exchanges: Vec<_> = distances(count).rev().zip(exchanges).collect();
    between_powers(count, [all, all / u64::from(count.max(1))], &exchanges)
}

/// Recursive doubling of what is gathered; around the members if their number is no power of two.
fn gathering(count: u32, bytes: u64) -> Vec<Step> {
    if !count.is_power_of_two() {
        return around(count, |part| times(bytes, part));
    }
    let exchanges: Vec<_> = distances(count).map(|away| (away, times(bytes, away))).collect();
    between_powers(count, [0; 2], &exchanges)
}

/// A broadcast: parts to all, which gather them, by doubling below this number of bytes, and otherwise around a ring.
fn scatter_and_gather(count: u32, root: u32, bytes: u64, least: u64) -> Vec<Step> {
    let part = bytes.div_ceil(u64::from(count.max(1)));
    let gathered = match count.is_power_of_two() && bytes < least {
        true => gathering(count, part),
        false => ring(count, part),
    };
    down(count, root, 2, |parts| times(part, parts)).into_iter().chain(gathered).collect()
}

/// Each member gets the bytes of those before it by exchanges at growing distances.
fn scan(count: u32, bytes: u64) -> Vec<Step> {
    let step = |away: u32| {
        let pairs = (0..count).map(|member| (member, member ^ away, bytes));
        once(pairs.filter(|(_, to, _)| *to < count).collect())
    };
    powers(count).map(step).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const KINDS: [Meeting; 13] = [
        Meeting::Barrier,
        Meeting::Allreduce,
        Meeting::ReduceScatter,
        Meeting::Scan,
        Meeting::Allgather,
        Meeting::Alltoall,
        Meeting::Bcast(0),
        Meeting::Scatter(0),
        Meeting::Reduce(0),
        Meeting::Gather(0),
        Meeting::Gatherv(0),
        Meeting::Scatterv(0),
        Meeting::Alltoallv,
    ];

    /// For each member, those whose data it has at the end if each message carries all that its sender has.
    fn known(steps: &[Step], count: u32) -> Vec<BTreeSet<u32>> {
        let mut known: Vec<BTreeSet<u32>> = (0..count).map(|member| [member].into()).collect();
        for step in steps {
            for _ in 0..step.times {
                let before = known.clone();
                for (from, to, _) in &step.messages {
                    known[*to as usize].extend(&before[*from as usize]);
                }
            }
        }
        known
    }

    proptest! {
        /// Whatever the number of processes, their nodes, the root and the bytes, data reaches those who need it.
        #[test]
        fn data_reaches_those_who_need_it(
            nodes in proptest::collection::vec(0u32..5, 1..40),
            root in 0u32..40,
            bytes in prop_oneof![0u64..3000, 3000u64..2_000_000, Just(u64::MAX)],
            host in prop_oneof![
                Just(Host::Mpich),
                Just(Host::OpenMpi4),
                Just(Host::OpenMpi5),
                Just(Host::Smpi)
            ],
        ) {
            let count = nodes.len() as u32;
            let root = root % count;
            let all: BTreeSet<u32> = (0..count).collect();
            for kind in KINDS {
                let Algorithm::Steps(steps) = of(host, kind, &nodes, root, bytes) else { continue };
                for (from, to, _) in steps.iter().flat_map(|step| &step.messages) {
                    prop_assert!(from != to && *from < count && *to < count, "{kind:?} {from} {to}");
                }
                let known = known(&steps, count);
                for member in 0..count {
                    let has = &known[member as usize];
                    let is_right = match kind {
                        Meeting::Bcast(_) | Meeting::Scatter(_) | Meeting::Scatterv(_) => has.contains(&root),
                        Meeting::Reduce(_) | Meeting::Gather(_) | Meeting::Gatherv(_) => member != root || *has == all,
                        Meeting::Scan => (0..member).all(|before| has.contains(&before)),
                        _ => *has == all,
                    };
                    prop_assert!(is_right, "{host:?} {kind:?} {member} of {count}: {has:?}");
                }
            }
        }
    }

    #[test]
    fn bytes_are_those_of_the_algorithms() {
        let sent = |steps: &[Step], member: u32| -> u64 {
            let own = |step: &Step| -> u64 {
                let from = step.messages.iter().filter(|(from, ..)| *from == member);
                from.map(|(.., bytes)| bytes * u64::from(step.times)).sum()
            };
            steps.iter().map(own).sum()
        };
        let bytes = |host, kind, count: u32, bytes, member| match of(
            host,
            kind,
            &vec![0; count as usize],
            0,
            bytes,
        ) {
            Algorithm::Steps(steps) => sent(&steps, member),
            Algorithm::Exchange(bytes) => bytes * u64::from(count - 1),
        };
        let smpi = |kind, count, size| bytes(Host::Smpi, kind, count, size, 0);
        assert_eq!(smpi(Meeting::Allreduce, 16, 1000), 4 * 1000);
        assert_eq!(smpi(Meeting::Allreduce, 16, 1 << 20), 2 * ((1 << 20) - (1 << 16)));
        assert_eq!(smpi(Meeting::Bcast(0), 16, 8), 4 * 8);
        assert_eq!(smpi(Meeting::Scatter(0), 12, 100), 11 * 100);
        assert_eq!(smpi(Meeting::Allgather, 16, 100), 15 * 100);
        assert_eq!(smpi(Meeting::Allgather, 12, 100_000), 11 * 100_000);
        assert_eq!(smpi(Meeting::ReduceScatter, 16, 100), 15 * 100);
        assert_eq!(smpi(Meeting::Alltoall, 16, 8), 4 * 64);
        assert_eq!(bytes(Host::OpenMpi4, Meeting::Bcast(0), 64, 8, 0), 9 * 8);
        assert_eq!(bytes(Host::OpenMpi4, Meeting::Scatter(0), 16, 1000, 0), 15_000);
        assert_eq!(bytes(Host::OpenMpi4, Meeting::Gather(0), 12, 100, 8), 4 * 100);
    }

    #[test]
    fn mpich_sends_one_message_between_two_nodes() {
        let nodes: Vec<u32> = (0..16).map(|rank| rank % 4).collect();
        for (host, expected) in [(Host::Mpich, 3), (Host::Smpi, 15)] {
            let Algorithm::Steps(steps) = of(host, Meeting::Bcast(5), &nodes, 5, 8) else {
                panic!()
            };
            let messages = steps.iter().flat_map(|step| &step.messages);
            let between =
                messages.filter(|(from, to, _)| nodes[*from as usize] != nodes[*to as usize]);
            // Round-robin, a tree has messages inside nodes at its two highest levels only.
            let found = between.count();
            assert!(found == expected || host == Host::Smpi && (8..15).contains(&found), "{found}");
        }
    }
}
