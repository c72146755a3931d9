//! Ratios as dots on a logarithmic axis, a color a host: right of the line at 1 Cartograph is better. What lies
//! beyond the axis is a triangle at its end, with its number.

use svg::Document;
use svg::node::Text as Words;
use svg::node::element::{
    Circle, Description, Group as SvgGroup, Line, Path, Rectangle, Style, Text, Title,
};

use crate::charts::Group;

// All in pixels.
const MARGIN: f64 = 12.0;
const ROW: f64 = 15.0;
/// The right end of labels.
const LABEL: f64 = 310.0;
/// A factor of two.
const OCTAVE: f64 = 70.0;
/// Factors of two to each side that are shown.
const LEFT: f64 = 2.0;
const RIGHT: f64 = 4.0;
/// The question, the legend and the axis.
const TOP: f64 = 100.0;
/// For the numbers of what lies beyond the axis.
const ROOM: f64 = 50.0;

/// Styles of what lies on paper, with a dark variant.
const STYLE: &str = "\
.paper{fill:#fff}text{fill:#000}.one{stroke:#444}.grid{stroke:#ddd}\
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#e6edf3}.one{stroke:#bbb}.grid{stroke:#333}.h0{fill:#56b4e9}.h2{fill:#2ec99b}}";

/// Told apart by those who do not see all colors, too.
const COLORS: [&str; 5] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"];

/// The horizontal position of a ratio.
fn x(ratio: f64) -> f64 {
    LABEL + ROOM + OCTAVE * (LEFT + ratio.log2().clamp(-LEFT, RIGHT))
}

/// A line of text.
pub(crate) fn text(words: &str, x: f64, y: f64, anchor: &str, weight: &str) -> Text {
    let text = Text::new(words).set("x", x).set("y", y);
    text.set("text-anchor", anchor).set("font-weight", weight)
}

fn round(pixels: f64) -> f64 {
    (pixels * 10.0).round() / 10.0
}

fn dot(host: usize, x: f64, y: f64) -> Circle {
    let dot = Circle::new().set("cx", round(x)).set("cy", y).set("r", 4).set("fill-opacity", 0.8);
    dot.set("fill", COLORS[host % COLORS.len()]).set("class", format!("h{host}"))
}

/// A triangle that points to where the ratio lies.
fn beyond(host: usize, ratio: f64, y: f64) -> Path {
    let (x, to) = (round(x(ratio)), if ratio < 1.0 { -7 } else { 7 });
    let path = Path::new().set("d", format!("M{x} {}v9l{to} -4.5z", y - 4.5));
    path.set("fill-opacity", 0.8)
        .set("fill", COLORS[host % COLORS.len()])
        .set("class", format!("h{host}"))
}

/// The ratios of a row that lie beyond an end of the axis, least first, as text.
fn numbers(mut ratios: Vec<f64>) -> String {
    ratios.sort_by(f64::total_cmp);
    match ratios[..] {
        [] => String::new(),
        [ratio] => short(ratio),
        [least, .., most] if short(least) == short(most) => short(least),
        [least, .., most] => format!("{}–{}", short(least), short(most)),
    }
}

fn short(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}") } else { format!("{ratio:.0}") }
}

/// The name of a host in the legend.
fn name(host: &str) -> &str {
    match host {
        "mpich" => "MPICH 4.0",
        "openmpi" => "Open MPI 4.1",
        "mpich5" => "MPICH 5.0",
        "abi" => "MPICH 5.0, standard ABI",
        "openmpi5" => "Open MPI 5.0",
        other => other,
    }
}

/// An empty picture that tells what it shows.
pub(crate) fn document(title: &str, description: &str, width: f64, height: f64) -> Document {
    let paper = Rectangle::new().set("width", "100%").set("height", "100%");
    Document::new()
        .set("viewBox", (0.0, 0.0, width, height))
        .set("width", width)
        .set("height", height)
        .set("font-family", "sans-serif")
        .set("font-size", 11)
        .set("role", "img")
        .add(Title::new(title))
        .add(Description::new().add(Words::new(description)))
        .add(Style::new(STYLE))
        .add(paper.set("fill", "white").set("class", "paper"))
}

/// The answer to a question, of what was measured with these hosts; what lies to the right is `better`.
pub(crate) fn draw(question: &str, better: &str, hosts: &[String], groups: &[Group]) -> String {
    let mut dots = SvgGroup::new();
    let mut y = TOP;
    for group in groups {
        y += ROW;
        dots = dots.add(text(&group.heading, MARGIN, y, "start", "bold"));
        for row in &group.rows {
            y += ROW;
            dots = dots.add(text(&row.label, LABEL - MARGIN, y, "end", "normal"));
            let (mut less, mut more) = (Vec::new(), Vec::new());
            for (i, ratio) in row.ratios.iter().enumerate() {
                let Some(ratio) = *ratio else { continue };
                let octave = ratio.log2();
                if (-LEFT..=RIGHT).contains(&octave) {
                    dots = dots.add(dot(i, x(ratio), y - 4.0));
                } else {
                    dots = dots.add(beyond(i, ratio, y - 4.0));
                    (if octave < 0.0 { &mut less } else { &mut more }).push(ratio);
                }
            }
            for (ratios, end, anchor) in
                [(less, x(0.0) - 9.0, "end"), (more, x(f64::MAX) + 9.0, "start")]
            {
                if !ratios.is_empty() {
                    let words = text(&numbers(ratios), end, y, anchor, "normal");
                    dots = dots.add(words.set("font-size", 9));
                }
            }
        }
    }
    let right = x(f64::MAX) + ROOM + MARGIN;
    let description = format!(
        "What the MPI takes without Cartograph, divided by what it takes with Cartograph: one row per case, one dot per MPI. The \
         tables have the same figures. Right of 1: Cartograph {better}. A triangle with a number is a value beyond the axis."
    );
    let mut drawn = document(question, &description, right, y + MARGIN)
        .add(text(question, MARGIN, 20.0, "start", "bold").set("font-size", 13))
        .add(text("without / with Cartograph", MARGIN, TOP - 6.0, "start", "normal"))
        .add(text(&format!("← the MPI {better}"), x(1.0) - 8.0, TOP - 24.0, "end", "bold"))
        .add(text(&format!("Cartograph {better} →"), x(1.0) + 8.0, TOP - 24.0, "start", "bold"));
    let mut at = MARGIN + 6.0;
    for (i, host) in hosts.iter().enumerate() {
        drawn =
            drawn.add(dot(i, at, 40.0)).add(text(name(host), at + 9.0, 44.0, "start", "normal"));
        at += 36.0 + 6.2 * name(host).len() as f64;
    }
    for octave in -(LEFT as i32)..=RIGHT as i32 {
        let ratio = f64::from(octave).exp2();
        let at = x(ratio);
        let (color, class) = if octave == 0 { ("#444", "one") } else { ("#ddd", "grid") };
        let line = Line::new().set("x1", at).set("y1", TOP).set("x2", at).set("y2", y);
        drawn = drawn.add(line.set("stroke", color).set("class", class));
        drawn = drawn.add(text(&ratio.to_string(), at, TOP - 6.0, "middle", "normal"));
    }
    format!("{}\n", drawn.add(dots))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::Row;

    #[test]
    fn what_is_beyond_the_axis_is_marked_with_its_number() {
        let row =
            |label: &str, ratio: f64| Row { label: label.into(), ratios: vec![Some(ratio), None] };
        let rows = vec![row("slow", 0.02), row("fast", 40.0), row("inside", 2.0)];
        let groups = [Group { heading: "some".into(), rows }];
        let drawn = draw("How long?", "faster", &["mpich".into(), "own".into()], &groups);
        assert!(drawn.contains("\n0.02\n"), "{drawn}");
        assert!(drawn.contains("\n40\n"), "{drawn}");
        assert_eq!(drawn.matches("v9l-7").count(), 1);
        assert_eq!(drawn.matches("v9l7").count(), 1);
        // Two of the legend, and the one that lies inside.
        assert_eq!(drawn.matches("<circle").count(), 3);
        assert!(drawn.contains("Cartograph faster →") && drawn.contains("MPICH 4.0"), "{drawn}");
    }
}
