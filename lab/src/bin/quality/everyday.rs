//! The gain of a program that sets nothing.

use cartograph_core::mapping::{Grid, Options, Plan, plan_grid};
use cartograph_lab::Table;

use crate::instances::{Instance, everyday};

/// Everyday grids by number of nodes: how many are reordered, with unknown weights and with equal ones, and the
/// fraction of its edges to other nodes that the busiest node keeps, as a geometric mean.
pub(crate) fn section() -> (Vec<Table>, bool) {
    let mut table = Table::new(
        "Everyday grids",
        "nodes | grids | moved, weights unknown | links kept by the busiest node | moved, weights known | links kept, weights known",
    );
    for nodes in [2, 4, 8, 16, 32, 64, 128] {
        let grids = everyday(nodes);
        let of = |grid: &dyn Fn(&Instance) -> Grid| {
            let plan = |of: &Instance| plan_grid(&grid(of), &of.layout, &Options::default());
            let plans: Vec<Plan> = grids.iter().map(plan).collect();
            let moved = plans.iter().filter(|plan| plan.after != plan.before).count();
            let kept = |plan: &Plan| {
                (plan.after.max_node_edges as f64 / plan.before.max_node_edges as f64).ln()
            };
            let kept = plans.iter().map(kept).sum::<f64>() / plans.len() as f64;
            format!("{moved} | {:.2}", kept.exp())
        };
        let (default, known) = (of(&|of| of.grid().with_unknown_weights()), of(&|of| of.grid()));
        table.row(&format!("{nodes} | {} | {default} | {known}", grids.len()));
    }
    (vec![table], true)
}
