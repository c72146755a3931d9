//! Two pictures side by side, before and after, with a title and a legend.

use svg::Document;
use svg::node::element::{Group, Rectangle, Text};

use super::{Caption, MOST_CELLS, grid, matrix};
use crate::mapping::Kind;
use crate::report::Drawn;

/// How wide each of the two pictures may be, in pixels.
pub(super) const PANEL: f64 = 720.0;

const MARGIN: f64 = 24.0;
const TITLE: f64 = 84.0;
const LEGEND: f64 = 44.0;
/// Titles need room, however small the pictures are.
const LEAST_WIDTH: f64 = 860.0;

/// Something to be placed on a sheet.
#[derive(Debug, Clone)]
pub struct Figure {
    group: Group,
    width: f64,
    height: f64,
}

/// One of the two pictures.
pub(super) struct Panel {
    pub(super) group: Group,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A line of text. `at` is its left end, or its middle if `middle`.
pub(super) fn text(words: &str, at: (f64, f64), size: f64, middle: bool) -> Text {
    let anchor = if middle { "middle" } else { "start" };
    Text::new(words)
        .set("x", round(at.0))
        .set("y", round(at.1))
        .set("font-size", round(size))
        .set("text-anchor", anchor)
}

/// Hundredths of a pixel are enough, and keep files small.
pub(super) fn round(pixels: f64) -> f64 {
    (pixels * 100.0).round() / 100.0
}

impl Figure {
    /// A grid with the place of each cell, before and after. `None` if it has too many cells.
    pub fn grids(caption: &Caption, dims: &[usize], before: &Drawn, after: &Drawn) -> Option<Self> {
        if before.nodes.len() > MOST_CELLS {
            return None;
        }
        let colors = super::colors::of_nodes(dims, &[&before.nodes, &after.nodes]);
        let panels = [grid::panel(dims, before, &colors), grid::panel(dims, after, &colors)];
        let legend = match before.above.is_empty() {
            true => "A square is a process. Color, number and thick borders: its node.",
            false => {
                "A square is a process. Color, number and thick borders: its node; thicker ones: what is above."
            }
        };
        Some(Self::compose(caption, panels, legend, None))
    }

    /// What goes from each node, a row, to each, a column, before and after. `None` if there is nothing
    /// to draw, or too much, or the matrices are not square and alike.
    pub fn matrices(caption: &Caption, before: &[Vec<i64>], after: &[Vec<i64>]) -> Option<Self> {
        let nodes = before.len();
        let square = |matrix: &[Vec<i64>]| {
            matrix.len() == nodes && matrix.iter().all(|row| row.len() == nodes)
        };
        if nodes == 0
            || nodes.saturating_mul(nodes) > MOST_CELLS
            || !square(before)
            || !square(after)
        {
            return None;
        }
        let scale = matrix::Scale::of(before, after);
        let panels = [matrix::panel(before, &scale), matrix::panel(after, &scale)];
        let legend =
            "Row: the node that sends. Column: the node that receives. Gray: within the node.";
        Some(Self::compose(caption, panels, legend, Some(&scale)))
    }

    /// What goes from each of several, a row, to each, a column. `None` as in
    /// [`matrices`](Self::matrices).
    pub fn matrix(title: &str, legend: &str, matrix: &[Vec<i64>]) -> Option<Self> {
        let count = matrix.len();
        let square = matrix.iter().all(|row| row.len() == count);
        if count == 0 || count.saturating_mul(count) > MOST_CELLS || !square {
            return None;
        }
        let scale = matrix::Scale::of(matrix, matrix);
        let panel = matrix::panel(matrix, &scale);
        let width = panel.width.max(LEAST_WIDTH) + 2.0 * MARGIN;
        let height = TITLE + panel.height + LEGEND;
        let group = Group::new()
            .add(text(title, (MARGIN, 26.0), 18.0, false).set("font-weight", "bold"))
            .add(panel.group.set("transform", format!("translate({MARGIN} {TITLE})")))
            .add(text(legend, (MARGIN, height - 16.0), 13.0, false))
            .add(scale.legend((width - MARGIN, 52.0)));
        Some(Self { group, width, height })
    }

    fn compose(
        caption: &Caption,
        panels: [Panel; 2],
        legend: &str,
        scale: Option<&matrix::Scale>,
    ) -> Self {
        let [left, right] = panels;
        let second = MARGIN + left.width.max(LEAST_WIDTH / 2.0) + MARGIN;
        let width = second + right.width.max(LEAST_WIDTH / 2.0) + MARGIN;
        let height = TITLE + left.height.max(right.height) + LEGEND;
        let (before, after) = (caption.before, caption.after);
        let figures = format!(
            "J_sum {} → {} (at least {}), J_max {} → {}",
            before.inter_node_edges,
            after.inter_node_edges,
            caption.lower_bound,
            before.max_node_edges,
            after.max_node_edges
        );
        let others = caption.levels.iter().filter(|level| level.name != Kind::Node.to_string());
        let figures = others.fold(figures, |figures, level| {
            let (before, after) = (level.before.edges, level.after.edges);
            figures + &format!(", between {} {before} → {after}", level.name)
        });
        let heading = |words: String, x: f64| text(&words, (x, TITLE - 10.0), 15.0, false);
        let bottom = height - 16.0;
        let mut group = Group::new()
            .add(text(&caption.subject, (MARGIN, 26.0), 18.0, false).set("font-weight", "bold"))
            .add(text(&figures, (MARGIN, 49.0), 16.0, false))
            .add(heading("Before: in the order of ranks".to_owned(), MARGIN))
            .add(heading(format!("After: {}", caption.algorithm), second))
            .add(left.group.set("transform", format!("translate({MARGIN} {TITLE})")))
            .add(right.group.set("transform", format!("translate({} {TITLE})", round(second))))
            .add(text(
                &format!(
                    "{legend} J_sum: edges between nodes. J_max: those that leave the worst node."
                ),
                (MARGIN, bottom),
                13.0,
                false,
            ));
        if let Some(scale) = scale {
            group = group.add(scale.legend((width - MARGIN, 20.0)));
        }
        Self { group, width, height }
    }
}

/// Figures below each other, as the text of an SVG file.
pub fn sheet(figures: Vec<Figure>) -> String {
    let width = figures.iter().map(|figure| figure.width).fold(0.0, f64::max);
    let height: f64 = figures.iter().map(|figure| figure.height).sum();
    let (width, height) = (width.ceil(), height.ceil());
    let paper = Rectangle::new().set("width", width).set("height", height).set("fill", "white");
    let mut document = Document::new()
        .set("width", width)
        .set("height", height)
        .set("viewBox", (0, 0, width, height))
        .set("font-family", "sans-serif")
        .add(paper);
    let mut y = 0.0;
    for figure in figures {
        document =
            document.add(figure.group.set("transform", format!("translate(0 {})", round(y))));
        y += figure.height;
    }
    document.to_string()
}
