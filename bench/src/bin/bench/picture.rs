//! The ratios as bars on a logarithmic axis: to the right of the line at 1 Cartograph takes less.

use std::fmt::Write;

use crate::{Case, PARTS};

const ROW: f64 = 18.0;
const LABEL: f64 = 330.0;
/// Pixels for a factor of two.
const OCTAVE: f64 = 70.0;
/// Factors of two to each side that are shown; longer bars are cut, and say their number.
const LEFT: f64 = 2.0;
const RIGHT: f64 = 4.0;

/// Where a ratio lies.
fn x(ratio: f64) -> f64 {
    LABEL + OCTAVE * (LEFT + ratio.log2().clamp(-LEFT, RIGHT))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

pub(crate) fn draw(host: &str, cases: &[Case]) -> String {
    let mut body = String::new();
    let mut y = 30.0;
    for (part, heading, _) in PARTS.into_iter().filter(|(.., compared)| *compared) {
        let rows: Vec<&Case> = cases.iter().filter(|case| case.part == part).collect();
        if rows.is_empty() {
            continue;
        }
        y += ROW;
        writeln!(body, r#"<text x="8" y="{y}" class="heading">{}</text>"#, escape(heading))
            .expect("so");
        for case in rows {
            y += ROW;
            let label = format!("{}, {} processes", case.label(), case.processes);
            let label = if case.processes == 1 { case.label() } else { label };
            let ratio = case.ratio();
            let (from, to) = (x(1.0).min(x(ratio)), x(1.0).max(x(ratio)));
            let class = if ratio >= 1.0 { "less" } else { "more" };
            let end = LABEL - 8.0;
            writeln!(body, r#"<text x="{end}" y="{y}" class="label">{}</text>"#, escape(&label))
                .expect("so");
            writeln!(
                body,
                r#"<rect x="{from:.1}" y="{:.1}" width="{:.1}" height="11" class="{class}"/>"#,
                y - 10.0,
                to - from
            )
            .expect("so");
            writeln!(body, r#"<text x="{:.1}" y="{y}">{ratio:.2}</text>"#, to + 4.0).expect("so");
        }
    }
    let (width, height) = (x(f64::MAX) + 50.0, y + 16.0);
    let mut axis = String::new();
    for octave in -(LEFT as i32)..=RIGHT as i32 {
        let ratio = f64::from(octave).exp2();
        let at = x(ratio);
        let class = if octave == 0 { "one" } else { "grid" };
        writeln!(axis, r#"<line x1="{at}" y1="30" x2="{at}" y2="{y}" class="{class}"/>"#)
            .expect("so");
        writeln!(axis, r#"<text x="{at}" y="24" text-anchor="middle">{ratio}</text>"#).expect("so");
    }
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">
<style>.heading {{ font-weight: bold }} .label {{ text-anchor: end }} .less {{ fill: #0072b2 }} .more {{ fill: #d55e00 }} .grid {{ stroke: #ddd }} .one {{ stroke: #444 }}</style>
<rect width="100%" height="100%" fill="white"/>
<text x="8" y="24" class="heading">{}: host / Cartograph</text>
{axis}{body}</svg>
"#,
        escape(host)
    )
}
