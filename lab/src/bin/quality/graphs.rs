//! Graphs: Cartograph compared with METIS' recursive bisection and KaHIP, whose parts are repaired to exact sizes.

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Adjacency, Cost, Csr, Objective, Options, plan_graph};
use cartograph_lab::Table;
use metis::option::Seed;

use crate::rivals::Rivals;
use crate::{clock, generate};

/// A graph and the nodes for it.
pub(crate) struct Instance {
    pub(crate) name: &'static str,
    pub(crate) graph: Csr,
    pub(crate) sizes: Vec<usize>,
}

/// `count` nodes that together have one place per vertex, as evenly as possible.
fn even(graph: Csr, name: &'static str, count: usize) -> Instance {
    let vertices = graph.vertices();
    let sizes = (0..count).map(|i| (i + 1) * vertices / count - i * vertices / count).collect();
    Instance { name, graph, sizes }
}

/// Nodes of different sizes: every fourth is half as large, and every tenth is twice as large.
fn uneven(graph: Csr, name: &'static str, count: usize) -> Instance {
    let vertices = graph.vertices();
    let share = |i: usize| {
        if i % 10 == 9 {
            4
        } else if i % 4 == 3 {
            1
        } else {
            2
        }
    };
    let all: usize = (0..count).map(share).sum();
    let upto = |i: usize| (0..i).map(share).sum::<usize>() * vertices / all;
    let sizes = (0..count).map(|i| upto(i + 1) - upto(i)).collect();
    Instance { name, graph, sizes }
}

/// All graphs.
pub(crate) fn instances() -> Vec<Instance> {
    use generate::{communities, geometric, grid, scale_free, tetrahedra, triangles, weighted};
    vec![
        even(grid(50, 48, 1), "grid 50x48", 50),
        even(grid(16, 15, 10), "grid 16x15x10", 50),
        even(grid(40, 40, 40), "grid 40x40x40", 500),
        even(grid(64, 64, 64), "grid 64x64x64", 4096),
        even(grid(317, 316, 1), "grid 317x316", 512),
        even(triangles(1000, 1), "triangles 1k", 8),
        even(triangles(4720, 2), "triangles 5k", 59),
        even(triangles(32768, 3), "triangles 33k", 512),
        even(triangles(100_000, 4), "triangles 100k", 128),
        even(triangles(300_000, 17), "triangles 300k", 1024),
        even(triangles(1_000_000, 18), "triangles 1M", 1024),
        even(triangles(131_072, 19), "triangles 131k", 2048),
        even(triangles(262_144, 20), "triangles 262k", 4096),
        even(triangles(1_048_576, 21), "triangles 1049k", 16_384),
        uneven(triangles(10_000, 5), "triangles 10k, uneven", 100),
        even(weighted(&triangles(10_000, 6), 100, 1), "triangles 10k, weighted", 100),
        even(tetrahedra(20), "tetrahedra 4k", 60),
        even(tetrahedra(40), "tetrahedra 31k", 256),
        even(tetrahedra(60), "tetrahedra 106k", 2048),
        even(geometric(32768, 14.0, 7), "geometric 33k", 512),
        even(geometric(131_072, 12.0, 21), "geometric 131k", 2048),
        even(geometric(2000, 10.0, 8), "geometric 2k", 16),
        uneven(weighted(&geometric(8000, 12.0, 9), 1000, 2), "geometric 8k, weighted, uneven", 90),
        even(scale_free(3000, 3, 10), "scale-free 3k", 32),
        even(scale_free(20_000, 2, 11), "scale-free 20k", 128),
        even(communities(6144, 48, 8, 12), "communities 6k", 128),
        even(communities(5000, 30, 4, 13), "communities of 30, nodes of 50", 100),
    ]
}

/// The section, and whether all targets are met: no result worse than METIS.
pub(crate) fn section() -> (Vec<Table>, bool) {
    let mut table = Table::new(
        "Graphs",
        "graph | vertices, edges | nodes | before | METIS | its time | KaHIP | its time | Cartograph | time | J_sum to METIS | J_sum to KaHIP | max first",
    );
    let (mut sum, mut worst) = (0.0, 0f64);
    let mut to_kahip = Vec::new();
    let instances = instances();
    let mut rivals = Rivals::start();
    for Instance { name, graph, sizes } in &instances {
        let (metis, _, metis_time) = metis(graph, sizes);
        let kahip = rivals.as_mut().and_then(|rivals| kahip(rivals, graph, sizes));
        let layout = Machine::blocks(sizes);
        let begin = clock::now();
        let plan = plan_graph(graph, &layout, &Options::default());
        let time = clock::now() - begin;
        let max = plan_graph(graph, &layout, &Options::default().with_objective(Objective::Max));
        let ratio = plan.after.inter_node_edges as f64 / metis.inter_node_edges as f64;
        sum += ratio.ln();
        worst = worst.max(ratio);
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let of_kahip = kahip
            .map(|(cost, _)| plan.after.inter_node_edges as f64 / cost.inter_node_edges as f64);
        to_kahip.extend(of_kahip);
        eprintln!("{name}: {ratio:.3}, {of_kahip:.3?}");
        table.row(&format!(
            "{name} | {}, {} | {} | {} | {} | {:.0} ms | {} | {} | {} | {:.0} ms | {ratio:.3} | {} | {}",
            graph.vertices(),
            graph.len(),
            sizes.len(),
            figures(plan.before),
            figures(metis),
            metis_time * 1e3,
            or_dash(kahip.map(|(cost, _)| figures(cost))),
            or_dash(kahip.map(|(_, time)| format!("{:.0} ms", time * 1e3))),
            figures(plan.after),
            time * 1e3,
            or_dash(of_kahip.map(|ratio| format!("{ratio:.3}"))),
            figures(max.after),
        ));
    }
    let mean = (sum / instances.len() as f64).exp();
    let kahip = match to_kahip.len() {
        0 => "-".to_owned(),
        count => {
            let sum: f64 = to_kahip.iter().map(|ratio| ratio.ln()).sum();
            format!("{:.3}", (sum / count as f64).exp())
        }
    };
    table.row(&format!(
        "geometric mean | - | - | - | - | - | - | - | - | - | {mean:.3} | {kahip} | -"
    ));
    (vec![table], worst <= 1.0)
}

fn figures(cost: Cost) -> String {
    format!("{}/{}", cost.inter_node_edges, cost.max_node_edges)
}

/// The most vertices and parts for which KaHIP is run: it takes more than ten minutes for a scale-free graph of 20,000
/// vertices.
const MOST_OF_KAHIP: (usize, usize) = (15_000, 512);

/// The result of KaHIP's strong mode, repaired to exact sizes, and its seconds of processor time; `None` if the graph
/// is large, or nodes have different sizes, which KaHIP does not support.
fn kahip(rivals: &mut Rivals, graph: &Csr, sizes: &[usize]) -> Option<(Cost, f64)> {
    let (least, most) = (sizes.iter().min()?, sizes.iter().max()?);
    if graph.vertices() > MOST_OF_KAHIP.0 || sizes.len() > MOST_OF_KAHIP.1 || most - least > 1 {
        return None;
    }
    let (mut part, time) = rivals.divide(graph, sizes.len(), "strong")?;
    // Its parts of the larger size are not always the first ones.
    let mut members = vec![0usize; sizes.len()];
    part.iter().for_each(|part| members[*part as usize] += 1);
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    by_size.sort_by_key(|part| std::cmp::Reverse(members[*part]));
    let mut slots: Vec<usize> = (0..sizes.len()).collect();
    slots.sort_by_key(|slot| std::cmp::Reverse(sizes[*slot]));
    let mut slot_of = vec![0; sizes.len()];
    by_size.iter().zip(slots).for_each(|(part, slot)| slot_of[*part] = slot as u32);
    part.iter_mut().for_each(|part| *part = slot_of[*part as usize]);
    repair(graph, sizes, &mut part);
    Some((graph.cost(&part), time))
}

/// The result of METIS' recursive bisection: the part of each vertex, and its seconds of processor time. The best of
/// three seeds.
pub(crate) fn metis(graph: &Csr, sizes: &[usize]) -> (Cost, Vec<u32>, f64) {
    let (mut starts, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
    for vertex in 0..graph.vertices() {
        for (to, weight) in graph.edges(vertex) {
            targets.push(to as i32);
            weights.push(weight as i32);
        }
        starts.push(targets.len() as i32);
    }
    let all = graph.vertices() as f32;
    let shares: Vec<f32> = sizes.iter().map(|size| *size as f32 / all).collect();
    let runs = (1..=3).map(|seed| {
        let mut part = vec![0; graph.vertices()];
        let begin = clock::now();
        metis::Graph::new(1, sizes.len() as i32, &starts, &targets)
            .expect("a graph of METIS")
            .set_adjwgt(&weights)
            .set_tpwgts(&shares)
            .set_option(Seed(seed))
            .part_recursive(&mut part)
            .expect("METIS finds parts");
        let time = clock::now() - begin;
        let mut part: Vec<u32> = part.into_iter().map(|part| part as u32).collect();
        repair(graph, sizes, &mut part);
        (graph.cost(&part), part, time)
    });
    runs.min_by_key(|(cost, ..)| cost.inter_node_edges).expect("three runs")
}

/// Moves vertices out of parts that are too large into parts that are too small, always the cheapest move.
fn repair(graph: &Csr, sizes: &[usize], part: &mut [u32]) {
    let mut surplus: Vec<i64> = sizes.iter().map(|size| -(*size as i64)).collect();
    let mut members = vec![Vec::new(); sizes.len()];
    for (vertex, part) in part.iter().enumerate() {
        surplus[*part as usize] += 1;
        members[*part as usize].push(vertex);
    }
    let mut weight_to = vec![0; sizes.len()];
    // The best move out of each part: the decrease of the cut, the vertex, and the target. Searched again when it may
    // have changed.
    let mut best: Vec<Option<(i64, usize, usize)>> = vec![None; sizes.len()];
    while surplus.iter().any(|surplus| *surplus > 0) {
        let small = surplus.iter().position(|surplus| *surplus < 0).expect("as much is missing");
        for from in (0..sizes.len()).filter(|from| surplus[*from] > 0) {
            if best[from].is_some_and(|(_, _, to)| surplus[to] < 0) {
                continue;
            }
            best[from] = None;
            for &vertex in &members[from] {
                graph.edges(vertex).for_each(|(to, weight)| weight_to[part[to] as usize] += weight);
                let near = graph.edges(vertex).map(|(to, _)| part[to] as usize);
                for to in near.chain([small]).filter(|to| surplus[*to] < 0) {
                    best[from] =
                        best[from].max(Some((weight_to[to] - weight_to[from], vertex, to)));
                }
                graph.edges(vertex).for_each(|(to, _)| weight_to[part[to] as usize] = 0);
            }
        }
        let from_large = best.iter().zip(&surplus).filter(|(_, surplus)| **surplus > 0);
        let (_, vertex, to) =
            from_large.filter_map(|(best, _)| *best).max().expect("one is too large");
        let from = part[vertex] as usize;
        surplus[from] -= 1;
        surplus[to] += 1;
        part[vertex] = to as u32;
        members[from].retain(|member| *member != vertex);
        members[to].push(vertex);
        best[from] = None;
        graph.edges(vertex).for_each(|(other, _)| best[part[other] as usize] = None);
    }
}
