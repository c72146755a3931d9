//! The cost of planning grids: time and memory.

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Grid, Options, Plan, plan_grid};
use cartograph_lab::Table;

use crate::{clock, memory};

/// The seconds that a plan may take, and the number of ranks up to which each limit applies.
const AIMS: [(usize, f64); 2] = [(1 << 16, 0.1), (1 << 20, 3.0)];

/// The factor by which other load on the machine may lengthen a measurement.
const NOISE: f64 = 1.8;

/// The largest allowed allocation, in bytes per rank.
const LARGEST: f64 = 16.0;

/// The table, and whether all targets are met. Times are processor time, the minimum of three.
pub(crate) fn section() -> (Vec<Table>, bool) {
    let mut table = Table::new(
        "Time and memory of grids",
        "ranks | dims | nodes | known, ms | J_sum / bound | unknown, ms | J_sum / bound, unknown | peak, bytes | largest, bytes",
    );
    let grids: [&[usize]; 11] = [
        &[32, 32],
        &[16, 8, 8],
        &[128, 80],
        &[32, 20, 16],
        &[256, 256],
        &[64, 32, 32],
        &[41, 41, 38],
        &[400, 256],
        &[64, 40, 40],
        &[1024, 1024],
        &[128, 128, 64],
    ];
    let mut met = true;
    for dims in grids {
        for uneven in [false, true] {
            met &= row(&mut table, dims, uneven);
        }
    }
    (vec![table], met)
}

fn row(table: &mut Table, dims: &[usize], uneven: bool) -> bool {
    let ranks: usize = dims.iter().product();
    let size = |node: usize| if !uneven { 64 } else { 48 + 32 * (node % 2) };
    let mut sizes: Vec<usize> = (0..ranks / 64).map(size).collect();
    let left = ranks - sizes.iter().sum::<usize>();
    sizes.extend((left > 0).then_some(left));
    let layout = Machine::blocks(&sizes);
    let stencil = Grid::nearest_neighbors(&vec![1; dims.len()]);
    let known = Grid::new(dims.to_vec(), vec![false; dims.len()], stencil);
    let unknown = known.clone().with_unknown_weights();
    let run = |grid: &Grid| {
        let start = clock::now();
        let plan = plan_grid(grid, &layout, &Options::default());
        (plan, clock::now() - start)
    };
    let least = |grid| (0..3).map(|_| run(grid).1).fold(f64::INFINITY, f64::min);
    let of_bound = |plan: &Plan| plan.after.inter_node_edges as f64 / plan.lower_bound as f64;
    let all = least(&known);
    let ((plan, _), peak, largest) = memory::measure(|| run(&known));
    let a_rank = |bytes: usize| bytes as f64 / ranks as f64;
    let sides: Vec<String> = dims.iter().map(usize::to_string).collect();
    table.row(&format!(
        "{ranks} | {} | {} | {:.1} | {:.3} | {:.1} | {:.3} | {:.1} | {:.1}",
        sides.join("x"),
        if uneven { "uneven" } else { "even" },
        all * 1e3,
        of_bound(&plan),
        least(&unknown) * 1e3,
        of_bound(&run(&unknown).0),
        a_rank(peak),
        a_rank(largest),
    ));
    let aim = AIMS.iter().find(|(upto, _)| ranks <= *upto);
    let in_time = aim.is_none_or(|(_, seconds)| all <= NOISE * seconds);
    in_time && (ranks < 100_000 || a_rank(largest) <= LARGEST)
}
