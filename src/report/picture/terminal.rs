//! A grid as text for a terminal: a letter and a color for each node.

use std::fmt::Write;

use anstyle::{Color, RgbColor, Style};

use super::colors;
use super::slices::{Slice, slices};

/// A grid of more cells is not drawn as text.
pub const MOST_CELLS: usize = 8192;

/// Columns that are filled.
const WIDTH: usize = 100;

const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Draws a grid, each cell as the letter of its node on its color, slices side by side. Escape
/// sequences are for the writer to strip where colors are not wanted; letters are enough without.
/// `None` if it is too large for a terminal.
pub fn draw(dims: &[usize], node_of: &[u32]) -> Option<String> {
    let slices = slices(dims);
    let columns = slices[0].columns;
    if node_of.len() > MOST_CELLS || columns > WIDTH {
        return None;
    }
    let colors = colors::of_nodes(dims, &[node_of]);
    // The node's own letter if no other that touches it has it, else the next that is free.
    let letters = colors::numbers(dims, &[node_of], LETTERS.len(), |node, taken, _| {
        let all = LETTERS.len();
        let from = (0..all).map(|i| (node + i) % all);
        from.min_by_key(|letter| taken[*letter]).expect("there are letters")
    });
    // Cells are square on most terminals if they are two columns wide.
    let wide = if 2 * columns <= WIDTH { 2 } else { 1 };
    let paint = |line: &mut String, slice: &Slice, row: usize| {
        for column in 0..slice.columns {
            let node = node_of[slice.cell(row, column)] as usize;
            let colors::Rgb(red, green, blue) = colors[node];
            let ink =
                if colors[node].is_light() { RgbColor(0, 0, 0) } else { RgbColor(255, 255, 255) };
            let style = Style::new()
                .bg_color(Some(Color::Rgb(RgbColor(red, green, blue))))
                .fg_color(Some(Color::Rgb(ink)));
            let letter = LETTERS[letters[node]] as char;
            let _ = write!(line, "{style}{letter:<wide$}{style:#}");
        }
    };
    let slice_width =
        (wide * columns).max(slices.iter().map(|s| s.label.len()).max().unwrap_or(0)) + 2;
    let mut text = String::new();
    for group in slices.chunks((WIDTH / slice_width).max(1)) {
        let labels: String =
            group.iter().map(|slice| format!("{:<slice_width$}", slice.label)).collect();
        if !labels.trim_end().is_empty() {
            let _ = writeln!(text, "{}", labels.trim_end());
        }
        for row in 0..group[0].rows {
            let mut line = String::new();
            for (i, slice) in group.iter().enumerate() {
                paint(&mut line, slice, row);
                if i + 1 < group.len() {
                    line.push_str(&" ".repeat(slice_width - wide * slice.columns));
                }
            }
            let _ = writeln!(text, "{line}");
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(dims: &[usize], node_of: &[u32]) -> String {
        anstream::adapter::strip_str(&draw(dims, node_of).unwrap()).to_string()
    }

    #[test]
    fn grids_are_drawn_by_letters() {
        assert_eq!(plain(&[2, 4], &[0, 0, 1, 1, 0, 0, 1, 1]), "A A B B \nA A B B \n");
        assert_eq!(plain(&[2, 1, 2], &[0, 0, 1, 2]), "(0, ., .)  (1, ., .)\nA A        B C \n");
        // Node 62 would have node 0's letter, were they not neighbors.
        let line: Vec<u32> = (0..63).chain([0]).collect();
        let text = plain(&[64], &line);
        let letters: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(
            letters.concat(),
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789BA"
        );
        assert_eq!(draw(&[8193], &[0; 8193]), None);
        assert_eq!(draw(&[1, 101], &[0; 101]), None);
    }
}
