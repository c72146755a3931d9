//! A grid as text for a terminal: the number of each cell's node on its color.

use std::fmt::Write;

use anstyle::{Color, RgbColor, Style};

use super::colors::{self, Rgb};
use super::slices::{Slice, axes, slices_of};

/// The largest number of cells of a grid that is drawn as text.
pub const MOST_CELLS: usize = 8192;

/// Columns between pictures side by side, and between slices.
const GAP: usize = 3;
const BETWEEN: usize = 2;

/// One placement of a grid to draw.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The title above the picture.
    pub title: &'a str,
    /// The node of each cell.
    pub node_of: &'a [u32],
}

/// Adds a row of a slice to a line, with `wide` columns per cell.
fn paint(
    line: &mut String,
    slice: &Slice,
    row: usize,
    wide: usize,
    node_of: &[u32],
    colors: &[Rgb],
) {
    for column in 0..slice.columns {
        let node = node_of[slice.cell(row, column)];
        let color = colors[node as usize];
        let Rgb(red, green, blue) = color;
        let ink = if color.is_light() { RgbColor(0, 0, 0) } else { RgbColor(255, 255, 255) };
        let style = Style::new()
            .bg_color(Some(Color::Rgb(RgbColor(red, green, blue))))
            .fg_color(Some(Color::Rgb(ink)));
        let number = format!("{node:>digits$}", digits = (wide - 1).max(1));
        let _ = write!(line, "{style}{number:<wide$}{style:#}");
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Draws placements of a grid on a number of columns, side by side or stacked, whichever takes fewer lines. The writer
/// strips escape sequences if colors are not wanted. `None` if the grid is too large for a terminal.
pub fn draw(dims: &[usize], views: &[View], width: usize) -> Option<String> {
    let places: Vec<&[u32]> = views.iter().map(|view| view.node_of).collect();
    let last = places.iter().flat_map(|nodes| nodes.iter()).max()?;
    if places[0].len() > MOST_CELLS {
        return None;
    }
    let colors = colors::of_nodes(dims, &places);
    let beside = ((width + GAP) / views.len()).saturating_sub(GAP);
    let digits = digits(*last as usize);
    // One-digit numbers need no space between them.
    let widths = [digits + 1, 1];
    let widths = &widths[..if digits == 1 { 2 } else { 1 }];
    let fitting = |room: usize| {
        widths.iter().find_map(|wide| {
            views
                .iter()
                .map(|view| Panel::draw(dims, view, *wide, &colors, room))
                .collect::<Option<Vec<_>>>()
        })
    };
    let panels = fitting(width)?;
    let below: Vec<String> =
        panels.iter().map(|panel| abreast(std::slice::from_ref(panel))).collect();
    let below = below.join("\n");
    let beside = fitting(beside).map(|panels| abreast(&panels));
    let drawn =
        beside.filter(|beside| beside.lines().count() <= below.lines().count()).unwrap_or(below);
    let words =
        format!("Each number is a process and names its node. {}", axes(dims)).replace(". ", ".\n");
    Some(format!("{words}\n\n{drawn}"))
}

/// The lines of one picture, each with its number of columns.
struct Panel {
    lines: Vec<(String, usize)>,
}

/// Places panels side by side.
fn abreast(panels: &[Panel]) -> String {
    let widths: Vec<usize> = panels.iter().map(Panel::width).collect();
    let mut text = String::new();
    for line in 0..panels.iter().map(|panel| panel.lines.len()).max().unwrap_or(0) {
        let mut column = 0;
        let mut start = 0;
        for (panel, width) in panels.iter().zip(&widths) {
            if let Some((words, taken)) = panel.lines.get(line).filter(|(_, taken)| *taken > 0) {
                text.push_str(&" ".repeat(start - column));
                text.push_str(words);
                column = start + taken;
            }
            start += width + GAP;
        }
        text.push('\n');
    }
    text
}

impl Panel {
    fn width(&self) -> usize {
        self.lines.iter().map(|(_, taken)| *taken).max().unwrap_or(0)
    }

    /// `None` if the picture does not fit.
    fn draw(dims: &[usize], view: &View, wide: usize, colors: &[Rgb], room: usize) -> Option<Self> {
        let rows = if let [.., rows, _] = dims { *rows } else { 1 };
        // The columns for the numbers of rows.
        let gutter = if rows > 1 { digits(rows - 1) + 1 } else { 0 };
        let room = room.checked_sub(gutter)?;
        let slices = slices_of(dims, (room / wide).min(64));
        let label = slices.iter().map(|slice| slice.label.len()).max().unwrap_or(0);
        let slice_width = (wide * slices[0].columns).max(label);
        let across = (room + BETWEEN) / (slice_width + BETWEEN);
        if across == 0 {
            return None;
        }
        let mut panel = Self { lines: Vec::new() };
        panel.push(view.title.to_owned());
        for group in slices.chunks(across) {
            let mut words = |of: &dyn Fn(&Slice) -> String| {
                let mut line = " ".repeat(gutter);
                group.iter().for_each(|slice| {
                    let _ = write!(line, "{:<slice_width$}{:BETWEEN$}", of(slice), "");
                });
                panel.push(line.trim_end().to_owned());
            };
            if label > 0 {
                words(&|slice| slice.label.clone());
            }
            words(&|slice| numbers(slice, wide));
            let first = group[0].row;
            let numbered = gutter > 0 && group.iter().all(|slice| slice.row == first);
            for row in 0..group.iter().map(|slice| slice.rows).max().unwrap_or(0) {
                let mut line = match numbered {
                    true => format!("{:>1$} ", first + row, gutter - 1),
                    false => " ".repeat(gutter),
                };
                let mut column = gutter;
                for (at, slice) in group.iter().enumerate().filter(|(_, slice)| row < slice.rows) {
                    let start = gutter + at * (slice_width + BETWEEN);
                    line.push_str(&" ".repeat(start - column));
                    paint(&mut line, slice, row, wide, view.node_of, colors);
                    column = start + wide * slice.columns;
                }
                panel.lines.push((line, column));
            }
        }
        Some(panel)
    }

    fn push(&mut self, words: String) {
        let columns = words.len();
        self.lines.push((words, columns));
    }
}

/// The coordinates along the columns of a slice, if there is space for them.
fn numbers(slice: &Slice, wide: usize) -> String {
    let last = slice.column + slice.columns - 1;
    let steps = [1, 5, 10, 20, 50, 100].into_iter().skip(usize::from(slice.columns > 10));
    let step = steps.into_iter().find(|step| step * wide > digits(last)).unwrap_or(1000);
    let mut words = String::new();
    for column in (slice.column..=last).filter(|column| column % step == 0) {
        let (at, number) = (wide * (column - slice.column), column.to_string());
        if at + number.len() <= wide * slice.columns {
            words.push_str(&" ".repeat(at - words.len()));
            words.push_str(&number);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(dims: &[usize], views: &[&[u32]], width: usize) -> String {
        let views: Vec<View> =
            views.iter().map(|node_of| View { title: "view", node_of }).collect();
        let text = draw(dims, &views, width).unwrap();
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn views_are_side_by_side_if_they_fit() {
        let (before, after) = ([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]);
        let beside = "\
Each number is a process and names its node.
Down: dimension 0, across: dimension 1.

view         view
  0 1 2 3      0 1 2 3
0 0 0 0 0    0 0 0 1 1 
1 1 1 1 1    1 0 0 1 1 
";
        assert_eq!(plain(&[2, 4], &[&before, &after], 30), beside);
        let below = plain(&[2, 4], &[&before, &after], 14);
        assert_eq!(below.lines().filter(|line| *line == "view").count(), 2, "{below}");
        assert!(below.contains("\n1 1 1 1 1 \n\nview\n"), "{below}");
        // Cells become narrower before pictures are stacked.
        assert!(plain(&[2, 4], &[&before, &after], 15).contains("0 0000   0 0011\n"));
        assert_eq!(draw(&[2, 4], &[View { title: "", node_of: &before }], 5), None);
    }

    #[test]
    fn a_picture_too_wide_is_not_drawn() {
        let many: Vec<u32> = (0..100).collect();
        let view = View { title: "", node_of: &many };
        assert!(draw(&[10, 10], &[view], 32).is_some());
        assert_eq!(draw(&[10, 10], &[view], 31), None);
    }

    #[test]
    fn slices_have_their_coordinates() {
        let text = plain(&[2, 1, 2], &[&[0, 0, 1, 2]], 80);
        let drawn = "view\n(0, ., .)  (1, ., .)\n0 1        0 1\n0 0        1 2 \n";
        assert!(text.ends_with(drawn), "{text}");
        let long: Vec<u32> = (0..130).map(|cell| cell / 65).collect();
        let text = plain(&[130], &[&long], 130);
        assert!(text.contains("\n128 to 129 of dimension 0\n"), "{text}");
        assert_eq!(draw(&[8193], &[View { title: "", node_of: &[0; 8193] }], 80), None);
    }
}
