//! The edges that a placement can save if ranks choose devices by their numbers.

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Grid, Options, plan_grid};
use cartograph_lab::Table;

/// Grids on nodes of equally many processes, and the devices of a node.
const CASES: [(&[usize], usize, &[u32]); 6] = [
    (&[16, 16], 4, &[4, 2]),
    (&[16, 16], 8, &[8, 4, 2]),
    (&[32, 32], 16, &[8, 4]),
    (&[8, 8, 8], 4, &[4, 2]),
    (&[8, 8, 8], 8, &[8, 4, 2]),
    (&[16, 16, 16], 16, &[8, 4]),
];

/// The edges between nodes relative to rank order: in the best placement, and in the best one that keeps devices.
pub(crate) fn section() -> (Vec<Table>, bool) {
    let mut table = Table::new(
        "Devices by rank",
        "grid | processes of a node | devices | J_sum, any placement | J_sum, devices kept",
    );
    for (dims, processes, all) in CASES {
        let cells: usize = dims.iter().product();
        let machine = Machine::blocks(&vec![processes; cells / processes]);
        let offsets = Grid::nearest_neighbors(&vec![1; dims.len()]);
        let grid = Grid::new(dims.to_vec(), vec![false; dims.len()], offsets);
        let kept = |devices: u32| {
            let plan = plan_grid(&grid, &machine, &Options::default().with_devices(devices));
            plan.after.inter_node_edges as f64 / plan.before.inter_node_edges as f64
        };
        let sides: Vec<String> = dims.iter().map(ToString::to_string).collect();
        for devices in all {
            table.row(&format!(
                "{} | {processes} | {devices} | {:.3} | {:.3}",
                sides.join("x"),
                kept(0),
                kept(*devices)
            ));
        }
    }
    (vec![table], true)
}
