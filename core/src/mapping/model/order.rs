//! Orders in which vertices near each other usually follow each other.

use super::cost::Adjacency;

/// The vertices in the order of their distance from a vertex that is far from others. Takes two sweeps.
pub(in crate::mapping) fn breadth_first(graph: &impl Adjacency) -> Vec<u32> {
    let far = search(graph, 0).last().copied().unwrap_or(0);
    search(graph, far)
}

/// All vertices, by their distance from `start`; then unreachable ones, likewise.
fn search(graph: &impl Adjacency, start: u32) -> Vec<u32> {
    let mut seen = vec![false; graph.vertices()];
    let mut order = Vec::with_capacity(seen.len());
    let all = 0..seen.len() as u32;
    for root in all.clone().skip(start as usize).take(1).chain(all) {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        let mut next = order.len();
        order.push(root);
        while let Some(&vertex) = order.get(next) {
            graph.for_each_edge(vertex as usize, |to, _| {
                if !std::mem::replace(&mut seen[to], true) {
                    order.push(to as u32);
                }
            });
            next += 1;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Csr;

    #[test]
    fn near_vertices_come_early() {
        // A path 3 - 0 - 2 - 1, and an isolated vertex.
        let edges = [(3, 0), (0, 2), (2, 1)].into_iter().flat_map(|(a, b)| [(a, b, 1), (b, a, 1)]);
        let path = Csr::from_edges(5, edges);
        // The isolated vertex is the last one reached from vertex 0.
        assert_eq!(breadth_first(&path), [4, 0, 2, 3, 1]);
        let edges = [(3, 0), (0, 2), (2, 1)].into_iter().flat_map(|(a, b)| [(a, b, 1), (b, a, 1)]);
        assert_eq!(breadth_first(&Csr::from_edges(4, edges)), [1, 2, 0, 3]);
        assert!(breadth_first(&Csr::from_edges(0, [].into_iter())).is_empty());
    }
}
