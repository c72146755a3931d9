//! A grid in SVG: slices of cells colored by node, with borders and numbers of nodes.

use std::fmt::Write;
use std::mem;

use cartograph_core::report::VertexPlacement;
use svg::node::element::{Group, Path, Text};

use super::colors::Rgb;
use super::names::names;
use super::panel::{PANEL, Panel, round, step, text};
use super::slices::{Slice, slices};

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
    let slices = slices(dims);
    // The last slice of a line may be shorter than the first, whose size counts.
    let arrangement = Arrangement::of(&slices);
    let mut drawing = Drawing::new(places, colors, arrangement.cell);
    for (number, slice) in slices.iter().enumerate() {
        let corner = arrangement.at(number, &slices[0]);
        drawing.add(slice, corner);
        if number % arrangement.across == 0 {
            drawing.number_rows(slice, corner);
        }
        if number + arrangement.across >= slices.len() {
            drawing.number_columns(slice, corner);
        }
    }
    let top = slices.first().map_or(0.0, |slice| arrangement.at(0, slice).1);
    drawing.name_dimensions(dims.len(), top);
    drawing.panel()
}

/// The parts of a panel, each collected over all slices.
struct Drawing<'a> {
    places: &'a VertexPlacement,
    colors: &'a [Rgb],
    /// The side of a cell.
    cell: f64,
    /// The cells of each node.
    areas: Vec<String>,
    /// The sides of cells.
    lines: String,
    /// The borders of nodes, of groups of nodes, and of parts of nodes.
    borders: String,
    above: Vec<String>,
    below: Vec<String>,
    labels: Group,
    width: f64,
    height: f64,
}

impl<'a> Drawing<'a> {
    fn new(places: &'a VertexPlacement, colors: &'a [Rgb], cell: f64) -> Self {
        Self {
            places,
            colors,
            cell,
            areas: vec![String::new(); colors.len()],
            lines: String::new(),
            borders: String::new(),
            above: vec![String::new(); places.above.len()],
            below: vec![String::new(); places.below.len()],
            labels: Group::new(),
            width: 0.0,
            height: 0.0,
        }
    }

    /// Adds a slice with its upper left corner here.
    fn add(&mut self, slice: &Slice, (x, y): (f64, f64)) {
        let (cell, node_of) = (self.cell, &self.places.nodes[..]);
        let at = at((x, y), cell);
        paint(slice, node_of, at, cell, &mut self.areas);
        draw_borders(slice, node_of, at, &mut self.lines, &mut self.borders);
        let above = self.places.above.iter().zip(&mut self.above);
        for (group_of, path) in above.chain(self.places.below.iter().zip(&mut self.below)) {
            draw_borders(slice, group_of, at, &mut String::new(), path);
        }
        if !slice.label.is_empty() {
            let words = text(&slice.label, (x, y - 4.0), 11.0, false);
            self.label(words.set("class", "ticks"));
        }
        for name in names(slice, node_of, cell) {
            let (left, top) = at(name.row, name.column);
            let middle = left + name.cells as f64 * cell / 2.0;
            let is_light = self.colors[name.node as usize].is_light();
            let ink = if is_light { "black" } else { "white" };
            let base = top + cell / 2.0 + 0.35 * name.size;
            let words = name.node.to_string();
            self.label(text(&words, (middle, base), name.size, true).set("fill", ink));
        }
        self.width = self.width.max(x + slice.columns as f64 * cell);
        self.height = self.height.max(y + slice.rows as f64 * cell);
    }

    fn label(&mut self, words: Text) {
        self.labels = mem::take(&mut self.labels).add(words);
    }

    /// Adds the coordinates of rows to the left of a slice.
    fn number_rows(&mut self, slice: &Slice, corner: (f64, f64)) {
        let (at, step) = (at(corner, self.cell), step(self.cell, 14.0));
        let is_numbered = |row: &usize| (slice.row + row).is_multiple_of(step) && slice.rows > 1;
        for row in (0..slice.rows).filter(is_numbered) {
            let (x, y) = at(row, 0);
            let number = (slice.row + row).to_string();
            let words = text(&number, (x - 5.0, y + self.cell / 2.0 + 4.0), 11.0, false);
            self.label(words.set("class", "ticks").set("text-anchor", "end"));
        }
    }

    /// Adds the coordinates of columns below a slice.
    fn number_columns(&mut self, slice: &Slice, corner: (f64, f64)) {
        let (at, step) = (at(corner, self.cell), step(self.cell, 24.0));
        let is_numbered = |column: &usize| (slice.column + column).is_multiple_of(step);
        for column in (0..slice.columns).filter(is_numbered) {
            let (x, y) = at(slice.rows, column);
            let number = (slice.column + column).to_string();
            let words = text(&number, (x + self.cell / 2.0, y + 12.0), 11.0, true);
            self.label(words.set("class", "ticks"));
        }
    }

    /// Adds the names of the last two dimensions, below and beside the slices, which begin at `top`.
    fn name_dimensions(&mut self, ndims: usize, top: f64) {
        let Some(last) = ndims.checked_sub(1) else { return };
        let name = |dimension: usize| format!("dimension {dimension} →");
        let across = text(&name(last), (LEFT, self.height + 27.0), 11.0, false);
        self.label(across.set("class", "ticks"));
        if last > 0 {
            let down = text(&name(last - 1), (0.0, 0.0), 11.0, false);
            let turned = format!("translate(4 {}) rotate(90)", round(top));
            self.label(down.set("class", "ticks").set("transform", turned));
        }
    }

    /// All parts, those above others last.
    fn panel(self) -> Panel {
        let mut group = Group::new();
        let areas = self.areas.iter().zip(self.colors).filter(|(area, _)| !area.is_empty());
        for (area, color) in areas {
            group = group.add(Path::new().set("d", area.as_str()).set("fill", color.hex()));
        }
        if self.cell >= 5.0 {
            group = group.add(stroke(&self.lines, 0.5, 0.25));
        }
        let width_of_nodes = (self.cell / 6.0).clamp(0.5, 2.5);
        for path in &self.below {
            group = group.add(stroke(path, width_of_nodes / 2.0, 0.7));
        }
        group = group.add(stroke(&self.borders, width_of_nodes, 1.0));
        // The outermost level is drawn last, on top of the others, and with the thickest lines.
        for (path, up) in self.above.iter().rev().zip(1..) {
            group = group.add(stroke(path, width_of_nodes * f64::from(1 + up), 1.0));
        }
        Panel { group: group.add(self.labels), width: self.width, height: self.height + BELOW }
    }
}

/// The positions of cells in a slice with its upper left corner here.
fn at((x, y): (f64, f64), cell: f64) -> impl Fn(usize, usize) -> (f64, f64) + Copy {
    move |row, column| (round(x + column as f64 * cell), round(y + row as f64 * cell))
}

fn stroke(path: &str, width: f64, opacity: f64) -> Path {
    Path::new()
        .set("d", path)
        .set("fill", "none")
        .set("stroke", "black")
        .set("stroke-width", round(width))
        .set("stroke-opacity", opacity)
        .set("stroke-linecap", "square")
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

#[cfg(test)]
mod tests;
