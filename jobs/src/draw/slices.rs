//! A grid of any number of dimensions, as flat pieces.

/// A flat piece of a grid: its last two dimensions or, if one of these is long and the other short, a part of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    /// The name of the piece; empty if it is the only one.
    pub(super) label: String,
    /// The cell in its upper left corner. Cells are numbered row-major.
    first: usize,
    /// The difference between a cell and the one below it.
    stride: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The coordinates of its first cell in the last two dimensions.
    pub(super) row: usize,
    pub(super) column: usize,
}

/// A line of cells is cut into pieces of this length.
const LINE: usize = 64;

/// From this ratio of sides on, a flat piece is cut.
const THIN: usize = 8;

/// The slices of a grid.
pub(super) fn slices(dims: &[usize]) -> Vec<Slice> {
    slices_of(dims, LINE)
}

/// Slices that are cut differently, for long and thin grids.
pub(super) fn slices_of(dims: &[usize], line: usize) -> Vec<Slice> {
    let (outer, rows, columns): (&[usize], usize, usize) = match *dims {
        [] => (&[], 1, 1),
        [cells] => (&[], 1, cells),
        [ref outer @ .., rows, columns] => (outer, rows, columns),
    };
    let thin = |side: usize, other: usize| side > line && side >= THIN.saturating_mul(other);
    let (high, wide) = match () {
        () if thin(columns, rows) => (rows, line),
        () if thin(rows, columns) => (line, columns),
        () => (rows, columns),
    };
    let mut slices = Vec::new();
    for number in 0..outer.iter().product() {
        for row in (0..rows).step_by(high.max(1)) {
            for column in (0..columns).step_by(wide.max(1)) {
                let from = match () {
                    () if high < rows => Some((dims.len() - 2, row, (row + high).min(rows))),
                    () if wide < columns => {
                        Some((dims.len() - 1, column, (column + wide).min(columns)))
                    }
                    () => None,
                };
                slices.push(Slice {
                    label: label(outer, number, from),
                    first: (number * rows + row) * columns + column,
                    stride: columns,
                    rows: high.min(rows - row),
                    columns: wide.min(columns - column),
                    row,
                    column,
                });
            }
        }
    }
    slices
}

/// The leading coordinates of a slice, "(3, 0, ., .)", and for a part of a slice, its beginning and end.
fn label(outer: &[usize], number: usize, part: Option<(usize, usize, usize)>) -> String {
    let mut coordinates = vec![String::new(); outer.len()];
    let mut rest = number;
    for (word, side) in coordinates.iter_mut().zip(outer).rev() {
        *word = (rest % side).to_string();
        rest /= side;
    }
    let (mut label, between) = match outer {
        [] => (String::new(), ""),
        _ => (format!("({}, ., .)", coordinates.join(", ")), ", "),
    };
    if let Some((dimension, from, to)) = part {
        label.push_str(&format!("{between}{from} to {} of dimension {dimension}", to - 1));
    }
    label
}

/// Describes the directions of dimensions in a picture, and the meaning of a slice.
pub(super) fn axes(dims: &[usize]) -> String {
    let pieces = slices(dims);
    let across = |dimension: usize| format!("across: dimension {dimension}");
    let mut words = match dims.len() {
        0 => String::new(),
        1 => format!("{}.", across(0)),
        ndims => {
            let axes = format!("down: dimension {}, {}.", ndims - 2, across(ndims - 1));
            match ndims {
                2 => axes,
                3 => format!("a slice for each coordinate of dimension 0; {axes}"),
                _ => format!("a slice for all coordinates but the last two; {axes}"),
            }
        }
    };
    if let Some(first) = words.get(..1).map(str::to_uppercase) {
        words.replace_range(..1, &first);
    }
    if dims.len() > 2 {
        words.push_str(" A node's box is the same rectangle in consecutive slices.");
    }
    if pieces.len() > 1
        && (dims.len() < 3 || pieces.len() > dims[..dims.len() - 2].iter().product())
    {
        words.push_str(" Long lines are wrapped.");
    }
    words
}

impl Slice {
    /// The cell at a row and a column.
    pub(super) fn cell(&self, row: usize, column: usize) -> usize {
        self.first + row * self.stride + column
    }

    /// Calls `visit` for the two cells at every shared side.
    pub(super) fn for_each_pair(&self, mut visit: impl FnMut(usize, usize)) {
        for row in 0..self.rows {
            for column in 0..self.columns {
                let cell = self.cell(row, column);
                if column + 1 < self.columns {
                    visit(cell, cell + 1);
                }
                if row + 1 < self.rows {
                    visit(cell, self.cell(row + 1, column));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_contain_every_cell_once() {
        for dims in [
            &[][..],
            &[7],
            &[130],
            &[5, 4],
            &[3, 2, 4],
            &[2, 3, 1, 2],
            &[2, 500],
            &[500, 2],
            &[2, 130, 1],
        ] {
            let mut cells: Vec<usize> = slices(dims)
                .iter()
                .flat_map(|slice| {
                    let rows = 0..slice.rows;
                    rows.flat_map(move |row| (0..slice.columns).map(move |c| slice.cell(row, c)))
                })
                .collect();
            cells.sort_unstable();
            assert!(cells.into_iter().eq(0..dims.iter().product::<usize>()), "{dims:?}");
        }
        assert_eq!(slices(&[2, 3, 1, 2])[4].label, "(1, 1, ., .)");
        assert_eq!(slices(&[2, 500])[1].label, "64 to 127 of dimension 1");
        assert_eq!(slices(&[2, 130, 1])[5].label, "(1, ., .), 128 to 129 of dimension 1");
        let mut pairs = 0;
        slices(&[3, 4])[0].for_each_pair(|_, _| pairs += 1);
        assert_eq!(pairs, 3 * 3 + 2 * 4);
    }

    #[test]
    fn axes_are_described_in_words() {
        assert_eq!(axes(&[4, 4]), "Down: dimension 0, across: dimension 1.");
        assert!(axes(&[2, 500]).ends_with("Long lines are wrapped."));
        assert!(!axes(&[4, 4, 4]).contains("Long lines"));
        assert!(
            axes(&[4, 4, 4])
                .starts_with("A slice for each coordinate of dimension 0; down: dimension 1")
        );
    }
}
