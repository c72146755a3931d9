//! The numbers of nodes in the picture of a grid.

use super::slices::Slice;

/// Smaller numbers are omitted.
const LEAST_FONT: f64 = 6.0;

/// The number of a node, drawn over some cells of a row.
pub(super) struct Name {
    pub(super) node: u32,
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) cells: usize,
    pub(super) size: f64,
}

/// The positions of the numbers of nodes: one in each connected part of a node in the slice, if there is space for it.
pub(super) fn names(slice: &Slice, node_of: &[u32], cell: f64) -> Vec<Name> {
    let (rows, columns) = (slice.rows, slice.columns);
    let mut seen = vec![false; rows * columns];
    let mut names = Vec::new();
    for start in 0..seen.len() {
        if seen[start] {
            continue;
        }
        let node = node_of[slice.cell(start / columns, start % columns)];
        let mut part = vec![start];
        seen[start] = true;
        let mut next = 0;
        while let Some(&here) = part.get(next) {
            next += 1;
            let (row, column) = (here / columns, here % columns);
            let mut visit = |inside: bool, there: usize| {
                if inside
                    && !seen[there]
                    && node_of[slice.cell(there / columns, there % columns)] == node
                {
                    seen[there] = true;
                    part.push(there);
                }
            };
            visit(column > 0, here.wrapping_sub(1));
            visit(column + 1 < columns, here + 1);
            visit(row > 0, here.wrapping_sub(columns));
            visit(row + 1 < rows, here + columns);
        }
        part.sort_unstable();
        names.extend(name(node, &part, columns, cell));
    }
    names
}

/// The best position for the number of a node in a connected part of it: in a row that is long enough, as near to the
/// middle as possible. `part` is in ascending order.
fn name(node: u32, part: &[usize], columns: usize, cell: f64) -> Option<Name> {
    let digits = node.checked_ilog10().unwrap_or(0) as f64 + 1.0;
    let size = |cells: usize| (0.8 * cell).min(cells as f64 * cell / (0.62 * digits)).min(16.0);
    let middle = part.iter().map(|cell| (cell / columns) as f64).sum::<f64>() / part.len() as f64;
    part.chunk_by(|one, next| one + 1 == *next && next % columns != 0)
        .map(|run| Name {
            node,
            row: run[0] / columns,
            column: run[0] % columns,
            cells: run.len(),
            size: size(run.len()),
        })
        .filter(|name| name.size >= LEAST_FONT)
        .min_by(|one, other| {
            let far = |name: &Name| (name.row as f64 - middle).abs();
            other.size.total_cmp(&one.size).then(far(one).total_cmp(&far(other)))
        })
}
