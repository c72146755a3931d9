//! Grids beside those of the literature.

use cartograph_core::mapping::{Adjacency, Cost, Options, Plan, plan_cart};
use cartograph_lab::Table;

use crate::instances::{self, Figures, Instance};
use crate::published;

/// The tables, and whether all aims are met.
pub(crate) fn section() -> (Vec<Table>, bool) {
    let (listed, reached) = listed();
    let (many, bounded) = many();
    let held_out = compare(&instances::held_out());
    let close = held_out.ours() <= 1.045;
    (vec![listed, many, held_out.table("60 held out")], reached && bounded && close)
}

fn figures(cost: Cost) -> Figures {
    (cost.inter_node_edges, cost.max_node_edges)
}

fn show(figures: Figures) -> String {
    format!("{}/{}", figures.0, figures.1)
}

fn plan(instance: &Instance, seconds: Option<f64>) -> Plan {
    plan_cart(&instance.grid(), &instance.layout, &Options { seconds, ..Options::default() })
}

/// The instances of the literature.
///
/// A cell is J_sum/J_max: the directed edges between nodes, and those that leave the busiest node. The columns of others
/// are constants of this program.
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
    /// The instances on which Cartograph is worse than the best of the others.
    worse: Vec<String>,
}

fn compare(instances: &[Instance]) -> Comparison {
    let names = published::METHODS;
    let mut sums = vec![(0.0, 0usize); names.len() + 2];
    let mut worse = Vec::new();
    for instance in instances {
        let grid = instance.grid();
        let plan = plan(instance, None);
        let ratio = |sum: i64| (sum as f64 / plan.lower_bound as f64).ln();
        let mut best = i64::MAX;
        let mut add = |at: usize, sum: i64| {
            sums[at].0 += ratio(sum);
            sums[at].1 += 1;
        };
        let others = published::all(&grid, &instance.layout.node_sizes());
        for (at, node_of) in others.into_iter().enumerate() {
            if let Some(node_of) = node_of {
                let sum = grid.cost(&node_of).inter_node_edges;
                best = best.min(sum);
                add(at, sum);
            }
        }
        add(names.len(), best);
        add(names.len() + 1, plan.after.inter_node_edges);
        if plan.after.inter_node_edges > best {
            let sizes = instance.layout.node_sizes();
            worse.push(format!("{:?} on {} of {}", instance.dims, sizes.len(), sizes[0]));
        }
    }
    let means = sums.iter().map(|(sum, count)| (sum / *count as f64).exp()).collect();
    Comparison { means, worse }
}

impl Comparison {
    /// The mean of Cartograph.
    fn ours(&self) -> f64 {
        self.means[published::METHODS.len() + 1]
    }

    fn table(&self, name: &str) -> Table {
        let methods = published::METHODS.join(" | ");
        let mut table = Table::new(
            name,
            &format!("{methods} | best of these | Cartograph | worse than the best on"),
        );
        let cell = |mean: &f64| if mean.is_nan() { "-".to_owned() } else { format!("{mean:.3}") };
        let cells: Vec<String> = self.means.iter().map(cell).collect();
        let worse = if self.worse.is_empty() { "none".to_owned() } else { self.worse.join("; ") };
        table.row(&format!("{} | {worse}", cells.join(" | ")));
        table
    }
}

/// The 720 instances.
fn many() -> (Table, bool) {
    let found = compare(&instances::many());
    (found.table("720 more"), found.worse.is_empty() && found.ours() <= 1.009)
}
