//! The process of rank 0 keeps rank 0, wherever processes are moved: programs read their input there, as standard input
//! is given to it, and some end when it gets another rank.
//!
//! A plan that moves it is made one that does not. Nothing is lost where the grid is mirrored or shifted so that a corner
//! comes first whose process is on a node like that of rank 0, and these two nodes change places, or their switches do.
//! Else vertex 0 and one of the node of rank 0 change places, as long as the plan still gains; or nobody is moved.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::cost::Adjacency;
use super::distance_model::DistanceModel;
use super::plan::{Options, Plan};
use super::subject::Subject;
use crate::machine::{Level, Machine};

/// The most nodes that are tried for an exchange with the node of rank 0.
const MOST_NODES: usize = 64;

/// The most edges that are read to find the best cell for an exchange.
const MOST_EDGES: usize = 1 << 22;

/// The plan, if the process of rank 0 keeps its rank by it, or the best that was found by which it does.
pub(super) fn keep(graph: &impl Subject, layout: &Machine, options: &Options, plan: Plan) -> Plan {
    let Some(old_rank) = plan.old_rank.as_deref().filter(|old_rank| old_rank[0] != 0) else {
        return plan;
    };
    let model = DistanceModel::new(layout, &options.distances);
    let stay = plan.clone().undone();
    let key = |plan: &Plan| plan.key(layout, &model, options.objective);
    let gains = |found: &Plan| {
        let ([_, cost], [_, than]) = (found.tree_costs(layout), stay.tree_costs(layout));
        key(found) < key(&stay) && model.spares(&cost, &than, options.objective)
    };
    let with =
        |order: Vec<i32>| stay.clone().with_order(graph, layout, order.into(), plan.algorithm);
    let renumbered = by_symmetry(graph, layout, old_rank).map(with).filter(gains);
    let found = renumbered.or_else(|| {
        let found = by_one(graph, layout, &model, options, old_rank).map(with).filter(gains);
        found.filter(|found| graph.is_no_loss(layout, found))
    });
    found.unwrap_or(stay)
}

/// The order by which the graph is renumbered so that 0 comes to a node, or a part of a node, that can change places
/// with that of rank 0.
fn by_symmetry(graph: &impl Subject, layout: &Machine, old_rank: &[i32]) -> Option<Vec<i32>> {
    let (nodes, sizes) = (layout.nodes(), layout.node_sizes());
    let mut others = HashSet::new();
    for image in graph.images() {
        let node = nodes[old_rank[image] as usize];
        if sizes[node as usize] != sizes[nodes[0] as usize] || others.contains(&node) {
            continue;
        }
        if let Some(places) = exchange(layout, old_rank[image]) {
            let renumbered = graph.renumbered(image);
            let order = renumbered.iter().map(|v| places[old_rank[*v as usize] as usize]).collect();
            return Some(in_old_order(layout, order));
        }
        others.insert(node);
        if others.len() == MOST_NODES {
            break;
        }
    }
    None
}

/// The same on each of the smallest parts of the machine, but there in the order of the old ranks, which a mirrored grid
/// has backwards. Costs are the same, and vertex 0, the first of its part, keeps rank 0.
fn in_old_order(layout: &Machine, order: Vec<i32>) -> Vec<i32> {
    let parts: &[u32] = layout.levels().last().map_or(&[], |level| &level.group_of);
    let part = |rank: &i32| parts[*rank as usize];
    let mut sorted = order.clone();
    sorted.sort_unstable_by_key(|rank| (part(rank), *rank));
    let mut vertices: Vec<usize> = (0..order.len()).collect();
    vertices.sort_by_key(|vertex| part(&order[*vertex]));
    let mut ordered = order;
    vertices.into_iter().zip(sorted).for_each(|(vertex, rank)| ordered[vertex] = rank);
    ordered
}

/// For each rank the one that it becomes when two parts of the machine that are alike change places, so that `rank`
/// becomes 0. `None` if it is on a node that is unlike that of rank 0, or below other switches.
fn exchange(layout: &Machine, rank: i32) -> Option<Vec<i32>> {
    let rank = rank as usize;
    let levels = layout.levels();
    let is_apart = |level: &Level| level.group_of[rank] != level.group_of[0];
    let at = levels.iter().position(is_apart).unwrap_or(levels.len());
    let sizes: Vec<Vec<usize>> = levels[at..].iter().map(Level::sizes).collect();
    // The ranks of the part that one is in, level by level those first that are with it, then those of the largest groups.
    let members = |first: usize| -> Vec<usize> {
        let path = |rank: &usize| {
            let of_level = |(level, sizes): (&Level, &Vec<usize>)| {
                let group = level.group_of[*rank];
                (group != level.group_of[first], Reverse(sizes[group as usize]), group)
            };
            (levels[at..].iter().zip(&sizes).map(of_level).collect::<Vec<_>>(), *rank != first)
        };
        let outer = levels.get(at).map(|level| &level.group_of);
        let is_member =
            |rank: &usize| outer.is_some_and(|group_of| group_of[*rank] == group_of[first]);
        let mut members: Vec<usize> = (0..layout.ranks()).filter(is_member).collect();
        members.sort_by_cached_key(path);
        members
    };
    // The number of levels that each has in common with the next.
    let shape = |members: &[usize]| -> Vec<usize> {
        let is_shared =
            |pair: &[usize], level: &Level| level.group_of[pair[0]] == level.group_of[pair[1]];
        let shared = |pair: &[usize]| levels.iter().filter(|level| is_shared(pair, level)).count();
        members.windows(2).map(shared).collect()
    };
    let mut places: Vec<i32> = (0..layout.ranks() as i32).collect();
    let [own, other] = [0, rank].map(members);
    if own.len() == other.len() && shape(&own) == shape(&other) && !own.is_empty() {
        own.into_iter().zip(other).for_each(|(one, another)| places.swap(one, another));
        return Some(places);
    }
    // Inside of a node the two alone may change places.
    places.swap(0, rank);
    (at > layout.above().len()).then_some(places)
}

/// Vertex 0 on the node of rank 0, and in its place, unless there is room, the vertex of that node for which it costs
/// least. Of many vertices those are tried that have the fewest edges inside of their node.
fn by_one(
    graph: &impl Adjacency,
    layout: &Machine,
    model: &DistanceModel,
    options: &Options,
    old_rank: &[i32],
) -> Option<Vec<i32>> {
    let nodes = layout.nodes();
    let node_of: Vec<u32> = old_rank.iter().map(|rank| nodes[*rank as usize]).collect();
    let (own, other) = (nodes[0], node_of[0]);
    if own == other {
        return None;
    }
    let mut order = old_rank.to_vec();
    let mut is_free: Vec<bool> = nodes.iter().map(|node| *node == own).collect();
    old_rank.iter().for_each(|rank| is_free[*rank as usize] = false);
    if let Some(rank) = is_free.iter().position(|is_free| *is_free) {
        order[0] = rank as i32;
    } else {
        let mut edges = 0;
        graph.for_each_edge(0, |_, _| edges += 1);
        let inside = |vertex: &usize| {
            let mut sum = 0;
            graph.for_each_edge(*vertex, |to, weight| {
                sum += weight * (i64::from(node_of[to] == own) - i64::from(node_of[to] == other));
            });
            sum
        };
        let mut members: Vec<usize> = (0..node_of.len()).filter(|v| node_of[*v] == own).collect();
        members.sort_by_key(inside);
        members.truncate((MOST_EDGES / (node_of.len() * (edges + 1))).max(1));
        let key = |vertex: &usize| {
            let mut changed = node_of.clone();
            changed.swap(0, *vertex);
            model.key(graph, &changed, options.objective)
        };
        let best = members.into_iter().min_by_key(key)?;
        order.swap(0, best);
    }
    match order.iter().position(|rank| *rank == 0) {
        Some(holder) => order.swap(0, holder),
        None => order[0] = 0,
    }
    Some(in_old_order(layout, order))
}

#[cfg(test)]
mod tests;
