//! One topology communicator: what was asked, what was done, and why.

use std::borrow::Cow;
use std::fmt;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::mapping::plan::{LevelCost, Weighted};
use crate::mapping::{Adjacency, Cost, Layout, Level, Plan};
use crate::topology::{Cart, Graph};

/// What was created.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// A grid.
    Cart {
        /// Processes along each dimension.
        dims: Vec<i32>,
        /// Whether each dimension is periodic.
        periodic: Vec<bool>,
        /// What edges along each dimension weigh; `None`: nobody said, and all are taken to weigh the same.
        #[serde(default)]
        weights: Option<Vec<i64>>,
    },
    /// A graph that every process passed whole.
    Graph {
        /// How many nodes the graph has.
        nnodes: i32,
        /// How many edges it has, each direction counted.
        edges: i64,
    },
    /// A distributed graph.
    DistGraph {
        /// Edges of all processes, where somebody counted them.
        edges: Option<i64>,
        /// Whether edges have weights.
        weighted: bool,
    },
}

impl Shape {
    /// A grid with what edges along its dimensions weigh, if somebody said.
    pub fn of_cart(grid: &Cart, weights: Option<Vec<i64>>) -> Self {
        let sides = grid.dimensions();
        Self::Cart {
            dims: sides.iter().map(|side| side.size).collect(),
            periodic: sides.iter().map(|side| side.periodic).collect(),
            weights,
        }
    }
}

impl From<&Cart> for Shape {
    fn from(grid: &Cart) -> Self {
        Self::of_cart(grid, None)
    }
}

impl From<&Graph> for Shape {
    fn from(graph: &Graph) -> Self {
        Self::Graph { nnodes: graph.nnodes(), edges: graph.edges().len() as i64 }
    }
}

/// Who wanted ranks to be reordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reorder {
    /// The program passed 0.
    No,
    /// The program passed 1.
    Asked,
    /// The program passed 0, and `CARTOGRAPH_REORDER=always` overruled it.
    Forced,
}

/// Why every process kept its rank, in words.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reason(Cow<'static, str>);

impl Reason {
    /// No mapping that was found is better than the order there is.
    pub const NOTHING_TO_GAIN: Self = Self(Cow::Borrowed("nothing to gain"));
    /// The program passed 0.
    pub const NOT_ASKED: Self = Self(Cow::Borrowed("reorder = 0"));
    /// The user said so, by `off` or by naming other constructors.
    pub const OFF: Self = Self(Cow::Borrowed("CARTOGRAPH_REORDER moves nobody here"));
    /// All processes share a node.
    pub const ONE_NODE: Self = Self(Cow::Borrowed("one node"));
    /// Ranks have different ideas of the topology.
    pub const DIFFERING: Self = Self(Cow::Borrowed("arguments differ between ranks"));
    /// The host cannot tell which processes share a node.
    pub const NO_LAYOUT: Self =
        Self(Cow::Borrowed("the MPI does not tell which ranks share a node"));
    /// The function has no such argument: `MPI_Cart_sub`.
    pub const NO_ARGUMENT: Self = Self(Cow::Borrowed("the function keeps the order"));

    /// A mapping gains where all dimensions weigh the same, which nobody said, and could be a loss where not.
    pub const WITHHELD: Self =
        Self(Cow::Borrowed("what gains if all dimensions weigh the same could be a loss if not"));
    /// A distributed graph is moved only if somebody says so.
    pub const NOT_TOLD: Self = Self(Cow::Borrowed(
        "distributed graphs need CARTOGRAPH_REORDER=all, or cartograph_reorder = true in the info",
    ));
    /// The program said so in the info of the call.
    pub const REFUSED: Self = Self(Cow::Borrowed("cartograph_reorder = false in the info"));

    /// The program is known not to stand it; `what` says what it does and how it is moved all the same.
    pub fn misused(what: impl fmt::Display) -> Self {
        Self(Cow::Owned(what.to_string()))
    }

    /// Mapping would take more time or memory than is allowed; `what` says of what there is too
    /// much, and how much is allowed.
    pub fn too_large(what: impl fmt::Display) -> Self {
        Self(Cow::Owned(format!("too large: {what}")))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many nodes have how many processes: runs of `(nodes, processes)`, in the order of the nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeSizes(Vec<(usize, usize)>);

impl NodeSizes {
    /// The runs: how many nodes, and the processes of each.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.0.iter().copied()
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.0.iter().map(|(nodes, _)| nodes).sum()
    }

    /// How many processes there are.
    pub fn ranks(&self) -> usize {
        self.0.iter().map(|(nodes, size)| nodes * size).sum()
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

impl From<&Layout> for NodeSizes {
    fn from(layout: &Layout) -> Self {
        layout.node_sizes().into_iter().collect()
    }
}

/// "one node of 16", "50 nodes of 48", "62 nodes of 40*48,10*30,12*15".
impl fmt::Display for NodeSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Longer lists are cut: lines are for people.
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

/// Edges that join two groups of a level, by their weights; both directions count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Crossing {
    /// All of them.
    pub edges: i64,
    /// Those that leave the worst group.
    pub worst_group: i64,
}

impl From<Cost> for Crossing {
    fn from(cost: Cost) -> Self {
        Self { edges: cost.inter_node_edges, worst_group: cost.max_node_edges }
    }
}

/// What a mapping brings at one level of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LevelEffect {
    /// What its groups are: "switches", "nodes", "packages".
    pub name: Cow<'static, str>,
    /// How many groups there are.
    pub groups: usize,
    /// No mapping has fewer edges between them.
    pub lower_bound: i64,
    /// With every process keeping its rank.
    pub before: Crossing,
    /// As it is now.
    pub after: Crossing,
}

impl LevelEffect {
    /// Of each level of a layout, the outermost first.
    pub fn of(layout: &Layout, plan: &Plan) -> Vec<Self> {
        let levels = layout.levels().iter().zip(layout.names()).zip(&plan.levels);
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

/// The sum over all edges of the distance of their ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WeightedEffect {
    /// What an edge counts inside a node, between nodes of one group, and so on outward.
    pub distances: Vec<i64>,
    /// No mapping has less.
    pub lower_bound: i64,
    /// With every process keeping its rank.
    pub before: i64,
    /// As it is now.
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

/// What a mapping brings, whether it was applied or not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Effect {
    /// No mapping has fewer edges between nodes.
    pub lower_bound: i64,
    /// With every process keeping its rank.
    pub before: Cost,
    /// As it is now.
    pub after: Cost,
    /// What found it, in a word or two.
    pub algorithm: Cow<'static, str>,
    /// What a mapping would have that was not taken because it could be a loss where dimensions weigh
    /// unequally, if they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Cost>,
    /// The same at each level of the machine, the outermost first; the nodes are one of them.
    #[serde(default)]
    pub levels: Vec<LevelEffect>,
    /// All levels together, where there are some above the nodes.
    #[serde(default)]
    pub weighted: Option<WeightedEffect>,
}

impl Effect {
    /// What a plan for a layout brings.
    pub fn of(layout: &Layout, plan: &Plan) -> Self {
        Self {
            lower_bound: plan.lower_bound,
            before: plan.before,
            after: plan.after,
            algorithm: plan.algorithm.into(),
            withheld: plan.withheld,
            levels: LevelEffect::of(layout, plan),
            weighted: plan.weighted.as_ref().map(WeightedEffect::from),
        }
    }
}

/// Where processes are: what a picture needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The node of every rank of the old communicator.
    pub node_of: Vec<u32>,
    /// For each level above the nodes, the outermost first, the group of every rank of the old communicator.
    #[serde(default)]
    pub above: Vec<Vec<u32>>,
    /// The same for each level below the nodes.
    #[serde(default)]
    pub below: Vec<Vec<u32>>,
    /// The old rank of every new rank; `None` where every process kept its own.
    pub old_rank: Option<Vec<i32>>,
}

impl Places {
    /// Where a plan puts the ranks of a layout.
    fn of(layout: &Layout, plan: &Plan) -> Self {
        let groups = |levels: &[Level]| levels.iter().map(|l| l.group_of.to_vec()).collect();
        Self {
            node_of: layout.nodes().to_vec(),
            above: groups(layout.above()),
            below: groups(layout.below()),
            old_rank: plan.old_rank.as_ref().map(|old| old.to_vec()),
        }
    }

    /// For each level the group of each of the first `vertices` new ranks, had every process kept its rank.
    /// `None` if there are not so many.
    pub fn before(&self, vertices: usize) -> Option<Drawn> {
        self.drawn(|groups| Some(groups.get(..vertices)?.to_vec()))
    }

    /// The same as it is now. `None` if there are not so many, or an old rank is none.
    pub fn after(&self, vertices: usize) -> Option<Drawn> {
        let Some(old_rank) = &self.old_rank else { return self.before(vertices) };
        self.drawn(|groups| {
            let group = |old: &i32| groups.get(usize::try_from(*old).ok()?).copied();
            old_rank.get(..vertices)?.iter().map(group).collect()
        })
    }

    fn drawn(&self, groups: impl Fn(&[u32]) -> Option<Vec<u32>>) -> Option<Drawn> {
        let levels = |levels: &[Vec<u32>]| -> Option<Vec<Vec<u32>>> {
            levels.iter().map(|level| groups(level)).collect()
        };
        Some(Drawn {
            nodes: groups(&self.node_of)?,
            above: levels(&self.above)?,
            below: levels(&self.below)?,
        })
    }
}

/// Where the vertices of a topology are, level by level: what a picture shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// The node of each vertex.
    pub nodes: Vec<u32>,
    /// Its group at each level above the nodes, the outermost first.
    pub above: Vec<Vec<u32>>,
    /// Its group at each level below the nodes.
    pub below: Vec<Vec<u32>>,
}

impl Drawn {
    /// Of vertices that are taken by these ranks of a layout.
    pub fn new(layout: &Layout, ranks: impl Iterator<Item = i32> + Clone) -> Self {
        let groups = |group_of: &[u32]| ranks.clone().map(|rank| group_of[rank as usize]).collect();
        let levels =
            |levels: &[Level]| levels.iter().map(|level| groups(&level.group_of)).collect();
        Self {
            nodes: groups(layout.nodes()),
            above: levels(layout.above()),
            below: levels(layout.below()),
        }
    }
}

/// How much goes from each node to each: weights of edges, a row a node that sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// With every process keeping its rank.
    pub before: Vec<Vec<i64>>,
    /// As it is now.
    pub after: Vec<Vec<i64>>,
}

impl Traffic {
    /// What the edges of a graph make of a layout and a plan for it. O(edges + nodes^2).
    pub fn new(graph: &impl Adjacency, layout: &Layout, plan: &Plan) -> Self {
        let nodes = layout.nodes();
        let after: Vec<u32> = plan.old_ranks().map(|old| nodes[old as usize]).collect();
        let count = layout.node_sizes().len();
        let matrix = |node_of: &[u32]| {
            let mut matrix = vec![vec![0; count]; count];
            for vertex in 0..graph.vertices() {
                let row: &mut Vec<i64> = &mut matrix[node_of[vertex] as usize];
                graph.for_each_edge(vertex, |to, weight| row[node_of[to] as usize] += weight);
            }
            matrix
        };
        Self { before: matrix(nodes), after: matrix(&after) }
    }
}

/// What is told about one topology communicator, or about several that are told alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The MPI function that created it.
    pub function: Cow<'static, str>,
    /// How many there were.
    pub count: u64,
    /// What was created.
    pub topology: Shape,
    /// How many processes the old communicator has.
    pub comm_size: i32,
    /// Who wanted ranks to be reordered.
    pub reorder: Reorder,
    /// The nodes of the old communicator, where they are known.
    pub nodes: Option<NodeSizes>,
    /// Why every process kept its rank; `None`: a mapping was applied.
    pub kept: Option<Reason>,
    /// What the mapping brings, where there is one.
    pub effect: Option<Effect>,
    /// Seconds for the mappings, of all there were.
    pub mapping_seconds: f64,
    /// Seconds for the whole of the functions, of all there were.
    pub seconds: f64,
    /// Where the processes of the first of them are, if they are not too many.
    pub places: Option<Places>,
    /// What goes between nodes in the first of them, for graphs on not too many nodes.
    pub traffic: Option<Traffic>,
}

impl Record {
    /// A communicator for which no mapping was sought.
    pub fn new(
        function: &'static str,
        topology: impl Into<Shape>,
        comm_size: i32,
        reorder: Reorder,
        kept: Reason,
    ) -> Self {
        Self {
            function: function.into(),
            count: 1,
            topology: topology.into(),
            comm_size,
            reorder,
            nodes: None,
            kept: Some(kept),
            effect: None,
            mapping_seconds: 0.0,
            seconds: 0.0,
            places: None,
            traffic: None,
        }
    }

    /// A communicator whose processes were moved, nobody knows from where to where.
    pub fn moved(
        function: &'static str,
        topology: impl Into<Shape>,
        comm_size: i32,
        reorder: Reorder,
    ) -> Self {
        Self { kept: None, ..Self::new(function, topology, comm_size, reorder, Reason::NO_LAYOUT) }
    }

    /// A communicator as a plan for `layout` made it. Every process kept its rank if the plan says so.
    pub fn planned(
        function: &'static str,
        topology: impl Into<Shape>,
        reorder: Reorder,
        layout: &Layout,
        plan: &Plan,
    ) -> Self {
        let nodes = NodeSizes::from(layout);
        let why = if nodes.nodes() == 1 { Reason::ONE_NODE } else { Reason::NOTHING_TO_GAIN };
        let kept = plan.old_rank.is_none().then_some(why);
        let record = Self::new(function, topology, layout.ranks() as i32, reorder, Reason::OFF);
        Self {
            nodes: Some(nodes),
            kept,
            effect: Some(Effect::of(layout, plan)),
            places: Some(Places::of(layout, plan)),
            ..record
        }
    }

    /// Every process kept its rank for this reason. The effect stays what the plan would bring.
    #[must_use]
    pub fn kept(mut self, why: Reason) -> Self {
        self.kept = Some(why);
        self
    }

    /// What goes between nodes; for graphs, which nobody can draw otherwise.
    #[must_use]
    pub fn traffic(mut self, traffic: Traffic) -> Self {
        self.traffic = Some(traffic);
        self
    }

    /// Seconds that the mapping took, and the whole function with it.
    #[must_use]
    pub fn took(mut self, mapping_seconds: f64, seconds: f64) -> Self {
        (self.mapping_seconds, self.seconds) = (mapping_seconds, seconds);
        self
    }

    /// How many processes the new communicator has.
    pub fn vertices(&self) -> usize {
        match &self.topology {
            Shape::Cart { dims, .. } => dims.iter().map(|side| *side as usize).product(),
            Shape::Graph { nnodes, .. } => *nnodes as usize,
            Shape::DistGraph { .. } => self.comm_size as usize,
        }
    }

    /// What is told, but for times and pictures. Records in which it is equal are told as one.
    pub(super) fn told(&self) -> impl Hash + Eq + '_ {
        let who = (&self.function, &self.topology, self.comm_size, self.reorder);
        (who, &self.nodes, &self.kept, &self.effect)
    }

    /// How many numbers the record keeps for pictures.
    pub(super) fn drawn(&self) -> usize {
        let places = self.places.as_ref().map_or(0, |places| {
            let levels = 1 + places.above.len() + places.below.len();
            levels * places.node_of.len() + places.old_rank.as_ref().map_or(0, Vec::len)
        });
        places + self.traffic.as_ref().map_or(0, |traffic| 2 * traffic.before.len().pow(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Csr, Distances};

    #[test]
    fn nodes_are_told_in_a_few_words() {
        let told = |text, ranks| NodeSizes::from(&Layout::parse(text, ranks).unwrap()).to_string();
        assert_eq!(told("1x16", 16), "one node of 16");
        assert_eq!(told("50x48", 2400), "50 nodes of 48");
        assert_eq!(told("40*48,10*30,12*15,1", 2401), "63 nodes of 40*48,10*30,12*15,1");
        assert_eq!(told("1,2,1,2,1,2", 9), "6 nodes of 1,2,1,2,1,...");
    }

    #[test]
    fn traffic_counts_edges_from_row_to_column() {
        let graph = Csr::from_edges(4, [(0, 1, 1), (0, 2, 5), (3, 0, 2)].into_iter());
        let layout = Layout::blocks(&[2, 2]);
        let before = Plan::identity(&graph, &layout, &Distances::default(), |_| 0);
        let plan = Plan { old_rank: Some([0, 2, 1, 3].into()), ..before };
        let traffic = Traffic::new(&graph, &layout, &plan);
        assert_eq!(traffic.before, [[1, 5], [2, 0]]);
        assert_eq!(traffic.after, [[5, 1], [2, 0]]);
        let record = Record::planned(
            "MPI_Graph_create",
            Shape::Graph { nnodes: 4, edges: 3 },
            Reorder::Asked,
            &layout,
            &plan,
        );
        let places = record.places.as_ref().unwrap();
        assert_eq!(places.before(4).unwrap().nodes, [0, 0, 1, 1]);
        assert_eq!(places.after(4).unwrap().nodes, [0, 1, 0, 1]);
        assert_eq!(places.after(5), None);
        assert_eq!(record.traffic(traffic).drawn(), 4 + 4 + 8);
    }
}
