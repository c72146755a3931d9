//! The least weight that can lie between the nodes of a small grid: exactly, for tests.
//!
//! Cells get their nodes one after the other. What is to come depends on the nodes of the last cells alone, as many as
//! a step along the first dimension passes over, and on how many places each node has left: of all ways that agree
//! in these only the cheapest is followed. Nodes have one size, so that their names do not matter.

use std::collections::HashMap;

/// The nodes of the last cells, the newest in the lowest four bits, and the places left on each node, eight bits each.
type State = (u64, u64);

/// Nodes that fit into a [`State`], and last cells.
const MOST_NODES: usize = 8;
const MOST_LAST: usize = 16;

/// The most states that are followed at a time.
const MOST_STATES: usize = 20_000;

/// The least weight of edges between nodes of `size` cells, each edge counted once, if it is below `limit`. No
/// dimension is periodic, and all sides are longer than 1. `None` if that takes too long to find out.
pub(super) fn least_cut(
    dims: &[usize],
    weights: &[i64],
    size: usize,
    limit: i64,
) -> Option<Option<i64>> {
    let cells: usize = dims.iter().product();
    let nodes = cells / size;
    let stride = |i: usize| dims[i + 1..].iter().product::<usize>();
    let last = stride(0);
    if last > MOST_LAST || nodes > MOST_NODES || size > 255 {
        return None;
    }
    // The least weight within the first cells and, by symmetry, within the last ones.
    let mut within = vec![0; cells + 1];
    let empty = (0..nodes).fold(0, |left, node| left | (size as u64) << (8 * node));
    let mut states: HashMap<State, i64> = HashMap::from([((0, empty), 0)]);
    for cell in 0..cells {
        let to_come = within[(cells - cell - 1).min(cell)];
        let mut next = HashMap::new();
        for (&(labels, left), &cost) in &states {
            let mut is_new = false;
            for node in 0..nodes {
                match left >> (8 * node) & 0xff {
                    0 => continue,
                    // Of the nodes without any cell one is as good as the other.
                    room if room as usize == size && std::mem::replace(&mut is_new, true) => {
                        continue;
                    }
                    _ => {}
                }
                let before = |i: usize| (labels >> (4 * (stride(i) - 1)) & 0xf) as usize;
                let is_cut = |i: &usize| cell / stride(*i) % dims[*i] > 0 && before(*i) != node;
                let cut: i64 = (0..dims.len()).filter(is_cut).map(|i| weights[i]).sum();
                if cost + cut + to_come >= limit {
                    continue;
                }
                let state = (labels << 4 | node as u64, left - (1 << (8 * node)));
                let least = next.entry(named(state, last.min(cell + 1), nodes)).or_insert(i64::MAX);
                *least = (*least).min(cost + cut);
            }
        }
        if next.len() > MOST_STATES {
            return None;
        }
        let Some(least) = next.values().min() else { return Some(None) };
        within[cell + 1] = *least;
        states = next;
    }
    Some(states.into_values().min())
}

/// The same state with nodes named in the order in which the last cells have them, and the others by what they have
/// left.
fn named((labels, left): State, last: usize, nodes: usize) -> State {
    let room = |node: usize| left >> (8 * node) & 0xff;
    let mut order: Vec<usize> = Vec::with_capacity(nodes);
    let mut renamed = 0;
    for at in 0..last {
        let node = (labels >> (4 * at) & 0xf) as usize;
        let name = order.iter().position(|known| *known == node).unwrap_or_else(|| {
            order.push(node);
            order.len() - 1
        });
        renamed |= (name as u64) << (4 * at);
    }
    let mut others: Vec<usize> = (0..nodes).filter(|node| !order.contains(node)).collect();
    others.sort_by_key(|node| std::cmp::Reverse(room(*node)));
    order.extend(others);
    let names = order.iter().enumerate();
    (renamed, names.fold(0, |left, (name, node)| left | room(*node) << (8 * name)))
}

#[test]
fn known_cuts_are_found() {
    assert_eq!(least_cut(&[2, 2], &[1, 1], 2, 99), Some(Some(2)));
    assert_eq!(least_cut(&[2, 2], &[1, 3], 2, 99), Some(Some(2)));
    assert_eq!(least_cut(&[4, 4], &[1, 1], 4, 99), Some(Some(8)));
    assert_eq!(least_cut(&[4, 4], &[5, 1], 4, 99), Some(Some(12)));
    assert_eq!(least_cut(&[4, 2, 2], &[1, 1, 1], 8, 99), Some(Some(4)));
    assert_eq!(least_cut(&[4, 4], &[1, 1], 4, 8), Some(None));
    // Three nodes of three: a row each.
    assert_eq!(least_cut(&[3, 3], &[1, 1], 3, 99), Some(Some(6)));
    assert_eq!(least_cut(&[64, 32], &[1, 1], 32, 99), None);
}
