//! The parts of a figure: one picture, and the measures of its text and numbers.

use svg::node::element::{Group, Text};

/// The largest width of each of the two pictures, in pixels.
pub(super) const PANEL: f64 = 720.0;

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

/// The step between labels, given the space that each needs.
pub(super) fn step(cell: f64, room: f64) -> usize {
    let steps = [1, 2, 5, 10, 20, 50, 100, 200, 500];
    steps.into_iter().find(|step| *step as f64 * cell >= room).unwrap_or(1000)
}

/// A hundredth of a pixel is precise enough, and keeps files small.
pub(super) fn round(pixels: f64) -> f64 {
    (pixels * 100.0).round() / 100.0
}
