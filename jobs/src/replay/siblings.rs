//! Groups that call their collectives at the same time, such as the rows of a grid: they share the links of nodes.

use std::collections::{HashMap, HashSet};

/// The most sets of groups of one kind that are told apart; further groups have no siblings.
const MOST: usize = 8;

/// The sets of sibling groups.
pub(super) struct Siblings {
    /// The set of each group.
    pub(super) of: Vec<u32>,
    /// The groups of each set.
    pub(super) sets: Vec<Vec<u32>>,
    /// The members of the groups of each set.
    members: Vec<u64>,
    /// The first collective of each set in `bytes`.
    first: Vec<usize>,
    /// The bytes that all members of a set's groups contribute to each collective.
    bytes: Vec<u64>,
}

/// A set that may grow.
struct Open {
    set: u32,
    /// The ranks in its groups.
    ranks: HashSet<u32>,
}

impl Siblings {
    /// Groups are siblings if they have equal sizes, equally many collectives, and no common member. `collectives` has
    /// their number for each group.
    pub(super) fn new(groups: &[Vec<u32>], collectives: &[usize]) -> Self {
        let mut found = Self {
            of: Vec::new(),
            sets: Vec::new(),
            members: Vec::new(),
            first: Vec::new(),
            bytes: Vec::new(),
        };
        let mut open: HashMap<(usize, usize), Vec<Open>> = HashMap::new();
        for (number, (group, count)) in (0..).zip(groups.iter().zip(collectives)) {
            let known = open.entry((group.len(), *count)).or_default();
            let is_free = |one: &Open| group.iter().all(|rank| !one.ranks.contains(rank));
            let at = known.iter().position(is_free).unwrap_or_else(|| {
                known.truncate(MOST);
                known.push(Open { set: found.sets.len() as u32, ranks: HashSet::new() });
                found.sets.push(Vec::new());
                found.members.push(0);
                found.first.push(found.bytes.len());
                found.bytes.resize(found.bytes.len() + count, 0);
                known.len() - 1
            });
            let Open { set, ranks } = &mut known[at];
            ranks.extend(group);
            found.sets[*set as usize].push(number);
            found.members[*set as usize] += group.len() as u64;
            found.of.push(*set);
        }
        found
    }

    /// Counts the bytes that a member of a group contributes to its collective of this number.
    pub(super) fn contribute(&mut self, group: u32, number: usize, bytes: u64) {
        let sum = &mut self.bytes[self.first[self.of[group as usize] as usize] + number];
        *sum = sum.saturating_add(bytes);
    }

    /// The mean of these bytes over all members of a group and its siblings.
    pub(super) fn mean(&self, group: u32, number: usize) -> u64 {
        let set = self.of[group as usize] as usize;
        self.bytes[self.first[set] + number] / self.members[set].max(1)
    }
}
