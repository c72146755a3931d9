//! The objectives of a search. [`Objective::rules`] is the only place that distinguishes them, and [`Rules::order`] the only
//! one that puts figures in order.

use super::cost::Cost;

/// The figure that comes first; the others break ties.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Objective {
    /// The time of an exchange, by the load of the busiest link, if levels above the nodes or coordinates describe
    /// links. Otherwise the sum; a grid may have 1 % more than the best sum if the busiest node then has fewer edges.
    #[default]
    Time,
    /// The sum: the load of the network as a whole.
    Sum,
    /// The maximum: the load of the busiest node, which bounds an exchange if links are saturated.
    Max,
}

/// The differences between objectives.
pub(in crate::mapping) struct Rules {
    /// True if the busiest node counts before the sum; then nodes have no limit, and a sum at its bound ends no search.
    pub(in crate::mapping) busiest_first: bool,
    /// True if the time of an exchange counts before both.
    pub(in crate::mapping) by_time: bool,
}

impl Rules {
    /// The sum and the figure of the busiest node in the order in which they are compared; smaller is better.
    #[inline]
    pub(in crate::mapping) fn order<T>(&self, sum: T, most: T) -> (T, T) {
        if self.busiest_first { (most, sum) } else { (sum, most) }
    }
}

impl Objective {
    /// All objectives, by the names by which users choose them.
    pub const NAMED: [(&'static str, Self); 3] =
        [("time", Self::Time), ("sum", Self::Sum), ("max", Self::Max)];

    /// The objective of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, objective)| *objective)
    }

    pub(in crate::mapping) const fn rules(self) -> Rules {
        match self {
            Self::Time => Rules { busiest_first: false, by_time: true },
            Self::Sum => Rules { busiest_first: false, by_time: false },
            Self::Max => Rules { busiest_first: true, by_time: false },
        }
    }
}

impl Cost {
    /// The figures in the order in which they are compared; smaller is better.
    pub fn key(self, objective: Objective) -> (i64, i64) {
        objective.rules().order(self.inter_node_edges, self.max_node_edges)
    }
}

/// The quantity that a search minimizes: the sum before the maximum or the other way round, after the excess of nodes
/// over their limit.
#[derive(Debug, Clone, Copy)]
pub(in crate::mapping) struct Goal {
    pub(in crate::mapping) objective: Objective,
    /// The limit of a node, unless the objective is the maximum: a mapping in which no node exceeds it is better than
    /// any in which one does.
    pub(in crate::mapping) most: i64,
}

impl Goal {
    /// The key by which mappings are compared; smaller is better: the excess of nodes over their limit, then the
    /// [`Cost::key`].
    pub(in crate::mapping) fn key(self, cost: Cost) -> (i64, (i64, i64)) {
        (self.excess(cost.max_node_edges), cost.key(self.objective))
    }

    /// The excess of the edges that leave a node over their limit.
    #[inline]
    pub(in crate::mapping) fn excess(self, leaving: i64) -> i64 {
        if self.objective.rules().busiest_first {
            return 0;
        }
        leaving.saturating_sub(self.most).max(0)
    }
}

impl From<Objective> for Goal {
    /// Nodes may have any number of edges.
    fn from(objective: Objective) -> Self {
        Self { objective, most: i64::MAX }
    }
}
