//! Numbers that programs pass: grids, graphs, dims, and queries.

use arbitrary::{Result, Unstructured};
use cartograph_core::topology::{BoxShape, Cart, Graph, dims_create};

/// Calls with any numbers, including invalid ones.
pub fn numbers(data: &[u8]) {
    let _ = any_call(&mut Unstructured::new(data));
}

fn any_call(u: &mut Unstructured) -> Result<()> {
    let numbers =
        (0..u.int_in_range(0..=6)?).map(|_| any_number(u)).collect::<Result<Vec<i32>>>()?;
    match u.int_in_range(0..=3)? {
        0 => grid(u, &numbers),
        1 => {
            let (nnodes, mut dims) = (any_number(u)?, numbers.clone());
            match dims_create(nnodes, &mut dims) {
                Ok(()) => {
                    assert_eq!(product(&dims), i64::from(nnodes));
                    let kept = numbers.iter().zip(&dims).all(|(had, has)| *had == 0 || had == has);
                    assert!(kept);
                }
                Err(_) => assert_eq!(dims, numbers),
            }
            Ok(())
        }
        2 => {
            let sides: Vec<u32> = numbers.iter().map(|side| side.unsigned_abs()).collect();
            let periodic = numbers.iter().map(|_| u.arbitrary()).collect::<Result<Vec<bool>>>()?;
            let nnodes = any_number(u)?;
            let Some(shape) = BoxShape::from_sides(&sides) else { return Ok(()) };
            if let Ok(dims) = shape.dims(nnodes, &periodic) {
                assert_eq!(product(&dims), i64::from(nnodes));
                let mut closest = vec![0; dims.len()];
                dims_create(nnodes, &mut closest).expect("dims are free");
                assert!(shape.bytes(&dims, &periodic) <= shape.bytes(&closest, &periodic));
            }
            Ok(())
        }
        _ => {
            let Ok(nedges @ ..=64) = Graph::nedges(&numbers) else { return Ok(()) };
            let edges = (0..nedges).map(|_| any_number(u)).collect::<Result<Vec<i32>>>()?;
            if let Ok(graph) = Graph::new(&numbers, &edges) {
                let lists =
                    (0..graph.nnodes()).flat_map(|rank| graph.neighbors(rank).expect("a node"));
                assert!(lists.eq(&edges));
                let rank = any_number(u)?;
                assert_eq!(graph.neighbors(rank).is_ok(), (0..graph.nnodes()).contains(&rank));
            }
            Ok(())
        }
    }
}

/// A grid and its queries, which are inverse to each other.
fn grid(u: &mut Unstructured, dims: &[i32]) -> Result<()> {
    let periods = dims.iter().map(|_| u.arbitrary()).collect::<Result<Vec<bool>>>()?;
    let size = any_number(u)?.max(0);
    let Ok(cart) = Cart::new(dims, &periods, size) else { return Ok(()) };
    assert_eq!(product(dims), i64::from(cart.size()));
    let (rank, displacement) = (any_number(u)?, any_number(u)?);
    let asked = dims.iter().map(|_| any_number(u)).collect::<Result<Vec<i32>>>()?;
    let mut coords = vec![0; dims.len()];
    if let Ok(found) = cart.rank(&asked) {
        cart.coords(found, &mut coords).expect("a rank of the grid");
        let alike = |((one, other), side): ((&i32, &i32), &i32)| {
            (i64::from(*one) - i64::from(*other)) % i64::from(*side) == 0
        };
        assert!(asked.iter().zip(&coords).zip(dims).all(alike));
    }
    let is_inside = (0..cart.size()).contains(&rank);
    assert_eq!(cart.coords(rank, &mut coords).is_ok(), is_inside);
    let direction = any_number(u)?;
    let there = cart.shift(rank, direction, displacement);
    assert_eq!(there.is_ok(), is_inside && (0..dims.len() as i64).contains(&i64::from(direction)));
    if let (Ok((_, Some(to))), Some(back)) = (there, displacement.checked_neg()) {
        assert_eq!(cart.shift(to, direction, back).map(|(_, to)| to), Ok(Some(rank)));
    }
    let remain = dims.iter().map(|_| u.arbitrary()).collect::<Result<Vec<bool>>>()?;
    if let Ok(part) = cart.sub(&remain, rank) {
        assert!((0..part.grid.size()).contains(&part.rank));
        assert!((0..cart.size() / part.grid.size()).contains(&part.color));
    }
    Ok(())
}

/// Usually small, sometimes arbitrary.
fn any_number(u: &mut Unstructured) -> Result<i32> {
    match u.int_in_range(0..=7)? {
        0 => u.arbitrary(),
        1 => u.int_in_range(-3..=0),
        2 => u.int_in_range(0..=1 << 16),
        3 => u.choose(&[i32::MIN, -i32::MAX, i32::MAX, 0, 46_341, 1 << 30]).copied(),
        _ => u.int_in_range(0..=12),
    }
}

fn product(dims: &[i32]) -> i64 {
    dims.iter().map(|side| i64::from(*side)).product()
}
