//! Orders of ranks that may be faster than the order in which ranks were started.

use std::collections::HashSet;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{
    Csr, Grid, Objective, Options, Plan, keep_devices, plan_graph, plan_grid,
};
use cartograph_traffic::{Recording, Topology};

/// An order of ranks.
pub(crate) struct Candidate {
    /// The name of the order.
    pub(crate) order: String,
    pub(crate) plan: Plan,
}

impl Candidate {
    /// A candidate. One that differs because of devices has another name.
    pub(crate) fn new(mut order: String, plan: Plan) -> Self {
        if plan.algorithm == Plan::DEVICES {
            order += ", devices balanced";
        }
        Self { order, plan }
    }
}

/// A grid is the program's own if this fraction of all messages goes between its neighbors.
const OWN_GRID: f64 = 0.9;

/// The most dimensions of a grid that the program did not create.
const MOST_DIMS: usize = 3;

/// No grid is guessed for larger jobs.
const MOST_GUESSED: usize = 1 << 14;

/// The most bricks that are replayed: those with the fewest bytes of the busiest node.
const MOST_BRICKS: usize = 16;

/// The candidates to replay if a recording allows only `most` replays: rank order, and those with the fewest bytes of
/// the busiest node.
pub(super) fn fewest(mut candidates: Vec<Candidate>, most: usize) -> Vec<Candidate> {
    if candidates.len() > most {
        let bytes = |one: &Candidate| one.plan.after.key(Objective::Max);
        candidates[1..].sort_by_key(bytes);
        candidates.truncate(most);
    }
    candidates
}

/// The candidates, starting with rank order.
pub(super) fn all(
    recording: &Recording,
    graph: &Csr,
    machine: &Machine,
    options: &Options,
) -> Vec<Candidate> {
    // Devices count at the end, in the names too.
    let searched = &for_each_search(&options.with_devices(0), 3, recording);
    let now = Plan::identity(graph, machine, &options.distances, |_| 0);
    let with = |old_rank: Box<[i32]>, name: &'static str| {
        now.clone().with_order(graph, machine, old_rank, name)
    };
    let mut found = vec![Candidate { order: "default order".to_owned(), plan: now.clone() }];
    if let Some(old_rank) = old_ranks(machine, &round_robin(machine, recording.size as usize)) {
        found.push(Candidate {
            order: "round-robin".to_owned(),
            plan: with(old_rank, "round-robin"),
        });
    }
    for (order, objective) in
        [("fewest bytes between nodes", Objective::Sum), ("fewest bytes of a node", Objective::Max)]
    {
        let plan = plan_graph(graph, machine, &searched.with_objective(objective));
        found.push(Candidate { order: order.to_owned(), plan });
    }
    found.extend(of_grids(recording, graph, machine, searched, &now));
    let messages = messages(recording);
    if let Some(old_rank) = plan_graph(&messages, machine, searched).old_rank {
        found.push(Candidate {
            order: "fewest messages".to_owned(),
            plan: with(old_rank, "fewest messages"),
        });
    }
    found.extend(in_bricks(recording, graph, machine, &now));
    let mut found = found.into_iter();
    let mut kept = Vec::from_iter(found.next());
    kept.extend(found.map(|Candidate { order, plan }| {
        Candidate::new(order, keep_devices(graph, machine, plan, options))
    }));
    each_once(kept, machine)
}

/// The grids of a recording in bricks: those with the fewest bytes of the busiest node. `now` is the default order.
fn in_bricks(recording: &Recording, graph: &Csr, machine: &Machine, now: &Plan) -> Vec<Candidate> {
    let mut bricks: Vec<Candidate> = Vec::new();
    for dims in grids(recording) {
        for brick in bricks_of(&dims, machine) {
            if let Some(old_rank) = old_ranks(machine, &bricked(&dims, &brick, machine)) {
                let order = format!("{} in bricks of {}", sides(&dims), sides(&brick));
                let plan = now.clone().with_order(graph, machine, old_rank, "bricks");
                bricks.push(Candidate { order, plan });
            }
        }
    }
    bricks.sort_by_key(|one| (one.plan.after.max_node_edges, one.plan.after.inter_node_edges));
    bricks.truncate(MOST_BRICKS);
    bricks
}

/// The order with the fewest recorded bytes, used if no time can be predicted.
pub fn fewest_bytes(
    recording: &Recording,
    graph: &Csr,
    machine: &Machine,
    options: &Options,
) -> Plan {
    let searched = &for_each_search(options, 1, recording);
    let plan = plan_graph(graph, machine, searched);
    let grids = of_grids(recording, graph, machine, searched, &plan);
    let plans = grids.into_iter().map(|one| one.plan).chain([plan]).collect();
    Plan::least(plans, machine, options)
}

/// The grids of all processes that the program created.
fn created(recording: &Recording) -> impl Iterator<Item = &Topology> {
    let is_whole = |known: &&Topology| known.dims.iter().product::<u32>() == recording.size;
    recording.topologies.iter().filter(is_whole)
}

/// The options for each of the searches, so many for graphs and one for each created grid, which share the time.
pub(super) fn for_each_search(options: &Options, graphs: usize, recording: &Recording) -> Options {
    let searches = graphs + created(recording).count();
    options.with_seconds(options.seconds.map(|seconds| seconds / searches as f64))
}

/// The plans for the grids of all processes, with recorded weights: they are better than those for a graph, which
/// contains no grid. `plan` is a plan for the same graph.
fn of_grids(
    recording: &Recording,
    graph: &Csr,
    machine: &Machine,
    options: &Options,
    plan: &Plan,
) -> Vec<Candidate> {
    let most = Grid::most_weight(recording.size as usize);
    let of_grid = |known: &Topology| {
        let weights = recording.weights(&known.dims, most)?;
        let dims: Vec<usize> = known.dims.iter().map(|side| *side as usize).collect();
        let order = format!("{} by its weights", sides(&dims));
        let periodic = known.periodic.clone();
        let grid = Grid::new(dims, periodic, Grid::nearest_neighbors(&weights));
        let found = plan_grid(&grid, machine, options);
        let plan = plan.clone().with_order(graph, machine, found.old_rank?, found.algorithm);
        Some(Candidate { order, plan })
    };
    created(recording).filter_map(of_grid).collect()
}

/// Each set of nodes counts once.
fn each_once(mut found: Vec<Candidate>, machine: &Machine) -> Vec<Candidate> {
    let mut seen = HashSet::new();
    found.retain(|one| {
        let node_of: Vec<u32> =
            one.plan.old_ranks().map(|old| machine.nodes()[old as usize]).collect();
        seen.insert(node_of)
    });
    found
}

fn sides(dims: &[usize]) -> String {
    dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}

/// The old rank whose position each rank takes, given its node; `None` if a node has too few.
pub(crate) fn old_ranks(machine: &Machine, node_of: &[u32]) -> Option<Box<[i32]>> {
    let mut places: Vec<Vec<i32>> = vec![Vec::new(); machine.node_sizes().len()];
    for (rank, node) in machine.nodes().iter().enumerate().rev() {
        places[*node as usize].push(rank as i32);
    }
    node_of.iter().map(|node| places.get_mut(*node as usize)?.pop()).collect()
}

/// Ranks distributed round-robin.
fn round_robin(machine: &Machine, count: usize) -> Vec<u32> {
    let sizes = machine.node_sizes();
    let most = sizes.iter().copied().max().unwrap_or(0);
    let turns = (0..most).flat_map(|turn| {
        (0u32..).zip(&sizes).filter(move |(_, size)| **size > turn).map(|(node, _)| node)
    });
    turns.take(count).collect()
}

/// The messages between ranks, regardless of their length.
fn messages(recording: &Recording) -> Csr {
    let others = recording.edges.iter().filter(|edge| edge.from != edge.to);
    let most = i64::from(u32::MAX);
    let edges: Vec<(u32, u32, i64)> = others
        .map(|edge| (edge.from, edge.to, (edge.count.messages as i64).clamp(1, most)))
        .collect();
    Csr::from_edges(recording.size as usize, edges.into_iter())
}

/// The program's own grids of all processes: those that it created, and those whose neighbors exchange nearly all
/// messages.
fn grids(recording: &Recording) -> Vec<Vec<usize>> {
    let size = recording.size as usize;
    let created = recording
        .topologies
        .iter()
        .map(|known| {
            known.dims.iter().map(|side| *side as usize).filter(|side| *side > 1).collect()
        })
        .filter(|dims: &Vec<usize>| dims.iter().product::<usize>() == size && dims.len() > 1);
    let mut found: Vec<Vec<usize>> = created.collect();
    let mut guessed = Vec::new();
    if size <= MOST_GUESSED {
        factors(size, MOST_DIMS, &mut Vec::new(), &mut guessed);
    }
    guessed.retain(|dims| dims.len() > 1 && share(recording, dims) >= OWN_GRID);
    found.extend(guessed);
    found.sort();
    found.dedup();
    found
}

/// All grids of `cells` cells with sides of at least 2.
fn factors(cells: usize, most: usize, sides: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if cells == 1 {
        found.push(sides.clone());
        return;
    }
    for side in (2..=cells).filter(|side| cells.is_multiple_of(*side)) {
        if sides.len() < most {
            sides.push(side);
            factors(cells / side, most, sides, found);
            sides.pop();
        }
    }
}

/// The fraction of the traffic that goes between adjacent cells of a grid, including across its ends.
fn share(recording: &Recording, dims: &[usize]) -> f64 {
    let touch = |mut one: usize, mut other: usize| {
        dims.iter().rev().all(|side| {
            let (a, b) = (one % side, other % side);
            (one, other) = (one / side, other / side);
            let apart = a.abs_diff(b);
            apart <= 1 || apart == side - 1
        })
    };
    let (mut near, mut all) = (0.0, 0.0);
    for edge in recording.edges.iter().filter(|edge| edge.from != edge.to) {
        let bytes = edge.count.bytes as f64 + edge.count.messages as f64;
        all += bytes;
        near += if touch(edge.from as usize, edge.to as usize) { bytes } else { 0.0 };
    }
    if all > 0.0 { near / all } else { 0.0 }
}

/// The sides of bricks that divide a grid and fill nodes of equal size.
fn bricks_of(dims: &[usize], machine: &Machine) -> Vec<Vec<usize>> {
    let sizes = machine.node_sizes();
    let Some(size) = sizes.first().filter(|size| sizes.iter().all(|other| other == *size)) else {
        return Vec::new();
    };
    let mut found = vec![Vec::new()];
    for side in dims {
        let longer = found.iter().flat_map(|brick: &Vec<usize>| {
            let filled: usize = brick.iter().product();
            let divides = move |length: &usize| side % length == 0 && size % (filled * length) == 0;
            (1..=*side).filter(divides).map(|length| [&brick[..], &[length]].concat())
        });
        found = longer.collect();
    }
    found.retain(|brick| brick.iter().product::<usize>() == *size);
    found
}

/// The node of each cell if nodes have bricks in the order of their ranks.
fn bricked(dims: &[usize], brick: &[usize], machine: &Machine) -> Vec<u32> {
    let cells: usize = dims.iter().product();
    // The nodes in the order of their first ranks.
    let mut order: Vec<u32> = Vec::new();
    let mut seen = HashSet::new();
    order.extend(machine.nodes().iter().copied().filter(|node| seen.insert(*node)));
    let node = |mut cell: usize| {
        let (mut number, mut factor) = (0, 1);
        for (side, length) in dims.iter().zip(brick).rev() {
            number += cell % side / length * factor;
            factor *= side / length;
            cell /= side;
        }
        order.get(number).copied().unwrap_or(u32::MAX)
    };
    (0..cells).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bricks_fill_nodes_and_divide_the_grid() {
        let machine = Machine::blocks(&[4; 4]);
        let bricks = bricks_of(&[4, 4], &machine);
        assert_eq!(bricks, [[1, 4], [2, 2], [4, 1]]);
        assert_eq!(
            bricked(&[4, 4], &[2, 2], &machine),
            [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]
        );
        assert!(bricks_of(&[4, 4], &Machine::blocks(&[5, 4, 4, 3])).is_empty());
    }

    #[test]
    fn ranks_take_places_of_their_nodes() {
        let machine = Machine::from_ids(&[0, 1, 0, 1]);
        let old_rank = old_ranks(&machine, &[1, 1, 0, 0]).unwrap();
        assert_eq!(old_rank[..], [1, 3, 0, 2]);
        assert!(old_ranks(&machine, &[1, 1, 1, 0]).is_none());
        assert_eq!(round_robin(&Machine::blocks(&[3, 1]), 4), [0, 1, 0, 0]);
    }
}
