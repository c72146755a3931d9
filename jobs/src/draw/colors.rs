//! Colors that the color-blind can distinguish, assigned so that adjacent nodes differ.

use std::collections::BTreeSet;

use super::slices::slices;

/// A color, 8 bits each of red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// The palette of Okabe and Ito without black, followed by pale variants.
const PALETTE: [Rgb; 14] = [
    Rgb(0x56, 0xB4, 0xE9),
    Rgb(0xE6, 0x9F, 0x00),
    Rgb(0x00, 0x9E, 0x73),
    Rgb(0xF0, 0xE4, 0x42),
    Rgb(0xCC, 0x79, 0xA7),
    Rgb(0xD5, 0x5E, 0x00),
    Rgb(0x00, 0x72, 0xB2),
    Rgb(0xC0, 0xE2, 0xF7),
    Rgb(0xF7, 0xDD, 0xA8),
    Rgb(0x92, 0xDC, 0xB4),
    Rgb(0xFA, 0xF6, 0xC0),
    Rgb(0xED, 0xCF, 0xDF),
    Rgb(0xF0, 0xBF, 0x9A),
    Rgb(0x93, 0xA8, 0xDC),
];

/// The number of colors that are used if they suffice.
const BOLD: usize = 7;

impl Rgb {
    /// True if black text is easier to read on this color than white.
    pub fn is_light(self) -> bool {
        // The luminance formula of television.
        let Self(red, green, blue) = self;
        299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue) > 100_000
    }

    /// `#rrggbb`.
    pub fn hex(self) -> String {
        let Self(red, green, blue) = self;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }
}

/// A color for every node.
///
/// `views` are mappings of the cells of a grid to nodes; a node has one color in all of them. Nodes that touch in a
/// slice of any view have different colors, unless all colors are taken by touching nodes. O(cells + nodes).
pub fn of_nodes(dims: &[usize], views: &[&[u32]]) -> Vec<Rgb> {
    let nodes =
        views.iter().flat_map(|view| view.iter()).max().map_or(0, |most| *most as usize + 1);
    let mut touching = vec![BTreeSet::new(); nodes];
    let slices = slices(dims);
    for view in views {
        for slice in &slices {
            slice.for_each_pair(|one, other| {
                let (one, other) = (view[one] as usize, view[other] as usize);
                if one != other {
                    touching[one].insert(other);
                    touching[other].insert(one);
                }
            });
        }
    }
    // Nodes with many neighbors have the fewest choices, so they choose first.
    let mut order: Vec<usize> = (0..nodes).collect();
    order.sort_by_key(|node| (std::cmp::Reverse(touching[*node].len()), *node));
    let mut chosen = vec![None; nodes];
    let mut used = [0; PALETTE.len()];
    for node in order {
        let mut taken = [0; PALETTE.len()];
        for color in touching[node].iter().filter_map(|other: &usize| chosen[*other]) {
            let color: usize = color;
            taken[color] += 1;
        }
        let by_use = |range: std::ops::Range<usize>| {
            range.filter(|color| taken[*color] == 0).min_by_key(|color| used[*color])
        };
        let color = by_use(0..BOLD)
            .or_else(|| by_use(BOLD..PALETTE.len()))
            .or_else(|| (0..PALETTE.len()).min_by_key(|color| taken[*color]))
            .expect("there are colors");
        used[color] += 1;
        chosen[node] = Some(color);
    }
    chosen.into_iter().map(|color| PALETTE[color.expect("every node has chosen")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_nodes_have_different_colors() {
        // Blocks of 7 x 7 cells, and the same nodes in rank order.
        let (rows, columns) = (49, 49);
        let blocks: Vec<u32> = (0..rows * columns)
            .map(|cell| (cell / columns / 7 * 7 + cell % columns / 7) as u32)
            .collect();
        let lines: Vec<u32> = (0..rows * columns).map(|cell| (cell / 49) as u32).collect();
        let colors = of_nodes(&[rows, columns], &[&lines, &blocks]);
        assert_eq!(colors.len(), 49);
        for view in [&lines, &blocks] {
            for slice in slices(&[rows, columns]) {
                slice.for_each_pair(|one, other| {
                    let (one, other) = (view[one] as usize, view[other] as usize);
                    assert!(one == other || colors[one] != colors[other], "{one} and {other}");
                });
            }
        }
    }

    #[test]
    fn colors_of_the_palette_differ() {
        let distance = |a: Rgb, b: Rgb| {
            let channel = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
            channel(a.0, b.0) + channel(a.1, b.1) + channel(a.2, b.2)
        };
        for (i, one) in PALETTE.iter().enumerate() {
            for other in &PALETTE[..i] {
                assert!(distance(*one, *other) > 30 * 30, "{one:?} {other:?}");
            }
        }
        assert!(Rgb(0xF0, 0xE4, 0x42).is_light() && !Rgb(0, 0x72, 0xB2).is_light());
        assert_eq!(Rgb(0, 0x72, 0xB2).hex(), "#0072b2");
    }
}
