//! Grids whose edges have unequal weights along their dimensions: the results in `docs/results/quality.md` on them.

use cartograph_core::mapping::{Adjacency, Grid, Options, Plan, plan_grid};
use cartograph_lab::Table;

use crate::domains;
use crate::generate::Random;
use crate::instances::{self, Instance};

/// The weights that a dimension may have.
const DRAWN: [i64; 4] = [1, 2, 4, 16];

/// The section, and whether all targets are met.
pub(crate) fn section() -> (Vec<Table>, bool) {
    let ((known, better), (assumed, safe)) = (known(), assumed());
    (vec![known, assumed, domains::table()], better && safe)
}

/// Random weights, equal in each run.
fn draw(instance: &Instance, from: &[i64], random: &mut Random) -> Vec<i64> {
    instance.dims.iter().map(|_| from[random.below(from.len())]).collect()
}

fn grid(instance: &Instance, weights: &[i64]) -> Grid {
    let periodic = vec![instance.periodic; instance.dims.len()];
    Grid::new(instance.dims.clone(), periodic, Grid::nearest_neighbors(weights))
}

/// The 720 instances with known weights.
fn known() -> (Table, bool) {
    let mut random = Random::new(12);
    let (mut before, mut after, mut worse, mut worst) = (0.0, 0.0, 0, 0.0f64);
    let instances = instances::many();
    for instance in &instances {
        let grid = grid(instance, &draw(instance, &DRAWN, &mut random));
        let plan = plan_grid(&grid, &instance.layout, &Options::default());
        let ratio = |sum: i64| sum as f64 / plan.lower_bound as f64;
        before += ratio(plan.before.inter_node_edges).ln();
        after += ratio(plan.after.inter_node_edges).ln();
        worst = worst.max(ratio(plan.after.inter_node_edges));
        worse += usize::from(plan.after.inter_node_edges > plan.before.inter_node_edges);
    }
    let count = instances.len() as f64;
    let (before, after) = ((before / count).exp(), (after / count).exp());
    let mut table = Table::new(
        "Known weights",
        "block order | Cartograph | Cartograph, the worst instance | worse than block order on",
    );
    table.row(&format!("{before:.3} | {after:.4} | {worst:.3} | {worse}"));
    (table, worse == 0 && after <= 1.03)
}

/// A mapping that gains with equal weights, and the one that Cartograph applies if weights are unknown: a rule decides
/// which of them is used.
struct Trial {
    /// The gain of the first mapping with equal weights, as a fraction of block order.
    gain: f64,
    equal: Ratios,
    /// The ratios of block order itself if Cartograph applies no mapping.
    applied: Ratios,
}

/// A mapping relative to block order, by weights: the ratios of J_sum and J_max.
struct Ratios {
    is_block_order: bool,
    /// Dimensions with weights of 1, 2 or 4.
    mild: Vec<(f64, f64)>,
    /// The ratios with those weights and 16.
    harsh: Vec<(f64, f64)>,
    /// The largest ratio of J_sum or J_max if no dimension weighs more than `times` as much as another.
    worst: [f64; 3],
}

/// The ratios of dimensions for [`Ratios::worst`].
const INEQUALITIES: [i64; 3] = [2, 3, 4];

/// All weights of `ndims` dimensions.
fn all(from: &[i64], ndims: usize) -> Vec<Vec<i64>> {
    (0..ndims).fold(vec![Vec::new()], |found, _| {
        let longer = |weights: &Vec<i64>| {
            let weights = weights.clone();
            from.iter().map(move |weight| [&weights[..], &[*weight]].concat()).collect::<Vec<_>>()
        };
        found.iter().flat_map(longer).collect()
    })
}

impl Ratios {
    fn new(instance: &Instance, plan: &Plan) -> Self {
        let nodes = instance.layout.nodes();
        let node_of: Vec<u32> = plan.old_ranks().map(|old| nodes[old as usize]).collect();
        let ratios = |from: &[i64]| -> Vec<(f64, f64)> {
            let ratio = |weights: Vec<i64>| {
                let grid = grid(instance, &weights);
                let (before, after) = (grid.cost(nodes), grid.cost(&node_of));
                let over = |after: i64, before: i64| after as f64 / before as f64;
                (
                    over(after.inter_node_edges, before.inter_node_edges),
                    over(after.max_node_edges, before.max_node_edges),
                )
            };
            all(from, instance.dims.len()).into_iter().map(ratio).collect()
        };
        let worst = INEQUALITIES.map(|most| {
            ratios(&[1, most]).into_iter().map(|(sum, max)| sum.max(max)).fold(0.0, f64::max)
        });
        let is_block_order = plan.old_rank.is_none();
        Self { is_block_order, mild: ratios(&DRAWN[..3]), harsh: ratios(&DRAWN), worst }
    }
}

fn trial(instance: &Instance) -> Option<Trial> {
    let plan = |grid: &Grid| plan_grid(grid, &instance.layout, &Options::default());
    let equal = grid(instance, &vec![1; instance.dims.len()]);
    let found = plan(&equal);
    let gain = 1.0 - found.after.inter_node_edges as f64 / found.before.inter_node_edges as f64;
    (gain > 0.0).then(|| Trial {
        gain,
        equal: Ratios::new(instance, &found),
        applied: Ratios::new(instance, &plan(&equal.with_unknown_weights())),
    })
}

/// Measures rules for unknown weights: how often a mapping is applied, the geometric mean of J_sum and of J_max
/// relative to block order, the number of losses, and the largest loss. All rules except the last choose from mappings
/// that are best for equal weights.
fn assumed() -> (Table, bool) {
    let small = instances::small();
    let many = instances::many();
    let trials: Vec<Trial> = small.iter().chain(&many).filter_map(trial).collect();
    let count = trials.len() as f64;
    let of = |what: &str, most: u32| {
        format!("{what}, up to {most} | {what} loses, up to {most} | {what} at most, up to {most}")
    };
    let columns = [of("J_sum", 4), of("J_max", 4), of("J_sum", 16), of("J_max", 16)].join(" | ");
    let mut table = Table::new("Unknown weights", &format!("rule | applied | {columns}"));
    let mut row = |rule: &str, ratios: &dyn Fn(&Trial) -> Option<&Ratios>| {
        let applied: Vec<&Ratios> =
            trials.iter().filter_map(ratios).filter(|ratios| !ratios.is_block_order).collect();
        let share = 100.0 * applied.len() as f64 / count;
        let mut line = format!("{rule} | {share:.0} %");
        type Draws = fn(&Ratios) -> &[(f64, f64)];
        type Which = fn(&(f64, f64)) -> f64;
        let draws: [Draws; 2] = [|ratios| &ratios.mild, |ratios| &ratios.harsh];
        let figures: [Which; 2] = [|ratio| ratio.0, |ratio| ratio.1];
        let mut most = 0.0f64;
        for (draws, figure) in draws.iter().flat_map(|draws| figures.map(|figure| (draws, figure)))
        {
            // Each instance has the same weight, although instances of fewer dimensions have fewer combinations.
            let (mut logarithms, mut losses, mut worst) = (0.0, 0.0, 1.0f64);
            for ratios in &applied {
                let drawn: Vec<f64> = draws(ratios).iter().map(figure).collect();
                let share = 1.0 / drawn.len() as f64;
                logarithms += share * drawn.iter().map(|ratio| ratio.ln()).sum::<f64>();
                losses += share * drawn.iter().filter(|ratio| **ratio > 1.0).count() as f64;
                worst = drawn.iter().copied().fold(worst, f64::max);
            }
            let (mean, losses) = ((logarithms / count).exp(), 100.0 * losses / count);
            line += &format!(" | {mean:.3} | {losses:.1} % | {worst:.2}");
            most = if most == 0.0 { worst } else { most };
        }
        table.row(&line);
        most
    };
    row("always", &|trial| Some(&trial.equal));
    for least in [0.2, 0.3, 0.4, 0.5] {
        let rule = format!("gains {:.0} % at equal weights", 100.0 * least);
        row(&rule, &|trial| Some(&trial.equal).filter(|_| trial.gain >= least));
    }
    for (i, most) in INEQUALITIES.iter().enumerate() {
        let rule = format!("no loss for weights up to {most}");
        row(&rule, &|trial| Some(&trial.equal).filter(|equal| equal.worst[i] <= 1.0));
    }
    let own = "**no loss for weights up to 4, of several mappings**, as Cartograph";
    let worst = row(own, &|trial| Some(&trial.applied));
    (table, worst <= 1.0)
}
