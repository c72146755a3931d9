//! Machines with switches, and the result of each method on one of them.

use cartograph_core::machine::{LevelKind, Machine};
use cartograph_core::mapping::{Adjacency, Cost, Csr, Distances, Grid, Objective, Options, Plan};

use crate::clock;
use crate::generate::Random;
use crate::graphs::metis;
use crate::rivals::Rivals;

/// The modes of SharedMap that are compared.
pub(crate) const MODES: [&str; 2] = ["eco", "strong"];

/// The distribution of nodes over switches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allocation {
    /// Nodes in order, switch after switch.
    Contiguous,
    /// Switches of equal sizes; the switch of each node is random.
    Dealt,
    /// Switches of different sizes; the switch of each node is random.
    Fragments,
}

impl Allocation {
    pub(crate) const ALL: [Self; 3] = [Self::Contiguous, Self::Dealt, Self::Fragments];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Contiguous => "contiguous",
            Self::Dealt => "nodes assigned at random",
            Self::Fragments => "uneven fragments",
        }
    }

    /// The largest geometric mean of J over its bound.
    pub(crate) fn aim(self) -> f64 {
        if self == Self::Contiguous { 1.03 } else { 1.06 }
    }

    /// The switch of each node.
    pub(crate) fn switches(self, nodes: usize, width: usize, random: &mut Random) -> Vec<u32> {
        let mut switches: Vec<u32> = match self {
            Self::Contiguous | Self::Dealt => {
                (0..nodes).map(|node| (node / width) as u32).collect()
            }
            Self::Fragments => {
                // Each switch has at least one node, and the others are random.
                let count = nodes / width;
                let drawn = (count..nodes).map(|_| {
                    // The first switches have more.
                    random.below(count).min(random.below(count)) as u32
                });
                (0..count as u32).chain(drawn).collect()
            }
        };
        if self != Self::Contiguous {
            for at in (1..nodes).rev() {
                switches.swap(at, random.below(at + 1));
            }
        }
        switches
    }
}

/// The number of nodes of a switch: about the square root of twice their total.
pub(crate) fn width(nodes: usize) -> usize {
    (1..nodes)
        .rev()
        .find(|width| nodes.is_multiple_of(*width) && width * width <= 2 * nodes)
        .unwrap_or(1)
}

/// Edges by the level that they cross.
#[derive(Clone, Copy)]
pub(crate) struct Figures {
    /// The sum over all edges of 1, 10 or 100.
    pub(crate) weighted: i64,
    /// Edges between switches.
    pub(crate) switches: i64,
    /// Edges between nodes.
    pub(crate) nodes: i64,
    /// The edges that leave the busiest node.
    pub(crate) worst: i64,
    pub(crate) seconds: f64,
}

pub(crate) fn figures(
    graph: &Csr,
    node_of: &[u32],
    switch_of_node: &[u32],
    seconds: f64,
) -> Figures {
    let switch_of: Vec<u32> = node_of.iter().map(|node| switch_of_node[*node as usize]).collect();
    let edges: i64 =
        (0..graph.vertices()).flat_map(|v| graph.edges(v)).map(|(_, weight)| weight).sum();
    let switches = graph.cost(&switch_of).inter_node_edges;
    let Cost { inter_node_edges: nodes, max_node_edges: worst } = graph.cost(node_of);
    Figures { weighted: edges + 9 * nodes + 90 * switches, switches, nodes, worst, seconds }
}

/// The results of all methods on one instance.
pub(crate) struct Row {
    pub(crate) bound: f64,
    pub(crate) before: Figures,
    pub(crate) nodes_only: Figures,
    pub(crate) two_step: Figures,
    pub(crate) shared: Vec<Option<Figures>>,
    pub(crate) ours: Figures,
    /// With a budget of [`BRIEF`] seconds.
    pub(crate) brief: Figures,
}

/// The seconds of a second mapping, in addition to the one with the default budget: on average a tenth of the time of
/// SharedMap's eco.
pub(crate) const BRIEF: f64 = 0.01;

pub(crate) fn row(
    graph: &Csr,
    sizes: &[usize],
    switches: &[u32],
    plan: impl Fn(&Machine, &Options) -> Plan,
    rival: Option<(&mut Rivals, usize)>,
) -> Row {
    let ids: Vec<u64> =
        sizes.iter().enumerate().flat_map(|(node, size)| vec![node as u64; *size]).collect();
    let nodes = Machine::from_ids(&ids);
    let of_ranks: Vec<u64> = ids.iter().map(|node| switches[*node as usize].into()).collect();
    let layout = nodes.clone().under(LevelKind::Switch, &of_ranks).expect("nodes are whole");
    let taken = |layout: &Machine, seconds: Option<f64>| {
        let begin = clock::now();
        // The compared quantity is the sum that other methods minimize.
        let distances = Distances::parse("1,10,100").expect("these grow");
        let options = Options::default().with_objective(Objective::Sum);
        let options = options.with_seconds(seconds).with_distances(distances);
        let plan = plan(layout, &options);
        let seconds = clock::now() - begin;
        let node_of: Vec<u32> = plan.old_ranks().map(|old| ids[old as usize] as u32).collect();
        (figures(graph, &node_of, switches, seconds), plan)
    };
    let (ours, through) = taken(&layout, None);
    let (brief, _) = taken(&layout, Some(BRIEF));
    let (nodes_only, _) = taken(&nodes, None);
    let weighted = through.weighted.expect("there are switches");
    assert_eq!(weighted.after, ours.weighted.into(), "J is counted alike");
    let before: Vec<u32> = ids.iter().map(|node| *node as u32).collect();
    let shared = rival.map(|(rival, width)| {
        let hierarchy = [width, sizes.len() / width];
        let map = |mode: &&str| {
            // Without the cost of every edge, which does not depend on the mapping.
            let (part, seconds) = rival.map(graph, &hierarchy, &[9, 99], mode)?;
            let switch_of_part: Vec<u32> =
                (0..sizes.len()).map(|part| (part / width) as u32).collect();
            let mut takes = vec![0; sizes.len()];
            part.iter().for_each(|part| takes[*part as usize] += 1);
            (takes == sizes).then(|| figures(graph, &part, &switch_of_part, seconds))
        };
        MODES.iter().map(map).collect()
    });
    Row {
        bound: weighted.lower_bound as f64,
        before: figures(graph, &before, switches, 0.0),
        nodes_only,
        two_step: two_step(graph, sizes, switches),
        shared: shared.unwrap_or_default(),
        ours,
        brief,
    }
}

/// METIS' parts for the nodes, and METIS' parts of the graph of these parts for the switches, both repaired to exact
/// sizes. All nodes have the same size.
pub(crate) fn two_step(graph: &Csr, sizes: &[usize], switches: &[u32]) -> Figures {
    let begin = clock::now();
    let part = metis(graph, sizes).1;
    let between = (0..graph.vertices()).flat_map(|vertex| {
        let from = part[vertex];
        let edges = graph.edges(vertex).map(|(to, weight)| (part[to], weight));
        edges
            .filter(move |(to, _)| *to != from)
            .map(move |(to, weight)| (from, to, weight))
            .collect::<Vec<_>>()
    });
    let between = Csr::from_edges(sizes.len(), between);
    let mut nodes_of: Vec<Vec<u32>> =
        vec![Vec::new(); *switches.iter().max().unwrap_or(&0) as usize + 1];
    switches.iter().zip(0..).for_each(|(switch, node)| nodes_of[*switch as usize].push(node));
    let widths: Vec<usize> = nodes_of.iter().map(Vec::len).collect();
    let switch_of_part = metis(&between, &widths).1;
    let node_of_part: Vec<u32> = switch_of_part
        .iter()
        .map(|switch| nodes_of[*switch as usize].pop().expect("as many parts as nodes"))
        .collect();
    let seconds = clock::now() - begin;
    let node_of: Vec<u32> = part.iter().map(|part| node_of_part[*part as usize]).collect();
    figures(graph, &node_of, switches, seconds)
}

/// The edges of a grid as a graph.
pub(crate) fn graph_of(grid: &Grid) -> Csr {
    let mut edges = Vec::new();
    for cell in 0..grid.vertices() {
        grid.for_each_edge(cell, |to, weight| edges.push((cell as u32, to as u32, weight)));
    }
    Csr::from_edges(grid.vertices(), edges.into_iter())
}
