//! A grid as text for a terminal: a name and a color for each node.

use std::fmt::Write;

use anstyle::{Color, RgbColor, Style};

use super::colors::{self, Rgb};
use super::slices::{Slice, axes, slices_of};

/// The largest number of cells of a grid that is drawn as text.
pub const MOST_CELLS: usize = 8192;

/// Columns between pictures side by side, and between slices.
const GAP: usize = 3;
const BETWEEN: usize = 2;

const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// One placement of a grid to be drawn.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The title above the picture.
    pub title: &'a str,
    /// The node of each cell.
    pub node_of: &'a [u32],
}

/// What nodes are called in a picture: each has a name of its own.
#[derive(Clone, Copy)]
enum Naming {
    Numbers,
    Letters,
}

/// How cells are drawn: their names, and on how many columns.
#[derive(Clone, Copy)]
struct Cells {
    naming: Naming,
    wide: usize,
}

impl Cells {
    /// All ways that there are for so many nodes, the clearest first.
    fn all(nodes: usize) -> Vec<Self> {
        let digits = digits(nodes.saturating_sub(1));
        let mut all = vec![Self { naming: Naming::Numbers, wide: digits + 1 }];
        if digits == 1 {
            all.push(Self { naming: Naming::Numbers, wide: 1 });
        } else if nodes <= LETTERS.len() {
            all.extend([2, 1].map(|wide| Self { naming: Naming::Letters, wide }));
        }
        all
    }

    fn name(self, node: u32) -> String {
        match self.naming {
            Naming::Numbers => format!("{node:>wide$}", wide = (self.wide - 1).max(1)),
            Naming::Letters => char::from(LETTERS[node as usize]).to_string(),
        }
    }

    /// Adds a row of a slice to a line.
    fn paint(self, line: &mut String, slice: &Slice, row: usize, node_of: &[u32], colors: &[Rgb]) {
        for column in 0..slice.columns {
            let node = node_of[slice.cell(row, column)];
            let color = colors[node as usize];
            let Rgb(red, green, blue) = color;
            let ink = if color.is_light() { RgbColor(0, 0, 0) } else { RgbColor(255, 255, 255) };
            let style = Style::new()
                .bg_color(Some(Color::Rgb(RgbColor(red, green, blue))))
                .fg_color(Some(Color::Rgb(ink)));
            let _ = write!(line, "{style}{:<wide$}{style:#}", self.name(node), wide = self.wide);
        }
    }

    /// What its names are.
    fn words(self, nodes: usize) -> String {
        match self.naming {
            Naming::Numbers => "Each number is a process: that of its node.".to_owned(),
            Naming::Letters => format!(
                "Each letter is a process: node 0 is A, node {} is {}.",
                nodes - 1,
                self.name(nodes as u32 - 1)
            ),
        }
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Draws ways to place a grid on nodes on so many columns, side by side or below each other, whichever takes fewer
/// lines, each cell as the name of its node on its color. Escape sequences are for the writer to strip where colors are not wanted; names are
/// enough without. `None` if it is too large for a terminal.
pub fn draw(dims: &[usize], views: &[View], width: usize) -> Option<String> {
    let places: Vec<&[u32]> = views.iter().map(|view| view.node_of).collect();
    let nodes =
        places.iter().flat_map(|nodes| nodes.iter()).max().map_or(0, |most| *most as usize + 1);
    if nodes == 0 || places[0].len() > MOST_CELLS {
        return None;
    }
    let colors = colors::of_nodes(dims, &places);
    let beside = ((width + GAP) / views.len()).saturating_sub(GAP);
    let ways = Cells::all(nodes);
    let fitting = |room: usize| {
        ways.iter().find_map(|cells| {
            let panels: Option<Vec<Panel>> =
                views.iter().map(|view| Panel::draw(dims, view, *cells, &colors, room)).collect();
            Some((*cells, panels?))
        })
    };
    let (cells, panels) = fitting(width)?;
    let below: Vec<String> =
        panels.iter().map(|panel| abreast(std::slice::from_ref(panel))).collect();
    let below = (cells, below.join("\n"));
    let beside = fitting(beside).map(|(cells, panels)| (cells, abreast(&panels)));
    let lines = |(_, drawn): &(Cells, String)| drawn.lines().count();
    let (cells, drawn) = beside.filter(|beside| lines(beside) <= lines(&below)).unwrap_or(below);
    let words = format!("{} {}", cells.words(nodes), axes(dims)).replace(". ", ".\n");
    Some(format!("{words}\n\n{drawn}"))
}

/// Lines of one picture, each with how many columns it takes.
struct Panel {
    lines: Vec<(String, usize)>,
}

/// Panels next to each other.
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

    /// `None` if it does not fit.
    fn draw(
        dims: &[usize],
        view: &View,
        cells: Cells,
        colors: &[Rgb],
        room: usize,
    ) -> Option<Self> {
        let rows = if let [.., rows, _] = dims { *rows } else { 1 };
        // For the numbers of rows.
        let gutter = if rows > 1 { digits(rows - 1) + 1 } else { 0 };
        let room = room.checked_sub(gutter)?;
        let slices = slices_of(dims, (room / cells.wide).min(64));
        let label = slices.iter().map(|slice| slice.label.len()).max().unwrap_or(0);
        let slice_width = (cells.wide * slices[0].columns).max(label);
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
            words(&|slice| numbers(slice, cells.wide));
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
                    cells.paint(&mut line, slice, row, view.node_of, colors);
                    column = start + cells.wide * slice.columns;
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

/// The coordinates along the columns of a slice, as many as there is room for.
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
    fn views_are_side_by_side_where_they_fit() {
        let (before, after) = ([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]);
        let beside = "\
Each number is a process: that of its node.
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
        // Narrower cells, before it is below each other.
        assert!(plain(&[2, 4], &[&before, &after], 15).contains("0 0000   0 0011\n"));
        assert_eq!(draw(&[2, 4], &[View { title: "", node_of: &before }], 5), None);
    }

    #[test]
    fn no_two_nodes_have_a_name_in_common() {
        for nodes in [1, 9, 10, 11, 62, 63, 100, 101, 2000] {
            for cells in Cells::all(nodes) {
                let mut names: Vec<String> =
                    (0..nodes as u32).map(|node| cells.name(node)).collect();
                assert!(names.iter().all(|name| name.len() <= cells.wide), "{nodes}");
                names.sort();
                names.dedup();
                assert_eq!(names.len(), nodes);
            }
        }
        let many: Vec<u32> = (0..240).map(|cell| cell % 40).collect();
        let text = plain(&[6, 40], &[&many], 45);
        assert!(text.contains("ABCDEF") && text.contains("node 39 is n"), "{text}");
        // Too many for letters, too wide for numbers.
        let many: Vec<u32> = (0..100).collect();
        assert_eq!(draw(&[10, 10], &[View { title: "", node_of: &many }], 20), None);
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
