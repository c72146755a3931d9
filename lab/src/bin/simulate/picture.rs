//! The picture of `docs/simulate.svg`: bars, a panel for each size of a face.

use svg::Document;
use svg::node::Text as Words;
use svg::node::element::{Description, Rectangle, Style, Text, Title};

use crate::machine::Placement;
use crate::tables::{by_grid, bytes, name};
use crate::{Exchange, SIZES};

// All in pixels.
const MARGIN: f64 = 16.0;
/// The left end of the panels, right of the names of the grids.
const LEFT: f64 = 190.0;
const PANEL: f64 = 230.0;
/// The bar of the longest time of a grid, beside which there is room for its label.
const LONGEST: f64 = 150.0;
const BAR: f64 = 14.0;
/// One grid, with the room below it.
const GROUP: f64 = 3.0 * BAR + 18.0;
/// Titles and the legend.
const TOP: f64 = 76.0;

/// Styles of what lies on paper, with a dark variant.
const STYLE: &str = "\
.paper{fill:#fff}text{fill:#222}\
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#e6edf3}}";

const TITLE: &str = "Simulated time of an exchange of six faces, in ms";

fn color(placement: Placement) -> &'static str {
    match placement {
        Placement::Cyclic => "#b8b8b8",
        Placement::Block => "#7a9cc6",
        Placement::Cartograph => "#d1603d",
    }
}

fn text(words: &str, x: f64, y: f64, size: u32) -> Text {
    Text::new(words).set("x", x).set("y", y).set("font-size", size).set("fill", "#222222")
}

fn bar(placement: Placement, x: f64, y: f64, width: f64) -> Rectangle {
    let bar = Rectangle::new().set("x", x).set("y", y).set("fill", color(placement));
    bar.set("width", (width * 10.0).round() / 10.0).set("height", BAR - 2.0)
}

/// Times of an exchange; within a panel and a grid bars are in proportion.
pub(crate) fn bars(exchanges: &[Exchange]) -> String {
    let groups = by_grid(exchanges).count() as f64;
    let (width, height) = (LEFT + PANEL * SIZES.len() as f64, TOP + GROUP * groups + MARGIN);
    let mut document = Document::new()
        .set("viewBox", (0.0, 0.0, width, height))
        .set("width", width)
        .set("height", height)
        .set("font-family", "sans-serif")
        .set("role", "img")
        .add(Title::new(TITLE))
        .add(Description::new().add(Words::new(
            "Bars for each grid and size of a face: ranks round-robin, ranks in blocks, and as placed by \
             Cartograph; shorter is faster. The same figures are in the table of the page.",
        )))
        .add(Style::new(STYLE))
        .add(
            Rectangle::new()
                .set("width", "100%")
                .set("height", "100%")
                .set("fill", "white")
                .set("class", "paper"),
        )
        .add(text(&format!("{TITLE}: shorter is faster"), MARGIN, 24.0, 15));
    for (i, placement) in Placement::ALL.into_iter().enumerate() {
        let x = MARGIN + 110.0 * i as f64;
        document = document.add(bar(placement, x, 36.0, 14.0));
        document = document.add(text(placement.name(), x + 20.0, 46.0, 12));
    }
    for (i, size) in SIZES.iter().enumerate() {
        let title = format!("{} a face", bytes(*size));
        document = document.add(text(&title, LEFT + PANEL * i as f64, TOP - 10.0, 12));
    }
    for (group, runs) in by_grid(exchanges).enumerate() {
        let y = TOP + GROUP * group as f64;
        let machine = format!("{} nodes of {}", runs[0].machine.nodes, runs[0].machine.processes);
        document = document.add(text(&name(&runs[0]), MARGIN, y + 14.0, 12));
        document = document.add(text(&machine, MARGIN, y + 30.0, 11));
        for panel in 0..SIZES.len() {
            let longest = runs.iter().map(|run| run.seconds[panel]).fold(0.0, f64::max);
            for (line, run) in runs.iter().enumerate() {
                let (x, y) = (LEFT + PANEL * panel as f64, y + BAR * line as f64);
                let length = LONGEST * run.seconds[panel] / longest;
                let label = format!("{:.3}", run.seconds[panel] * 1e3);
                document = document.add(bar(run.placement, x, y, length));
                document = document.add(text(&label, x + length + 4.0, y + 10.0, 11));
            }
        }
    }
    format!("{document}\n")
}
