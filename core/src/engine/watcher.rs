//! The process that watches whether the program keeps using its old ranks on a reordered grid.
//!
//! A program that keeps its old rank asks the new grid for that rank's coordinates first. A correct one may ask for any
//! coordinates, but first for those of its new rank, of a neighbor, or of the first or last rank. So one process
//! watches that can distinguish these cases: rank 0 chooses it with the plan, and no message is needed later.

/// The new rank of the process that watches: among the processes whose new rank in a grid of these sides is neither
/// their old rank nor a neighbor of it, the one with the least old rank, except the first and the last; `None` if there
/// is none. `old_rank` gives the old rank of each new rank.
pub(super) fn watcher(dims: &[i32], old_rank: &[i32], size: i32) -> Option<i32> {
    let last = size.min(old_rank.len() as i32) - 1;
    let can_tell = |(new, old): &(i32, i32)| {
        (1..last).contains(old) && new != old && !are_neighbors(dims, *new, *old)
    };
    (0..)
        .zip(old_rank.iter().copied())
        .filter(can_tell)
        .min_by_key(|(_, old)| *old)
        .map(|(new, _)| new)
}

/// True if two cells of a grid, which may be periodic, share a face.
fn are_neighbors(dims: &[i32], mut one: i32, mut other: i32) -> bool {
    let mut apart = 0;
    for side in dims.iter().rev() {
        let distance = (one % side).abs_diff(other % side) as i32;
        apart += distance.min(side - distance);
        (one, other) = (one / side, other / side);
    }
    apart == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watcher_distinguishes_its_old_rank_from_correct_queries() {
        assert_eq!(watcher(&[2, 2], &[0, 1, 2, 3], 4), None);
        // Old rank 1 has new rank 2, which is diagonal to it.
        assert_eq!(watcher(&[2, 2], &[0, 2, 1, 3], 4), Some(2));
        // Neighbors in a row, and around it.
        assert_eq!(watcher(&[4], &[0, 2, 1, 3], 4), None);
        assert_eq!(watcher(&[5, 1], &[1, 0, 2, 4, 3], 5), None);
        // Old ranks 0 and 5 are the first and the last, 1 moves to a neighbor, and 2 farther away.
        assert_eq!(watcher(&[6], &[5, 3, 1, 4, 2, 0], 6), Some(4));
        // Two cells are left out, so old rank 5 is outside the grid.
        assert_eq!(watcher(&[4], &[0, 5, 4, 3], 6), None);
        assert_eq!(watcher(&[2, 2], &[0, 5, 1, 4], 6), Some(2));
    }
}
