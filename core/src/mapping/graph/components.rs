//! Graphs in pieces that have no edges to each other: whole pieces may fill nodes exactly.

use super::net::Net;
use crate::mapping::refine::Budget;

/// The part of each vertex, if all components go into parts of the given sizes whole, largest first,
/// each where it leaves the fewest places. Then the cut is 0. `None` says little: there may be a way.
pub(super) fn pack(net: &Net, sizes: &[usize], budget: &mut Budget) -> Option<Vec<u32>> {
    let (component, mut counts) = components(net, budget);
    if counts.len() < 2 {
        return None;
    }
    counts.sort_unstable_by_key(|(number, count)| (std::cmp::Reverse(*count), *number));
    let mut free: std::collections::BTreeSet<(usize, u32)> =
        sizes.iter().copied().zip(0u32..).collect();
    let mut part_of = vec![0; counts.len()];
    for (number, count) in counts {
        let (places, part) = *free.range((count, 0)..).next()?;
        free.remove(&(places, part));
        free.insert((places - count, part));
        part_of[number as usize] = part;
    }
    Some(component.into_iter().map(|number| part_of[number as usize]).collect())
}

/// The component of each vertex, and the number and vertices of each component.
fn components(net: &Net, budget: &mut Budget) -> (Vec<u32>, Vec<(u32, usize)>) {
    budget.spend(net.sweep());
    let mut component = vec![u32::MAX; net.len()];
    let mut counts: Vec<(u32, usize)> = Vec::new();
    let mut next = Vec::new();
    for seed in 0..net.len() {
        if component[seed] != u32::MAX {
            continue;
        }
        let number = counts.len() as u32;
        let mut count = 0;
        component[seed] = number;
        next.push(seed as u32);
        while let Some(vertex) = next.pop() {
            count += 1;
            for arc in net.arcs(vertex as usize) {
                if component[arc.to as usize] == u32::MAX {
                    component[arc.to as usize] = number;
                    next.push(arc.to);
                }
            }
        }
        counts.push((number, count));
    }
    (component, counts)
}
