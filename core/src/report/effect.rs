//! The effect of a mapping, as numbers.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machine::{Level, Machine};
use crate::mapping::plan::{LevelCost, Weighted};
use crate::mapping::{Cost, Plan};

/// The sizes of nodes, as runs of `(nodes, processes)` in the order of the nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeSizes(Vec<(usize, usize)>);

impl NodeSizes {
    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.0.iter().fold(0, |all: usize, (nodes, _)| all.saturating_add(*nodes))
    }
}

impl FromIterator<usize> for NodeSizes {
    fn from_iter<I: IntoIterator<Item = usize>>(sizes: I) -> Self {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for size in sizes {
            match runs.last_mut() {
                Some((nodes, same)) if *same == size => *nodes += 1,
                _ => runs.push((1, size)),
            }
        }
        Self(runs)
    }
}

impl From<&Machine> for NodeSizes {
    fn from(machine: &Machine) -> Self {
        machine.node_sizes().into_iter().collect()
    }
}

/// "one node of 16", "50 nodes of 48", "62 nodes of 40*48,10*30,12*15".
impl fmt::Display for NodeSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Longer lists are cut, since lines are for people.
        const MOST_RUNS: usize = 5;
        match self.0[..] {
            [] => f.write_str("no nodes"),
            [(1, size)] => write!(f, "one node of {size}"),
            [(nodes, size)] => write!(f, "{nodes} nodes of {size}"),
            ref runs => {
                let word = |(nodes, size): &(usize, usize)| match nodes {
                    1 => size.to_string(),
                    _ => format!("{nodes}*{size}"),
                };
                let words: Vec<String> = runs.iter().take(MOST_RUNS).map(word).collect();
                let rest = if runs.len() > MOST_RUNS { ",..." } else { "" };
                write!(f, "{} nodes of {}{rest}", self.nodes(), words.join(","))
            }
        }
    }
}

/// The weights of the edges between different groups of a level. Both directions count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Crossing {
    /// The sum over all groups.
    pub edges: i64,
    /// The largest sum of edges that leave one group.
    pub worst_group: i64,
}

impl From<Cost> for Crossing {
    fn from(cost: Cost) -> Self {
        Self { edges: cost.inter_node_edges, worst_group: cost.max_node_edges }
    }
}

/// The effect of a mapping at one level of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LevelEffect {
    /// The name of its groups: "switches", "nodes", "packages".
    pub name: Cow<'static, str>,
    /// The number of groups.
    pub groups: usize,
    /// A lower bound on the edges between them, for any mapping.
    pub lower_bound: i64,
    /// With every process keeping its rank.
    pub before: Crossing,
    /// As planned.
    pub after: Crossing,
}

impl LevelEffect {
    /// The effect of a plan at each level of a layout, the outermost first.
    pub fn of(machine: &Machine, plan: &Plan) -> Vec<Self> {
        let levels = machine.levels().iter().zip(machine.names()).zip(&plan.levels);
        let level = |((level, name), costs): ((&Level, String), &LevelCost)| Self {
            name: name.into(),
            groups: level.groups(),
            lower_bound: costs.lower_bound,
            before: costs.before.into(),
            after: costs.after.into(),
        };
        levels.map(level).collect()
    }
}

/// The sum over all edges of the distance between their ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WeightedEffect {
    /// The distance inside a node, between nodes of one group, and so on outward.
    pub distances: Vec<i64>,
    /// A lower bound for any mapping.
    pub lower_bound: i64,
    /// With every process keeping its rank.
    pub before: i64,
    /// As planned.
    pub after: i64,
}

impl From<&Weighted> for WeightedEffect {
    fn from(weighted: &Weighted) -> Self {
        let number = |sum: i128| i64::try_from(sum).unwrap_or(i64::MAX);
        Self {
            distances: weighted.distances.clone(),
            lower_bound: number(weighted.lower_bound),
            before: number(weighted.before),
            after: number(weighted.after),
        }
    }
}

/// The effect of a mapping, whether it was applied or not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Effect {
    /// A lower bound on the edges between nodes, for any mapping.
    pub lower_bound: i64,
    /// With every process keeping its rank.
    pub before: Cost,
    /// As planned.
    pub after: Cost,
    /// The name of the algorithm that found it.
    pub algorithm: Cow<'static, str>,
    /// The cost, with equal weights, of a mapping that was not applied because it could increase the cost with unequal
    /// ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected_as_risky: Option<Cost>,
    /// The effect at each level of the machine, the outermost first; the nodes are one of them.
    #[serde(default)]
    pub levels: Vec<LevelEffect>,
    /// All levels together, if there are some above the nodes.
    #[serde(default)]
    pub weighted: Option<WeightedEffect>,
}

impl Effect {
    /// The effect of a plan for a layout.
    pub fn of(machine: &Machine, plan: &Plan) -> Self {
        Self {
            lower_bound: plan.lower_bound,
            before: plan.before,
            after: plan.after,
            algorithm: plan.algorithm.into(),
            rejected_as_risky: plan.rejected_as_risky,
            levels: LevelEffect::of(machine, plan),
            weighted: plan.weighted.as_ref().map(WeightedEffect::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_described_in_a_few_words() {
        let told = |text, ranks| NodeSizes::from(&Machine::parse(text, ranks).unwrap()).to_string();
        assert_eq!(told("1x16", 16), "one node of 16");
        assert_eq!(told("50x48", 2400), "50 nodes of 48");
        assert_eq!(told("40*48,10*30,12*15,1", 2401), "63 nodes of 40*48,10*30,12*15,1");
        assert_eq!(told("1,2,1,2,1,2", 9), "6 nodes of 1,2,1,2,1,...");
    }
}
