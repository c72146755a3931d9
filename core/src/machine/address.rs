//! The address of a node in the network, from the launcher, the kernel or a file: the groups to which it belongs, from
//! the outermost inward. Names are only compared, so processes send hashes of them.

use std::collections::HashMap;

use cartograph_shim::splitmix::{digest, mix};

use super::torus::{self, At};
use super::{LevelKind, Machine};

/// The largest number of levels above the nodes; if there are more, the outermost are merged.
pub const MOST_ABOVE: usize = 5;

/// The number of words in which a [`ReportedAddress`] is sent.
pub const WORDS: usize = 4 + MOST_ABOVE;

/// The longest address that is read, in bytes.
const MOST_BYTES: usize = 1 << 14;

/// The groups to which a node belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The number of levels.
    levels: u8,
    /// The kinds of the levels, the outermost first, in four bits each, from the lowest bits up.
    kinds: u32,
    /// A hash of the whole address with the node's own name.
    whole: u64,
    /// A hash of the name at each level.
    names: [u32; MOST_ABOVE],
    /// The coordinates of the node in the innermost group that has coordinates.
    at: Option<At>,
}

/// What a process knows about its node's address in the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportedAddress {
    /// No address.
    Nothing,
    /// An invalid address.
    Malformed,
    /// The address.
    At(Address),
}

impl Address {
    /// The address of a node in groups of these kinds and names, the outermost first. An empty name is not a group: the
    /// node is then grouped only with those that share the next group inward.
    pub fn new(groups: &[(LevelKind, &str)], node: &str) -> Self {
        let mut whole = 0;
        let mut kinds = 0;
        let mut names = [0; MOST_ABOVE];
        let levels = groups.len().min(MOST_ABOVE);
        let outer = groups.len() - levels;
        let mut name = 0;
        for (at, (kind, _)) in groups.iter().enumerate() {
            let inward = groups[at..].iter().map(|(_, name)| *name).chain([node]);
            // The depth distinguishes a nameless group from a named one.
            let named = inward.enumerate().find(|(_, name)| !name.is_empty());
            let (distance, text) = named.unwrap_or_default();
            name = added(added(name, &[distance as u8]), text.as_bytes());
            whole = added(added(whole, &[*kind as u8, distance as u8]), text.as_bytes());
            if let Some(level) = at.checked_sub(outer) {
                kinds |= (*kind as u32) << (4 * level);
                names[level] = name as u32;
                name = 0;
            }
        }
        whole = added(whole, node.as_bytes());
        Self { levels: levels as u8, kinds, whole, names, at: None }
    }

    /// The kinds of the levels, the outermost first.
    fn kinds(&self) -> impl Iterator<Item = LevelKind> + '_ {
        (0..usize::from(self.levels))
            .map(|level| LevelKind::ALL[(self.kinds >> (4 * level) & 15) as usize])
    }
}

impl ReportedAddress {
    /// The address from Slurm's variables: "s0.s4.tux1" with the pattern "switch.switch.node". A part of several words,
    /// such as "r8:2" for "ring:position", names the group first and then the position in it.
    pub fn slurm(address: Option<&str>, pattern: Option<&str>) -> Self {
        match (address, pattern) {
            (None, _) => Self::Nothing,
            (Some(address), Some(pattern)) if address.len() + pattern.len() <= MOST_BYTES => {
                slurm(address, pattern).map_or(Self::Malformed, Self::At)
            }
            _ => Self::Malformed,
        }
    }

    /// The address as words for a message to another process.
    pub fn words(&self) -> [u32; WORDS] {
        let mut words = [0; WORDS];
        match self {
            Self::Nothing => {}
            Self::Malformed => words[0] = u32::MAX,
            Self::At(at) => {
                words[0] = (u32::from(at.levels) + 1) | (at.kinds << 8);
                words[1..3].copy_from_slice(&[at.whole as u32, (at.whole >> 32) as u32]);
                words[3] = at.at.map_or(u32::MAX, torus::packed);
                words[4..].copy_from_slice(&at.names);
            }
        }
        words
    }

    /// The address from [`words`](Self::words) that another process sent.
    pub fn from_words(words: &[u32; WORDS]) -> Self {
        let [head, low, high, place, names @ ..] = words;
        let levels = (head & 255).wrapping_sub(1);
        match *head {
            0 => Self::Nothing,
            _ if levels as usize > MOST_ABOVE => Self::Malformed,
            _ if (0..levels)
                .any(|level| head >> (8 + 4 * level) & 15 >= LevelKind::Node as u32) =>
            {
                Self::Malformed
            }
            _ => Self::At(Address {
                levels: levels as u8,
                kinds: head >> 8,
                whole: u64::from(*low) | u64::from(*high) << 32,
                names: *names,
                at: torus::unpacked(*place),
            }),
        }
    }
}

/// Parses an address by its pattern; `None` if they do not match.
fn slurm(address: &str, pattern: &str) -> Option<Address> {
    let words: Vec<&str> = pattern.split('.').collect();
    let names: Vec<&str> = address.split('.').collect();
    let (("node", words), (node, names)) = (
        words.split_last().map(|(last, words)| (*last, words))?,
        names.split_last().map(|(last, names)| (*last, names))?,
    ) else {
        return None;
    };
    if node.is_empty() || words.len() != names.len() {
        return None;
    }
    let group = |(word, name): (&&'_ str, &&'_ str)| {
        let kind = match word.split(':').next()? {
            "" => return None,
            "switch" => LevelKind::Switch,
            "block" => LevelKind::Block,
            "ring" => LevelKind::Ring,
            "torus" => LevelKind::Torus,
            _ => LevelKind::Group,
        };
        let alike = name.is_empty() || word.split(':').count() == name.split(':').count();
        alike.then_some(kind)
    };
    let kinds: Option<Vec<LevelKind>> = words.iter().zip(names).map(group).collect();
    let place = names.iter().rev().find_map(|name| torus::numbers(name.split_once(':')?.1, ':'));
    let names = names.iter().map(|name| name.split(':').next().unwrap_or_default());
    let groups: Vec<(LevelKind, &str)> = kinds?.into_iter().zip(names).collect();
    Some(Address { at: place, ..Address::new(&groups, node) })
}

/// A hash of a text after others.
fn added(hash: u64, text: &[u8]) -> u64 {
    mix(hash ^ digest(text))
}

/// A hash of a host's name up to the first dot: launchers and the kernel agree on that part.
pub fn host_number(name: &str) -> u64 {
    let short = name.split('.').next().unwrap_or_default();
    digest(short.as_bytes())
}

/// Why addresses are not used, as text that follows the name of their source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// Some processes have an address.
    #[error("is unknown for rank {0}")]
    Missing(usize),
    /// An address that cannot be read.
    #[error("of rank {0} does not fit its pattern")]
    Malformed(usize),
    /// Two processes of one node have two addresses.
    #[error("differs between ranks {0} and {1}, which share a node")]
    Differs(usize, usize),
    /// Two nodes have one address.
    #[error("is the same for ranks {0} and {1}, which are on two nodes")]
    Claimed(usize, usize),
    /// Other levels than the first.
    #[error("of rank {0} has different levels from those of other ranks")]
    OtherLevels(usize),
}

impl Contradiction {
    /// The same contradiction with renumbered ranks.
    #[must_use]
    pub fn renumbered(self, number: impl Fn(usize) -> usize) -> Self {
        match self {
            Self::Missing(rank) => Self::Missing(number(rank)),
            Self::Malformed(rank) => Self::Malformed(number(rank)),
            Self::Differs(one, other) => Self::Differs(number(one), number(other)),
            Self::Claimed(one, other) => Self::Claimed(number(one), number(other)),
            Self::OtherLevels(rank) => Self::OtherLevels(number(rank)),
        }
    }
}

impl Machine {
    /// The layout with the groups of nodes from addresses, one per rank. Every node must have a different
    /// address. Nodes without groups or without an address are unchanged.
    ///
    /// # Errors
    ///
    /// [`Contradiction`]: if one address is wrong, all of them may be.
    pub fn addressed(
        &self,
        addresses: impl Iterator<Item = ReportedAddress>,
    ) -> Result<Self, Contradiction> {
        // For each node, the address and rank of its first process.
        let mut of_nodes: Vec<(ReportedAddress, usize)> = Vec::new();
        let mut fault = None;
        for ((rank, node), known) in self.nodes().iter().enumerate().zip(addresses) {
            match of_nodes.get(*node as usize) {
                None => of_nodes.push((known, rank)),
                Some((first, _)) if *first == known => {}
                Some((_, first)) => _ = fault.get_or_insert((*first, rank)),
            }
        }
        let has_levels = |known: &ReportedAddress| match known {
            ReportedAddress::Nothing => false,
            ReportedAddress::Malformed => true,
            ReportedAddress::At(address) => address.levels > 0,
        };
        // With a single node, there are no levels above.
        if of_nodes.len() < 2 || !of_nodes.iter().any(|(known, _)| has_levels(known)) {
            return Ok(self.clone());
        }
        let mut addresses = Vec::with_capacity(of_nodes.len());
        for (known, rank) in &of_nodes {
            match known {
                ReportedAddress::Nothing => return Err(Contradiction::Missing(*rank)),
                ReportedAddress::Malformed => return Err(Contradiction::Malformed(*rank)),
                ReportedAddress::At(address) => addresses.push(*address),
            }
        }
        if let Some((one, other)) = fault {
            return Err(Contradiction::Differs(one, other));
        }
        let first = addresses[0];
        let mut claimed = HashMap::new();
        for (address, (_, rank)) in addresses.iter().zip(&of_nodes) {
            if (address.levels, address.kinds) != (first.levels, first.kinds) {
                return Err(Contradiction::OtherLevels(*rank));
            }
            if let Some(other) = claimed.insert(address.whole, *rank) {
                return Err(Contradiction::Claimed(other, *rank));
            }
        }
        Ok(self.grouped(&addresses))
    }

    /// The layout with the levels of the nodes' addresses, which all have equal levels.
    fn grouped(&self, addresses: &[Address]) -> Self {
        // From the outermost inward: a name is unique only within its group.
        let mut outer = vec![0; addresses.len()];
        let mut groups = Vec::new();
        for level in 0..usize::from(addresses[0].levels) {
            let mut numbers = HashMap::new();
            let names = addresses.iter().map(|address| address.names[level]);
            for (group, name) in outer.iter_mut().zip(names) {
                let next = numbers.len() as u64;
                *group = *numbers.entry((*group, name)).or_insert(next);
            }
            groups.push(outer.clone());
        }
        let levels: Vec<(LevelKind, Vec<u64>)> = addresses[0].kinds().zip(groups).collect();
        let machine = levels.iter().rev().fold(self.clone(), |machine, (kind, group_of)| {
            let ids: Vec<u64> = self.nodes().iter().map(|node| group_of[*node as usize]).collect();
            machine.under(*kind, &ids).expect("nodes and groups are whole")
        });
        let at: Vec<Option<At>> = addresses.iter().map(|address| address.at).collect();
        machine.with_torus(At::default(), &at)
    }
}

#[cfg(test)]
mod tests;
