//! A grid in SVG: slices of cells colored by node, with borders and numbers of nodes.

use std::fmt::Write;

use svg::node::element::{Group, Path};

use super::colors::Rgb;
use super::panel::{PANEL, Panel, round, step, text};
use super::slices::{Slice, slices};
use crate::report::VertexPlacement;

/// The largest side of a cell, in pixels.
const LARGEST: f64 = 28.0;

/// The space between slices, and for their labels, in pixels.
const GAP: f64 = 14.0;
const LABEL: f64 = 16.0;

/// The space for coordinates beside and below a picture, and for the names of its dimensions.
const LEFT: f64 = 44.0;
const BELOW: f64 = 32.0;

/// The smallest side of a cell at which borders can be distinguished, in pixels: only a corner of larger grids is drawn.
const LEAST: f64 = 5.0;

/// The most slices that are drawn.
const MOST_SLICES: usize = 1 << 10;

/// Smaller numbers are omitted.
const LEAST_FONT: f64 = 6.0;

/// The rows and columns of slices that form roughly a square.
struct Arrangement {
    across: usize,
    cell: f64,
    label: f64,
}

impl Arrangement {
    fn of(slices: &[Slice]) -> Self {
        let (rows, columns) = (slices[0].rows, slices[0].columns);
        let label = if slices.iter().any(|slice| !slice.label.is_empty()) { LABEL } else { 0.0 };
        let fitting = |across: usize| {
            let down = slices.len().div_ceil(across);
            let gaps = |count: usize| GAP * (count - 1) as f64;
            let wide = (PANEL - gaps(across)) / (across * columns) as f64;
            let high = (PANEL - gaps(down) - label * down as f64) / (down * rows) as f64;
            let cell = wide.min(high).min(LARGEST);
            Self { across, cell, label }
        };
        (1..=slices.len())
            .map(fitting)
            .max_by(|one, other| {
                one.cell.total_cmp(&other.cell).then(other.across.cmp(&one.across))
            })
            .filter(|best| best.cell >= 1.0)
            // Too many slices to fit, so the picture grows.
            .unwrap_or_else(|| {
                let across = (slices.len() as f64 * rows as f64 / columns as f64).sqrt().ceil();
                Self { across: (across as usize).clamp(1, slices.len()), cell: 1.0, label }
            })
    }

    fn at(&self, number: usize, slice: &Slice) -> (f64, f64) {
        let (column, row) = (number % self.across, number / self.across);
        (
            LEFT + column as f64 * (slice.columns as f64 * self.cell + GAP),
            row as f64 * (slice.rows as f64 * self.cell + GAP + self.label) + self.label,
        )
    }
}

/// The sides of the drawn part of a grid: all of it, or a corner in which cells are large enough.
pub(super) fn shown(dims: &[usize]) -> Vec<usize> {
    let mut shown = dims.to_vec();
    let is_small = |shown: &[usize]| {
        let outer = &shown[..shown.len().saturating_sub(2)];
        let count = outer.iter().fold(1usize, |all, side| all.saturating_mul(*side));
        count > MOST_SLICES || Arrangement::of(&slices(shown)).cell < LEAST
    };
    while let Some(longest) = shown.iter_mut().max().filter(|side| **side > 1) {
        let shorter = *longest - longest.div_ceil(8);
        if !is_small(&shown) {
            break;
        }
        *shown.iter_mut().max().expect("there is one") = shorter;
    }
    shown
}

/// The corner of a grid with these sides.
pub(super) fn corner(dims: &[usize], shown: &[usize], places: &VertexPlacement) -> VertexPlacement {
    let cells = |groups: &[u32]| -> Vec<u32> {
        let inside = |cell: &usize| {
            let mut rest = *cell;
            dims.iter().zip(shown).rev().all(|(side, shown)| {
                let coordinate = rest % side;
                rest /= side;
                coordinate < *shown
            })
        };
        (0..groups.len()).filter(inside).map(|cell| groups[cell]).collect()
    };
    let levels = |levels: &[Vec<u32>]| levels.iter().map(|groups| cells(groups)).collect();
    VertexPlacement {
        nodes: cells(&places.nodes),
        above: levels(&places.above),
        below: levels(&places.below),
    }
}

/// Draws a grid with the node of each cell; `colors` has one color per node.
pub(super) fn panel(dims: &[usize], places: &VertexPlacement, colors: &[Rgb]) -> Panel {
    let node_of = &places.nodes[..];
    let slices = slices(dims);
    // The last slice of a line may be shorter than the first, whose size counts.
    let arrangement = Arrangement::of(&slices);
    let cell = arrangement.cell;
    let mut areas = vec![String::new(); colors.len()];
    let (mut lines, mut borders) = (String::new(), String::new());
    let (mut above, mut below) =
        (vec![String::new(); places.above.len()], vec![String::new(); places.below.len()]);
    let mut labels = Group::new();
    let (mut width, mut height) = (0f64, 0f64);
    for (number, slice) in slices.iter().enumerate() {
        let (x, y) = arrangement.at(number, &slices[0]);
        let at = |row: usize, column: usize| {
            (round(x + column as f64 * cell), round(y + row as f64 * cell))
        };
        paint(slice, node_of, at, cell, &mut areas);
        draw_borders(slice, node_of, at, &mut lines, &mut borders);
        let levels = places.above.iter().zip(&mut above);
        for (group_of, path) in levels.chain(places.below.iter().zip(&mut below)) {
            draw_borders(slice, group_of, at, &mut String::new(), path);
        }
        if !slice.label.is_empty() {
            let words = text(&slice.label, (x, y - 4.0), 11.0, false);
            labels = labels.add(words.set("class", "ticks"));
        }
        for name in names(slice, node_of, cell) {
            let (left, top) = at(name.row, name.column);
            let middle = left + name.cells as f64 * cell / 2.0;
            let ink = if colors[name.node as usize].is_light() { "black" } else { "white" };
            let base = top + cell / 2.0 + 0.35 * name.size;
            let words = name.node.to_string();
            labels = labels.add(text(&words, (middle, base), name.size, true).set("fill", ink));
        }
        if number % arrangement.across == 0 {
            labels = rows_numbered(labels, slice, at, cell);
        }
        if number + arrangement.across >= slices.len() {
            labels = columns_numbered(labels, slice, at, cell);
        }
        width = width.max(x + slice.columns as f64 * cell);
        height = height.max(y + slice.rows as f64 * cell);
    }
    if let Some(last) = dims.len().checked_sub(1) {
        let name = |dimension: usize| format!("dimension {dimension} →");
        let across = text(&name(last), (LEFT, height + 27.0), 11.0, false);
        labels = labels.add(across.set("class", "ticks"));
        if last > 0 {
            let top = slices.first().map_or(0.0, |slice| arrangement.at(0, slice).1);
            let down = text(&name(last - 1), (0.0, 0.0), 11.0, false);
            let turned = format!("translate(4 {}) rotate(90)", round(top));
            labels = labels.add(down.set("class", "ticks").set("transform", turned));
        }
    }
    let height = height + BELOW;
    let mut group = Group::new();
    for (area, color) in areas.iter().zip(colors).filter(|(area, _)| !area.is_empty()) {
        group = group.add(Path::new().set("d", area.as_str()).set("fill", color.hex()));
    }
    let stroke = |path: &str, width: f64, opacity: f64| {
        Path::new()
            .set("d", path)
            .set("fill", "none")
            .set("stroke", "black")
            .set("stroke-width", round(width))
            .set("stroke-opacity", opacity)
            .set("stroke-linecap", "square")
    };
    if cell >= 5.0 {
        group = group.add(stroke(&lines, 0.5, 0.25));
    }
    let width_of_nodes = (cell / 6.0).clamp(0.5, 2.5);
    for path in &below {
        group = group.add(stroke(path, width_of_nodes / 2.0, 0.7));
    }
    group = group.add(stroke(&borders, width_of_nodes, 1.0));
    // The outermost level is drawn last, on top of the others, and with the thickest lines.
    for (path, up) in above.iter().rev().zip(1..) {
        group = group.add(stroke(path, width_of_nodes * f64::from(1 + up), 1.0));
    }
    let group = group.add(labels);
    Panel { group, width, height }
}

/// Adds the coordinates of rows to the left of a slice.
fn rows_numbered(
    labels: Group,
    slice: &Slice,
    at: impl Fn(usize, usize) -> (f64, f64),
    cell: f64,
) -> Group {
    let step = step(cell, 14.0);
    let numbered =
        (0..slice.rows).filter(|row| (slice.row + row).is_multiple_of(step) && slice.rows > 1);
    numbered.fold(labels, |labels, row| {
        let (x, y) = at(row, 0);
        let number =
            text(&(slice.row + row).to_string(), (x - 5.0, y + cell / 2.0 + 4.0), 11.0, false);
        labels.add(number.set("class", "ticks").set("text-anchor", "end"))
    })
}

/// The numbers of columns, below the picture.
fn columns_numbered(
    labels: Group,
    slice: &Slice,
    at: impl Fn(usize, usize) -> (f64, f64),
    cell: f64,
) -> Group {
    let step = step(cell, 24.0);
    let numbered = (0..slice.columns).filter(|column| (slice.column + column).is_multiple_of(step));
    numbered.fold(labels, |labels, column| {
        let (x, y) = at(slice.rows, column);
        let number = (slice.column + column).to_string();
        labels.add(text(&number, (x + cell / 2.0, y + 12.0), 11.0, true).set("class", "ticks"))
    })
}

/// Adds the cells of a slice to the areas of their nodes, one run of a row at a time.
fn paint(
    slice: &Slice,
    node_of: &[u32],
    at: impl Fn(usize, usize) -> (f64, f64),
    cell: f64,
    areas: &mut [String],
) {
    for row in 0..slice.rows {
        for (node, column, cells) in runs(slice, node_of, row) {
            let (x, y) = at(row, column);
            let (wide, high) = (round(cells as f64 * cell), round(cell));
            let _ = write!(areas[node as usize], "M{x} {y}h{wide}v{high}h-{wide}z");
        }
    }
}

/// The runs of cells of one node in a row of a slice: node, first column and length.
fn runs(slice: &Slice, node_of: &[u32], row: usize) -> Vec<(u32, usize, usize)> {
    let mut runs: Vec<(u32, usize, usize)> = Vec::new();
    for column in 0..slice.columns {
        let node = node_of[slice.cell(row, column)];
        match runs.last_mut() {
            Some((same, _, cells)) if *same == node => *cells += 1,
            _ => runs.push((node, column, 1)),
        }
    }
    runs
}

/// Adds the sides of cells to `lines`, and the sides between two nodes or at an end to `borders`.
fn draw_borders(
    slice: &Slice,
    node_of: &[u32],
    at: impl Fn(usize, usize) -> (f64, f64),
    lines: &mut String,
    borders: &mut String,
) {
    let (rows, columns) = (slice.rows, slice.columns);
    let node = |row: usize, column: usize| node_of[slice.cell(row, column)];
    let draw = |path: &mut String, (x, y): (f64, f64), (to_x, to_y): (f64, f64)| {
        let _ = write!(path, "M{x} {y}L{to_x} {to_y}");
    };
    // The sides above each row, and below the last: consecutive sides of the same kind are one stroke.
    for row in 0..=rows {
        let differs =
            |column: usize| row == 0 || row == rows || node(row - 1, column) != node(row, column);
        draw(lines, at(row, 0), at(row, columns));
        strokes(columns, differs, |from, to| draw(borders, at(row, from), at(row, to)));
    }
    for column in 0..=columns {
        let differs = |row: usize| {
            column == 0 || column == columns || node(row, column - 1) != node(row, column)
        };
        draw(lines, at(0, column), at(rows, column));
        strokes(rows, differs, |from, to| draw(borders, at(from, column), at(to, column)));
    }
}

/// Calls `stroke(from, to)` for every maximal range of `0..count` in which `drawn` is true.
fn strokes(count: usize, drawn: impl Fn(usize) -> bool, mut stroke: impl FnMut(usize, usize)) {
    let mut from = None;
    for i in 0..=count {
        match (from, i < count && drawn(i)) {
            (None, true) => from = Some(i),
            (Some(start), false) => {
                stroke(start, i);
                from = None;
            }
            _ => {}
        }
    }
}

/// The number of a node, drawn over some cells of a row.
struct Name {
    node: u32,
    row: usize,
    column: usize,
    cells: usize,
    size: f64,
}

/// The positions of the numbers of nodes: one in each connected part of a node in the slice, if there is space for it.
fn names(slice: &Slice, node_of: &[u32], cell: f64) -> Vec<Name> {
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

#[cfg(test)]
mod tests;
