//! The tables of `docs/simulate.md`.

use std::fmt::Write as _;

use crate::machine::{Placement, Used};
use crate::{Creation, Exchange, SIZES};

/// Says what one run came to.
pub(crate) fn progress(exchange: &Exchange) {
    let seconds: Vec<String> =
        exchange.seconds.iter().map(|s| format!("{:.3} ms", s * 1e3)).collect();
    let (name, placement) = (name(exchange), exchange.placement.name());
    println!(
        "{name}, {placement}: {} ({} s)",
        seconds.join(", "),
        wall(&exchange.used).join(" + ")
    );
}

/// A grid in words.
pub(crate) fn name(exchange: &Exchange) -> String {
    let [x, y, z] = exchange.dims;
    let periodic = if exchange.periodic { "periodic" } else { "not periodic" };
    format!("{x} x {y} x {z}, {periodic}")
}

/// Seconds of wall time that each run took.
fn wall(used: &[Used]) -> Vec<String> {
    used.iter().map(|used| format!("{:.0}", used.wall_seconds)).collect()
}

/// Bytes in words.
pub(crate) fn bytes(size: u32) -> String {
    if size >= 1 << 20 { format!("{} MiB", size >> 20) } else { format!("{} KiB", size >> 10) }
}

/// The runs of one grid, in the order of [`Placement::ALL`].
pub(crate) fn by_grid(exchanges: &[Exchange]) -> impl Iterator<Item = &[Exchange]> {
    exchanges.chunks(Placement::ALL.len())
}

/// The whole document.
pub(crate) fn markdown(date: &str, exchanges: &[Exchange], creations: &[Creation]) -> String {
    let times = |placement: usize| {
        let ratios = by_grid(exchanges).flat_map(|runs| {
            let ours = runs.last().expect("a run a placement");
            (0..SIZES.len()).map(move |size| runs[placement].seconds[size] / ours.seconds[size])
        });
        let (least, most) =
            ratios.fold((f64::MAX, 0.0f64), |(least, most), r| (r.min(least), r.max(most)));
        format!("{least:.2} to {most:.2}")
    };
    let [cyclic, block] = [0, 1].map(times);
    let mut text = format!(
        "# On simulated machines\n\n\
         Exchanges of six faces take {cyclic} times as long with cyclic ranks as where Cartograph places the\n\
         processes, and {block} times as long with ranks in blocks. The memory that it keeps for a grid or a\n\
         distributed graph does not grow with the number of ranks.\n\n\
         Written on {date} by `make simulate`, which runs two programs of `c_tests/simulate` on SimGrid SMPI\n\
         3.32. The simulated machine has one switch with a link of 100 Gbit/s and 1 us to each node, 50 GB/s\n\
         within a node, and one core per process. Times are simulated and the same in each run; computation takes\n\
         no time. Every send is synchronous: it ends when it is received.\n\n\
         ## Exchange of six faces\n\n\
         `halo.c` passes `reorder = 1` to `MPI_Cart_create`. In the last column the same program runs with\n\
         Cartograph preloaded, started with cyclic ranks. A cell is the milliseconds of an exchange, and how many\n\
         times as long that is as under Cartograph.\n\n\
         ![Time of an exchange](simulate.svg)\n\n\
         | grid | nodes | a face | cyclic ranks | block ranks | Cartograph |\n\
         |---|---|---|---|---|---|\n",
    );
    for runs in by_grid(exchanges) {
        let machine = runs[0].machine;
        for (i, size) in SIZES.iter().enumerate() {
            let ours = runs.last().expect("a run a placement").seconds[i];
            let [cyclic, block] = [0, 1].map(|run: usize| {
                let seconds = runs[run].seconds[i];
                format!("{:.3} ({:.2} x)", seconds * 1e3, seconds / ours)
            });
            let (name, nodes) = (name(&runs[0]), machine.nodes);
            let (each, size) = (machine.processes, bytes(*size));
            writeln!(
                text,
                "| {name} | {nodes} of {each} | {size} | {cyclic} | {block} | {:.3} |",
                ours * 1e3
            )
            .expect("a String takes all");
        }
    }
    text.push_str(
        "\nThe wall time of the runs on the machine that simulates, one run after the other. In SMPI all ranks\n\
         share the memory of buffers of 64 KiB and more; peak memory is without these.\n\n",
    );
    let sizes = SIZES.map(bytes).join(" | ");
    let lines = "|---".repeat(SIZES.len() + 3);
    writeln!(text, "| grid | ranks | {sizes} | peak memory |\n{lines}|")
        .expect("a String takes all");
    for exchange in exchanges {
        let (name, placement, used) = (name(exchange), exchange.placement.name(), &exchange.used);
        let peak = used.iter().map(|used| used.peak_memory >> 20).max().unwrap_or(0);
        let wall = wall(used).join(" s | ");
        writeln!(text, "| {name} | {placement} | {wall} s | {peak} MiB |")
            .expect("a String takes all");
    }
    text.push_str(
        "\n## Making communicators\n\n\
         `create.c` makes a periodic grid of three dimensions, a ring by `MPI_Graph_create`, and a ring by\n\
         `MPI_Dist_graph_create_adjacent`. All are built on `MPI_Comm_split`, for which SMPI keeps the group at each rank; that grows with the\n\
         number of ranks. In parentheses is what Cartograph adds: for a grid and a distributed graph it does not\n\
         grow with the ranks, and their reductions take log2(ranks) steps. `MPI_Graph_create` gets the whole\n\
         graph on every rank, and every rank must be able to answer for all of it: for this ring that is 12 bytes\n\
         for each rank.\n\n\
         Bytes per rank that stay allocated:\n\n",
    );
    table(&mut text, creations, |creation| creation.bytes, |bytes| format!("{bytes:.0}"));
    text.push_str("\nSimulated microseconds:\n\n");
    table(&mut text, creations, |creation| creation.seconds * 1e6, |time| format!("{time:.1}"));
    text.push_str(
        "\nWall time and memory of the runs, each of which makes all four kinds twice:\n\n\
         | ranks | wall time | peak memory |\n|---|---|---|\n",
    );
    for row in creations.chunk_by(|a, b| a.ranks == b.ranks) {
        let Creation { ranks, used, .. } = &row[0];
        let (seconds, peak) = (used.wall_seconds, used.peak_memory >> 20);
        writeln!(text, "| {ranks} | {seconds:.0} s | {peak} MiB |").expect("a String takes all");
    }
    text
}

/// A row a number of ranks, a column a kind; the first kind is what the others are built on.
fn table(
    text: &mut String,
    creations: &[Creation],
    value: impl Fn(&Creation) -> f64,
    show: impl Fn(f64) -> String,
) {
    let mut rows = creations.chunk_by(|a, b| a.ranks == b.ranks).peekable();
    let kinds = rows.peek().map_or(&[][..], |row| row);
    let names: Vec<&str> = kinds.iter().map(|creation| creation.kind.as_str()).collect();
    let lines = "|---".repeat(names.len() + 1);
    writeln!(text, "| ranks | {} |\n{lines}|", names.join(" | ")).expect("a String takes all");
    for row in rows {
        let split = value(&row[0]);
        let others = row[1..].iter().map(|creation| {
            let found = value(creation);
            format!("{} ({})", show(found), show(found - split))
        });
        let cells: Vec<String> = std::iter::once(show(split)).chain(others).collect();
        writeln!(text, "| {} | {} |", row[0].ranks, cells.join(" | ")).expect("a String takes all");
    }
}
