//! Which members get which data, and with how many bytes.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::CollectiveKind::*;
use super::*;

const KINDS: [CollectiveKind; 13] = [
    Barrier,
    Allreduce,
    ReduceScatter,
    Scan,
    Allgather,
    Alltoall,
    Alltoallv,
    Bcast(0),
    Scatter(0),
    Reduce(0),
    Gather(0),
    Scatterv(0),
    Gatherv(0),
];

/// For each member, the members whose data it has at the end if each message carries all data of its sender.
fn known(steps: &[Step], count: u32) -> Vec<BTreeSet<u32>> {
    let mut known: Vec<BTreeSet<u32>> = (0..count).map(|member| [member].into()).collect();
    for step in steps {
        let Step::Messages(messages, times) = step else {
            return vec![(0..count).collect(); count as usize];
        };
        for _ in 0..*times {
            let before = known.clone();
            for (from, to, _) in messages {
                known[*to as usize].extend(&before[*from as usize]);
            }
        }
    }
    known
}

fn messages(steps: &[Step]) -> impl Iterator<Item = (u32, u32, u64)> {
    steps.iter().flat_map(|step| match step {
        Step::Messages(all, _) => all.clone(),
        Step::Exchange(_) => Vec::new(),
    })
}

proptest! {
    /// Whatever the number of processes, their nodes, the root and the bytes, data reaches all members that need it.
    #[test]
    fn data_reaches_all_members_that_need_it(
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
            let steps = of(host, kind, &nodes, root, bytes);
            for (from, to, _) in messages(&steps) {
                prop_assert!(from != to && from < count && to < count, "{kind:?} {from} {to}");
            }
            let known = known(&steps, count);
            for member in 0..count {
                let has = &known[member as usize];
                let is_right = match kind {
                    Bcast(_) | Scatter(_) | Scatterv(_) => has.contains(&root),
                    Reduce(_) | Gather(_) | Gatherv(_) => member != root || *has == all,
                    Scan => (0..member).all(|before| has.contains(&before)),
                    _ => *has == all,
                };
                prop_assert!(is_right, "{host:?} {kind:?} {member} of {count}: {has:?}");
            }
        }
    }
}

#[test]
fn algorithms_send_the_expected_bytes() {
    let bytes = |host, kind, count: u32, bytes, member: u32| -> u64 {
        let sent = |step: Step| match step {
            Step::Exchange(bytes) => bytes * u64::from(count - 1),
            Step::Messages(all, times) => {
                let own = all.iter().filter(|(from, ..)| *from == member);
                own.map(|(.., bytes)| bytes * u64::from(times)).sum()
            }
        };
        of(host, kind, &vec![0; count as usize], 0, bytes).into_iter().map(sent).sum()
    };
    let smpi = |kind, count, size| bytes(Host::Smpi, kind, count, size, 0);
    assert_eq!(smpi(Allreduce, 16, 1000), 4 * 1000);
    assert_eq!(smpi(Allreduce, 16, 1 << 20), 2 * ((1 << 20) - (1 << 16)));
    assert_eq!(smpi(Bcast(0), 16, 8), 4 * 8);
    assert_eq!(smpi(Scatter(0), 12, 100), 11 * 100);
    assert_eq!(smpi(Allgather, 16, 100), 15 * 100);
    assert_eq!(smpi(Allgather, 12, 100_000), 11 * 100_000);
    assert_eq!(smpi(ReduceScatter, 16, 100), 15 * 100);
    assert_eq!(smpi(ReduceScatter, 16, 1 << 20), 15 << 20);
    assert_eq!(smpi(Alltoall, 16, 8), 4 * 64);
    assert_eq!(bytes(Host::OpenMpi4, Bcast(0), 64, 8, 0), 9 * 8);
    assert_eq!(bytes(Host::OpenMpi4, Scatter(0), 16, 1000, 0), 15_000);
    assert_eq!(bytes(Host::OpenMpi4, Gather(0), 12, 100, 8), 4 * 100);
}

#[test]
fn two_levels_send_one_message_between_two_nodes() {
    let nodes: Vec<u32> = (0..16).map(|rank| rank % 4).collect();
    let between = |host| {
        let is_between =
            |(from, to, _): &(u32, u32, u64)| nodes[*from as usize] != nodes[*to as usize];
        messages(&of(host, Bcast(5), &nodes, 5, 8)).filter(is_between).count()
    };
    assert_eq!((between(Host::Mpich), between(Host::OpenMpi5)), (3, 3));
    // Round-robin, a tree of 16 has messages inside nodes at its two highest levels only: 3 of 15.
    assert_eq!(between(Host::Smpi), 12);
}

#[test]
fn allgathers_of_han_are_the_same_in_any_order() {
    let block: Vec<u32> = (0..16).map(|rank| rank / 4).collect();
    let round_robin: Vec<u32> = (0..16).map(|rank| rank % 4).collect();
    let gathered = |host, nodes: &[u32]| of(host, Allgather, nodes, 0, 1000);
    let between = |nodes: &[u32]| {
        let mut between: Vec<_> = messages(&gathered(Host::OpenMpi5, nodes))
            .map(|(from, to, bytes)| (nodes[from as usize], nodes[to as usize], bytes))
            .filter(|(from, to, _)| from != to)
            .collect();
        between.sort_unstable();
        between
    };
    let mut doubling: Vec<_> = (0..4).map(|node| (node, node ^ 1, 4000)).collect();
    doubling.extend((0..4).map(|node| (node, node ^ 2, 8000)));
    doubling.sort_unstable();
    assert_eq!((between(&block), between(&round_robin)), (doubling.clone(), doubling));
    for (nodes, is_by_node) in [(&block, true), (&round_robin, false)] {
        let steps = [Host::OpenMpi4, Host::OpenMpi5].map(|host| of(host, Gather(3), nodes, 3, 8));
        assert_eq!(steps[0] != steps[1], is_by_node);
    }
    // HAN is not used with unequal numbers on nodes, one process on each, or one node.
    for nodes in [&block[1..], &[0, 1, 2, 3, 4], &[0; 16]] {
        assert_eq!(gathered(Host::OpenMpi5, nodes), gathered(Host::OpenMpi4, nodes));
    }
}
