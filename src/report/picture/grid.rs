//! A grid in SVG: slices of cells colored by node, with borders and numbers of nodes.

use std::fmt::Write;

use svg::node::element::{Group, Path};

use super::colors::Rgb;
use super::figure::{PANEL, Panel, round, text};
use super::slices::{Slice, slices};
use crate::report::Drawn;

/// The largest side of a cell, in pixels.
const LARGEST: f64 = 28.0;

/// Between slices, and for their labels, in pixels.
const GAP: f64 = 14.0;
const LABEL: f64 = 16.0;

/// Smaller numbers are left out.
const LEAST_FONT: f64 = 6.0;

/// Slices in rows and columns, so that they fill about a square.
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
            // Too many to fit: the picture grows instead.
            .unwrap_or_else(|| {
                let across = (slices.len() as f64 * rows as f64 / columns as f64).sqrt().ceil();
                Self { across: (across as usize).clamp(1, slices.len()), cell: 1.0, label }
            })
    }

    fn at(&self, number: usize, slice: &Slice) -> (f64, f64) {
        let (column, row) = (number % self.across, number / self.across);
        (
            column as f64 * (slice.columns as f64 * self.cell + GAP),
            row as f64 * (slice.rows as f64 * self.cell + GAP + self.label) + self.label,
        )
    }
}

/// Draws a grid with the place of each cell; `colors` has one for each node.
pub(super) fn panel(dims: &[usize], places: &Drawn, colors: &[Rgb]) -> Panel {
    let node_of = &places.nodes[..];
    let slices = slices(dims);
    // The last slice of a line may be shorter than the first, which counts.
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
            labels = labels.add(text(&slice.label, (x, y - 4.0), 11.0, false));
        }
        for name in names(slice, node_of, cell) {
            let (left, top) = at(name.row, name.column);
            let middle = left + name.cells as f64 * cell / 2.0;
            let ink = if colors[name.node as usize].is_light() { "black" } else { "white" };
            let base = top + cell / 2.0 + 0.35 * name.size;
            let words = name.node.to_string();
            labels = labels.add(text(&words, (middle, base), name.size, true).set("fill", ink));
        }
        width = width.max(x + slice.columns as f64 * cell);
        height = height.max(y + slice.rows as f64 * cell);
    }
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
    // The outermost is drawn last, over the others, and is the thickest.
    for (path, up) in above.iter().rev().zip(1..) {
        group = group.add(stroke(path, width_of_nodes * f64::from(1 + up), 1.0));
    }
    let group = group.add(labels);
    Panel { group, width, height }
}

/// Adds the cells of a slice to the areas of their nodes, neighbors in a row at once.
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

/// The runs of cells of one node in a row of a slice: node, first column, length.
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

/// Adds the sides of cells to `lines`, and those between two nodes or at an end to `borders`.
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
    // Above each row, and below the last: sides that are drawn alike are one stroke.
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

/// Calls `stroke(from, to)` for every longest range of `0..count` in which `drawn` holds.
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

/// The number of a node, to be written over some cells of a row.
struct Name {
    node: u32,
    row: usize,
    column: usize,
    cells: usize,
    size: f64,
}

/// Where the numbers of nodes are written: once in each connected part of a node in the slice, where
/// there is room for it.
fn names(slice: &Slice, node_of: &[u32], cell: f64) -> Vec<Name> {
    let (rows, columns) = (slice.rows, slice.columns);
    let mut seen = vec![false; rows * columns];
    let mut names = Vec::new();
    for start in 0..seen.len() {
        if seen[start] {
            continue;
        }
        let node = node_of[slice.first + start];
        let mut part = vec![start];
        seen[start] = true;
        let mut next = 0;
        while let Some(&here) = part.get(next) {
            next += 1;
            let (row, column) = (here / columns, here % columns);
            let mut visit = |inside: bool, there: usize| {
                if inside && !seen[there] && node_of[slice.first + there] == node {
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

/// The best place for the number of a node in a connected part of it: a row that is long enough, as
/// near to the middle as can be. `part` is in ascending order.
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
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_painted_once_and_borders_part_nodes() {
        let dims = [3, 4];
        let node_of = [0, 0, 1, 1, 0, 2, 2, 1, 2, 2, 1, 1];
        let slice = &slices(&dims)[0];
        let at = |row: usize, column: usize| (column as f64, row as f64);
        let mut areas = vec![String::new(); 3];
        paint(slice, &node_of, at, 1.0, &mut areas);
        assert_eq!(areas[0], "M0 0h2v1h-2zM0 1h1v1h-1z");
        let (mut lines, mut borders) = (String::new(), String::new());
        draw_borders(slice, &node_of, at, &mut lines, &mut borders);
        assert!(
            borders.starts_with("M0 0L4 0M1 1L3 1M0 2L1 2M2 2L3 2M0 3L4 3M0 0L0 3"),
            "{borders}"
        );
        let mut named: Vec<u32> =
            names(slice, &node_of, 20.0).iter().map(|name| name.node).collect();
        named.sort_unstable();
        assert_eq!(named, [0, 1, 2]);
        assert!(names(slice, &node_of, 5.0).is_empty());
    }

    #[test]
    fn pictures_fit_their_panel() {
        for dims in
            [&[][..], &[1], &[100], &[5000], &[50, 48], &[12, 8, 8], &[3, 2, 4, 5], &[1000, 2]]
        {
            let cells: usize = dims.iter().product();
            let node_of: Vec<u32> = (0..cells).map(|cell| (cell / 4) as u32).collect();
            let colors = vec![Rgb(0, 0, 0); cells.div_ceil(4)];
            let above = vec![node_of.iter().map(|node| node / 3).collect()];
            let places = Drawn { nodes: node_of, above, below: Vec::new() };
            let panel = panel(dims, &places, &colors);
            let fits = |length: f64| {
                length > 0.0
                    && length <= PANEL.max(dims.iter().max().map_or(0, |m| *m) as f64 + 1.0)
            };
            assert!(fits(panel.width), "{dims:?}: {}", panel.width);
            assert!(fits(panel.height), "{dims:?}: {}", panel.height);
        }
    }
}
