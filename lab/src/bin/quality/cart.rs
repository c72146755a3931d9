//! Grids compared with those of the literature.

use cartograph_core::mapping::{Adjacency, Cost, Options, Plan, plan_grid};
use cartograph_lab::Table;

use crate::instances::{self, Figures, Instance};
use crate::published;

/// The tables, and whether all targets are met.
pub(crate) fn section() -> (Vec<Table>, bool) {
    let (listed, reached) = listed();
    let (many, close) = many();
    (vec![listed, many], reached && close)
}

fn figures(cost: Cost) -> Figures {
    (cost.inter_node_edges, cost.max_node_edges)
}

fn show(figures: Figures) -> String {
    format!("{}/{}", figures.0, figures.1)
}

fn plan(instance: &Instance, seconds: Option<f64>) -> Plan {
    plan_grid(&instance.grid(), &instance.layout, &Options::default().with_seconds(seconds))
}

/// The instances of the literature.
///
/// A cell is J_sum/J_max: the directed edges between nodes, and those that leave the busiest node. The columns of other
/// methods are constants of this program.
fn listed() -> (Table, bool) {
    let mut table = Table::new(
        "Instances of the literature",
        "instance | bound | blocked | hyperplane | k-d | strips | nodecart | best, exchanges | annealing | Cartograph | 2 s",
    );
    let (mut reached, mut near, mut count) = (0, 0, 0);
    for (instance, columns) in instances::listed() {
        let default = plan(&instance, None);
        let longer = plan(&instance, Some(2.0));
        let after = default.after.inter_node_edges;
        count += 1;
        reached += usize::from(after <= columns.annealing.0);
        near += usize::from(after as f64 <= 1.01 * columns.annealing.0 as f64);
        let row = [columns.blocked, columns.hyperplane, columns.kd_tree, columns.strips].map(show);
        let nodecart = columns.nodecart.map_or("-".to_owned(), show);
        table.row(&format!(
            "{} | {} | {} | {nodecart} | {} | {} | {} | {}",
            instance.name,
            default.lower_bound,
            row.join(" | "),
            show(columns.best),
            show(columns.annealing),
            show(figures(default.after)),
            show(figures(longer.after)),
        ));
    }
    (table, reached >= 9 && near == count)
}

/// Results of the published methods and of Cartograph on many instances.
struct Comparison {
    /// Geometric means of J_sum over the bound: each method, the best of them, Cartograph.
    means: Vec<f64>,
    /// The geometric mean of its J_max over that of the best other method, and the number of instances on which its
    /// J_max is larger.
    busiest: (f64, usize),
    /// The instances on which Cartograph is worse than the best other method, with the sums.
    worse: Vec<String>,
}

fn compare(instances: &[Instance]) -> Comparison {
    let names = published::METHODS;
    let mut sums = vec![(0.0, 0usize); names.len() + 2];
    let (mut busiest, mut busier, mut worse) = (0.0, 0, Vec::new());
    for instance in instances {
        let grid = instance.grid();
        let plan = plan(instance, None);
        let ratio = |sum: i64| (sum as f64 / plan.lower_bound as f64).ln();
        let mut best = (i64::MAX, i64::MAX);
        let mut add = |at: usize, sum: i64| {
            sums[at].0 += ratio(sum);
            sums[at].1 += 1;
        };
        let others = published::all(&grid, &instance.layout.node_sizes());
        for (at, node_of) in others.into_iter().enumerate() {
            if let Some(node_of) = node_of {
                let found = figures(grid.cost(&node_of));
                best = best.min(found);
                add(at, found.0);
            }
        }
        add(names.len(), best.0);
        add(names.len() + 1, plan.after.inter_node_edges);
        let (sum, most) = figures(plan.after);
        busiest += (most as f64 / best.1 as f64).ln();
        busier += usize::from(most > best.1);
        if sum > best.0 {
            let sizes = instance.layout.node_sizes();
            let dims: Vec<String> = instance.dims.iter().map(usize::to_string).collect();
            worse.push(format!(
                "{} on {} of {}: {sum} for {}",
                dims.join("x"),
                sizes.len(),
                sizes[0],
                best.0
            ));
        }
    }
    let means = sums.iter().map(|(sum, count)| (sum / *count as f64).exp()).collect();
    let busiest = ((busiest / instances.len() as f64).exp(), busier);
    Comparison { means, busiest, worse }
}

impl Comparison {
    /// The mean of Cartograph.
    fn ours(&self) -> f64 {
        self.means[published::METHODS.len() + 1]
    }

    /// The cells of the summary's row.
    fn row(&self) -> String {
        let cell = |mean: &f64| if mean.is_nan() { "-".to_owned() } else { format!("{mean:.3}") };
        let cells: Vec<String> = self.means.iter().map(cell).collect();
        let worse = if self.worse.is_empty() { "none".to_owned() } else { self.worse.join("; ") };
        let (busiest, busier) = self.busiest;
        format!("{} | {worse} | {busiest:.3} | {busier}", cells.join(" | "))
    }
}

/// Lists of grids: geometric means of J_sum over the bound, the grids on which Cartograph's is larger than the best
/// other method's, and Cartograph's J_max over that method's.
fn many() -> (Table, bool) {
    let methods = published::METHODS.join(" | ");
    let columns = format!(
        "grids | {methods} | best of these | Cartograph | worse than the best on | J_max to its | more on"
    );
    let mut table = Table::new("Many grids", &columns);
    let mut close = true;
    for (name, instances, aim) in [
        ("720", instances::many(), 1.009),
        ("720, less round", instances::less_round(), 1.02),
        ("60 held out", instances::held_out(), 1.045),
    ] {
        let found = compare(&instances);
        table.row(&format!("{name} | {}", found.row()));
        close &= found.ours() <= aim && (name != "720" || found.worse.is_empty());
    }
    (table, close)
}
