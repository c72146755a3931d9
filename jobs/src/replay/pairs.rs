//! The relations between the calls of a program, for any places of its ranks: found once for all replays.

use super::program::{Event, Op, Program};
use super::siblings::Siblings;

/// The pairs of ranks with messages, and the collectives.
pub(super) struct Pairs {
    /// The index of the first pair of each rank as a receiver, and the number of pairs.
    first: Vec<usize>,
    /// The sender of each pair, ascending for each receiver.
    senders: Vec<u32>,
    /// True for ranks with a receive from any source, whose match depends on the time of arrival.
    takes_any: Vec<bool>,
    /// The number of each collective call among those of its rank in its group; 0 for other calls. Ordered by rank.
    numbers: Vec<u32>,
    /// The index of the first call of each rank.
    calls: Vec<usize>,
    /// The index of the first request of each rank, and the number of requests.
    pub(super) requests: Vec<usize>,
    /// The index of the first collective of each group, and the number of collectives.
    pub(super) meetings: Vec<usize>,
    pub(super) siblings: Siblings,
}

impl Pairs {
    pub(super) fn new(program: &Program) -> Self {
        // Each rank is a sender to itself, so that all receivers have a pair.
        let mut both: Vec<(u32, u32)> =
            (0..program.ranks.len() as u32).map(|rank| (rank, rank)).collect();
        let mut takes_any = Vec::new();
        let (mut numbers, mut calls, mut requests) = (Vec::new(), Vec::new(), vec![0]);
        let mut most = vec![0; program.groups.len()];
        let mut begun = most.clone();
        for (rank, events) in (0..).zip(&program.ranks) {
            calls.push(numbers.len());
            let (mut any, mut posted) = (false, 0);
            for Event { op, .. } in events {
                let mut number = 0;
                match *op {
                    Op::Send { to, request, .. } => {
                        both.push((to, rank));
                        posted += usize::from(request);
                    }
                    Op::Recv { from, request, .. } => {
                        both.extend(from.map(|from| (rank, from)));
                        any |= from.is_none();
                        posted += usize::from(request);
                    }
                    Op::Collective { group, .. } => {
                        number = begun[group as usize];
                        begun[group as usize] += 1;
                    }
                    Op::Wait { .. } => {}
                }
                numbers.push(number as u32);
            }
            for Event { op, .. } in events {
                if let Op::Collective { group, .. } = op {
                    let begun = std::mem::take(&mut begun[*group as usize]);
                    most[*group as usize] = most[*group as usize].max(begun);
                }
            }
            takes_any.push(any);
            requests.push(requests[rank as usize] + posted);
        }
        both.sort_unstable();
        both.dedup();
        let mut first = vec![0; program.ranks.len() + 1];
        both.iter().for_each(|(to, _)| first[*to as usize + 1] += 1);
        add_up(&mut first);
        let mut siblings = Siblings::new(&program.groups, &most);
        for (Event { op, .. }, number) in program.ranks.iter().flatten().zip(&numbers) {
            if let Op::Collective { group, bytes, .. } = *op {
                siblings.contribute(group, *number as usize, bytes);
            }
        }
        let mut meetings = vec![0];
        meetings.extend(most);
        add_up(&mut meetings);
        let senders = both.into_iter().map(|(_, from)| from).collect();
        Self { first, senders, takes_any, numbers, calls, requests, meetings, siblings }
    }

    /// The number of pairs.
    pub(super) fn len(&self) -> usize {
        self.senders.len()
    }

    /// True if time determines which message this receiver takes.
    pub(super) fn takes_any(&self, to: u32) -> bool {
        self.takes_any[to as usize]
    }

    /// The index of a pair.
    pub(super) fn pair(&self, from: u32, to: u32) -> usize {
        let first = self.first[to as usize];
        let senders = &self.senders[first..self.first[to as usize + 1]];
        first + senders.partition_point(|sender| *sender < from)
    }

    /// The pair that represents all senders, for a receiver whose messages are matched in the order of their arrival;
    /// otherwise this pair.
    pub(super) fn queue(&self, from: Option<u32>, to: u32) -> usize {
        match from.filter(|_| !self.takes_any(to)) {
            Some(from) => self.pair(from, to),
            None => self.first[to as usize],
        }
    }

    /// The index of the collective that is the call `at` of a rank, and the mean of its bytes, in sibling groups as well.
    pub(super) fn meeting(&self, rank: u32, at: usize, group: u32) -> (usize, u64) {
        let number = self.numbers[self.calls[rank as usize] + at] as usize;
        (self.meetings[group as usize] + number, self.siblings.mean(group, number))
    }
}

/// Replaces counts by their prefix sums.
fn add_up(counts: &mut [usize]) {
    for at in 1..counts.len() {
        counts[at] += counts[at - 1];
    }
}
