//! The tree of levels of a machine.

use super::level::{Level, LevelKind};
use super::torus::{self, Torus};

/// The location of each rank of a communicator: a tree of levels, the outermost first. One of the levels is that of the
/// nodes.
///
/// A level gives every rank the number of its group. The groups of a level are numbered `0..groups` by their lowest
/// ranks, and never extend over two groups of the level above. Memory: four bytes per rank and level.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Machine {
    levels: Vec<Level>,
    /// The index of the level of nodes.
    nodes: usize,
    /// The coordinates of nodes, if they are known.
    pub(super) torus: Option<Torus>,
}

impl Machine {
    /// A layout from a number for the node of each rank: ranks with the same number share a node.
    pub fn from_ids(ids: &[u64]) -> Self {
        let group_of = numbered(ids.iter().map(|id| (0, *id)));
        Self { levels: vec![Level { kind: LevelKind::Node, group_of }], nodes: 0, torus: None }
    }

    /// A layout from its levels, which nest and are numbered as described for [`Machine`]. `None` if none of them is
    /// the level of the nodes, or kinds are out of order.
    pub(super) fn of_levels(levels: Vec<Level>) -> Option<Self> {
        let is_node = |level: &Level| level.kind == LevelKind::Node;
        let nodes = levels.iter().position(is_node)?;
        let (above, below) = (&levels[..nodes], &levels[nodes + 1..]);
        let in_order = above.iter().all(|level| level.kind < LevelKind::Node)
            && below.iter().all(|level| level.kind > LevelKind::Node);
        in_order.then_some(Self { levels, nodes, torus: None })
    }

    /// Nodes with `sizes[i]` ranks each, filled one after the other.
    pub fn blocks(sizes: &[usize]) -> Self {
        Self::stacked(sizes, &[])
    }

    /// Nodes of given sizes filled one after the other, and for each level above, the outermost first, the kind of its
    /// groups and the group of each node. Groups nest.
    pub(super) fn stacked(sizes: &[usize], above: &[(LevelKind, Vec<u32>)]) -> Self {
        let spread = |group_of: &dyn Fn(usize) -> u32| {
            let groups = sizes.iter().enumerate();
            groups.flat_map(|(node, size)| std::iter::repeat_n(group_of(node), *size)).collect()
        };
        let outer = above
            .iter()
            .map(|(kind, group_of)| Level { kind: *kind, group_of: spread(&|i| group_of[i]) });
        let nodes = Level { kind: LevelKind::Node, group_of: spread(&|node| node as u32) };
        Self { levels: outer.chain([nodes]).collect(), nodes: above.len(), torus: None }
    }

    /// All ranks on one node.
    pub fn one_node(ranks: usize) -> Self {
        Self::blocks(&[ranks])
    }

    /// Adds a level below the last: ranks of one of its groups with the same number share a group.
    #[must_use]
    pub fn with_level(mut self, kind: LevelKind, ids: &[u64]) -> Self {
        assert!(ids.len() == self.ranks() && kind > LevelKind::Node);
        let above = &self.levels[self.levels.len() - 1].group_of;
        let group_of = numbered(above.iter().zip(ids).map(|(group, id)| (*group, *id)));
        self.levels.push(Level { kind, group_of });
        self
    }

    /// Adds a level above all others: groups with the same number in `ids`, which has one per rank, are in one group.
    /// `None` if a group of the outermost level would be in two.
    #[must_use]
    pub fn under(mut self, kind: LevelKind, ids: &[u64]) -> Option<Self> {
        assert!(ids.len() == self.ranks() && kind < LevelKind::Node);
        let group_of = numbered(ids.iter().map(|id| (0, *id)));
        let mut outer = vec![None; self.levels[0].groups()];
        for (inner, group) in self.levels[0].group_of.iter().zip(&group_of) {
            if *outer[*inner as usize].get_or_insert(*group) != *group {
                return None;
            }
        }
        self.levels.insert(0, Level { kind, group_of });
        self.nodes += 1;
        Some(self)
    }

    /// The layout without levels that divide nothing: above the nodes, levels of one group, and levels whose groups are
    /// those of the level below; below the nodes, levels whose groups are those of the level above, or have one rank
    /// each.
    #[must_use]
    pub fn without_idle_levels(mut self) -> Self {
        let ranks = self.ranks();
        let groups: Vec<usize> = self.levels.iter().map(Level::groups).collect();
        let is_idle = |level: usize| {
            (level < self.nodes && (groups[level] <= 1 || groups[level] == groups[level + 1]))
                || (level > self.nodes
                    && (groups[level] == groups[level - 1] || groups[level] == ranks))
        };
        let idle: Vec<bool> = (0..groups.len()).map(is_idle).collect();
        self.nodes -= idle[..self.nodes].iter().filter(|idle| **idle).count();
        let mut idle = idle.into_iter();
        self.levels.retain(|_| !idle.next().unwrap_or(false));
        self
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.nodes().len()
    }

    /// The node of each rank.
    pub fn nodes(&self) -> &[u32] {
        &self.levels[self.nodes].group_of
    }

    /// All levels, the outermost first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The coordinates of nodes, if they are known.
    pub fn torus(&self) -> Option<&Torus> {
        self.torus.as_ref()
    }

    /// This layout with coordinates of its nodes, unless these are in several tori or rings: coordinates do not show
    /// the route between tori.
    #[must_use]
    pub fn with_torus(mut self, rings: torus::At, at: &[Option<torus::At>]) -> Self {
        let within = self
            .above()
            .iter()
            .rfind(|level| [LevelKind::Torus, LevelKind::Ring].contains(&level.kind));
        let is_one = within
            .is_none_or(|level| level.group_of.iter().all(|group| *group == level.group_of[0]));
        self.torus = if is_one { Torus::of_nodes(rings, at) } else { None };
        self
    }

    /// The levels above the nodes, the outermost first.
    pub fn above(&self) -> &[Level] {
        &self.levels[..self.nodes]
    }

    /// The levels below the nodes, from the nodes inward.
    pub fn below(&self) -> &[Level] {
        &self.levels[self.nodes + 1..]
    }

    /// The name of each level: its kind and, if there are several levels of this kind, its number, counted outward from
    /// the nodes: "switches 2", "switches 1", "nodes".
    pub fn names(&self) -> Vec<String> {
        let kinds = || self.levels.iter().map(|level| level.kind);
        let name =
            |(at, kind): (usize, LevelKind)| match kinds().filter(|other| *other == kind).count() {
                1 => kind.to_string(),
                _ => format!("{kind} {}", kinds().skip(at).filter(|other| *other == kind).count()),
            };
        kinds().enumerate().map(name).collect()
    }

    /// The number of ranks that each node has, none of them 0.
    pub fn node_sizes(&self) -> Vec<usize> {
        self.levels[self.nodes].sizes()
    }

    /// The layout of some of the ranks, in the order given: rank `i` of the result is `ranks[i]` here. Levels that
    /// divide nothing there are omitted.
    ///
    /// # Panics
    ///
    /// If a rank does not exist in this layout.
    #[must_use]
    pub fn select(&self, ranks: impl Iterator<Item = usize> + Clone) -> Self {
        let select = |level: &Level| Level {
            kind: level.kind,
            group_of: numbered(ranks.clone().map(|rank| (0, u64::from(level.group_of[rank])))),
        };
        let levels = self.levels.iter().map(select).collect();
        let torus = self.torus.as_ref().map(|torus| {
            let mut seen = std::collections::HashSet::new();
            let nodes = ranks.clone().map(|rank| self.nodes()[rank]);
            torus.select(nodes.filter(|node| seen.insert(*node)))
        });
        Self { levels, nodes: self.nodes, torus }.without_idle_levels()
    }

    /// True if every level has one group, so that no mapping can gain anything.
    pub fn is_flat(&self) -> bool {
        self.levels.iter().all(|level| level.group_of.iter().all(|group| *group == 0))
    }
}

/// Numbers pairs in the order in which they first occur.
pub(super) fn numbered(pairs: impl Iterator<Item = (u32, u64)>) -> Box<[u32]> {
    let mut numbers = std::collections::HashMap::new();
    let mut last = None;
    pairs
        .map(|pair| match last {
            // Ranks next to each other usually share a group.
            Some((same, number)) if same == pair => number,
            _ => {
                let next = numbers.len() as u32;
                let number = *numbers.entry(pair).or_insert(next);
                last = Some((pair, number));
                number
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_numbered_by_their_lowest_rank_and_nest() {
        let machine =
            Machine::from_ids(&[7, 3, 7, 3]).with_level(LevelKind::Package, &[0, 0, 1, 0]);
        assert_eq!(machine.nodes(), [0, 1, 0, 1]);
        // The 0 on node 7 and the 0 on node 3 are two groups.
        assert_eq!(machine.below()[0].group_of[..], [0, 1, 2, 1]);
        let part = machine.select([3, 2, 0].into_iter());
        assert_eq!(part.nodes(), [0, 1, 1]);
        // Packages of one process each carry no information.
        assert!(part.below().is_empty());
        assert!(!machine.is_flat());
        assert!(Machine::one_node(5).is_flat());
        assert!(!Machine::one_node(2).with_level(LevelKind::Numa, &[1, 2]).is_flat());
    }

    #[test]
    fn levels_above_contain_whole_groups() {
        let nodes = || Machine::from_ids(&[5, 5, 6, 6, 7, 7]);
        assert_eq!(nodes().under(LevelKind::Switch, &[1, 1, 1, 2, 2, 2]), None);
        let machine = nodes().under(LevelKind::Switch, &[9, 9, 8, 8, 9, 9]).unwrap();
        assert_eq!(machine.above()[0].group_of[..], [0, 0, 1, 1, 0, 0]);
        assert_eq!(machine.nodes(), [0, 0, 1, 1, 2, 2]);
        let machine = machine.under(LevelKind::Switch, &[0; 6]).unwrap();
        assert_eq!(machine.names(), ["switches 2", "switches 1", "nodes"]);
        // One switch for all divides nothing, and neither do switches of one node each.
        let tidy = machine.without_idle_levels();
        assert_eq!(tidy.names(), ["switches", "nodes"]);
        assert_eq!(tidy.select([0, 2, 3].into_iter()).names(), ["nodes"]);
        assert_eq!(tidy.select([0, 1, 4].into_iter()).names(), ["nodes"]);
        assert_eq!(tidy.select([0, 2, 4].into_iter()).above()[0].sizes(), [2, 1]);
    }
}
