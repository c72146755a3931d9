//! Grids whose edges weigh unequally along their dimensions: what `docs/quality.md` says about them.

use std::fmt::Write;

use cartograph::mapping::{Adjacency, Grid, Layout, Options, Plan, plan_cart};

use crate::generate::Random;
use crate::instances::{self, Instance};

/// What a dimension may weigh.
const DRAWN: [i64; 4] = [1, 2, 4, 16];

/// The least that a rule may ask a mapping to gain where weights are not known, in per cent.
const LEAST_GAINS: [u32; 5] = [0, 10, 20, 30, 40];

/// The section, and whether all aims are met.
pub(crate) fn section() -> (String, bool) {
    let mut text = String::from("## Grids with weights\n");
    let met = known(&mut text);
    assumed(&mut text);
    (text, met)
}

/// Weights that are the same each time.
fn draw(instance: &Instance, from: &[i64], random: &mut Random) -> Vec<i64> {
    instance.dims.iter().map(|_| from[random.below(from.len())]).collect()
}

fn grid(instance: &Instance, weights: &[i64]) -> Grid {
    let periodic = vec![instance.periodic; instance.dims.len()];
    Grid::new(instance.dims.clone(), periodic, Grid::nearest_neighbors(weights))
}

/// The 720 instances with weights that are known.
fn known(text: &mut String) -> bool {
    let mut random = Random::new(12);
    let (mut before, mut after, mut worse, mut worst) = (0.0, 0.0, 0, 0.0f64);
    let instances = instances::many();
    for instance in &instances {
        let grid = grid(instance, &draw(instance, &DRAWN, &mut random));
        let plan = plan_cart(&grid, &instance.layout, &Options::default());
        let ratio = |sum: i64| sum as f64 / plan.lower_bound as f64;
        before += ratio(plan.before.inter_node_edges).ln();
        after += ratio(plan.after.inter_node_edges).ln();
        worst = worst.max(ratio(plan.after.inter_node_edges));
        worse += usize::from(plan.after.inter_node_edges > plan.before.inter_node_edges);
    }
    let count = instances.len() as f64;
    let (before, after) = ((before / count).exp(), (after / count).exp());
    let _ = writeln!(
        text,
        "\nThe {count} instances above, each dimension weighing 1, 2, 4 or 16 at random. Geometric means of the \
         weighted J_sum over the weighted lower bound: block order {before:.3}, Cartograph {after:.4} (the aim is \
         1.03); at most {worst:.3}. Worse than block order on {worse}."
    );
    worse == 0 && after <= 1.03
}

/// One mapping that was made for equal weights, on trial with others.
struct Trial {
    /// What it gains at equal weights, as a share of block order.
    gain: f64,
    /// Whether the rule lets it be.
    applied: bool,
    /// Weighted J_sum over that of block order, one for each drawing of weights.
    ratios: Vec<f64>,
}

fn trial(instance: &Instance, random: &mut Random) -> Option<Trial> {
    const DRAWINGS: usize = 8;
    let plan = |grid: &Grid| plan_cart(grid, &instance.layout, &Options::default());
    let equal = grid(instance, &vec![1; instance.dims.len()]);
    let found = plan(&equal);
    found.old_rank.as_ref()?;
    let sums = |grid: &Grid, plan: &Plan, layout: &Layout| {
        let nodes = layout.nodes();
        let after: Vec<u32> = plan.old_ranks().map(|old| nodes[old as usize]).collect();
        let sum = |node_of: &[u32]| grid.cost(node_of).inter_node_edges as f64;
        sum(&after) / sum(&nodes[..after.len()])
    };
    let ratios = (0..DRAWINGS)
        .map(|_| {
            let grid = grid(instance, &draw(instance, &DRAWN[..3], random));
            sums(&grid, &found, &instance.layout)
        })
        .collect();
    let gain = 1.0 - sums(&equal, &found, &instance.layout);
    Some(Trial { gain, applied: plan(&equal.assumed()).old_rank.is_some(), ratios })
}

/// What rules for weights that nobody knows are worth.
fn assumed(text: &mut String) {
    let mut random = Random::new(34);
    let small = instances::small();
    let many = instances::many();
    let instances = small.iter().chain(&many).map(|i| trial(i, &mut random));
    let trials: Vec<Trial> = instances.flatten().collect();
    let _ = writeln!(
        text,
        "\n### Weights that nobody knows\n\n\
         A mapping that is best where all dimensions weigh the same may be a loss where they do not. {} mappings that \
         gain at equal weights (of the instances above, and of small grids on few nodes), each with eight \
         drawings of 1, 2 or 4 a dimension: what is left of the weighted J_sum of block order, if mappings are applied \
         by a rule and ranks kept where it says no.\n\n\
         | rule | applied | mean | geometric mean | loses, of all | worst |\n|---|---|---|---|---|---|",
        trials.len(),
    );
    let mut row = |rule: &str, applies: &dyn Fn(&Trial) -> bool| {
        let applied = trials.iter().filter(|trial| applies(trial)).count();
        let outcomes = trials.iter().flat_map(|trial| {
            let applied = applies(trial);
            trial.ratios.iter().map(move |ratio| if applied { *ratio } else { 1.0 })
        });
        let outcomes: Vec<f64> = outcomes.collect();
        let count = outcomes.len() as f64;
        let _ = writeln!(
            text,
            "| {rule} | {:.0} % | {:.3} | {:.3} | {:.1} % | {:.2} |",
            100.0 * applied as f64 / trials.len() as f64,
            outcomes.iter().sum::<f64>() / count,
            (outcomes.iter().map(|ratio| ratio.ln()).sum::<f64>() / count).exp(),
            100.0 * outcomes.iter().filter(|ratio| **ratio > 1.0).count() as f64 / count,
            outcomes.iter().copied().fold(0.0, f64::max),
        );
    };
    for least in LEAST_GAINS {
        let name = if least == 0 {
            "always".to_owned()
        } else {
            format!("gains {least} % at equal weights")
        };
        row(&name, &|trial| trial.gain >= f64::from(least) / 100.0);
    }
    row("**shorter in the mean**, as Cartograph", &|trial| trial.applied);
    let _ = writeln!(
        text,
        "\nThe rule: a mapping is applied if the weighted J_sum becomes less in the mean over the cases that all dimensions \
         weigh the same and that one of them weighs two or four times as much as the others. Where weights are known \
         (`CARTOGRAPH_WEIGHTS`, `plan --weights`) whatever gains is applied."
    );
}
