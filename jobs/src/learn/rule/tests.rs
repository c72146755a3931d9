//! Rules of generated patterns, and their predictions for other sizes.

use cartograph_traffic::Topology;

use super::*;

/// A distance along the first dimensions.
fn first(apart: &[i32]) -> Apart {
    let mut all = Apart::default();
    all[..apart.len()].copy_from_slice(apart);
    all
}

/// The messages in a grid: each rank sends these bytes to the neighbors at these distances.
fn messages(dims: &[u32], periodic: &[bool], neighbors: &[(&[i32], u64)]) -> Recording {
    let count = |bytes| Count { messages: 10, bytes };
    let rule = Rule {
        dims: dims.to_vec(),
        periodic: periodic.to_vec(),
        neighbors: neighbors.iter().map(|(apart, bytes)| (first(apart), count(*bytes))).collect(),
        is_created: false,
        ends: vec![false; dims.len()],
        is_chosen: true,
        explained: 1.0,
        steps: 1.0,
    };
    Recording { size: rule.size(), edges: rule.edges(), ..Recording::default() }
}

/// The faces of a box with these sides in each process.
fn faces(sides: [u64; 3]) -> Vec<([i32; 3], u64)> {
    let of = |dimension: usize| {
        let bytes = 8 * sides.iter().product::<u64>() / sides[dimension];
        [-1, 1].map(|to| {
            let mut apart = [0; 3];
            apart[dimension] = to;
            (apart, bytes)
        })
    };
    (0..3).flat_map(of).collect()
}

fn halo(dims: &[u32], periodic: &[bool], sides: [u64; 3]) -> Recording {
    let faces = faces(sides);
    let faces: Vec<(&[i32], u64)> =
        faces.iter().map(|(apart, bytes)| (&apart[..], *bytes)).collect();
    messages(dims, periodic, &faces)
}

fn grid(function: &str, dims: &[u32]) -> Topology {
    Topology::new(function, dims, &vec![false; dims.len()])
}

#[test]
fn grids_are_found_from_their_messages() {
    for (dims, periodic) in [
        ([4, 3, 2], [false; 3]),
        ([3, 3, 3], [true; 3]),
        ([8, 4, 4], [true, false, false]),
        ([4, 4, 8], [false, false, true]),
        ([16, 16, 16], [true; 3]),
    ] {
        let rule = Rule::of(&halo(&dims, &periodic, [40, 60, 80])).unwrap();
        assert_eq!((&rule.dims[..], &rule.periodic[..]), (&dims[..], &periodic[..]));
        assert_eq!((rule.neighbors.len(), rule.explained), (6, 1.0));
    }
    let ring = messages(&[24], &[true], &[(&[1], 1000)]);
    assert_eq!(
        Rule::of(&ring).unwrap().to_string(),
        "a grid of 24, periodic in dimension 0, with 1 neighbor (100 % of the bytes)"
    );
    // Small messages to one rank are not part of it.
    let mut other = halo(&[4, 4, 2], &[false; 3], [40, 60, 80]);
    let gathered =
        (1..32).map(|from| Edge { from, to: 0, count: Count { messages: 1, bytes: 64 } });
    other.edges.extend(gathered);
    assert_eq!(Rule::of(&other).unwrap().dims, [4, 4, 2]);
}

#[test]
fn traffic_that_no_grid_explains_has_no_rule() {
    // All to all; a hypercube; random partners.
    let count = Count { messages: 1, bytes: 1000 };
    let pairs = |is_edge: &dyn Fn(u32, u32) -> bool| {
        let all = (0..32).flat_map(|from| (0..32).map(move |to| (from, to)));
        let edges = all.filter(|(from, to)| from != to && is_edge(*from, *to));
        let edges = edges.map(|(from, to)| Edge { from, to, count }).collect();
        Rule::of(&Recording { size: 32, edges, ..Recording::default() })
    };
    assert_eq!(pairs(&|_, _| true), None);
    assert_eq!(pairs(&|from, to| (from ^ to).is_power_of_two()), None);
    assert_eq!(pairs(&|from, to| (from * 7 + to * 13) % 11 == 0), None);
    assert_eq!(Rule::of(&Recording { size: 32, ..Recording::default() }), None);
}

/// A job of another size sends the predicted messages.
#[test]
fn another_size_is_predicted() {
    let total = [480, 480, 480];
    let of = |dims: [u32; 3], scaling| match scaling {
        Scaling::Weak => [40, 60, 80],
        Scaling::Strong => [0, 1, 2].map(|at| total[at] / u64::from(dims[at])),
    };
    let grids = [[4, 2, 2], [4, 3, 2], [3, 3, 3], [4, 4, 4], [8, 8, 4], [10, 10, 10]];
    for scaling in [Scaling::Strong, Scaling::Weak] {
        for (from, to) in grids.iter().flat_map(|from| grids.map(|to| (*from, to))) {
            let mut known = halo(&from, &[false; 3], of(from, scaling));
            known.topologies = vec![grid("MPI_Dims_create", &from), grid("MPI_Cart_create", &from)];
            let rule = Rule::of(&known).unwrap().at(to.iter().product(), scaling).unwrap();
            let there = halo(&to, &[false; 3], of(to, scaling));
            let exact: u64 = there.edges.iter().map(|edge| edge.count.bytes).sum();
            assert_eq!(rule.dims, to);
            let edges = rule.edges();
            assert!(
                edges
                    .iter()
                    .map(|edge| (edge.from, edge.to))
                    .eq(there.edges.iter().map(|edge| (edge.from, edge.to)))
            );
            let apart = edges.iter().zip(&there.edges);
            let apart: u64 =
                apart.map(|(one, other)| one.count.bytes.abs_diff(other.count.bytes)).sum();
            assert!(apart as f64 <= 0.01 * exact as f64, "{from:?} {to:?} {scaling:?}");
        }
    }
}

#[test]
fn a_grid_that_mpis_choose_differently_is_not_predicted() {
    for (processes, sides) in [(72, [12, 6]), (36, [6, 6]), (100, [10, 10]), (7, [7, 1])] {
        assert_eq!(by_factors(processes, 2), sides);
    }
    let mut known = messages(&[4, 4], &[false; 2], &[(&[0, 1], 9), (&[1, 0], 9)]);
    known.topologies = ["MPI_Dims_create", "MPI_Cart_create"].map(|it| grid(it, &[4, 4])).to_vec();
    let rule = Rule::of(&known).unwrap();
    assert_eq!(rule.at(36, Scaling::Weak).unwrap().dims, [6, 6]);
    assert_eq!(rule.at(72, Scaling::Weak), None);
}

#[test]
fn a_grid_that_may_grow_in_another_way_is_not_predicted() {
    let of = |dims: [u32; 3], functions: &[&str]| {
        let mut known = halo(&dims, &[false; 3], [40, 40, 40]);
        known.topologies = functions.iter().map(|function| grid(function, &dims)).collect();
        Rule::of(&known).unwrap()
    };
    let chosen = ["MPI_Dims_create"];
    assert_eq!(of([3, 3, 3], &chosen).at(64, Scaling::Weak).unwrap().dims, [4, 4, 4]);
    // Which side grows is known only if MPI created the grid.
    assert_eq!(of([3, 3, 3], &chosen).at(36, Scaling::Weak), None);
    let created = ["MPI_Dims_create", "MPI_Cart_create"];
    assert_eq!(of([3, 3, 3], &created).at(36, Scaling::Weak).unwrap().dims, [4, 3, 3]);
    // The program chose these dims itself.
    assert_eq!(of([3, 3, 3], &created[1..]).at(64, Scaling::Weak), None);
    assert_eq!(of([8, 2, 2], &created).at(64, Scaling::Weak), None);
    // Whether a side of two is periodic is known only if MPI created the grid.
    assert_eq!(of([4, 2, 2], &chosen).at(60, Scaling::Weak), None);
    assert_eq!(of([4, 2, 2], &created).at(60, Scaling::Weak).unwrap().dims, [5, 4, 3]);
    // In Fortran's order.
    assert_eq!(of([3, 4, 5], &chosen).at(120, Scaling::Weak).unwrap().dims, [4, 5, 6]);
}

#[test]
fn any_numbers_are_summed() {
    let count = Count { messages: u64::MAX, bytes: u64::MAX };
    let edges = (0..24).map(|from| Edge { from, to: (from + 1) % 24, count });
    let huge = Recording { size: 24, edges: edges.collect(), ..Recording::default() };
    let _ = Rule::of(&huge).map(|rule| rule.edges());
}
