//! Switches above the nodes: the results in `docs/results/quality.md` on mappings through them.

use cartograph_core::machine::{LevelKind, Machine};
use cartograph_core::mapping::{Adjacency, Grid, Offset, Options, plan_graph, plan_grid};
use cartograph_lab::Table;

use crate::generate::{self, Random};
use crate::instances::many;
use crate::rivals::Rivals;
use crate::switches::{Allocation, Figures, Row, graph_of, row, width};
use crate::{clock, memory};

/// Only every n-th of the 720 grids is measured, if CARTOGRAPH_QUALITY_STEP is n: 11 is coprime to the periods of the
/// list, so all kinds of grids remain.
const STEP: usize = 1;

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value.ln(), count + 1));
    (sum / f64::from(count.max(1))).exp()
}

fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// The section, and whether all targets are met.
pub(crate) fn section() -> (Vec<Table>, bool) {
    let step = std::env::var("CARTOGRAPH_QUALITY_STEP")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(STEP);
    let mut rival = Rivals::start();
    let mut table = Table::new(
        "Switches above the nodes",
        "switches | instances | rank order | nodes only | METIS twice | eco | strong | Cartograph | its most | \
         no worse than eco | no worse than strong | in 10 ms | no worse than eco, in 10 ms | time: Cartograph, in 10 ms, METIS, eco, strong | \
         more between switches than rank order",
    );
    let mut met = true;
    let mut of_nodes = Table::new(
        "What nodes pay for switches",
        "switches | edges between nodes | at most | of the busiest node | its most",
    );
    let mut random = Random::new(13);
    let mut shared: Vec<Vec<Option<Figures>>> = Vec::new();
    for allocation in Allocation::ALL {
        let mut rows = Vec::new();
        for (at, instance) in many().iter().step_by(step).enumerate() {
            let grid = instance.grid();
            let sizes = instance.layout.node_sizes();
            let width = width(sizes.len());
            let switches = allocation.switches(sizes.len(), width, &mut random);
            let asked = rival.as_mut().filter(|_| allocation == Allocation::Contiguous);
            let plan = |layout: &Machine, options: &Options| plan_grid(&grid, layout, options);
            let mut row =
                row(&graph_of(&grid), &sizes, &switches, plan, asked.map(|rival| (rival, width)));
            match allocation {
                Allocation::Contiguous => shared.push(row.shared.clone()),
                Allocation::Dealt => row.shared = shared[at].clone(),
                Allocation::Fragments => {}
            }
            eprintln!(
                "{}, {:?}: {:.3}",
                allocation.name(),
                instance.dims,
                row.ours.weighted as f64 / row.bound
            );
            rows.push(row);
        }
        met &= summary(&mut table, allocation, &rows);
        beside_nodes_only(&mut of_nodes, allocation, &rows);
    }
    (vec![table, of_nodes, graphs(rival.as_mut()), costs()], met)
}

/// A line on all instances of one kind, and whether the targets are met.
fn summary(table: &mut Table, allocation: Allocation, rows: &[Row]) -> bool {
    let over = |figures: &dyn Fn(&Row) -> Option<Figures>| {
        let found: Vec<f64> =
            rows.iter().filter_map(|row| Some(figures(row)?.weighted as f64 / row.bound)).collect();
        (!found.is_empty()).then(|| mean(found.into_iter()))
    };
    let shared = |mode: usize| move |row: &Row| row.shared.get(mode).copied().flatten();
    // Counts the instances on which Cartograph is no worse than a mode of SharedMap, and all instances that this mode
    // mapped.
    let no_worse = |ours: &dyn Fn(&Row) -> Figures, mode: usize| {
        let both = rows.iter().filter_map(|row| Some((ours(row), shared(mode)(row)?)));
        both.fold((0, 0), |(count, all), (ours, theirs)| {
            (count + usize::from(ours.weighted <= theirs.weighted), all + 1)
        })
    };
    let of = |(count, all): (usize, usize)| match all {
        0 => "-".to_owned(),
        all => format!("{count} of {all}"),
    };
    let (eco, strong) = (no_worse(&|row| row.ours, 0), no_worse(&|row| row.ours, 1));
    let brief = no_worse(&|row| row.brief, 0);
    let milliseconds = |figures: &dyn Fn(&Row) -> Option<Figures>| {
        let found: Vec<f64> = rows.iter().filter_map(|row| Some(figures(row)?.seconds)).collect();
        if found.is_empty() {
            return "-".to_owned();
        }
        format!("{:.0} ms", 1e3 * found.iter().sum::<f64>() / found.len() as f64)
    };
    let more = rows.iter().filter(|row| row.ours.switches > row.before.switches).count();
    let ours = over(&|row| Some(row.ours)).expect("there are instances");
    let most = rows.iter().map(|row| row.ours.weighted as f64 / row.bound).fold(0.0, f64::max);
    table.row(&format!(
        "{} | {} | {} | {} | {} | {} | {} | {ours:.3} | {most:.3} | {} | {} | {} | {} | {}, {}, {}, {}, {} | {more}",
        allocation.name(),
        rows.len(),
        ratio(over(&|row| Some(row.before))),
        ratio(over(&|row| Some(row.nodes_only))),
        ratio(over(&|row| Some(row.two_step))),
        ratio(over(&shared(0))),
        ratio(over(&shared(1))),
        of(eco),
        of(strong),
        ratio(over(&|row| Some(row.brief))),
        of(brief),
        milliseconds(&|row| Some(row.ours)),
        milliseconds(&|row| Some(row.brief)),
        milliseconds(&|row| Some(row.two_step)),
        milliseconds(&shared(0)),
        milliseconds(&shared(1)),
    ));
    let often = eco.0 * 20 >= eco.1 * 19;
    ours <= allocation.aim() && often && more == 0
}

/// A line on how much the edges between nodes grow if mappings consider switches.
fn beside_nodes_only(table: &mut Table, allocation: Allocation, rows: &[Row]) {
    let of = |edges: fn(&Figures) -> i64| {
        let ratio = |row: &Row| edges(&row.ours) as f64 / edges(&row.nodes_only) as f64;
        let most = rows.iter().map(ratio).fold(0.0, f64::max);
        format!("{:.3} | {most:.2}", mean(rows.iter().map(ratio)))
    };
    let (nodes, worst) = (of(|figures| figures.nodes), of(|figures| figures.worst));
    table.row(&format!("{} | {nodes} | {worst}", allocation.name()));
}

/// A table of graphs.
fn graphs(mut rival: Option<&mut Rivals>) -> Table {
    use generate::{communities, geometric, scale_free, triangles, weighted};
    let instances = [
        ("triangles 5k", triangles(4800, 2), 60),
        ("triangles 10k, weighted", weighted(&triangles(9600, 6), 100, 1), 96),
        ("geometric 2k", geometric(2000, 10.0, 8), 16),
        ("scale-free 3k", scale_free(3000, 3, 10), 30),
        ("communities 6k", communities(6144, 48, 8, 12), 128),
    ];
    let mut table = Table::new(
        "Graphs on switches",
        "graph | nodes, switches | rank order | nodes only | METIS twice | eco | strong | Cartograph | \
         time: Cartograph, METIS, eco, strong",
    );
    for (name, graph, nodes) in &instances {
        let (vertices, width) = (graph.vertices(), width(*nodes));
        let sizes = vec![vertices / nodes; *nodes];
        let switches = Allocation::Contiguous.switches(*nodes, width, &mut Random::new(1));
        let plan = |layout: &Machine, options: &Options| plan_graph(graph, layout, options);
        let row =
            row(graph, &sizes, &switches, plan, rival.as_deref_mut().map(|rival| (rival, width)));
        let shared = |mode: usize| row.shared.get(mode).copied().flatten();
        let cost =
            |figures: Option<Figures>| figures.map_or("-".to_owned(), |f| f.weighted.to_string());
        let time = |figures: Option<Figures>| {
            figures.map_or("-".to_owned(), |f| format!("{:.0} ms", 1e3 * f.seconds))
        };
        table.row(&format!(
            "{name} | {nodes}, {} | {} | {} | {} | {} | {} | {} | {}, {}, {}, {}",
            nodes / width,
            row.before.weighted,
            row.nodes_only.weighted,
            row.two_step.weighted,
            cost(shared(0)),
            cost(shared(1)),
            row.ours.weighted,
            time(Some(row.ours)),
            time(Some(row.two_step)),
            time(shared(0)),
            time(shared(1)),
        ));
        eprintln!("{name}");
    }
    table
}

/// Measures the time and memory that switches add.
fn costs() -> Table {
    let mut table = Table::new(
        "What switches cost",
        "ranks | dims | nodes | switches | J / bound | ms without, with | bytes a rank at the peak without, with",
    );
    let grids: [&[usize]; 4] = [&[128, 80], &[256, 256], &[64, 32, 32], &[1024, 1024]];
    for dims in grids {
        for uneven in [false, true] {
            let ranks: usize = dims.iter().product();
            let size = |node: usize| if uneven { 48 + 32 * (node % 2) } else { 64 };
            let sizes: Vec<usize> = (0..ranks / 64).map(size).collect();
            let nodes = Machine::blocks(&sizes);
            let stencil: Vec<Offset> = Grid::nearest_neighbors(&vec![1; dims.len()]);
            let grid = Grid::new(dims.to_vec(), vec![false; dims.len()], stencil);
            let run = |layout: &Machine| {
                let start = clock::now();
                let plan = plan_grid(&grid, layout, &Options::default());
                (clock::now() - start, plan)
            };
            let least =
                |layout: &Machine| (0..10).map(|_| run(layout).0).fold(f64::INFINITY, f64::min);
            let peak = |layout: &Machine| memory::measure(|| run(layout)).1 as f64 / ranks as f64;
            let alone = (least(&nodes), peak(&nodes));
            for allocation in [Allocation::Contiguous, Allocation::Dealt] {
                let switches = allocation.switches(sizes.len(), 16, &mut Random::new(13));
                let of_ranks: Vec<u64> =
                    nodes.nodes().iter().map(|node| switches[*node as usize].into()).collect();
                let layout =
                    nodes.clone().under(LevelKind::Switch, &of_ranks).expect("nodes are whole");
                let weighted = run(&layout).1.weighted.expect("there are switches");
                let sides: Vec<String> = dims.iter().map(usize::to_string).collect();
                table.row(&format!(
                    "{ranks} | {} | {} | {} | {:.3} | {:.1}, {:.1} | {:.0}, {:.0}",
                    sides.join("x"),
                    if uneven { "uneven" } else { "even" },
                    if allocation == Allocation::Dealt { "drawn" } else { "in order" },
                    weighted.after as f64 / weighted.lower_bound as f64,
                    1e3 * alone.0,
                    1e3 * least(&layout),
                    alone.1,
                    peak(&layout),
                ));
            }
        }
    }
    table
}
