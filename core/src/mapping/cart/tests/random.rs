//! The same of random grids on random machines.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

fn vectors(ndims: usize) -> impl Strategy<Value = Vec<Offset>> {
    let vector = (prop::collection::vec(-3..=3i32, ndims), 0..5i64);
    prop::collection::vec(vector.prop_map(|(by, weight)| Offset { by, weight }), 0..8)
}

fn grids() -> impl Strategy<Value = Grid> {
    (0..6usize).prop_flat_map(|ndims| {
        let sides = prop::collection::vec(1..=[1usize, 60, 12, 7, 5, 4][ndims], ndims);
        let periodic = prop::collection::vec(any::<bool>(), ndims);
        let grid = (sides, periodic, vectors(ndims), any::<bool>());
        grid.prop_map(move |(dims, periodic, vectors, plain)| {
            let nearest = Grid::nearest_neighbors(&vec![2; ndims]);
            Grid::new(dims, periodic, if plain { nearest } else { vectors })
        })
    })
}

fn layouts(cells: usize) -> impl Strategy<Value = Machine> {
    let ids = move |extra| prop::collection::vec(0..12u64, cells + extra);
    let mixed = (0..9usize).prop_flat_map(ids).prop_map(|ids| Machine::from_ids(&ids));
    let blocks =
        (1..=cells).prop_map(move |size| Machine::blocks(&vec![size; cells.div_ceil(size)]));
    (prop_oneof![mixed, blocks], prop::option::of(1..5u64)).prop_map(|(layout, width)| {
        let ids = |width| (0..layout.ranks() as u64).map(|rank| rank / width).collect::<Vec<_>>();
        match width {
            Some(width) => layout.clone().with_level(Kind::Cache, &ids(width)),
            None => layout,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn plans_of_random_grids_hold(
        (grid, layout) in grids().prop_flat_map(|grid| {
            let layout = layouts(grid.vertices());
            (Just(grid), layout)
        }),
        max in any::<bool>(),
    ) {
        let objective = if max { Objective::Max } else { Objective::Sum };
        let options = Options { objective, seconds: Some(1e-3), ..Options::default() };
        let plan = check(&grid, &layout, &options);
        prop_assert_eq!(plan, plan_cart(&grid, &layout, &options));
    }

    #[test]
    fn edges_between_nodes_are_the_same_row_by_row(
        grid in grids(),
        nodes in prop::collection::vec(0..3u32, 1024),
    ) {
        let node_of = &nodes[..grid.vertices()];
        let mut expected = HashMap::new();
        for cell in 0..grid.vertices() {
            grid.for_each_edge(cell, |to, weight| {
                if node_of[to] != node_of[cell] {
                    *expected.entry((node_of[cell], node_of[to])).or_insert(0) += weight;
                }
            });
        }
        let mut found = HashMap::new();
        grid.for_each_cut_edge(node_of, |from, to, weight| {
            *found.entry((from, to)).or_insert(0) += weight;
        });
        expected.retain(|_, weight| *weight != 0);
        prop_assert_eq!(found, expected);
    }
}
