//! Times as bars, a group for each row of a table.

use cartograph_lab::Table;
use svg::Document;
use svg::node::element::Rectangle;

use crate::picture::{document, text};

// All in pixels.
const MARGIN: f64 = 12.0;
/// The left end of the bars.
const LEFT: f64 = 230.0;
/// The longest bar, beside which there is room for its number.
const LONGEST: f64 = 420.0;
const ROOM: f64 = 70.0;
const BAR: f64 = 14.0;
/// The question and the legend.
const TOP: f64 = 62.0;

const COLORS: [&str; 3] = ["#9a9a9a", "#7a9cc6", "#d1603d"];

/// The columns of times, by what they end with.
const UNIT: &str = ", ms";

fn bar(way: usize, x: f64, y: f64, width: f64) -> Rectangle {
    let bar = Rectangle::new().set("x", x).set("y", y).set("fill", COLORS[way % COLORS.len()]);
    bar.set("width", (width * 10.0).round() / 10.0).set("height", BAR - 2.0)
}

pub(crate) fn draw(question: &str, table: &Table) -> String {
    let ways: Vec<(usize, &str)> = table
        .measured()
        .filter_map(|(column, name)| Some((column, name.strip_suffix(UNIT)?)))
        .collect();
    let time = |row: &[String], column: usize| row[column].parse::<f64>().unwrap_or(0.0);
    let times = table.rows.iter().flat_map(|row| ways.iter().map(|(column, _)| time(row, *column)));
    let longest = times.fold(f64::MIN_POSITIVE, f64::max);
    let group = BAR * ways.len() as f64 + 12.0;
    let height = TOP + group * table.rows.len() as f64 + MARGIN;
    let mut drawn: Document = document(
        question,
        "A group of bars for each exchange of the first table on the page, in milliseconds; shorter is faster.",
        LEFT + LONGEST + ROOM,
        height,
    )
    .add(text(&format!("{question} Milliseconds: shorter is faster"), MARGIN, 20.0, "start", "bold"));
    let mut x = MARGIN;
    for (way, (_, name)) in ways.iter().enumerate() {
        drawn =
            drawn.add(bar(way, x, 33.0, 12.0)).add(text(name, x + 18.0, 43.0, "start", "normal"));
        x += 40.0 + 6.5 * name.len() as f64;
    }
    for (i, row) in table.rows.iter().enumerate() {
        let top = TOP + group * i as f64;
        let middle = top + BAR * ways.len() as f64 / 2.0 + 3.0;
        drawn = drawn.add(text(&row[0], LEFT - MARGIN, middle, "end", "normal"));
        for (way, (column, _)) in ways.iter().enumerate() {
            let (y, length) = (top + BAR * way as f64, LONGEST * time(row, *column) / longest);
            drawn = drawn.add(bar(way, LEFT, y, length));
            drawn =
                drawn.add(text(&row[*column], LEFT + length + 5.0, y + 10.0, "start", "normal"));
        }
    }
    format!("{drawn}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion_and_have_their_numbers() {
        let mut table = Table::new("A", "exchange | Open MPI, ms | Cartograph, ms | ratio");
        table.row("4 x 4 | 20.0 | 10.0 | 2.00");
        let drawn = draw("How long?", &table);
        for part in ["width=\"420\"", "width=\"210\"", "\n20.0\n", "\n10.0\n", "\nCartograph\n"] {
            assert!(drawn.contains(part), "{part} in {drawn}");
        }
        assert!(!drawn.contains("ratio"), "{drawn}");
    }
}
