//! Every grid of up to 64 processes and 4 dimensions, against an oracle that walks the grid.

use std::collections::HashMap;

use super::*;

/// All lists of `ndims` sides with a product of at most `limit`.
fn grids(ndims: usize, limit: i32) -> Vec<Vec<i32>> {
    if ndims == 0 {
        return vec![vec![]];
    }
    (1..=limit)
        .flat_map(|side| {
            grids(ndims - 1, limit / side).into_iter().map(move |mut rest| {
                rest.insert(0, side);
                rest
            })
        })
        .collect()
}

fn bits(pattern: u32, ndims: usize) -> Vec<bool> {
    (0..ndims).map(|i| pattern >> i & 1 == 1).collect()
}

/// The coordinates of every rank, in rank order, counted like an odometer.
fn walk(dims: &[i32]) -> Vec<Vec<i32>> {
    let mut all = vec![vec![]];
    for &size in dims {
        all = all
            .into_iter()
            .flat_map(|coords: Vec<i32>| (0..size).map(move |c| [coords.clone(), vec![c]].concat()))
            .collect();
    }
    all
}

/// The rank of coordinates after wrapping, by looking it up in the walk.
fn oracle_rank(dims: &[i32], periods: &[bool], walk: &[Vec<i32>], coords: &[i32]) -> Option<i32> {
    let mut wrapped = coords.to_vec();
    for i in 0..dims.len() {
        if periods[i] {
            while wrapped[i] < 0 {
                wrapped[i] += dims[i];
            }
            while wrapped[i] >= dims[i] {
                wrapped[i] -= dims[i];
            }
        }
    }
    // The last coordinate varies fastest, so the walk is in the order of vectors.
    walk.binary_search(&wrapped).ok().map(|r| r as i32)
}

/// Every list of dimensions, with its walk.
fn every_shape(mut check: impl FnMut(&[i32], &[Vec<i32>])) {
    for ndims in 0..=4 {
        for dims in grids(ndims, 64) {
            check(&dims, &walk(&dims));
        }
    }
}

/// The grids of these dimensions, with all patterns of periods.
fn with_all_periods(dims: &[i32]) -> impl Iterator<Item = (Vec<bool>, Cart)> {
    (0..1 << dims.len()).map(move |pattern| {
        let periods = bits(pattern, dims.len());
        let cart = Cart::new(dims, &periods, 64).unwrap();
        (periods, cart)
    })
}

fn every_grid(mut check: impl FnMut(&[i32], &[bool], &Cart, &[Vec<i32>])) {
    every_shape(|dims, walk| {
        for (periods, cart) in with_all_periods(dims) {
            assert_eq!(cart.size() as usize, walk.len());
            check(dims, &periods, &cart, walk);
        }
    });
}

#[test]
fn coords_and_ranks_are_right_for_every_process() {
    every_grid(|dims, _, cart, walk| {
        let mut coords = vec![0; dims.len()];
        for (rank, expected) in walk.iter().enumerate() {
            cart.coords(rank as i32, &mut coords).unwrap();
            assert_eq!(coords, *expected, "{dims:?}");
            let seen = cart.clone().seen_from(rank as i32).unwrap();
            assert_eq!(seen.own_rank(), rank as i32);
            assert!(seen.dimensions().iter().map(Dimension::own).eq(expected.iter().copied()));
            assert_eq!(cart.rank(expected), Ok(rank as i32), "{dims:?}");
        }
        for rank in [-1, cart.size(), i32::MAX] {
            let wrong = Err(Error::Rank { rank, size: cart.size() });
            assert_eq!(cart.coords(rank, &mut coords), wrong);
            assert_eq!(cart.clone().seen_from(rank).map(|_| ()), wrong);
        }
    });
}

#[test]
fn coordinates_outside_wrap_or_are_an_error() {
    every_grid(|dims, periods, cart, walk| {
        for dimension in 0..dims.len() {
            let mut coords = walk[walk.len() / 2].clone();
            for value in [-2 * dims[dimension] - 1, -1, dims[dimension], 3 * dims[dimension] + 2] {
                coords[dimension] = value;
                let expected = oracle_rank(dims, periods, walk, &coords);
                let size = dims[dimension];
                assert_eq!(
                    cart.rank(&coords),
                    expected.ok_or(Error::Coordinate { dimension, value, size })
                );
            }
        }
    });
}

#[test]
fn shifts_are_right_for_every_process() {
    every_shape(|dims, walk| {
        let steps = |direction: usize| {
            let size = dims[direction];
            [0, 1, -1, 2, size - 1, size, -size, size + 1]
        };
        // A shift depends only on whether its dimension is periodic: the oracle need not see all patterns.
        let expected = [false, true].map(|periodic| {
            let periods = vec![periodic; dims.len()];
            let mut found = Vec::new();
            for coords in walk {
                for direction in 0..dims.len() {
                    for disp in steps(direction) {
                        let at = |disp: i32| {
                            let mut there = coords.clone();
                            there[direction] += disp;
                            oracle_rank(dims, &periods, walk, &there)
                        };
                        found.push((at(-disp), at(disp)));
                    }
                }
            }
            found
        });
        for (periods, cart) in with_all_periods(dims) {
            let mut at = 0;
            for rank in 0..walk.len() {
                for direction in 0..dims.len() {
                    for disp in steps(direction) {
                        assert_eq!(
                            cart.shift(rank as i32, direction as i32, disp),
                            Ok(expected[usize::from(periods[direction])][at]),
                            "{dims:?} {periods:?} rank {rank} direction {direction} disp {disp}"
                        );
                        at += 1;
                    }
                }
            }
            for direction in [-1, dims.len() as i32, i32::MAX, i32::MIN] {
                let ndims = dims.len();
                assert_eq!(cart.shift(0, direction, 1), Err(Error::Direction { direction, ndims }));
            }
        }
    });
}

#[test]
fn shift_by_the_largest_steps_does_not_overflow() {
    let cart = Cart::new(&[3, 5], &[true, false], 15).unwrap();
    // 2^31 - 1 is 1 modulo 3; -2^31 is 1 modulo 3, and 2^31, the way back, is 2.
    assert_eq!(cart.shift(0, 0, i32::MAX), Ok((Some(10), Some(5))));
    assert_eq!(cart.shift(0, 0, i32::MIN), Ok((Some(10), Some(5))));
    assert_eq!(cart.shift(0, 1, i32::MAX), Ok((None, None)));
    assert_eq!(cart.shift(0, 1, i32::MIN), Ok((None, None)));
    assert_eq!(cart.rank(&[i32::MIN, 0]), Ok(5));
}

#[test]
fn quotients_by_reciprocals_are_exact() {
    let strides = (0..31).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]);
    for stride in strides.chain([3, 7, 641, 46_341, 715_827_883, i32::MAX]).filter(|s| *s > 0) {
        // The innermost of these dimensions makes the stride of the outer one.
        let most = i32::MAX / stride;
        let cart = Cart::new(&[most, stride], &[false, false], i32::MAX).unwrap();
        let times = [0, 1, 2, most / 2, most - 1].into_iter().filter(|times| *times < most);
        let multiples = times.map(|times| times * stride);
        for rank in multiples.flat_map(|m| [m - 1, m, m + 1, m + stride - 1]) {
            if (0..cart.size()).contains(&rank) {
                let mut coords = [0; 2];
                cart.coords(rank, &mut coords).unwrap();
                assert_eq!(coords, [rank / stride, rank % stride], "{rank} / {stride}");
            }
        }
    }
}

#[test]
fn sub_grids_are_right_for_every_process() {
    every_shape(|dims, walk| {
        for pattern in 0..1 << dims.len() {
            let remain = bits(pattern, dims.len());
            let part = |coords: &[i32], keep: bool| -> Vec<i32> {
                let kept = coords.iter().zip(&remain).filter(|(_, r)| **r == keep);
                kept.map(|(c, _)| *c).collect()
            };
            // Members of one sub-grid are those with equal dropped coordinates, in rank order.
            let mut subs: HashMap<Vec<i32>, (usize, i32)> = HashMap::new();
            let mut member = |coords: &Vec<i32>| {
                let next = subs.len();
                let (sub, members) = subs.entry(part(coords, false)).or_insert((next, 0));
                *members += 1;
                (*sub, *members - 1)
            };
            let members: Vec<(usize, i32)> = walk.iter().map(&mut member).collect();
            for (periods, cart) in with_all_periods(dims) {
                let kept = periods.iter().zip(&remain).filter(|(_, r)| **r);
                let kept_periods: Vec<bool> = kept.map(|(p, _)| *p).collect();
                let expected = Cart::new(&part(dims, true), &kept_periods, 64).unwrap();
                // No two sub-grids have the same color.
                let mut colors: Vec<i32> = Vec::new();
                for (rank, (of, member)) in members.iter().enumerate() {
                    let sub = cart.sub(&remain, rank as i32).unwrap();
                    assert_eq!(sub.grid, expected);
                    if *of == colors.len() {
                        assert!(!colors.contains(&sub.color), "{dims:?} {remain:?}");
                        colors.push(sub.color);
                    }
                    assert_eq!(
                        (sub.color, sub.rank),
                        (colors[*of], *member),
                        "{dims:?} {remain:?}"
                    );
                }
                assert!(subs.values().all(|(_, members)| *members == expected.size()));
            }
        }
    });
}

#[test]
fn grids_that_do_not_fit_are_named_with_their_size() {
    let error = |dims: &[i32], size| Cart::new(dims, &vec![false; dims.len()], size).unwrap_err();
    assert_eq!(error(&[2, 0], 4), Error::DimNotPositive { dimension: 1, value: 0 });
    assert_eq!(error(&[-1, 1], 4), Error::DimNotPositive { dimension: 0, value: -1 });
    assert_eq!(error(&[2, 3], 5), Error::GridTooLarge { cells: 6, size: 5 });
    assert_eq!(error(&[65536, 65536], 4), Error::GridTooLarge { cells: 1 << 32, size: 4 });
    assert_eq!(error(&[i32::MAX; 9], 4), Error::GridTooLarge { cells: u128::MAX, size: 4 });
    assert_eq!(Cart::new(&[], &[], 1).unwrap().size(), 1);
    assert_eq!(Cart::new(&[], &[], 1).unwrap().rank(&[]), Ok(0));
}

#[test]
fn a_neighbor_is_repeated_in_short_periodic_dimensions() {
    for (size, periodic, repeats) in
        [(1, true, true), (2, true, true), (3, true, false), (1, false, false), (2, false, false)]
    {
        let grid = Cart::new(&[3, size], &[true, periodic], 3 * size).unwrap();
        assert_eq!(grid.repeats_neighbors(), repeats, "{size}, {periodic}");
    }
    assert!(!Cart::new(&[], &[], 1).unwrap().repeats_neighbors());
}
