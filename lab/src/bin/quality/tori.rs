//! Nodes with coordinates in tori, meshes and rings: the results in `docs/results/quality.md` on them.

use cartograph_core::machine::Machine;
use cartograph_core::machine::torus::At;
use cartograph_core::mapping::{Grid, Options, Plan, plan_grid};
use cartograph_lab::Table;

use crate::generate::Random;
use crate::instances::by_dims_create;
use crate::{clock, published};

/// The processes of a node.
const PROCESSES: usize = 16;

/// The sides of tori, 0 for a missing dimension.
const SIDES: [At; 4] = [[4, 4, 4], [8, 8, 4], [8, 8, 8], [16, 16, 0]];

/// The nodes of a torus that a job has, and their order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allocation {
    /// All, in the order of their coordinates.
    Whole,
    /// All, in random order.
    WholeDrawn,
    /// A random half, in the order of the coordinates.
    Half,
    /// A random half, in random order.
    HalfDrawn,
}

impl Allocation {
    const ALL: [Self; 4] = [Self::Whole, Self::WholeDrawn, Self::Half, Self::HalfDrawn];

    fn name(self) -> &'static str {
        match self {
            Self::Whole => "all, by coordinates",
            Self::WholeDrawn => "all, at random",
            Self::Half => "half, by coordinates",
            Self::HalfDrawn => "half, at random",
        }
    }

    fn nodes(self, sides: At, random: &mut Random) -> Vec<At> {
        let [x, y, z] = sides.map(|side| side.max(1));
        let rows = (0..x).flat_map(|i| (0..y).map(move |j| (i, j)));
        let mut all: Vec<At> = rows.flat_map(|(i, j)| (0..z).map(move |k| [i, j, k])).collect();
        if self != Self::Whole {
            (1..all.len()).rev().for_each(|at| all.swap(at, random.below(at + 1)));
        }
        if [Self::Half, Self::HalfDrawn].contains(&self) {
            all.truncate(all.len() / 2);
        }
        if self == Self::Half {
            all.sort_unstable();
        }
        all
    }
}

/// The sum of hops and the busiest link in rank order, by bisection, by a mapping without coordinates and by one with
/// them.
type Figures = [(f64, f64); 4];

/// Orders nodes by repeated halving across their longest dimension.
fn halved(nodes: &mut [usize], at: &[At]) {
    if nodes.len() < 2 {
        return;
    }
    let spread = |i: &usize| {
        let along = || nodes.iter().map(|node| at[*node][*i]);
        along().max().unwrap_or(0) - along().min().unwrap_or(0)
    };
    let longest = (0..3).rev().max_by_key(spread).unwrap_or(0);
    nodes.sort_by_key(|node| (at[*node][longest], at[*node]));
    let (low, high) = nodes.split_at_mut(nodes.len() / 2);
    halved(low, at);
    halved(high, at);
}

/// Halves the grid and the nodes, and matches them in the resulting orders.
fn bisection(grid: &Grid, machine: &Machine, at: &[At]) -> Box<[i32]> {
    let mut nodes: Vec<usize> = (0..at.len()).collect();
    halved(&mut nodes, at);
    let [_, _, kd, ..] = published::all(grid, &machine.node_sizes());
    let mut next: Vec<usize> = vec![0; at.len()];
    let rank = |place: u32| {
        let node = nodes[place as usize];
        next[node] += 1;
        (node * PROCESSES + next[node] - 1) as i32
    };
    kd.expect("k-d has an answer for every grid").into_iter().map(rank).collect()
}

fn figures(plan: &Plan) -> (f64, f64) {
    let found = plan.links.after;
    (found.inter_node_edges as f64, found.max_node_edges as f64)
}

/// The table, and whether all targets are met: 0.6 of the hops and 0.65 of the busiest link of a mapping without
/// coordinates, and no busier link on any instance.
pub(crate) fn section() -> (Vec<Table>, bool) {
    let mut table = Table::new(
        "Coordinates of nodes",
        "nodes | cases | hops: rank order | bisection | with coordinates | busiest link: rank order | \
         busiest link: bisection | busiest link: with coordinates | more on the link on | ms, at most",
    );
    let mut random = Random::new(22);
    let (mut all, mut most): (Vec<Figures>, f64) = (Vec::new(), 0.0);
    let mut line = |name: &str, found: &[Figures], most: f64| {
        let mean = |which: usize, of: fn(&(f64, f64)) -> f64| {
            let sum = found.iter().map(|row| (of(&row[which]) / of(&row[2])).ln()).sum::<f64>();
            (sum / found.len() as f64).exp()
        };
        let (hops, link) =
            ([0, 1, 3].map(|i| mean(i, |f| f.0)), [0, 1, 3].map(|i| mean(i, |f| f.1)));
        let worse = found.iter().filter(|row| row[3].1 > row[2].1).count();
        let cells = |means: [f64; 3]| means.map(|mean| format!("{mean:.3}")).join(" | ");
        table.row(&format!(
            "{name} | {} | {} | {} | {worse} | {:.0}",
            found.len(),
            cells(hops),
            cells(link),
            1e3 * most
        ));
        hops[2] <= 0.6 && link[2] <= 0.65 && worse == 0
    };
    for allocation in Allocation::ALL {
        let (mut found, mut longest): (Vec<Figures>, f64) = (Vec::new(), 0.0);
        for sides in SIDES {
            let at = allocation.nodes(sides, &mut random);
            for ndims in [2, 3] {
                let instance = by_dims_create(at.len(), PROCESSES, ndims);
                for periodic in [false, true] {
                    let stencil = Grid::nearest_neighbors(&vec![1; ndims]);
                    let grid = Grid::new(instance.dims.clone(), vec![periodic; ndims], stencil);
                    let places: Vec<Option<At>> = at.iter().copied().map(Some).collect();
                    let layout = instance.layout.clone().with_torus(sides, &places);
                    let options = Options::default();
                    let stay = Plan::identity(&grid, &layout, &options.distances, |_| 0);
                    let with = |order: Box<[i32]>| {
                        figures(&stay.clone().with_order(&grid, &layout, order, ""))
                    };
                    let begin = clock::now();
                    let ours = plan_grid(&grid, &layout, &options);
                    longest = longest.max(clock::now() - begin);
                    let nodes_only =
                        plan_grid(&grid, &instance.layout, &options).old_ranks().collect();
                    found.push([
                        figures(&stay),
                        with(bisection(&grid, &layout, &at)),
                        with(nodes_only),
                        figures(&ours),
                    ]);
                }
            }
        }
        line(allocation.name(), &found, longest);
        most = most.max(longest);
        all.extend(found);
    }
    let met = line("all of these", &all, most);
    (vec![table], met)
}
