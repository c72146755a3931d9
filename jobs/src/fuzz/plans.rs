//! Plans of grids and graphs.

use arbitrary::{Result, Unstructured};
use cartograph_core::machine::{Level, LevelKind, Machine};
use cartograph_core::mapping::{
    Adjacency, Cost, Csr, Distances, Grid, Objective, Offset, Options, Plan, Scramble, plan_graph,
    plan_grid,
};

/// More cells or vertices take time and reveal nothing new.
const MOST: usize = 60;

/// A grid of any sides and stencil on any nodes.
pub fn grid(data: &[u8]) {
    let _ = any_grid(&mut Unstructured::new(data));
}

fn any_grid(u: &mut Unstructured) -> Result<()> {
    let (mut dims, mut cells) = (Vec::new(), 1);
    for _ in 0..u.int_in_range(0..=5)? {
        let side = u.int_in_range(1..=(MOST / cells).min(40))?;
        dims.push(side);
        cells *= side;
    }
    let periodic = dims.iter().map(|_| u.arbitrary()).collect::<Result<Vec<bool>>>()?;
    let mut weight = || u.int_in_range(0..=10);
    let weights = dims.iter().map(|_| weight()).collect::<Result<Vec<i64>>>()?;
    let mut stencil = Grid::nearest_neighbors(&weights);
    for _ in 0..u.int_in_range(0..=3)? {
        let by = dims.iter().map(|_| u.int_in_range(-7..=7)).collect::<Result<Vec<i32>>>()?;
        stencil.push(Offset { by, weight: any_weight(u, Grid::most_weight(cells))? });
    }
    let grid = Grid::new(dims, periodic, stencil);
    let machine = any_machine(u, cells)?;
    let options = any_options(u)?;
    let plan = plan_grid(&grid, &machine, &options);
    check(&grid, &machine, &options, &plan);
    if u.ratio(1, 8)? {
        assert_eq!(plan, plan_grid(&grid, &machine, &options));
    }
    Ok(())
}

/// A graph of any edges on any nodes.
pub fn graph(data: &[u8]) {
    let _ = any_graph(&mut Unstructured::new(data));
}

fn any_graph(u: &mut Unstructured) -> Result<()> {
    let vertices = u.int_in_range(0..=MOST)?;
    let machine = any_machine(u, vertices)?;
    let options = any_options(u)?;
    let mut edges = Vec::new();
    if let Some(last) = (vertices as u32).checked_sub(1) {
        let both_ways: bool = u.arbitrary()?;
        while !u.is_empty() && edges.len() < 2 * MOST {
            let (from, to) = (u.int_in_range(0..=last)?, u.int_in_range(0..=last)?);
            let weight = any_weight(u, i32::MAX.into())?;
            edges.push((from, to, weight));
            edges.extend(both_ways.then_some((to, from, weight)));
        }
    }
    let graph = Csr::from_edges(vertices, edges.iter().copied());
    let plan = plan_graph(&graph, &machine, &options);
    check(&graph, &machine, &options, &plan);
    if edges.len() % 8 == 0 {
        assert_eq!(plan, plan_graph(&graph, &machine, &options));
    }
    Ok(())
}

/// Mostly small.
fn any_weight(u: &mut Unstructured, most: i64) -> Result<i64> {
    if u.ratio(1, 8)? { u.int_in_range(0..=most) } else { u.int_in_range(0..=3) }
}

/// Nodes for at least `vertices` vertices, and perhaps a level below.
fn any_machine(u: &mut Unstructured, vertices: usize) -> Result<Machine> {
    let ranks = vertices + if u.ratio(1, 4)? { u.int_in_range(0..=20)? } else { 0 };
    let nodes = u.int_in_range(1..=20u64)?;
    let size = u.int_in_range(1..=40u64)?;
    let machine = match u.int_in_range(0..=2)? {
        0 => Machine::from_ids(&(0..ranks as u64).map(|rank| rank / size).collect::<Vec<_>>()),
        1 => Machine::from_ids(&(0..ranks as u64).map(|rank| rank % nodes).collect::<Vec<_>>()),
        _ => {
            let ids = (0..ranks).map(|_| u.int_in_range(0..=nodes));
            Machine::from_ids(&ids.collect::<Result<Vec<_>>>()?)
        }
    };
    let above = u.int_in_range(0..=3u64)?;
    let group = |node: &u32| u64::from(*node) % above.max(1);
    let ids: Vec<u64> = machine.nodes().iter().map(group).collect();
    let machine = match above {
        0 => machine,
        _ => machine.under(LevelKind::Switch, &ids).expect("nodes are whole").without_idle_levels(),
    };
    let below = u.int_in_range(0..=4u64)?;
    Ok(match below {
        0 | 1 => machine,
        _ => machine.with_level(
            LevelKind::Numa,
            &(0..ranks as u64).map(|rank| rank % below).collect::<Vec<_>>(),
        ),
    })
}

fn any_options(u: &mut Unstructured) -> Result<Options> {
    let (_, objective) = *u.choose(&Objective::NAMED)?;
    let seconds = *u.choose(&[0.0, 1e-6, 1e-5, 5e-5, 2e-4])?;
    let mut scramble = None;
    if u.ratio(1, 16)? {
        scramble = Some(Scramble { seed: u.arbitrary()?, rank_zero: u.arbitrary()? });
    }
    let distances = *u.choose(&["1", "1,10,100", "1,1,1", "2,3,7,9", "5,1000000"])?;
    let distances = Distances::parse(distances).expect("distances");
    let options = Options::default().with_objective(objective).with_seconds(Some(seconds));
    Ok(options.with_scramble(scramble).with_distances(distances))
}

/// Properties of every plan, checked on the edges themselves.
fn check(graph: &impl Adjacency, machine: &Machine, options: &Options, plan: &Plan) {
    let old: Vec<usize> = plan.old_ranks().map(|old| usize::try_from(old).unwrap()).collect();
    assert_eq!(old.len(), graph.vertices());
    let mut taken = vec![false; machine.ranks()];
    assert!(old.iter().all(|rank| !std::mem::replace(&mut taken[*rank], true)));
    let cost = |group_of: &dyn Fn(usize) -> u32| {
        let mut leaving = vec![0; machine.ranks()];
        for vertex in 0..graph.vertices() {
            graph.for_each_edge(vertex, |to, weight| {
                let group = group_of(vertex);
                leaving[group as usize] += if group_of(to) == group { 0 } else { weight };
            });
        }
        let most = leaving.iter().copied().max().unwrap_or(0);
        Cost { inter_node_edges: leaving.iter().sum(), max_node_edges: most }
    };
    let costs = |rank_of: &dyn Fn(usize) -> usize| -> Vec<Cost> {
        let level = |level: &Level| cost(&|vertex| level.group_of[rank_of(vertex)]);
        machine.levels().iter().map(level).collect()
    };
    let before: Vec<Cost> = plan.levels.iter().map(|level| level.before).collect();
    let after: Vec<Cost> = plan.levels.iter().map(|level| level.after).collect();
    assert_eq!(before, costs(&|vertex| vertex));
    assert_eq!(after, costs(&|vertex| old[vertex]));
    let nodes = machine.above().len();
    assert_eq!((plan.before, plan.after), (before[nodes], after[nodes]));
    assert_eq!(plan.lower_bound, plan.levels[nodes].lower_bound);
    assert!(plan.levels.iter().all(|level| level.lower_bound <= level.after.inter_node_edges));
    assert_eq!(plan.weighted.is_some(), nodes > 0);
    let sums = plan.weighted.as_ref().map(|weighted| {
        let of = |costs: &[Cost]| {
            let steps = weighted.distances.windows(2).rev().map(|pair| pair[1] - pair[0]);
            let crossing = costs[..=nodes].iter().zip(steps);
            let crossing =
                crossing.map(|(cost, step)| i128::from(cost.inter_node_edges) * i128::from(step));
            let mut edges = 0;
            for vertex in 0..graph.vertices() {
                graph.for_each_edge(vertex, |to, weight| {
                    edges += if to == vertex { 0 } else { i128::from(weight) };
                });
            }
            crossing.sum::<i128>() + i128::from(weighted.distances[0]) * edges
        };
        assert_eq!((weighted.before, weighted.after), (of(&before), of(&after)));
        assert!(weighted.lower_bound <= weighted.after);
        (weighted.before, weighted.after)
    });
    let moves_rank_zero = options.scramble.is_some_and(|scramble| scramble.rank_zero);
    assert!(moves_rank_zero || plan.old_rank.as_ref().is_none_or(|old_rank| old_rank[0] == 0));
    if options.scramble.is_none() {
        match (options.objective, sums) {
            (Objective::Max, Some(_)) => {
                assert!(plan.after.max_node_edges <= plan.before.max_node_edges);
            }
            (_, Some((before, after))) => assert!(after <= before),
            (_, None) => {
                assert!(plan.after.key(options.objective) <= plan.before.key(options.objective));
            }
        }
        assert_eq!(plan.old_rank.is_none(), before == after && plan.algorithm == "none");
    }
}
