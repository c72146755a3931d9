//! The process of rank 0 keeps rank 0, wherever processes are moved: programs read their input there, as standard input
//! is given to it, and some end when it gets another rank.
//!
//! A plan that moves it is made one that does not. Nothing is lost where the grid is mirrored or shifted so that a corner
//! comes first whose process is on a node like that of rank 0, and these two nodes change places, or their switches do.
//! Else cells of these two nodes are exchanged, as long as the plan still gains; or nobody is moved.

use std::collections::HashSet;

use super::cost::Adjacency;
use super::csr::Csr;
use super::distance_model::DistanceModel;
use super::plan::{Options, Plan};
use super::subject::Subject;
use crate::machine::Machine;

/// The most nodes that are tried for an exchange with the node of rank 0.
const MOST_NODES: usize = 64;

/// The most edges that are read to find the best cell for an exchange.
const MOST_EDGES: usize = 1 << 22;

/// The most cells of two nodes whose border is drawn anew.
const MOST_CELLS: usize = 2048;

/// The plan, if the process of rank 0 keeps its rank by it, or the best that was found by which it does.
pub(super) fn keep(graph: &impl Subject, layout: &Machine, options: &Options, plan: Plan) -> Plan {
    let Some(old_rank) = plan.old_rank.as_deref().filter(|old_rank| old_rank[0] != 0) else {
        return plan;
    };
    let model = DistanceModel::new(layout, &options.distances);
    let stay = plan.clone().undone();
    let key = |plan: &Plan| {
        let [_, outer] = plan.tree_costs(layout);
        let inner = plan.levels.iter().skip(model.depth() + 1);
        let inner: Vec<_> = inner.map(|level| level.after.key(options.objective)).collect();
        (model.key_of(&outer, options.objective), inner)
    };
    let gains = |found: &Plan| {
        let ([_, cost], [_, than]) = (found.tree_costs(layout), stay.tree_costs(layout));
        key(found) < key(&stay) && model.spares(&cost, &than, options.objective)
    };
    let with =
        |order: Vec<i32>| stay.clone().with_order(graph, layout, order.into(), plan.algorithm);
    if let Some(order) = by_symmetry(graph, layout, old_rank) {
        let found = with(order);
        if gains(&found) {
            return found;
        }
    }
    let node_of: Vec<u32> = old_rank.iter().map(|rank| layout.nodes()[*rank as usize]).collect();
    let tried =
        [by_one(graph, layout, &model, options, &node_of), by_border(graph, layout, &node_of)];
    let tried = tried
        .into_iter()
        .flatten()
        .map(|changed| with(in_order(layout, &node_of, changed, old_rank)));
    let best = tried.min_by_key(&key);
    let best = best.filter(|found| gains(found) && graph.is_no_loss(layout, found));
    best.unwrap_or(stay)
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

/// For each rank the one that it becomes when parts of the machine that are alike change places, so that `rank` becomes
/// 0. `None` if it is on a node that is unlike that of rank 0, or below other switches.
fn exchange(layout: &Machine, rank: i32) -> Option<Vec<i32>> {
    let mut places: Vec<i32> = (0..layout.ranks() as i32).collect();
    let levels = layout.levels();
    for (at, level) in levels.iter().enumerate() {
        let now = places[rank as usize] as usize;
        if level.group_of[now] == level.group_of[0] {
            continue;
        }
        let inner = &levels[at + 1..];
        let members = |group: u32| {
            let all = (0..layout.ranks()).filter(|rank| level.group_of[*rank] == group);
            let mut all: Vec<usize> = all.collect();
            let path =
                |rank: &usize| inner.iter().map(|level| level.group_of[*rank]).collect::<Vec<_>>();
            if !inner.is_empty() {
                all.sort_by_cached_key(path);
            }
            all
        };
        let [own, other] = [0, now].map(|rank| members(level.group_of[rank]));
        let borders = |members: &[usize]| -> Vec<usize> {
            let same = |pair: &[usize]| {
                inner
                    .iter()
                    .take_while(|level| level.group_of[pair[0]] == level.group_of[pair[1]])
                    .count()
            };
            members.windows(2).map(same).collect()
        };
        if own.len() != other.len() || borders(&own) != borders(&other) {
            // Inside of a node the two alone may change places.
            if at <= layout.above().len() {
                return None;
            }
            break;
        }
        let mut swapped: Vec<i32> = (0..layout.ranks() as i32).collect();
        for (one, another) in own.into_iter().zip(other) {
            swapped.swap(one, another);
        }
        places.iter_mut().for_each(|place| *place = swapped[*place as usize]);
    }
    let now = places[rank as usize];
    for place in &mut places {
        *place = match *place {
            0 => now,
            place if place == now => 0,
            place => place,
        };
    }
    Some(places)
}

/// Vertex 0 on the node of rank 0, and in its place the vertex of that node for which it costs least. Of many vertices
/// those are tried that have the fewest edges inside of their node.
fn by_one(
    graph: &impl Adjacency,
    layout: &Machine,
    model: &DistanceModel,
    options: &Options,
    node_of: &[u32],
) -> Option<Vec<u32>> {
    let (own, other) = (layout.nodes()[0], node_of[0]);
    if own == other {
        return None;
    }
    let mut changed = node_of.to_vec();
    changed[0] = own;
    let taken = node_of.iter().filter(|node| **node == own).count();
    if taken < layout.node_sizes()[own as usize] {
        return Some(changed);
    }
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
        let mut changed = changed.clone();
        changed[*vertex] = other;
        model.key(graph, &changed, options.objective)
    };
    let best = members.into_iter().min_by_key(key)?;
    changed[best] = other;
    Some(changed)
}

/// The vertices of the node of rank 0 and of that which vertex 0 is on, divided anew: the first grows from vertex 0, by
/// what has the most edges to it and the fewest to what is left.
fn by_border(graph: &impl Adjacency, layout: &Machine, node_of: &[u32]) -> Option<Vec<u32>> {
    let (own, other) = (layout.nodes()[0], node_of[0]);
    let members: Vec<u32> = (0..node_of.len() as u32)
        .filter(|v| [own, other].contains(&node_of[*v as usize]))
        .collect();
    let count = members.iter().filter(|v| node_of[**v as usize] == own).count();
    if own == other || count == 0 || members.len() > MOST_CELLS {
        return None;
    }
    let part = Csr::induced(graph, &members, &mut vec![u32::MAX; node_of.len()]);
    let leaving = |vertex| -part.edges(vertex).map(|(_, weight)| weight).sum::<i64>();
    let mut gain: Vec<i64> = (0..members.len()).map(leaving).collect();
    let mut left: Vec<usize> = (0..members.len()).collect();
    let mut changed = node_of.to_vec();
    members.iter().for_each(|vertex| changed[*vertex as usize] = other);
    // Vertex 0 is the first.
    let mut next = 0;
    for _ in 0..count {
        let vertex = left.remove(next);
        changed[members[vertex] as usize] = own;
        part.edges(vertex).for_each(|(to, weight)| gain[to] += 2 * weight);
        next = (0..left.len()).max_by_key(|at| (gain[left[*at]], std::cmp::Reverse(*at)))?;
    }
    Some(changed)
}

/// The old rank of each vertex where the vertices of some nodes are others now: in order on these, as before on others.
fn in_order(layout: &Machine, before: &[u32], after: Vec<u32>, old_rank: &[i32]) -> Vec<i32> {
    let is_changed = |node: u32| node == layout.nodes()[0] || node == before[0];
    let mut ranks = vec![Vec::new(); layout.node_sizes().len()];
    let all = layout.nodes().iter().enumerate().rev();
    for (rank, node) in all.filter(|(_, node)| is_changed(**node)) {
        ranks[*node as usize].push(rank as i32);
    }
    let rank = |(node, old_rank): (u32, i32)| match is_changed(node) {
        true => ranks[node as usize].pop().unwrap_or(old_rank),
        false => old_rank,
    };
    after.into_iter().zip(old_rank.iter().copied()).map(rank).collect()
}

#[cfg(test)]
mod tests;
