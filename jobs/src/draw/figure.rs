//! A pair of pictures, before and after, with a title and a legend.

use cartograph_core::machine::LevelKind;
use cartograph_core::mapping::Cost;
use cartograph_core::report::{AtLeast, Change, LevelEffect, VertexPlacement};
use svg::Document;
use svg::node::Text as Words;
use svg::node::element::{Description, Group, Rectangle, Style, Text, Title};

use super::panel::{Panel, round, text};
use super::slices::axes;
use super::{grid, matrix};

/// A picture with more cells of a matrix is illegible.
const MOST_CELLS: usize = 1 << 18;

/// The caption of two pictures side by side.
#[derive(Debug, Clone)]
pub struct Caption {
    /// The unit of the costs: "edges" or "bytes".
    pub weighs: &'static str,
    /// The subject of the pictures, in words: a grid or graph, and its nodes.
    pub subject: String,
    /// The algorithm that found the mapping in the right picture.
    pub algorithm: String,
    /// The cost in the left picture.
    pub before: Cost,
    /// The cost in the right picture.
    pub after: Cost,
    /// A lower bound on the edges between nodes, for any mapping.
    pub lower_bound: i64,
    /// The effect at the levels above and below the nodes.
    pub levels: Vec<LevelEffect>,
}

const MARGIN: f64 = 24.0;
/// The height of the title with its first line of figures, and of each further line.
const TITLE: f64 = 84.0;
const FURTHER: f64 = 21.0;
/// The height of a line of the legend, and the margin around everything.
const LINE: f64 = 18.0;
const LEGEND: f64 = 30.0;
/// Titles need space, however small the pictures are.
const LEAST_WIDTH: f64 = 860.0;

/// From this ratio of width to height on, pictures are stacked.
const WIDE: f64 = 2.0;

/// Styles of elements on the background, with a dark variant. Nodes keep their colors, and borders between nodes stay
/// black.
const STYLE: &str = "\
.paper{fill:#fff}.ink{fill:#000}.ticks{fill:#666}\
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}.ink{fill:#e6edf3}.ticks{fill:#9aa4af}}";

/// A figure on a [`sheet`].
#[derive(Debug, Clone)]
pub struct Figure {
    group: Group,
    width: f64,
    height: f64,
    /// Its title and its description, for readers who cannot see it.
    words: [String; 2],
}

/// Breaks text into lines that fit a width in pixels, by the mean width of a letter.
fn wrapped(words: &str, size: f64, width: f64) -> Vec<String> {
    let room = (width / (0.54 * size)) as usize;
    let mut lines = vec![String::new()];
    for word in words.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The same on paper.
fn on_paper(words: &str, at: (f64, f64), size: f64) -> Text {
    text(words, at, size, false).set("class", "ink")
}

impl Figure {
    /// A grid with the node of each cell, before and after; for a large grid, only a corner.
    pub fn grids(
        caption: &Caption,
        dims: &[usize],
        before: &VertexPlacement,
        after: &VertexPlacement,
    ) -> Self {
        let shown = grid::shown(dims);
        let [before, after] = [before, after].map(|places| grid::corner(dims, &shown, places));
        let colors = super::colors::of_nodes(&shown, &[&before.nodes, &after.nodes]);
        let panels = [&before, &after].map(|places| grid::panel(&shown, places, &colors));
        let mut square =
            "A square is a process. Color, number and thick borders: its node.".to_owned();
        if !before.above.is_empty() {
            square.push_str(" Thicker borders: groups of nodes.");
        }
        if !before.below.is_empty() {
            square.push_str(" Thin borders: parts of nodes.");
        }
        let mut legend = vec![square, axes(&shown)];
        if shown != dims {
            legend.push(format!(
                "Only a corner is drawn, {} of {} processes; numbers are for all.",
                sides(&shown),
                sides(dims)
            ));
        }
        Self::compose(caption, panels, legend, None)
    }

    /// The traffic from each node (row) to each node (column), before and after: square matrices of one size. `None` if
    /// there is nothing to draw, or too much.
    pub fn matrices(caption: &Caption, before: &[Vec<i64>], after: &[Vec<i64>]) -> Option<Self> {
        let nodes = before.len();
        if nodes == 0 || nodes.saturating_mul(nodes) > MOST_CELLS {
            return None;
        }
        let scale = matrix::Scale::of(before, after);
        let panels = [matrix::panel(before, &scale), matrix::panel(after, &scale)];
        let legend = format!(
            "Row: the node that sends. Column: the node that receives. Color: {}. Gray: within the node.",
            caption.weighs
        );
        Some(Self::compose(caption, panels, vec![legend], Some(&scale)))
    }

    /// The traffic from each row to each column of one matrix. `None` as for [`matrices`](Self::matrices).
    pub fn matrix(title: &str, legend: &str, matrix: &[Vec<i64>]) -> Option<Self> {
        let count = matrix.len();
        if count == 0 || count.saturating_mul(count) > MOST_CELLS {
            return None;
        }
        let scale = matrix::Scale::of(matrix, matrix);
        let panel = matrix::panel(matrix, &scale);
        let width = panel.width.max(LEAST_WIDTH) + 2.0 * MARGIN;
        let titles = wrapped(title, 18.0, width - 2.0 * MARGIN);
        let top = TITLE + FURTHER * (titles.len() - 1) as f64;
        let height = top + panel.height + LINE + LEGEND;
        let mut group = Group::new();
        for (line, words) in titles.iter().enumerate() {
            let title = on_paper(words, (MARGIN, 26.0 + FURTHER * line as f64), 18.0);
            group = group.add(title.set("font-weight", "bold"));
        }
        let group = group
            .add(panel.group.set("transform", format!("translate({MARGIN} {top})")))
            .add(on_paper(legend, (MARGIN, height - 16.0), 13.0))
            .add(scale.legend((width - MARGIN, top - 32.0)));
        Some(Self { group, width, height, words: [title.to_owned(), legend.to_owned()] })
    }

    /// Two panels, side by side or stacked, below a heading and above a legend.
    fn compose(
        caption: &Caption,
        panels: [Panel; 2],
        legend: Vec<String>,
        scale: Option<&matrix::Scale>,
    ) -> Self {
        let [left, right] = panels;
        let is_wide =
            |panel: &Panel| panel.width > LEAST_WIDTH / 2.0 && panel.width > WIDE * panel.height;
        let stacked = is_wide(&left) && is_wide(&right);
        let beside = 2.0 * MARGIN + left.width.max(LEAST_WIDTH / 2.0);
        let wide = match stacked {
            true => MARGIN + left.width.max(right.width).max(LEAST_WIDTH),
            false => beside + right.width.max(LEAST_WIDTH / 2.0),
        };
        let room = wide - MARGIN;
        let figures = caption.figures();
        let (heading, lines) = heading(&caption.subject, &figures, room);
        let top = TITLE + FURTHER * lines.saturating_sub(2) as f64;
        let (second, high) = if stacked {
            let below = top + left.height + 26.0 + MARGIN;
            ((MARGIN, below), below + right.height)
        } else {
            ((beside, top), top + left.height.max(right.height))
        };
        let after = match &caption.algorithm[..] {
            "none" => "After: unchanged, no better order found".to_owned(),
            algorithm => format!("After: {algorithm}"),
        };
        let mut group = heading
            .add(titled("Before: default rank order", (MARGIN, top), left))
            .add(titled(&after, second, right));
        let legend: Vec<String> =
            legend.iter().flat_map(|words| wrapped(words, 13.0, room)).collect();
        for (line, words) in legend.iter().enumerate() {
            let y = high + LEGEND + LINE * line as f64;
            group = group.add(on_paper(words, (MARGIN, y), 13.0));
        }
        let below = LINE * legend.len() as f64 + if scale.is_some() { 2.0 * LINE } else { 0.0 };
        let height = high + below + LEGEND;
        if let Some(scale) = scale {
            group = group.add(scale.legend((MARGIN + scale.width(), height - 26.0)));
        }
        let words = format!("{figures}. {after}. {}", legend.join(" "));
        Self { group, width: wide + MARGIN, height, words: [caption.subject.clone(), words] }
    }
}

/// A bold title and the figures below it, each wrapped to this width, and the number of their lines.
fn heading(title: &str, figures: &str, width: f64) -> (Group, usize) {
    let titles = wrapped(title, 18.0, width).into_iter().map(|line| (line, true));
    let figures = wrapped(figures, 16.0, width).into_iter().map(|line| (line, false));
    let lines: Vec<(String, bool)> = titles.chain(figures).collect();
    let mut group = Group::new();
    for (line, (words, is_title)) in lines.iter().enumerate() {
        let y = 26.0 + 23.0 * line.min(1) as f64 + FURTHER * line.saturating_sub(1) as f64;
        let words = on_paper(words, (MARGIN, y), if *is_title { 18.0 } else { 16.0 });
        group = group.add(if *is_title { words.set("font-weight", "bold") } else { words });
    }
    (group, lines.len())
}

/// A panel with a title above its upper left corner.
fn titled(words: &str, (x, y): (f64, f64), panel: Panel) -> Group {
    let moved = format!("translate({} {})", round(x), round(y));
    let title = on_paper(words, (x, y - 10.0), 15.0);
    Group::new().add(title).add(panel.group.set("transform", moved))
}

/// "50 x 48".
fn sides(dims: &[usize]) -> String {
    dims.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
}

impl Caption {
    /// The differences between the pictures, in the words of a report.
    fn figures(&self) -> String {
        let (before, after, weighs) = (self.before, self.after, self.weighs);
        let figures = format!(
            "{weighs} of the busiest node {}; between nodes {}{}",
            Change(before.max_node_edges, after.max_node_edges),
            Change(before.inter_node_edges, after.inter_node_edges),
            AtLeast(self.lower_bound)
        );
        let others = self.levels.iter().filter(|level| level.name != LevelKind::Node.to_string());
        let figures = others.fold(figures, |figures, level| {
            let change = Change(level.before.edges, level.after.edges);
            figures + &format!("; between {} {change}", level.name)
        });
        figures.replace("->", "→")
    }
}

/// A figure as the text of an SVG file.
pub fn sheet(figure: Figure) -> String {
    let Figure { group, width, height, words: [title, description] } = figure;
    let (width, height) = (width.ceil(), height.ceil());
    let paper = Rectangle::new().set("width", width).set("height", height).set("fill", "white");
    let document = Document::new()
        .set("width", width)
        .set("height", height)
        .set("viewBox", (0, 0, width, height))
        .set("role", "img")
        .set("font-family", "sans-serif")
        .add(Title::new(title))
        .add(Description::new().add(Words::new(description)))
        .add(Style::new(STYLE))
        .add(paper.set("class", "paper"))
        .add(group);
    document.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_cut_off() {
        let words =
            "edges of the busiest node 96 -> 30 (-69 %); between nodes 2304 -> 720; ".repeat(9);
        for (size, width) in [(16.0, 860.0), (13.0, 400.0)] {
            let lines = wrapped(&words, size, width);
            assert!(lines.len() > 3);
            assert!(lines.iter().all(|line| line.chars().count() as f64 * 0.54 * size <= width));
            assert_eq!(lines.join(" "), words);
        }
        assert_eq!(wrapped("one", 16.0, 1.0), ["one"]);
    }
}
