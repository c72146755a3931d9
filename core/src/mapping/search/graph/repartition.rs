//! Improves parts: by exchanges, by annealing, and by dividing groups of neighboring parts again.

use std::iter::repeat_n;

use super::bisect::Bisections;
use super::partition::partition;
use super::sweep::STEP;
use crate::mapping::budget::Budget;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::Csr;
use crate::mapping::model::objective::Goal;
use crate::mapping::search::refine::{Partition, anneal, first_on_first, swap_pairs};
use crate::mapping::search::rng::Rng;

/// After this number of rounds through all parts without a gain, a search with good parts ends.
const ROUNDS: usize = 4;

/// The steps per vertex from which groups are divided again, and from which annealing pays.
const GROUPS: i64 = 100;
const ANNEALING: i64 = 300;

/// The most vertices that are drawn to find neighboring parts.
const DRAWN: usize = 200;

/// Parts of the same sizes, none of which is worse for the goal. `graph` is symmetric: see
/// [`crate::mapping::search::refine`].
///
/// Annealing lets parts far from each other exchange vertices, and groups can be divided in many more ways. J over the
/// bound with exchanges only, with annealing, with groups, and with both: of 60 held out grids 1.052, 1.041, 1.046 and
/// 1.042; of 60 uneven ones of 300 to 4,000 cells 1.040, 1.033, 1.033 and 1.032, through switches at random 1.060, 1.054,
/// 1.051 and 1.050.
pub(in crate::mapping) fn improve(
    graph: &impl Adjacency,
    part: Vec<u32>,
    parts: usize,
    goal: Goal,
    budget: &mut Budget,
) -> Vec<u32> {
    let mut partition = Partition::new(graph, part, parts);
    let mut share = budget.split(2);
    swap_pairs(&mut partition, goal, &mut share);
    budget.put_back(share);
    let steps = budget.left() / graph.vertices().max(1) as i64;
    if steps < GROUPS {
        return partition.into_node_of();
    }
    let graph = &Csr::copy(graph);
    let mut partition = Partition::new(graph, partition.into_node_of(), parts);
    if steps >= ANNEALING {
        anneal(&mut partition, goal, budget);
    }
    let mut share = budget.scaled(STEP);
    let mut groups = Repartition::new(graph, partition.node_of().to_vec(), parts);
    groups.improve_groups(ROUNDS, &mut Rng::new(1), &mut share);
    let part = first_on_first(graph, groups.part, parts, &mut share);
    *budget = share.scaled(1.0 / STEP);
    let mut again = Partition::new(graph, part, parts);
    // These end after some sweeps.
    swap_pairs(&mut again, goal, &mut Budget::seconds(1.0));
    let is_better = goal.key(again.cost()) < goal.key(partition.cost());
    if is_better { again.into_node_of() } else { partition.into_node_of() }
}

/// Parts of a graph that are being improved. Their sizes do not change.
pub(super) struct Repartition<'a> {
    graph: &'a Csr,
    pub(super) part: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// Scratch space: an entry per vertex, all `u32::MAX` between uses.
    local: Vec<u32>,
}

impl<'a> Repartition<'a> {
    pub(super) fn new(graph: &'a Csr, part: Vec<u32>, count: usize) -> Self {
        let mut members = vec![Vec::new(); count];
        (0..).zip(&part).for_each(|(vertex, part)| members[*part as usize].push(vertex));
        Self { graph, part, members, local: vec![u32::MAX; graph.vertices()] }
    }

    /// Divides groups of neighboring parts again, one part after another, until the budget is spent or this number of
    /// rounds gained nothing.
    pub(super) fn improve_groups(&mut self, most: usize, rng: &mut Rng, budget: &mut Budget) {
        let mut seeds: Vec<u32> = Vec::new();
        let mut rounds = 0;
        while self.members.len() > 1 && !budget.is_spent() {
            if seeds.is_empty() {
                rounds += 1;
                if rounds > most {
                    return;
                }
                seeds.extend(0..self.members.len() as u32);
                rng.shuffle(&mut seeds);
            }
            let seed = seeds.pop().expect("more than one part");
            let group = self.group(seed, 2 + rng.below(4), rng, budget);
            // Not always the best bisection: its halves may be harder to divide.
            let how = Bisections::new(1 + rng.below(4), self.members.len());
            budget.spend(100);
            if group.len() > 1 && self.redivide(&group, how, rng, budget) {
                rounds = 0;
            }
        }
    }

    /// Divides some neighboring parts again, and keeps the result if it is not worse. Returns whether it is better.
    fn redivide(
        &mut self,
        parts: &[u32],
        how: Bisections,
        rng: &mut Rng,
        budget: &mut Budget,
    ) -> bool {
        let members = || parts.iter().map(|part| &self.members[*part as usize]);
        let sizes: Vec<usize> = members().map(Vec::len).collect();
        let vertices: Vec<u32> = members().flatten().copied().collect();
        let before: Vec<u32> =
            (0u32..).zip(&sizes).flat_map(|(i, size)| repeat_n(i, *size)).collect();
        let graph = Csr::induced(self.graph, &vertices, &mut self.local);
        budget.spend(2 * graph.sweep());
        let after = partition(&graph, &sizes, how, rng, budget);
        budget.spend(2 * graph.sweep());
        let (cut, cut_before) = (graph.cut(&after), graph.cut(&before));
        // An equally good division may lead to a better one.
        if cut <= cut_before {
            parts.iter().for_each(|part| self.members[*part as usize].clear());
            for (vertex, place) in vertices.into_iter().zip(after) {
                let part = parts[place as usize];
                self.part[vertex as usize] = part;
                self.members[part as usize].push(vertex);
            }
        }
        cut < cut_before
    }

    /// A part and some more around it, each adjacent to an earlier one, if drawing a few vertices finds some.
    fn group(&self, seed: u32, count: usize, rng: &mut Rng, budget: &mut Budget) -> Vec<u32> {
        let mut parts = vec![seed];
        for _ in 0..DRAWN {
            budget.spend(1);
            let members = &self.members[parts[rng.below(parts.len())] as usize];
            if parts.len() == count || members.is_empty() {
                break;
            }
            // Parts with more edges to these are more likely.
            let row = self.graph.row(members[rng.below(members.len())] as usize);
            let part = match row {
                // Parts without edges to these may still take vertices from them.
                [] => rng.below(self.members.len()) as u32,
                _ => self.part[row[rng.below(row.len())].0 as usize],
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        rng.shuffle(&mut parts);
        parts
    }
}
