//! Grids: what `docs/quality.md` says about them.

use std::fmt::Write;

use cartograph_core::mapping::{Adjacency, Cost, Options, Plan, plan_cart};

use crate::instances::{self, Figures, Instance};
use crate::published;

/// The section, and whether all aims are met.
pub(crate) fn section() -> (String, bool) {
    let mut text = String::from("## Grids\n");
    let met = [listed(&mut text), many(&mut text)];
    held_out(&mut text);
    (text, met.into_iter().all(|met| met))
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
fn listed(text: &mut String) -> bool {
    text.push_str(
        "\n### Instances of the literature\n\n\
         A cell is J_sum/J_max: the directed edges between nodes, and those that leave the worst node. \"Blocked\" \
         fills nodes in rank order. Hyperplane, k-d and strips are the methods of Hunold and others (CLUSTER 2020), \
         nodecart is that of Gropp (EuroMPI 2018); then come the best of these after a pass of exchanges, and \
         simulated annealing for seconds. These columns are constants of the program and were not measured again. \
         \"Cartograph\" is with the default budget, \"2 s\" with `cartograph_reorder_seconds` 2.\n\n\
         | instance | bound | blocked | hyperplane | k-d | strips | nodecart | best, exchanges | annealing | Cartograph | 2 s |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
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
        let _ = writeln!(
            text,
            "| {} | {} | {} | {nodecart} | {} | {} | {} | {} |",
            instance.name,
            default.lower_bound,
            row.join(" | "),
            show(columns.best),
            show(columns.annealing),
            show(figures(default.after)),
            show(figures(longer.after)),
        );
    }
    let _ = writeln!(
        text,
        "\nBy default Cartograph reaches the J_sum of annealing on {reached} of {count}, and comes within \
         1 % of it on {near}."
    );
    reached >= 9 && near == count
}

/// What the published methods and Cartograph reach on many instances.
struct Comparison {
    /// Geometric means of J_sum over the bound: each method, the best of them, Cartograph.
    means: Vec<f64>,
    /// How many instances there are, and on how many nodecart has an answer.
    count: usize,
    nodecart: usize,
    /// Where Cartograph is worse than the best of the others.
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
    Comparison { means, count: instances.len(), nodecart: sums[1].1, worse }
}

impl Comparison {
    fn table(&self, text: &mut String) {
        let names = published::METHODS;
        let _ = writeln!(text, "| {} | best of these | Cartograph |", names.join(" | "));
        let _ = writeln!(text, "|{}", "---|".repeat(names.len() + 2));
        let cell = |mean: &f64| if mean.is_nan() { "-".to_owned() } else { format!("{mean:.3}") };
        let cells: Vec<String> = self.means.iter().map(cell).collect();
        let _ = writeln!(text, "| {} |\n", cells.join(" | "));
        let _ =
            writeln!(text, "Cartograph is worse than the best of these on {}.", self.worse.len());
        for name in &self.worse {
            let _ = writeln!(text, "- {name}");
        }
    }
}

/// The 720 instances.
fn many(text: &mut String) -> bool {
    let found = compare(&instances::many());
    let _ = writeln!(
        text,
        "\n### {} more\n\n\
         15 node counts from 4 to 100, 12 node sizes from 16 to 128, two and three dimensions from \
         `MPI_Dims_create`, grid and torus, nearest neighbors. The published methods are implemented here as their papers describe them \
         (`bench/src/bin/quality/published.rs`). Geometric means of J_sum over the lower bound; nodecart's is over \
         the {} instances on which it has an answer.\n",
        found.count, found.nodecart
    );
    found.table(text);
    found.worse.is_empty() && found.means[published::METHODS.len() + 1] <= 1.025
}

/// Instances on which nothing was tuned.
fn held_out(text: &mut String) {
    let found = compare(&instances::held_out());
    let _ = writeln!(
        text,
        "\n### {} held out\n\n\
         Nothing was tuned on these, and they are not among the aims. Their sides are primes or nearly primes, so \
         that boxes of the size of a node hardly ever tile the grid; the last node has fewer processes. Columns are \
         as above; nodecart has an answer on {}.\n",
        found.count, found.nodecart
    );
    found.table(text);
}
