//! What a user should know, in words.

use crate::topology::Cart;

/// The warning that `function`, a neighborhood collective, is used on a grid that is periodic along a
/// dimension of one or two processes: results of hosts are wrong there, so that the program runs
/// otherwise without Cartograph. `None` where there is no such dimension.
pub fn short_periodic_sides(function: &str, grid: &Cart) -> Option<String> {
    let sides = grid.dimensions();
    let short = sides.iter().enumerate().filter(|(_, side)| side.periodic && side.size <= 2);
    let short: Vec<String> = short.map(|(i, side)| format!("dims[{i}] = {}", side.size)).collect();
    (!short.is_empty()).then(|| {
        format!(
            "{function} on a periodic dimension of fewer than three processes ({}): \
             without Cartograph MPI libraries may return wrong data here",
            short.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_periodic_sides_are_warned_of() {
        let warning = |dims: &[i32], periods: &[bool]| {
            short_periodic_sides("MPI_Neighbor_alltoall", &Cart::new(dims, periods, 99).unwrap())
        };
        assert_eq!(warning(&[1, 2, 3], &[false, false, true]), None);
        let text = warning(&[4, 2, 1], &[true, true, true]).unwrap();
        assert!(text.contains("(dims[1] = 2, dims[2] = 1)"), "{text}");
    }
}
