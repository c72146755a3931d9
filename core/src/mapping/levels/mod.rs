//! The levels above the nodes: switches and other groups of nodes, between which an edge costs more than
//! between two nodes of one group.
//!
//! What is minimised is the sum over all edges of the [distance](Distances) of their ends. A mapping comes
//! from the top down (`multisect`: vertices are divided among the switches, then those of each switch among
//! its nodes), or from the nodes upward (`place`: what a mapping to nodes alone puts together goes to the
//! node where it is nearest to what it sends to). The better one is made better by moves that count the
//! distance.

mod multisection;
mod placing;
#[cfg(test)]
mod tests;

pub(super) use self::multisection::{Divide, multisect};
pub(super) use self::placing::place;

use super::cost::{Adjacency, Cost, Objective};
use super::csr::Csr;
use super::graph::place_parts;
use super::layout::{Layout, MOST_LEVELS};
use super::refine::{Budget, Partition, anneal_through, swap_pairs_where};

/// What an edge costs by how far apart its ends are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Distances {
    /// Inside a node, between nodes of one group of the innermost level above, between such groups of one
    /// group of the next level, and so on; 0 where not given.
    given: [i64; MOST_LEVELS + 1],
}

/// The largest distance that may be given.
pub const MOST_DISTANCE: i64 = 1_000_000;

/// How much larger each distance is than the one before, where not given: what the literature on mapping to
/// such machines measures with.
const GROWTH: i64 = 10;

impl Distances {
    /// Nothing is given.
    pub const AS_ASSUMED: Self = Self { given: [0; MOST_LEVELS + 1] };

    /// Reads distances from inside a node outward, such as "1,10,100". Those that are not given are 10 times
    /// the one before, and the first is 1.
    ///
    /// # Errors
    ///
    /// What is wrong, to be read after the name of where it was written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut distances = Self::default();
        let mut before = 0;
        for (at, word) in text.split([',', ':']).enumerate() {
            let number = word.trim().parse().ok().filter(|n| (1..=MOST_DISTANCE).contains(n));
            let number = number.ok_or_else(|| {
                format!(
                    "has '{}', but distances are whole numbers from 1 to {MOST_DISTANCE}",
                    word.trim()
                )
            })?;
            if number < before {
                return Err(format!(
                    "'{text}' has {number} after {before}; what is farther costs no less"
                ));
            }
            before = number;
            *distances
                .given
                .get_mut(at)
                .ok_or_else(|| format!("'{text}' has more than {} distances", MOST_LEVELS + 1))? =
                number;
        }
        Ok(distances)
    }

    /// The distances from inside a node outward, for so many levels above the nodes.
    pub fn of(&self, above: usize) -> Vec<i64> {
        let mut last = 0;
        let given = self.given.iter().take(above + 2);
        let distance = |given: &i64| {
            last = match (*given, last) {
                (0, 0) => 1,
                (0, last) => (last * GROWTH).min(MOST_DISTANCE * MOST_DISTANCE),
                (given, _) => given,
            };
            last
        };
        given.map(distance).collect()
    }
}

/// The nodes of a layout and what is above them, for mapping.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    /// For each level above the nodes, the outermost first, the group of each node.
    groups: Vec<Vec<u32>>,
    /// What an edge costs more that crosses a level: of each level above, the outermost first, and the nodes.
    steps: Vec<i64>,
    /// What every edge costs.
    least: i64,
}

impl Tree {
    /// Of a layout with these distances.
    pub(super) fn new(layout: &Layout, distances: &Distances) -> Self {
        let nodes = layout.node_sizes().len();
        let of_level = |level: &super::Level| {
            let mut groups = vec![0; nodes];
            for (node, group) in layout.nodes().iter().zip(&level.group_of) {
                groups[*node as usize] = *group;
            }
            groups
        };
        let distances = distances.of(layout.above().len());
        let groups: Vec<_> = layout.above().iter().map(of_level).collect();
        let steps = match groups.is_empty() {
            // There is nothing to weigh against: two distances that are alike must not hide what crosses nodes.
            true => vec![1],
            false => distances.windows(2).rev().map(|pair| pair[1] - pair[0]).collect(),
        };
        Self { groups, steps, least: distances[0] }
    }

    /// Whether there is no level above the nodes.
    pub(super) fn is_trivial(&self) -> bool {
        self.groups.is_empty()
    }

    /// How many levels there are above the nodes.
    pub(super) fn depth(&self) -> usize {
        self.groups.len()
    }

    /// The group of a node at a level above, 0 the outermost.
    pub(super) fn group(&self, level: usize, node: u32) -> u32 {
        self.groups[level][node as usize]
    }

    /// The same for some of the nodes: node `i` of it is `nodes[i]` here.
    pub(super) fn select(&self, nodes: &[u32]) -> Self {
        let select = |groups: &Vec<u32>| nodes.iter().map(|node| groups[*node as usize]).collect();
        let groups = self.groups.iter().map(select).collect();
        Self { groups, steps: self.steps.clone(), least: self.least }
    }

    /// What an edge between two nodes costs beyond that it joins two nodes.
    #[inline]
    pub(super) fn beyond(&self, a: u32, b: u32) -> i64 {
        let levels = self.groups.iter().zip(&self.steps);
        levels
            .map(|(groups, step)| if groups[a as usize] == groups[b as usize] { 0 } else { *step })
            .sum()
    }

    /// What an edge costs more that joins two nodes.
    pub(super) fn node_step(&self) -> i64 {
        self.steps[self.groups.len()]
    }

    /// Whether two nodes are in the same group at every level above.
    fn siblings(&self, a: u32, b: u32) -> bool {
        self.groups.last().is_none_or(|groups| groups[a as usize] == groups[b as usize])
    }

    /// The sum over all edges of the distance of their ends, from the weight of all edges and of those that
    /// cross each level, the outermost first and the nodes last.
    pub(super) fn weighted(&self, edges: i128, crossing: impl Iterator<Item = i64>) -> i128 {
        let crossing =
            crossing.zip(&self.steps).map(|(edges, step)| i128::from(edges) * i128::from(*step));
        i128::from(self.least) * edges + crossing.sum::<i128>()
    }

    /// By what mappings are compared, smaller is better: the distances of all edges and what crosses nodes.
    /// Without levels above as [`Cost::key`] compares.
    pub(super) fn key(&self, graph: &impl Adjacency, node_of: &[u32], objective: Objective) -> Key {
        self.key_of(&self.costs(graph, node_of), objective)
    }

    /// The same of what a mapping costs at each level, the outermost first and the nodes last.
    pub(super) fn key_of(&self, costs: &[Cost], objective: Objective) -> Key {
        let sum = self.weighted(0, costs.iter().map(|cost| cost.inter_node_edges));
        Key::new(sum, costs[self.depth()], objective)
    }

    /// What a mapping costs at each level, the outermost first and the nodes last.
    pub(super) fn costs(&self, graph: &impl Adjacency, node_of: &[u32]) -> Vec<Cost> {
        match self.is_trivial() {
            true => vec![graph.cost(node_of)],
            false => graph.costs(node_of, &self.groups),
        }
    }

    /// Makes a mapping better by moves that count the distance, for as long as the budget lasts.
    pub(super) fn improve(
        &self,
        graph: &impl Adjacency,
        node_of: Vec<u32>,
        nodes: usize,
        objective: Objective,
        budget: &mut Budget,
    ) -> Vec<u32> {
        /// Annealing pays only with so many steps for each vertex.
        const ANNEALING_STEPS: i64 = 300;
        let mut partition = Partition::new(graph, node_of, nodes);
        let mut share = budget.split(4);
        let siblings = |a, b| self.siblings(a, b);
        swap_pairs_where(&mut partition, objective, siblings, &mut share);
        budget.put_back(share);
        if budget.left() >= ANNEALING_STEPS * graph.vertices() as i64 {
            let mut share = budget.split(8);
            budget.put_back(share.split(2));
            anneal_through(&mut partition, self, objective, budget);
            swap_pairs_where(&mut partition, objective, siblings, &mut share);
        }
        partition.into_node_of()
    }
}

/// What is to be mapped through all levels.
pub(super) struct Question<'a, G, S> {
    /// The edges as they are.
    pub(super) graph: &'a G,
    /// The same in both directions, each with what the two weigh together.
    pub(super) symmetric: &'a S,
    /// The nodes and what is above them.
    pub(super) tree: &'a Tree,
    /// Nodes that may take part, and how many vertices each takes then.
    pub(super) choices: &'a [Vec<(u32, u32)>],
    /// What no mapping costs less than, as keys of mappings count it.
    pub(super) bound: i128,
}

/// Of more vertices there is time for one way to divide them.
const MOST_SEARCHED: usize = 100_000;

/// From so many vertices on a sum at the bound is good enough.
const LARGE: usize = 20_000;

/// The best mapping to nodes where their distance counts: what was found for nodes alone, its parts placed
/// where they are near each other, and what comes of dividing the vertices from the top down in each way that
/// `dividing` knows, the one that takes least first; the best of these is made better. `layout` is what the vertices are in without any
/// mapping. `None` if nothing was found at all.
pub(super) fn through<G: Adjacency, S: Adjacency>(
    question: &Question<'_, G, S>,
    layout: &Layout,
    found: Option<(Vec<u32>, &'static str)>,
    dividing: &mut [impl Divide],
    objective: Objective,
    budget: &mut Budget,
) -> Option<(Vec<u32>, &'static str)> {
    let Question { graph, symmetric, tree, choices, bound } = *question;
    let nodes = layout.node_sizes().len();
    // A sum at the bound ends the search, on small machines only if no node has more than its share.
    let done = |best: &Option<(Key, Vec<u32>, _)>| {
        let at_bound = |(Key(sum, most), node_of, _): &(Key, Vec<u32>, _)| {
            let is_even = || most * nodes as i128 <= graph.cost(node_of).inter_node_edges.into();
            objective == Objective::Sum && *sum <= bound && (graph.vertices() > LARGE || is_even())
        };
        best.as_ref().is_some_and(at_bound)
    };
    let mut best: Option<(Key, Vec<u32>, &'static str)> = None;
    let offer = |best: &mut Option<(Key, Vec<u32>, &'static str)>, node_of: Vec<u32>, name| {
        let key = tree.key(graph, &node_of, objective);
        if best.as_ref().is_none_or(|(least, ..)| key < *least) {
            *best = Some((key, node_of, name));
        }
    };
    let (start, name) =
        found.unwrap_or_else(|| (layout.nodes()[..graph.vertices()].to_vec(), "placing"));
    offer(&mut best, start.clone(), name);
    let mut is_placed = false;
    for (i, nodes) in choices.iter().enumerate() {
        if done(&best) {
            return best.map(|(_, node_of, name)| (node_of, name));
        }
        let (ids, takes): (Vec<u32>, Vec<u32>) = nodes.iter().copied().unzip();
        let tree = tree.select(&ids);
        let mut share = budget.split(4 * (choices.len() - i) as i64);
        if let Some(mut node_of) = dividing[0].place_known(&tree, &takes, &mut share) {
            node_of.iter_mut().for_each(|node| *node = ids[*node as usize]);
            offer(&mut best, node_of, "bricks");
            is_placed = true;
        }
        budget.put_back(share);
    }
    // What is placed so is hardly made better where it is large, which takes longer than all that was done so far.
    if done(&best) || is_placed && graph.vertices() > LARGE {
        return best.map(|(_, node_of, name)| (node_of, name));
    }
    let mut share = budget.split(4);
    offer(&mut best, placed(symmetric, &start, nodes, tree, &mut share), name);
    budget.put_back(share);
    drop(start);
    let dividing = match graph.vertices() {
        0..=MOST_SEARCHED => dividing,
        _ => &mut dividing[..1],
    };
    let mut left = (choices.len() * dividing.len()) as i64;
    let mut multisecting = budget.split(2);
    for nodes in choices {
        let (ids, takes): (Vec<u32>, Vec<u32>) = nodes.iter().copied().unzip();
        let tree = tree.select(&ids);
        for way in dividing.iter_mut() {
            if done(&best) {
                return best.map(|(_, node_of, name)| (node_of, name));
            }
            let mut share = multisecting.split(left);
            left -= 1;
            let mut node_of = multisect(graph.vertices(), &tree, &takes, way, &mut share);
            multisecting.put_back(share);
            node_of.iter_mut().for_each(|node| *node = ids[*node as usize]);
            offer(&mut best, node_of, "multisection");
        }
    }
    budget.put_back(multisecting);
    if done(&best) {
        return best.map(|(_, node_of, name)| (node_of, name));
    }
    let (key, node_of, name) = best?;
    let better = tree.improve(symmetric, node_of.clone(), nodes, objective, budget);
    let improved = tree.key(graph, &better, objective) < key;
    Some((if improved { better } else { node_of }, name))
}

/// The same parts, each on the node where it is nearest to what it sends to.
fn placed(
    symmetric: &impl Adjacency,
    node_of: &[u32],
    nodes: usize,
    tree: &Tree,
    budget: &mut Budget,
) -> Vec<u32> {
    let mut takes = vec![0; nodes];
    node_of.iter().for_each(|node| takes[*node as usize] += 1);
    let used: Vec<u32> = (0..nodes as u32).filter(|node| takes[*node as usize] > 0).collect();
    let mut part = vec![0; nodes];
    used.iter().zip(0..).for_each(|(node, at)| part[*node as usize] = at);
    let part_of: Vec<u32> = node_of.iter().map(|node| part[*node as usize]).collect();
    let between = Csr::between(symmetric, &part_of, used.len());
    let takes: Vec<u32> = used.iter().map(|node| takes[*node as usize]).collect();
    let node_of_part = place_parts(&between, &tree.select(&used), &takes, budget);
    part_of.into_iter().map(|part| used[node_of_part[part as usize] as usize]).collect()
}

/// What decides between two mappings; smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(i128, i128);

impl Key {
    fn new(sum: i128, nodes: Cost, objective: Objective) -> Self {
        match objective {
            Objective::Sum => Self(sum, nodes.max_node_edges.into()),
            Objective::Max => Self(nodes.max_node_edges.into(), sum),
        }
    }
}
