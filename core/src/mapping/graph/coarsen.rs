//! Coarsening: pairs of vertices that belong together become one.

use super::net::Net;
use crate::mapping::refine::Budget;
use crate::mapping::rng::Rng;

/// A graph made smaller, and which of its vertices each vertex of the larger one became.
pub(super) struct Coarse {
    pub(super) net: Net,
    pub(super) coarse_of: Vec<u32>,
}

/// Matches vertices with a neighbor, by the heaviest edge for the size of what comes of it; none
/// becomes larger than `most`. `None` if hardly any can be.
pub(super) fn coarsen(net: &Net, most: i64, rng: &mut Rng, budget: &mut Budget) -> Option<Coarse> {
    const ALONE: u32 = u32::MAX;
    budget.spend(2 * net.sweep());
    let fits = |a: usize, b: usize| net.size(a) + net.size(b) <= most;
    let mut mate = vec![ALONE; net.len()];
    let mut order: Vec<u32> = (0..net.len() as u32).collect();
    rng.shuffle(&mut order);
    // Those with few neighbors choose first: later they would have none left.
    order.sort_by_key(|vertex| net.edges(*vertex as usize).len().min(64));
    for vertex in &order {
        let vertex = *vertex as usize;
        if mate[vertex] != ALONE {
            continue;
        }
        let mut best = (0.0, ALONE);
        for (to, weight) in net.edges(vertex) {
            if mate[to] == ALONE && weight > 0 && fits(vertex, to) {
                let rating = weight as f64 * weight as f64 / net.size(to) as f64;
                if rating > best.0 {
                    best = (rating, to as u32);
                }
            }
        }
        if best.1 != ALONE {
            mate[vertex] = best.1;
            mate[best.1 as usize] = vertex as u32;
        }
    }
    // Leaves of a common neighbor have none but each other; vertices without edges, likewise.
    let mut waiting = vec![ALONE; net.len() + 1];
    for vertex in &order {
        let vertex = *vertex as usize;
        if mate[vertex] != ALONE {
            continue;
        }
        let heaviest = net.edges(vertex).max_by_key(|(_, weight)| *weight);
        let at = heaviest.map_or(net.len(), |(to, _)| to);
        let other = waiting[at];
        if other != ALONE && fits(vertex, other as usize) {
            mate[vertex] = other;
            mate[other as usize] = vertex as u32;
            waiting[at] = ALONE;
        } else {
            waiting[at] = vertex as u32;
        }
    }
    let mut coarse_of = vec![ALONE; net.len()];
    let mut count = 0;
    for vertex in 0..net.len() {
        if coarse_of[vertex] == ALONE {
            coarse_of[vertex] = count;
            if mate[vertex] != ALONE {
                coarse_of[mate[vertex] as usize] = count;
            }
            count += 1;
        }
    }
    let count = count as usize;
    (count * 20 <= net.len() * 19)
        .then(|| Coarse { net: net.contracted(&coarse_of, count), coarse_of })
}
