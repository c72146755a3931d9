//! The traffic between nodes as a heat map in SVG.

use std::fmt::Write;

use svg::node::element::{Group, Path, Rectangle};

use super::colors::Rgb;
use super::panel::{PANEL, Panel, round, step, text};

/// From weak to strong: pale to dark, in hues that color-blind readers can distinguish from the background.
const STEPS: [Rgb; 6] = [
    Rgb(0xFE, 0xE0, 0xA6),
    Rgb(0xFD, 0xB8, 0x63),
    Rgb(0xF1, 0x75, 0x3C),
    Rgb(0xC5, 0x3A, 0x4B),
    Rgb(0x7D, 0x1D, 0x67),
    Rgb(0x2C, 0x0B, 0x4A),
];

const WITHIN: &str = "#d0d0d0";

/// The largest side of a cell, in pixels.
const LARGEST: f64 = 40.0;

/// The space for the numbers of rows and columns.
const LEFT: f64 = 34.0;
const BELOW: f64 = 18.0;

/// The width of a color in the legend.
const WIDE: f64 = 48.0;

/// The number of available colors.
const MOST: usize = 12;

/// The meaning of colors: each represents weights of up to twice those of the previous one, so that a factor of two
/// always shows.
pub(super) struct Scale {
    /// The largest weight of each color, ascending; the last is the largest of all.
    bounds: Vec<i64>,
}

impl Scale {
    /// A scale for the traffic between different nodes in either matrix.
    pub(super) fn of(before: &[Vec<i64>], after: &[Vec<i64>]) -> Self {
        let weights = || [before, after].into_iter().flat_map(between).filter(|weight| *weight > 0);
        let (least, most) = (weights().min().unwrap_or(1), weights().max().unwrap_or(1));
        let halves = std::iter::successors(Some(most), |bound| Some(bound / 2));
        let mut bounds: Vec<i64> = halves.take(MOST).take_while(|bound| *bound >= least).collect();
        bounds.reverse();
        Self { bounds }
    }

    fn step(&self, weight: i64) -> usize {
        self.bounds.partition_point(|bound| *bound < weight).min(self.bounds.len() - 1)
    }

    /// The darkest color is for the largest weight, however few steps there are.
    fn color(&self, step: usize) -> Rgb {
        let from_last = self.bounds.len() - 1 - step;
        // Colors are as far apart as possible.
        let apart = (STEPS.len() - 1) as f64 / (self.bounds.len() - 1).max(STEPS.len() - 1) as f64;
        let at = (STEPS.len() - 1) as f64 - from_last as f64 * apart;
        let (low, high) = (STEPS[at.floor() as usize], STEPS[at.ceil() as usize]);
        let mix = |low: u8, high: u8| {
            (f64::from(low) + (f64::from(high) - f64::from(low)) * at.fract()).round() as u8
        };
        Rgb(mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
    }

    /// The width of the legend.
    pub(super) fn width(&self) -> f64 {
        WIDE * self.bounds.len() as f64
    }

    /// The meaning of each color, right-aligned at `end`.
    pub(super) fn legend(&self, end: (f64, f64)) -> Group {
        let mut group = Group::new();
        for (step, bound) in self.bounds.iter().enumerate() {
            let x = end.0 - WIDE * (self.bounds.len() - step) as f64;
            let swatch = Rectangle::new()
                .set("x", round(x))
                .set("y", end.1 - 10.0)
                .set("width", WIDE)
                .set("height", 14.0)
                .set("fill", self.color(step).hex());
            let words = format!("≤ {}", short(*bound));
            let words = text(&words, (x + WIDE / 2.0, end.1 + 18.0), 11.0, true);
            group = group.add(swatch).add(words.set("class", "ticks"));
        }
        group
    }
}

/// A number in at most five characters: 1500, 23.4k, 1.20M.
fn short(number: i64) -> String {
    let mut value = number as f64;
    let mut prefixes = ["", "k", "M", "G", "T", "P", "E"].into_iter();
    let mut prefix = prefixes.next().unwrap_or_default();
    if number < 10_000 {
        return number.to_string();
    }
    while value >= 999.5 {
        value /= 1000.0;
        prefix = prefixes.next().unwrap_or_default();
    }
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$}{prefix}")
}

/// The weights between different nodes.
fn between(matrix: &[Vec<i64>]) -> impl Iterator<Item = i64> + '_ {
    let rows = matrix.iter().enumerate();
    rows.flat_map(|(from, row)| {
        row.iter().enumerate().filter(move |(to, _)| *to != from).map(|(_, weight)| *weight)
    })
}

/// Draws a square matrix.
pub(super) fn panel(matrix: &[Vec<i64>], scale: &Scale) -> Panel {
    let count = matrix.len();
    let cell = (PANEL / count as f64).min(LARGEST);
    let side = round(cell * count as f64);
    let mut areas = vec![String::new(); scale.bounds.len()];
    let mut within = String::new();
    for (from, row) in matrix.iter().enumerate() {
        for (to, weight) in row.iter().enumerate() {
            let area = match *weight {
                _ if from == to => &mut within,
                0 => continue,
                weight => &mut areas[scale.step(weight)],
            };
            let (x, y, side) = (round(to as f64 * cell), round(from as f64 * cell), round(cell));
            let _ = write!(area, "M{x} {y}h{side}v{side}h-{side}z");
        }
    }
    // Colors are made for a white background, whatever surrounds it.
    let paper = Rectangle::new().set("width", side).set("height", side).set("fill", "white");
    let mut group = Group::new().add(paper).add(Path::new().set("d", within).set("fill", WITHIN));
    for (step, area) in areas.iter().enumerate().filter(|(_, area)| !area.is_empty()) {
        group = group.add(Path::new().set("d", area.as_str()).set("fill", scale.color(step).hex()));
    }
    if cell >= 22.0 {
        // Space for the numbers themselves.
        for (from, row) in matrix.iter().enumerate() {
            for (to, weight) in row.iter().enumerate().filter(|(_, weight)| **weight != 0) {
                let light = from == to || scale.color(scale.step(*weight)).is_light();
                let words = weight.to_string();
                let size = (0.4 * cell).min(cell / (0.65 * words.len() as f64));
                let at = ((to as f64 + 0.5) * cell, (from as f64 + 0.5) * cell + 0.35 * size);
                let ink = if light { "black" } else { "white" };
                group = group.add(text(&words, at, size, true).set("fill", ink));
            }
        }
    }
    let frame = Rectangle::new()
        .set("width", side)
        .set("height", side)
        .set("fill", "none")
        .set("stroke", "black");
    let group = group.add(frame).set("transform", format!("translate({LEFT} 0)"));
    let (width, height) = (LEFT + side, side + BELOW);
    Panel { group: numbered(Group::new().add(group), count, cell, side), width, height }
}

/// Adds the numbers of rows and columns, with sufficient spacing.
fn numbered(group: Group, count: usize, cell: f64, side: f64) -> Group {
    let across = step(cell, 9.0 * (count.ilog10() + 2) as f64);
    let down = step(cell, 14.0);
    let columns = (0..count).step_by(across).map(|column| {
        let at = (LEFT + (column as f64 + 0.5) * cell, side + 13.0);
        text(&column.to_string(), at, 11.0, true)
    });
    let rows = (0..count).step_by(down).map(|row| {
        let at = (LEFT - 5.0, (row as f64 + 0.5) * cell + 4.0);
        text(&row.to_string(), at, 11.0, false).set("text-anchor", "end")
    });
    columns.chain(rows).fold(group, |group, number| group.add(number.set("class", "ticks")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_more_traffic_are_darker() {
        let scale = Scale::of(&[vec![99, 1], vec![1000, 0]], &[vec![0, 20], vec![3, 0]]);
        assert_eq!(scale.bounds.last(), Some(&1000));
        assert_eq!(scale.color(0), STEPS[0]);
        // Twice the weight is a different color, and a similar one is not.
        assert_ne!(scale.color(scale.step(500)), scale.color(scale.step(1000)));
        assert_eq!(scale.step(900), scale.step(1000));
        let steps: Vec<usize> = [1, 3, 20, 1000].map(|weight| scale.step(weight)).into();
        assert!(steps.is_sorted() && steps[0] == 0 && steps[1] < steps[2], "{steps:?}");
        assert_eq!(steps[3], scale.bounds.len() - 1);
        assert_eq!(scale.color(steps[3]), STEPS[5]);
        // With a single weight, and with none.
        for matrix in [vec![vec![0, 1], vec![1, 0]], vec![vec![5]]] {
            let scale = Scale::of(&matrix, &matrix);
            assert_eq!(scale.color(scale.step(1)), STEPS[5]);
        }
    }

    #[test]
    fn numbers_are_short() {
        let written = [7, 9_999, 12_000, 24_000, 999_949, 1_200_000].map(short);
        assert_eq!(written, ["7", "9999", "12.0k", "24.0k", "1.00M", "1.20M"]);
        assert_eq!(short(i64::MAX), "9.22E");
    }

    #[test]
    fn cells_are_where_their_row_and_column_meet() {
        let matrix = vec![vec![7, 5, 0], vec![0, 0, 0], vec![0, 0, 3]];
        let drawn = panel(&matrix, &Scale::of(&matrix, &matrix)).group.to_string();
        assert!(
            drawn.contains(&format!("M40 0h40v40h-40z\" fill=\"{}\"", STEPS[5].hex()))
                || drawn.contains("d=\"M40 0h40v40h-40z\""),
            "{drawn}"
        );
        assert!(drawn.contains("M0 0h40v40h-40zM40 40h40v40h-40zM80 80h40v40h-40z"), "{drawn}");
        assert!(!drawn.contains("M80 0h40"), "{drawn}");
    }
}
