//! What plans of grids take: time and memory.

use std::fmt::Write;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Grid, Options, Plan, plan_cart};

use crate::{clock, memory};

/// Seconds that a plan may take, by the number of ranks up to which that holds.
const AIMS: [(usize, f64); 2] = [(1 << 16, 0.1), (1 << 20, 3.0)];

/// By how much other work on the machine may lengthen a measurement.
const NOISE: f64 = 1.8;

/// No allocation may be larger than so many bytes a rank.
const LARGEST: f64 = 16.0;

/// The section, and whether all aims are met.
pub(crate) fn section() -> (String, bool) {
    let mut text = String::from(
        "## Time and memory of grids\n\n\
         On one core, with the default budget and nearest neighbors. Even nodes have 64 processes; of uneven ones \
         half have 48, half 80, and one has the rest. The search ends at a mapping that reaches the bound. The \
         dimensions are known to weigh the same, or it is [not known](#weights-that-nobody-knows) what they weigh: \
         then several mappings may be tried, of which none may be a loss, and J_sum is that of the one applied. \
         Times are processor time, the least of three. The aims where \
         weights are known are 0.1 s up to 65,536 ranks and 3 s for a million; `make quality` fails at 80 % more, \
         to allow for noise.\n\n\
         Memory, where weights are known, is what `plan_cart` allocates beyond its arguments, including its answer, \
         in bytes per rank: at the peak, and the largest single allocation, for which the aim is 16 from 100,000 \
         ranks on.\n\n\
         | ranks | dims | nodes | known, ms | J_sum / bound | not known, ms | J_sum / bound | peak, bytes | largest, bytes |\n\
         |---|---|---|---|---|---|---|---|---|\n",
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
            met &= row(&mut text, dims, uneven);
        }
    }
    (text, met)
}

fn row(text: &mut String, dims: &[usize], uneven: bool) -> bool {
    let ranks: usize = dims.iter().product();
    let size = |node: usize| if !uneven { 64 } else { 48 + 32 * (node % 2) };
    let mut sizes: Vec<usize> = (0..ranks / 64).map(size).collect();
    let left = ranks - sizes.iter().sum::<usize>();
    sizes.extend((left > 0).then_some(left));
    let layout = Machine::blocks(&sizes);
    let stencil = Grid::nearest_neighbors(&vec![1; dims.len()]);
    let known = Grid::new(dims.to_vec(), vec![false; dims.len()], stencil);
    let unknown = known.clone().assumed();
    let run = |grid: &Grid| {
        let start = clock::now();
        let plan = plan_cart(grid, &layout, &Options::default());
        (plan, clock::now() - start)
    };
    let least = |grid| (0..3).map(|_| run(grid).1).fold(f64::INFINITY, f64::min);
    let of_bound = |plan: &Plan| plan.after.inter_node_edges as f64 / plan.lower_bound as f64;
    let all = least(&known);
    let ((plan, _), peak, largest) = memory::measure(|| run(&known));
    let a_rank = |bytes: usize| bytes as f64 / ranks as f64;
    let sides: Vec<String> = dims.iter().map(usize::to_string).collect();
    let _ = writeln!(
        text,
        "| {ranks} | {} | {} | {:.1} | {:.3} | {:.1} | {:.3} | {:.1} | {:.1} |",
        sides.join("x"),
        if uneven { "uneven" } else { "even" },
        all * 1e3,
        of_bound(&plan),
        least(&unknown) * 1e3,
        of_bound(&run(&unknown).0),
        a_rank(peak),
        a_rank(largest),
    );
    let aim = AIMS.iter().find(|(upto, _)| ranks <= *upto);
    let in_time = aim.is_none_or(|(_, seconds)| all <= NOISE * seconds);
    in_time && (ranks < 100_000 || a_rank(largest) <= LARGEST)
}
