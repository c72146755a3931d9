//! Simulated annealing by exchanges of vertices at the borders of nodes.

use super::budget::Budget;
use super::partition::{Partition, Ties, changes};
use crate::mapping::cost::{Adjacency, Objective};

/// The temperatures at the start and at the end, in weights of an average edge.
const WARM: f64 = 0.45;
const COLD: f64 = 0.12;

/// How many vertices of the other node are tried for one that touches this node.
const TRIES: usize = 6;

/// Pseudo-random numbers, always the same ones.
struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Exponentially distributed, nearly: the logarithm is a chain of straight lines, so that only
    /// operations are used that every machine rounds alike.
    fn exponential(&mut self) -> f64 {
        let bits = self.next() | 1;
        let zeros = bits.leading_zeros();
        let mantissa = (bits << zeros) as f64 / 2f64.powi(63);
        (f64::from(zeros) + 2.0 - mantissa) * std::f64::consts::LN_2
    }
}

/// Exchanges vertices at random, worse ones ever more seldom, until the budget is spent. What it
/// leaves is the best that it found, or what it got.
pub(in crate::mapping) fn anneal<A: Adjacency>(
    partition: &mut Partition<'_, A>,
    objective: Objective,
    seed: u64,
    budget: &mut Budget,
) {
    let vertices = partition.node_of().len();
    if partition.nodes() < 2 || vertices < 4 {
        return;
    }
    let (mut edges, mut weights) = (0usize, 0i64);
    for vertex in 0..vertices {
        partition.graph.for_each_edge(vertex, |_, weight| {
            edges += 1;
            weights += weight;
        });
    }
    if weights <= 0 {
        return;
    }
    let unit = weights as f64 / edges as f64;
    let start = partition.cost();
    let mean = (start.inter_node_edges as f64 / partition.nodes() as f64).max(unit);
    // What a node with many edges weighs more than one with few.
    let uneven = match objective {
        Objective::Sum => 0.02 / mean,
        Objective::Max => 0.5 / mean,
    };
    let mut best = start.key(objective);
    let mut kept = partition.node_of().to_vec();
    let mut random = XorShift(0x9e37_79b9_7f4a_7c15 ^ (seed << 32 | seed));
    let total = budget.left();
    let sweeps = 64;
    // COLD / WARM to the power of 1 / sweeps, by roots.
    let cooling = (0..6).fold(COLD / WARM, |ratio: f64, _| ratio.sqrt());
    let mut temperature = WARM * 2.0 * unit;
    let mut around: Vec<(u32, i64)> = Vec::new();
    for sweep in 0..sweeps {
        let until = total - total / sweeps * (sweep + 1);
        while budget.left() > until {
            let u = random.below(vertices);
            let a = partition.node(u);
            around.clear();
            partition
                .graph
                .for_each_edge(u, |to, weight| around.push((partition.node(to), weight)));
            budget.spend(around.len() + 4);
            let strangers = around.iter().filter(|(node, _)| *node != a).count();
            if strangers == 0 {
                continue;
            }
            let choice = random.below(strangers);
            let b = around.iter().filter(|(node, _)| *node != a).nth(choice).expect("counted").0;
            let mut ties_u = Ties::default();
            for &(node, weight) in &around {
                ties_u.all += weight;
                ties_u.own += if node == a { weight } else { 0 };
                ties_u.other += if node == b { weight } else { 0 };
            }
            let limit = temperature * random.exponential();
            for _ in 0..TRIES {
                let members = partition.members(b);
                let v = members[random.below(members.len())] as usize;
                let mut ties_v = Ties::default();
                let mut between = 0;
                let mut steps = 4;
                partition.graph.for_each_edge(v, |to, weight| {
                    steps += 1;
                    let node = partition.node(to);
                    ties_v.all += weight;
                    ties_v.own += if node == b { weight } else { 0 };
                    ties_v.other += if node == a { weight } else { 0 };
                    between += if to == u { weight } else { 0 };
                });
                budget.spend(steps);
                if ties_v.other == 0 {
                    continue;
                }
                let changes = changes(ties_u, ties_v, between);
                let (first, second) = (partition.leaving(a) as f64, partition.leaving(b) as f64);
                let (da, db) = (changes.0 as f64, changes.1 as f64);
                let squares = da * (2.0 * first + da) + db * (2.0 * second + db);
                if da + db + uneven * squares <= limit {
                    partition.swap(u, v, changes);
                }
                break;
            }
        }
        temperature *= cooling;
        let key = partition.cost().key(objective);
        if key < best {
            best = key;
            kept.copy_from_slice(partition.node_of());
        }
    }
    let nodes = partition.nodes();
    *partition = Partition::new(partition.graph, kept, nodes);
}
