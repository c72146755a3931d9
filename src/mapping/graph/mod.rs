//! Graphs: parts of exact sizes with few edges between them.
//!
//! Recursive bisection, each by multilevel coarsening and refinement; then neighboring parts are
//! refined in pairs, and divided anew in small groups as long as the budget lasts.
//!
//! Why not METIS, which does the first half: built as its crate `metis-sys` 0.3.2 builds it, METIS 5.1
//! seeds the process's own `rand()`, replaces the process's handlers of SIGABRT and SIGTERM while it
//! runs, prints to stderr, and its global symbols take the place of, or are replaced by, those of a
//! program's own METIS of another integer width. A preloaded library must do none of this to an
//! application. And its parts are only nearly of the sizes asked. The benchmarks compare with it.

mod bisect;
mod coarsen;
mod components;
mod fm;
pub mod metis;
mod net;
mod partition;
mod queue;
mod work;

#[cfg(test)]
mod tests;

use self::bisect::Effort;
use self::components::pack;
use self::net::Net;
use self::partition::{Parts, partition};
use self::work::{Rng, Work};
use super::cost::Adjacency;
use super::csr::Csr;
use super::layout::Layout;
use super::plan::{Options, Plan};

/// The body of [`super::plan_graph`].
pub(super) fn plan(graph: &Csr, layout: &Layout, options: &Options) -> Plan {
    let vertices = graph.vertices();
    let kept = Plan::identity(graph, layout, 0);
    let nodes = choose_nodes(&layout.node_sizes(), vertices);
    let sizes: Vec<usize> = nodes.iter().map(|(_, size)| *size).collect();
    let bound = lower_bound(graph, sizes.first().copied().unwrap_or(0));
    let kept = Plan { lower_bound: bound, ..kept };
    if kept.before.key(options.objective) <= (bound, 0) {
        return kept;
    }
    let mut work = Work::seconds(options.seconds.unwrap_or_else(|| worth(vertices)));
    let part = search(graph, &sizes, &mut work);
    let node_of: Vec<u32> = part.iter().map(|part| nodes[*part as usize].0).collect();
    let after = graph.cost(&node_of);
    if after.key(options.objective) >= kept.before.key(options.objective) {
        return kept;
    }
    Plan { old_rank: Some(seats(&node_of, layout)), after, algorithm: "multilevel", ..kept }
}

/// Seconds that a graph of so many vertices is worth: one at 100,000.
fn worth(vertices: usize) -> f64 {
    (vertices as f64 / 1e5).sqrt()
}

/// The nodes that take part, largest first, with the number of vertices on each: all of a node's
/// ranks, except for the last.
fn choose_nodes(node_sizes: &[usize], vertices: usize) -> Vec<(u32, usize)> {
    let mut nodes: Vec<(u32, usize)> = (0u32..).zip(node_sizes.iter().copied()).collect();
    nodes.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let mut rest = vertices;
    for (_, size) in &mut nodes {
        *size = rest.min(*size);
        rest -= *size;
    }
    nodes.retain(|(_, size)| *size > 0);
    nodes
}

/// What cannot be less: of the edges that leave a vertex, at most `largest - 1`, one a neighbor, lead
/// to its own node, at best the heaviest. Valid for negative weights as well. O(edges log degree).
pub fn lower_bound(graph: &Csr, largest: usize) -> i64 {
    let outside = |vertex| {
        let mut weights: Vec<i64> = graph.edges(vertex).map(|(_, weight)| weight).collect();
        weights.sort_unstable_by(|a, b| b.cmp(a));
        let (inside, outside) = weights.split_at(largest.saturating_sub(1).min(weights.len()));
        inside.iter().map(|weight| *weight.min(&0)).chain(outside.iter().copied()).sum::<i64>()
    };
    (0..graph.vertices()).map(outside).sum()
}

/// The part of each vertex, all parts of the given sizes.
fn search(graph: &Csr, sizes: &[usize], work: &mut Work) -> Vec<u32> {
    let net = Net::new(graph);
    if let Some(part) = pack(&net, sizes, work) {
        return part;
    }
    let mut rng = Rng::new(1);
    let effort = Effort { starts: 4, tries: 1, cycles: 0 };
    let part = partition(&net, sizes, effort, &mut rng, work);
    let mut parts = Parts::new(&net, part, sizes.len());
    parts.improve_pairs(work);
    while sizes.len() > 1 && !work.is_spent() {
        let count = 2 + rng.below(4);
        let cluster = parts.cluster(count, &mut rng, work);
        if cluster.len() < 2 {
            work.spend(1000);
            continue;
        }
        // Not always the best bisection: its halves may be worse to divide.
        let effort = Effort { starts: 1 + rng.below(4), ..effort };
        parts.redivide(&cluster, effort, &mut rng, work);
    }
    parts.part
}

/// The rank of each vertex: in ascending order, the vertices of a node take its ranks.
fn seats(node_of: &[u32], layout: &Layout) -> Box<[i32]> {
    let mut ranks: Vec<Vec<i32>> = Vec::new();
    for (rank, node) in layout.nodes().iter().enumerate() {
        ranks.resize(ranks.len().max(*node as usize + 1), Vec::new());
        ranks[*node as usize].push(rank as i32);
    }
    let mut next = vec![0; ranks.len()];
    let take = |node: &u32| {
        let node = *node as usize;
        next[node] += 1;
        ranks[node][next[node] - 1]
    };
    node_of.iter().map(take).collect()
}
