//! Groups that call their collectives at the same time, such as the rows of a grid: they share the links of nodes.

use std::collections::{HashMap, HashSet};

/// The most sets of groups of one kind that are told apart; further groups have no siblings.
const MOST: usize = 8;

/// Sibling groups.
#[derive(Default)]
struct Set {
    groups: Vec<u32>,
    /// The members of all groups.
    ranks: HashSet<u32>,
    /// The bytes that all members contribute to each collective.
    bytes: Vec<u64>,
}

/// The sets of sibling groups.
#[derive(Default)]
pub(super) struct Siblings {
    /// The set of each group.
    set_of: Vec<u32>,
    sets: Vec<Set>,
}

impl Siblings {
    /// Groups are siblings if they have equal sizes, equally many collectives, and no common member. `collectives` has
    /// their number for each group.
    pub(super) fn new(groups: &[Vec<u32>], collectives: &[usize]) -> Self {
        let mut found = Self::default();
        let mut of_kind: HashMap<(usize, usize), Vec<u32>> = HashMap::new();
        for (number, (group, count)) in (0..).zip(groups.iter().zip(collectives)) {
            let known = of_kind.entry((group.len(), *count)).or_default();
            let is_free = |set: &&u32| {
                let ranks = &found.sets[**set as usize].ranks;
                group.iter().all(|rank| !ranks.contains(rank))
            };
            let set = known.iter().find(is_free).copied().unwrap_or(found.sets.len() as u32);
            if set as usize == found.sets.len() {
                found.sets.push(Set { bytes: vec![0; *count], ..Set::default() });
                if known.len() < MOST {
                    known.push(set);
                }
            }
            let Set { groups, ranks, .. } = &mut found.sets[set as usize];
            groups.push(number);
            ranks.extend(group);
            found.set_of.push(set);
        }
        found
    }

    /// The number of a group's set.
    pub(super) fn set_of(&self, group: u32) -> u32 {
        self.set_of[group as usize]
    }

    /// The groups of a set.
    pub(super) fn groups(&self, set: u32) -> &[u32] {
        &self.sets[set as usize].groups
    }

    /// Counts the bytes that a member of a group contributes to its collective of this number.
    pub(super) fn contribute(&mut self, group: u32, number: usize, bytes: u64) {
        let sum = &mut self.sets[self.set_of[group as usize] as usize].bytes[number];
        *sum = sum.saturating_add(bytes);
    }

    /// The mean of these bytes over all members of a group and its siblings.
    pub(super) fn mean(&self, group: u32, number: usize) -> u64 {
        let Set { ranks, bytes, .. } = &self.sets[self.set_of(group) as usize];
        bytes[number] / ranks.len().max(1) as u64
    }
}
