//! Rules for unknown weights on grids of `MPI_Dims_create` whose domains have several shapes.

use cartograph_core::mapping::{Adjacency, Cost, Grid, Options, Plan, plan_grid};
use cartograph_lab::Table;

use crate::instances::{Instance, by_dims_create};

/// The shapes of domains: their names, and the length of one side, or of all but one, while the other sides are 1.
/// Faces are equal if a grid was fitted to its domain.
const SHAPES: [(&str, Sides); 6] = [
    ("cubes", Sides::One(1)),
    ("2:1", Sides::One(2)),
    ("4:1", Sides::One(4)),
    ("10:1", Sides::One(10)),
    ("plates 10:10:1", Sides::AllButOne(10)),
    ("equal faces", Sides::Fitted),
];

#[derive(Clone, Copy)]
enum Sides {
    One(i64),
    AllButOne(i64),
    Fitted,
}

impl Sides {
    /// The weights of a grid's dimensions for each orientation of such a domain: the number of processes along a
    /// dimension, divided by the length of the domain there.
    fn weights(self, dims: &[usize]) -> Vec<Vec<i64>> {
        let all = |is_long: &dyn Fn(usize, usize) -> bool, length: i64| {
            let weight = |place: usize, i: usize| {
                20 * dims[i] as i64 / if is_long(place, i) { length } else { 1 }
            };
            let of_place = |place| (0..dims.len()).map(|i| weight(place, i)).collect();
            (0..dims.len()).map(of_place).collect()
        };
        match self {
            Self::One(1) => vec![dims.iter().map(|side| *side as i64).collect()],
            Self::One(length) => all(&|place, i| place == i, length),
            Self::AllButOne(length) => all(&|place, i| place != i, length),
            Self::Fitted => vec![vec![1; dims.len()]],
        }
    }
}

/// The rules. Where Cartograph keeps ranks, the later rules accept a mapping that loses nothing for weights equal to the
/// sides of the grid, nor if some of these weights are larger by the given factor.
const RULES: [(&str, Option<i64>); 4] = [
    ("as Cartograph", None),
    ("also weights as dims, within 5", Some(5)),
    ("also weights as dims, within 4", Some(4)),
    ("also weights as dims, within 2", Some(2)),
];

fn grid(instance: &Instance, weights: &[i64]) -> Grid {
    let periodic = vec![instance.periodic; instance.dims.len()];
    Grid::new(instance.dims.clone(), periodic, Grid::nearest_neighbors(weights))
}

/// The cost in rank order, and of a mapping.
fn costs(instance: &Instance, node_of: &[u32], weights: &[i64]) -> [Cost; 2] {
    let grid = grid(instance, weights);
    [instance.layout.nodes(), node_of].map(|node_of| grid.cost(node_of))
}

/// The mapping according to a rule.
fn mapping(instance: &Instance, within: Option<i64>) -> Vec<u32> {
    let equal = vec![1; instance.dims.len()];
    let dims: Vec<i64> = instance.dims.iter().map(|side| *side as i64).collect();
    let plan = |grid: &Grid| plan_grid(grid, &instance.layout, &Options::default());
    let node_of = |plan: &Plan| -> Vec<u32> {
        plan.old_ranks().map(|old| instance.layout.nodes()[old as usize]).collect()
    };
    let own = plan(&grid(instance, &equal).with_unknown_weights());
    let Some(within) = within.filter(|_| own.old_rank.is_none()) else { return node_of(&own) };
    let weights = |corner: usize| -> Vec<i64> {
        let times = |i: usize| if corner >> i & 1 == 1 { within } else { 1 };
        (0..dims.len()).map(|i| dims[i] * times(i)).collect()
    };
    let is_taken = |found: &Vec<u32>| {
        let [before, after] = costs(instance, found, &equal);
        let is_safe = |corner| {
            let [before, after] = costs(instance, found, &weights(corner));
            after.inter_node_edges <= before.inter_node_edges
                && after.max_node_edges <= before.max_node_edges
        };
        3 * after.inter_node_edges <= 2 * before.inter_node_edges
            && (0..1 << dims.len()).all(is_safe)
    };
    let tried = [&equal, &dims].map(|weights| node_of(&plan(&grid(instance, weights))));
    tried.into_iter().find(is_taken).unwrap_or_else(|| node_of(&own))
}

/// For each rule the number of reordered grids, and J_max relative to rank order in domains of each shape: its
/// geometric mean, the number of losses, and the largest loss.
pub(crate) fn table() -> Table {
    let columns = SHAPES.map(|(name, _)| format!("{name} | {name} loses | {name} at most"));
    let columns = format!("rule | reordered | {}", columns.join(" | "));
    let mut table = Table::new("Domains", &columns);
    let mut instances = Vec::new();
    for nodes in [4, 8, 16, 32] {
        for size in [16, 24, 32, 36, 48, 64, 96, 128] {
            for ndims in [2, 3] {
                let instance = || by_dims_create(nodes, size, ndims);
                instances.extend([instance(), instance().torus()]);
            }
        }
    }
    for (rule, within) in RULES {
        let found: Vec<_> =
            instances.iter().map(|instance| (instance, mapping(instance, within))).collect();
        let is_moved = |(instance, node_of): &&(&Instance, Vec<u32>)| {
            node_of[..] != instance.layout.nodes()[..node_of.len()]
        };
        let mut row =
            format!("{rule} | {} of {}", found.iter().filter(is_moved).count(), found.len());
        for (_, sides) in SHAPES {
            let mut ratios: Vec<f64> = Vec::new();
            for (instance, node_of) in &found {
                for weights in sides.weights(&instance.dims) {
                    let [before, after] = costs(instance, node_of, &weights);
                    ratios.push(after.max_node_edges as f64 / before.max_node_edges as f64);
                }
            }
            let count = ratios.len() as f64;
            let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / count).exp();
            // Weights are rounded to integers.
            let losses = ratios.iter().filter(|ratio| **ratio > 1.01).count() as f64 / count;
            let worst = ratios.iter().copied().fold(0.0, f64::max);
            row += &format!(" | {mean:.3} | {:.1} % | {worst:.2}", 100.0 * losses);
        }
        table.row(&row);
    }
    table
}
