//! The nodes that take part where there are more processes than vertices.

use std::cmp::Reverse;

use crate::machine::Machine;

/// The nodes that take part and with how many processes each: one choice if all processes are needed,
/// else several that are worth trying.
pub(super) fn participants(layout: &Machine, cells: usize) -> Vec<Vec<(u32, u32)>> {
    let (sizes, nodes) = (layout.node_sizes(), layout.nodes());
    let used = |count: &dyn Fn(usize) -> usize| -> Vec<(u32, u32)> {
        let counts = (0..sizes.len()).map(|node| (node as u32, count(node) as u32));
        counts.filter(|(_, count)| *count > 0).collect()
    };
    if nodes.len() == cells {
        return vec![used(&|node| sizes[node])];
    }
    // The largest nodes whole.
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    by_size.sort_by_key(|node| Reverse(sizes[*node]));
    let mut largest = vec![0; sizes.len()];
    let mut left = cells;
    let mut count = 0;
    for &node in &by_size {
        largest[node] = sizes[node].min(left);
        left -= largest[node];
        count += usize::from(largest[node] > 0);
    }
    // As many nodes, of sizes as equal as possible.
    let mut level = vec![0; sizes.len()];
    let mut left = cells;
    for (i, &node) in by_size[..count].iter().enumerate().rev() {
        level[node] = sizes[node].min(left.div_ceil(i + 1));
        left -= level[node];
    }
    // The first processes.
    let mut first = vec![0; sizes.len()];
    nodes[..cells].iter().for_each(|node| first[*node as usize] += 1);
    let mut choices: Vec<Vec<usize>> = Vec::new();
    let near = (!layout.above().is_empty()).then(|| near_nodes(layout, &sizes, cells));
    for choice in near.into_iter().chain([largest, level, first]) {
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
    choices.iter().map(|choice| used(&|node| choice[node])).collect()
}

/// Nodes that are near each other: the largest groups whole, level by level.
fn near_nodes(layout: &Machine, sizes: &[usize], cells: usize) -> Vec<usize> {
    // By the sizes of the groups that each node is in, the outermost first.
    let mut keys: Vec<Vec<(Reverse<usize>, u32)>> = vec![Vec::new(); sizes.len()];
    for level in layout.above() {
        let groups = level.sizes();
        let mut group_of = vec![0; sizes.len()];
        for (node, group) in layout.nodes().iter().zip(&level.group_of) {
            group_of[*node as usize] = *group;
        }
        for (key, group) in keys.iter_mut().zip(group_of) {
            key.push((Reverse(groups[group as usize]), group));
        }
    }
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|a, b| keys[*a].cmp(&keys[*b]).then(sizes[*b].cmp(&sizes[*a])));
    let mut left = cells;
    let mut choice = vec![0; sizes.len()];
    for node in order {
        choice[node] = sizes[node].min(left);
        left -= choice[node];
    }
    choice
}
