//! Grids: what `docs/quality.md` says about them.

use std::fmt::Write;

use cartograph::mapping::{Adjacency, Cost, Grid, Layout, Options, Plan, plan_cart};

use crate::instances::{self, Figures, Instance};
use crate::{clock, published};

/// The section, and whether all aims are met.
pub(crate) fn section() -> (String, bool) {
    let mut text = String::from("## Grids\n");
    let met = [listed(&mut text), many(&mut text)];
    times(&mut text);
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
         J_sum/J_max: directed edges between nodes, and those that leave the worst node. The columns from \
         \"blocked\" to \"annealing\" are as published: by the papers' own programs, by their best result \
         with a pass of exchanges, and by simulated annealing for seconds. They are figures here and were \
         not measured again. \"Cartograph\" is with the default budget, \"2 s\" with \
         `cartograph_reorder_seconds` 2.\n\n\
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
        "\nJ_sum of annealing for seconds is reached on {reached} of {count} by default, and on {near} \
         within 1 %."
    );
    reached >= 9 && near == count
}

/// The 720 instances.
fn many(text: &mut String) -> bool {
    let names = published::METHODS;
    let mut sums = vec![(0.0, 0usize); names.len() + 2];
    let (mut worse, mut count) = (Vec::new(), 0);
    for instance in instances::many() {
        let grid = instance.grid();
        let plan = plan(&instance, None);
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
        count += 1;
        if plan.after.inter_node_edges > best {
            let sizes = instance.layout.node_sizes();
            worse.push(format!("{:?} on {} of {}", instance.dims, sizes.len(), sizes[0]));
        }
    }
    let means: Vec<f64> = sums.iter().map(|(sum, count)| (sum / *count as f64).exp()).collect();
    let _ = writeln!(
        text,
        "\n### {count} more\n\n\
         15 node counts from 4 to 100, 12 node sizes from 16 to 128, two and three dimensions from \
         `MPI_Dims_create`, grid and torus, nearest neighbors. The published methods are made again here \
         from their papers' descriptions (`bench/src/bin/quality/published.rs`). Geometric means of J_sum \
         over the lower bound; nodecart's is over the {} instances on which it has an answer.\n",
        sums[1].1
    );
    let _ = writeln!(text, "| {} | best of these | Cartograph |", names.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(names.len() + 2));
    let cells: Vec<String> = means.iter().map(|mean| format!("{mean:.3}")).collect();
    let _ = writeln!(text, "| {} |\n", cells.join(" | "));
    let _ = writeln!(text, "Cartograph is worse than the best of these on {}.", worse.len());
    for name in &worse {
        let _ = writeln!(text, "- {name}");
    }
    worse.is_empty() && means[names.len() + 1] <= 1.025
}

/// How long plans take.
fn times(text: &mut String) {
    text.push_str(
        "\n### Time\n\n\
         One core, default budget, nearest neighbors; even: nodes of 64; uneven: half of them 48, half 80. \
         \"Constructions\" is with no budget for exchanges and annealing, \"share\" what these add. \
         Processor time where the system tells it, else by the clock.\n\n\
         | ranks | dims | nodes | ms | constructions, ms | share | J_sum / bound |\n|---|---|---|---|---|---|---|\n",
    );
    let grids: [&[usize]; 8] = [
        &[32, 32],
        &[16, 8, 8],
        &[128, 80],
        &[32, 20, 16],
        &[400, 256],
        &[64, 40, 40],
        &[1024, 1024],
        &[128, 128, 64],
    ];
    for dims in grids {
        let ranks: usize = dims.iter().product();
        for uneven in [false, true] {
            let size = |node: usize| if !uneven { 64 } else { 48 + 32 * (node % 2) };
            let layout = Layout::blocks(&(0..ranks / 64).map(size).collect::<Vec<_>>());
            let stencil = Grid::nearest_neighbors(&vec![1; dims.len()]);
            let grid = Grid::new(dims.to_vec(), vec![false; dims.len()], stencil);
            let run = |seconds| {
                let start = clock::now();
                let plan = plan_cart(&grid, &layout, &Options { seconds, ..Options::default() });
                (plan, (clock::now() - start) * 1e3)
            };
            let (plan, all) = run(None);
            let constructions = run(Some(0.0)).1;
            let sides: Vec<String> = dims.iter().map(usize::to_string).collect();
            let _ = writeln!(
                text,
                "| {ranks} | {} | {} | {all:.1} | {constructions:.1} | {:.0} % | {:.3} |",
                sides.join("x"),
                if uneven { "uneven" } else { "even" },
                100.0 * (1.0 - constructions / all).max(0.0),
                plan.after.inter_node_edges as f64 / plan.lower_bound as f64,
            );
        }
    }
}
