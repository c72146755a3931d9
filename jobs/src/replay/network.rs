//! The machine: the places of ranks, and the time of messages between them.

/// Ticks of the replay's clock in a second: picoseconds.
const TICKS: f64 = 1e12;

/// A blocking send of more bytes completes when the message has left the node.
pub(super) const EAGER: u64 = 1 << 16;

/// The processor's time for a message, on either side, in picoseconds.
pub(super) const OVERHEAD: u64 = 200_000;

/// The cost of a message across a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Seconds until the first byte arrives.
    pub latency: f64,
    /// Bytes a second.
    pub bandwidth: f64,
}

/// The cost of messages by the levels that they cross.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Inside a node.
    pub inside: Link,
    /// Between nodes of one switch, between switches and so on; the last is for all further levels as well. Nodes have
    /// one link of the first kind in each direction.
    pub between: Vec<Link>,
}

impl Default for Network {
    /// A fast network: 1.5 us and 100 Gbit/s; 0.5 us more for each level of switches.
    fn default() -> Self {
        Self::new(Link { latency: 1.5e-6, bandwidth: 12.5e9 })
    }
}

impl Network {
    /// A network of nodes with these links. Each level of switches adds a third of the latency. Messages inside a node
    /// are no slower: otherwise two ranks with a fast link to themselves would seem to gain by leaving their node.
    pub fn new(link: Link) -> Self {
        let above =
            |level: u32| Link { latency: link.latency * (1.0 + f64::from(level) / 3.0), ..link };
        Self {
            inside: Link { latency: 0.4e-6, bandwidth: link.bandwidth.max(6e9) },
            between: (0..4).map(above).collect(),
        }
    }

    /// The link of level `level`: 0 inside nodes, 1 between nodes of a switch.
    pub(super) fn link(&self, level: usize) -> Link {
        match level.checked_sub(1) {
            None => self.inside,
            Some(at) => *self.between.get(at).or(self.between.last()).unwrap_or(&self.inside),
        }
    }
}

impl Link {
    pub(super) fn latency(self) -> u64 {
        ticks(self.latency)
    }

    /// The time for which bytes occupy the link.
    pub(super) fn transfer(self, bytes: u64) -> u64 {
        ticks(bytes as f64 / self.bandwidth)
    }
}

pub(super) fn ticks(seconds: f64) -> u64 {
    (seconds.max(0.0) * TICKS) as u64
}

pub(super) fn seconds(ticks: u64) -> f64 {
    ticks as f64 / TICKS
}

/// The places of ranks.
#[derive(Debug, Clone, Copy)]
pub struct RankLocations<'a> {
    /// The node of each rank.
    pub node_of: &'a [u32],
    /// For each level above the nodes, the lowest first, the group of each node.
    pub above: &'a [Vec<u32>],
}

impl RankLocations<'_> {
    /// The level that a message between two ranks crosses; 0 inside a node.
    pub(super) fn level(&self, from: u32, to: u32) -> usize {
        let [from, to] = [from, to].map(|rank| self.node_of[rank as usize] as usize);
        if from == to {
            return 0;
        }
        1 + self.above.iter().take_while(|groups| groups[from] != groups[to]).count()
    }

    pub(super) fn nodes(&self) -> usize {
        self.node_of.iter().max().map_or(0, |node| *node as usize + 1)
    }
}
