//! A grid of any number of dimensions as flat pieces.

/// A piece of a grid that lies flat: its last two dimensions, or a part of its only one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    /// The coordinates that all its cells have; empty if there are none.
    pub(super) label: String,
    /// The cell in its upper left corner. Cells are numbered row-major, so the others follow.
    pub(super) first: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// A line of cells is cut to pieces of this many.
const LINE: usize = 64;

/// The slices of a grid, in the order of their cells.
pub(super) fn slices(dims: &[usize]) -> Vec<Slice> {
    match *dims {
        [] => vec![Slice { label: String::new(), first: 0, rows: 1, columns: 1 }],
        [cells] => (0..cells)
            .step_by(LINE)
            .map(|first| Slice {
                label: if cells > LINE { format!("{first}") } else { String::new() },
                first,
                rows: 1,
                columns: LINE.min(cells - first),
            })
            .collect(),
        [ref outer @ .., rows, columns] => (0..outer.iter().product())
            .map(|number| Slice {
                label: label(outer, number),
                first: number * rows * columns,
                rows,
                columns,
            })
            .collect(),
    }
}

/// The leading coordinates of a slice: "(3, 0, ., .)".
fn label(outer: &[usize], number: usize) -> String {
    if outer.is_empty() {
        return String::new();
    }
    let mut coordinates = vec![String::new(); outer.len()];
    let mut rest = number;
    for (word, side) in coordinates.iter_mut().zip(outer).rev() {
        *word = (rest % side).to_string();
        rest /= side;
    }
    format!("({}, ., .)", coordinates.join(", "))
}

impl Slice {
    /// The cell at a row and a column.
    pub(super) fn cell(&self, row: usize, column: usize) -> usize {
        self.first + row * self.columns + column
    }

    /// Calls `visit` for both cells of every side that two cells share.
    pub(super) fn for_each_pair(&self, mut visit: impl FnMut(usize, usize)) {
        for row in 0..self.rows {
            for column in 0..self.columns {
                let cell = self.cell(row, column);
                if column + 1 < self.columns {
                    visit(cell, cell + 1);
                }
                if row + 1 < self.rows {
                    visit(cell, cell + self.columns);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_cover_a_grid_in_order() {
        for dims in [&[][..], &[7], &[130], &[5, 4], &[3, 2, 4], &[2, 3, 1, 2]] {
            let mut next = 0;
            for slice in slices(dims) {
                assert_eq!(slice.first, next);
                next += slice.rows * slice.columns;
            }
            assert_eq!(next, dims.iter().product::<usize>(), "{dims:?}");
        }
        assert_eq!(slices(&[2, 3, 1, 2])[4].label, "(1, 1, ., .)");
        let mut pairs = 0;
        slices(&[3, 4])[0].for_each_pair(|_, _| pairs += 1);
        assert_eq!(pairs, 3 * 3 + 2 * 4);
    }
}
