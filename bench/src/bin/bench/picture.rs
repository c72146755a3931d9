//! The ratios as dots on a logarithmic axis, a color a host: right of the line at 1 Cartograph takes less.

use svg::Document;
use svg::node::element::{Circle, Line, Rectangle, Text};

use crate::case::{Run, rows};
use crate::tables::{PARTS, Shown};

// All in pixels.
const MARGIN: f64 = 12.0;
const ROW: f64 = 15.0;
/// Where labels end.
const LABEL: f64 = 400.0;
/// A factor of two.
const OCTAVE: f64 = 70.0;
/// Factors of two to each side that are shown; what lies beyond is on the edge.
const LEFT: f64 = 2.0;
const RIGHT: f64 = 4.0;
/// The legend and the axis.
const TOP: f64 = 54.0;

/// Told apart by those who do not see all colors, too.
const COLORS: [&str; 5] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"];

/// Where a ratio lies.
fn x(ratio: f64) -> f64 {
    LABEL + MARGIN + OCTAVE * (LEFT + ratio.log2().clamp(-LEFT, RIGHT))
}

fn text(words: &str, x: f64, y: f64, anchor: &str, weight: &str) -> Text {
    let text = Text::new(words).set("x", x).set("y", y);
    text.set("text-anchor", anchor).set("font-weight", weight)
}

fn dot(host: usize, x: f64, y: f64) -> Circle {
    let dot = Circle::new().set("cx", (x * 10.0).round() / 10.0).set("cy", y).set("r", 4);
    dot.set("fill", COLORS[host % COLORS.len()]).set("fill-opacity", 0.8)
}

pub(crate) fn draw(runs: &[Run]) -> String {
    let mut dots = Document::new();
    let mut y = TOP;
    for (part, heading, _) in PARTS.into_iter().filter(|part| part.2 == Shown::Compared) {
        let rows = rows(runs, part);
        if rows.is_empty() {
            continue;
        }
        y += ROW;
        dots = dots.add(text(heading, MARGIN, y, "start", "bold"));
        for row in rows {
            y += ROW;
            let label = match row.processes {
                1 => row.label(),
                processes => format!("{}, {processes} processes", row.label()),
            };
            dots = dots.add(text(&label, LABEL, y, "end", "normal"));
            for (i, run) in runs.iter().enumerate() {
                if let Some(case) = run.part(part).find(|case| case.is_like(row)) {
                    dots = dots.add(dot(i, x(case.ratio()), y - 4.0));
                }
            }
        }
    }
    let (width, height) = (x(f64::MAX) + MARGIN, y + MARGIN);
    let mut document = Document::new()
        .set("viewBox", (0.0, 0.0, width, height))
        .set("width", width)
        .set("height", height)
        .set("font-family", "sans-serif")
        .set("font-size", 11)
        .add(Rectangle::new().set("width", "100%").set("height", "100%").set("fill", "white"))
        .add(text("host / Cartograph", MARGIN, 20.0, "start", "bold"));
    for (i, run) in runs.iter().enumerate() {
        let at = LABEL + MARGIN + 90.0 * i as f64;
        document =
            document.add(dot(i, at, 16.0)).add(text(&run.host, at + 9.0, 20.0, "start", "normal"));
    }
    for octave in -(LEFT as i32)..=RIGHT as i32 {
        let ratio = f64::from(octave).exp2();
        let at = x(ratio);
        let color = if octave == 0 { "#444444" } else { "#dddddd" };
        let line = Line::new().set("x1", at).set("y1", TOP).set("x2", at).set("y2", y);
        document = document.add(line.set("stroke", color));
        document = document.add(text(&ratio.to_string(), at, TOP - 6.0, "middle", "normal"));
    }
    format!("{}\n", document.add(dots))
}
