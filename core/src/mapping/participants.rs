//! The nodes that take part where there are more processes than vertices.

use std::cmp::Reverse;

use crate::machine::Machine;

/// The nodes that take part and with how many processes each: one choice if all processes are needed,
/// else several that are worth trying.
pub(super) fn participants(layout: &Machine, cells: usize) -> Vec<Vec<(u32, u32)>> {
    let (sizes, nodes) = (layout.node_sizes(), layout.nodes());
    // Whole nodes, in this order.
    let filled = |order: &[usize]| -> Vec<usize> {
        let (mut choice, mut left) = (vec![0; sizes.len()], cells);
        for node in order {
            choice[*node] = sizes[*node].min(left);
            left -= choice[*node];
        }
        choice
    };
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    // The node of rank 0 always takes part.
    by_size.sort_by_key(|node| (*node != 0, Reverse(sizes[*node])));
    let largest = filled(&by_size);
    // As many nodes, of sizes as equal as possible.
    let count = largest.iter().filter(|count| **count > 0).count();
    let (mut even, mut left) = (vec![0; sizes.len()], cells);
    let mut taken = by_size[..count].to_vec();
    taken.sort_by_key(|node| Reverse(sizes[*node]));
    for (i, node) in taken.into_iter().enumerate().rev() {
        even[node] = sizes[node].min(left.div_ceil(i + 1));
        left -= even[node];
    }
    // The first processes.
    let mut first = vec![0; sizes.len()];
    nodes[..cells].iter().for_each(|node| first[*node as usize] += 1);
    let near = (!layout.above().is_empty()).then(|| filled(&near_nodes(layout, by_size)));
    let mut choices: Vec<Vec<usize>> = Vec::new();
    for choice in near.into_iter().chain([largest, even, first]) {
        let sorted = |choice: &[usize]| {
            let mut sorted = choice.to_vec();
            sorted.sort_unstable();
            sorted
        };
        let alike = |other: &Vec<usize>| match layout.above() {
            [] => sorted(other) == sorted(&choice),
            _ => *other == choice,
        };
        if !choices.iter().any(alike) {
            choices.push(choice);
        }
    }
    let used = |choice: Vec<usize>| {
        let counts = (0..).zip(choice).map(|(node, count)| (node, count as u32));
        counts.filter(|(_, count)| *count > 0).collect()
    };
    choices.into_iter().map(used).collect()
}

/// Nodes in an order in which those that are near each other follow each other, at each level the group of node 0 first and
/// then the largest.
fn near_nodes(layout: &Machine, mut nodes: Vec<usize>) -> Vec<usize> {
    let mut keys = vec![Vec::new(); nodes.len()];
    for level in layout.above() {
        let sizes = level.sizes();
        let mut group_of = vec![0; nodes.len()];
        let ranks = layout.nodes().iter().zip(&level.group_of);
        ranks.for_each(|(node, group)| group_of[*node as usize] = *group);
        let first = group_of[0];
        for (key, group) in keys.iter_mut().zip(group_of) {
            key.push((group != first, Reverse(sizes[group as usize]), group));
        }
    }
    nodes.sort_by(|a, b| keys[*a].cmp(&keys[*b]));
    nodes
}
