//! The nodes that take part if there are more processes than vertices.

use std::cmp::Reverse;

use crate::machine::Machine;

/// The nodes that take part, with the number of processes on each: one choice if all processes are needed, otherwise
/// two to try. Over 200 grids with processes to spare, the second takes J over the bound from 1.119 to 1.105.
pub(super) fn participants(machine: &Machine, cells: usize) -> Vec<Vec<(u32, u32)>> {
    let sizes = machine.node_sizes();
    // Whole nodes, so that few take part.
    let mut taken = Vec::new();
    let mut left = cells;
    for node in nodes_in_order(machine) {
        if left > 0 {
            let size = sizes[node].min(left);
            taken.push((node, size));
            left -= size;
        }
    }
    // The same number of nodes, with sizes as equal as possible.
    let mut even = taken.clone();
    even.sort_by_key(|(node, _)| sizes[*node]);
    let (mut left, count) = (cells, even.len());
    for (i, (node, size)) in even.iter_mut().enumerate() {
        *size = sizes[*node].min(left.div_ceil(count - i));
        left -= *size;
    }
    let mut choices = vec![taken];
    choices.extend((cells < machine.ranks()).then_some(even));
    let by_id = |mut choice: Vec<(usize, usize)>| {
        choice.sort_unstable();
        choice.into_iter().map(|(node, size)| (node as u32, size as u32)).collect()
    };
    choices.into_iter().map(by_id).collect()
}

/// The nodes, the largest first, such that nodes near each other are consecutive: at each level, the group of node 0 is
/// first and then the largest.
fn nodes_in_order(machine: &Machine) -> Vec<usize> {
    let sizes = machine.node_sizes();
    let mut keys = vec![Vec::new(); sizes.len()];
    for level in machine.above() {
        let sizes = level.sizes();
        let mut group_of = vec![0; keys.len()];
        let ranks = machine.nodes().iter().zip(&level.group_of);
        ranks.for_each(|(node, group)| group_of[*node as usize] = *group);
        for (key, group) in keys.iter_mut().zip(&group_of) {
            key.push((*group != group_of[0], Reverse(sizes[*group as usize]), *group));
        }
    }
    let mut nodes: Vec<usize> = (0..sizes.len()).collect();
    nodes.sort_by_key(|node| (&keys[*node], *node != 0, Reverse(sizes[*node])));
    nodes
}
