//! The weights of edges along the dimensions of a grid, as text, and the rule for unknown weights.

use super::grid::Grid;

/// The largest weight for which sums over any grid fit.
const MOST: i64 = 1 << 31;

/// Reads the weights of this number of dimensions, such as "16,1,1".
///
/// # Errors
///
/// The error, as text that follows the name of the setting.
pub fn parse(text: &str, ndims: usize) -> Result<Vec<i64>, String> {
    let weights = numbers(text)?;
    if weights.len() != ndims {
        return Err(format!("'{text}' has {} weights for {ndims} dimensions", weights.len()));
    }
    Ok(weights)
}

fn numbers(text: &str) -> Result<Vec<i64>, String> {
    let number = |word: &str| {
        let number = word.trim().parse().ok().filter(|number| (0..=MOST).contains(number));
        number.ok_or_else(|| {
            format!("invalid weight '{}' (expected whole numbers from 0 to {MOST})", word.trim())
        })
    };
    let weights: Vec<i64> = text.split(',').map(number).collect::<Result<_, _>>()?;
    if weights.iter().all(|weight| *weight == 0) {
        return Err(format!("'{text}' has no weight above 0"));
    }
    Ok(weights)
}

/// The weights of several grids: `CARTOGRAPH_WEIGHTS`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Weights {
    /// Weights, and the grid that they are for if not for all with this number of dimensions.
    entries: Vec<(Option<Vec<usize>>, Vec<i64>)>,
}

impl Weights {
    /// Parses "16,1,1", for all grids of three dimensions, or several entries with semicolons, each of which may be for
    /// grids of certain sides: "4x4x1:16,1,1;8x8:1,4".
    ///
    /// # Errors
    ///
    /// As [`parse`].
    pub fn parse(text: &str) -> Result<Self, String> {
        let entry = |text: &str| match text.split_once(':') {
            None => Ok((None, numbers(text)?)),
            Some((dims, weights)) => {
                let side = |word: &str| word.trim().parse::<usize>().ok().filter(|side| *side > 0);
                let dims: Option<Vec<usize>> = dims.split('x').map(side).collect();
                let dims = dims.ok_or_else(|| {
                    format!("invalid grid '{text}' (expected, for example, 8x8:1,4)")
                })?;
                let weights = parse(weights, dims.len())?;
                Ok((Some(dims), weights))
            }
        };
        Ok(Self { entries: text.split(';').map(entry).collect::<Result<_, String>>()? })
    }

    /// The weights for a grid of these sides, if there are any and their sums fit; those for exactly these sides take
    /// precedence.
    pub fn of(&self, dims: &[usize]) -> Option<&[i64]> {
        let own = |(sides, _): &&(Option<Vec<usize>>, _)| sides.as_deref() == Some(dims);
        let any = |(sides, weights): &&(Option<_>, Vec<i64>)| {
            sides.is_none() && weights.len() == dims.len()
        };
        let found = self.entries.iter().find(own).or_else(|| self.entries.iter().find(any));
        let most = Grid::most_weight(dims.iter().product());
        let fits = |weights: &&[i64]| weights.iter().all(|weight| *weight <= most);
        found.map(|(_, weights)| &weights[..]).filter(fits)
    }

    /// True if no weights are for particular sides, so that they were probably meant for all grids.
    pub fn are_general(&self) -> bool {
        self.entries.iter().all(|(sides, _)| sides.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::mapping::tests::planned_cart;
    use crate::mapping::{Options, Plan};
    use crate::topology::Cart;

    #[test]
    fn common_notations_are_read() {
        assert!(Weights::parse("4x0:1,2").unwrap_err().contains("invalid grid"));
        let weights = Weights::parse("16,1,1; 4x4x1 : 1, 2,3;8x8:1,4").unwrap();
        assert_eq!(weights.of(&[4, 4, 1]), Some(&[1, 2, 3][..]));
        assert_eq!(weights.of(&[4, 4, 2]), Some(&[16, 1, 1][..]));
        assert_eq!(weights.of(&[8, 8]), Some(&[1, 4][..]));
        assert_eq!(weights.of(&[8, 4]), None);
        assert!(!weights.are_general() && Weights::parse("1,2").unwrap().are_general());
        for wrong in ["-1,2", "1,x", "1,,2", "inf,1", "nan,1", "1.5,1", "2147483649,1", "1e9,1"] {
            let error = Weights::parse(wrong).unwrap_err();
            assert!(error.contains("whole numbers from 0 to 2147483648"), "{wrong}: {error}");
        }
        assert_eq!(Weights::parse("0,0"), Err("'0,0' has no weight above 0".into()));
        assert_eq!(Weights::parse("4x4:1"), Err("'1' has 1 weights for 2 dimensions".into()));
        assert!(Weights::parse("4xx:1,2").unwrap_err().contains("invalid grid"));
        assert_eq!(parse("1,2", 3), Err("'1,2' has 2 weights for 3 dimensions".into()));
    }

    fn plan(dims: &[i32], periodic: bool, weights: &[i64], sizes: &[usize]) -> Plan {
        let cart = Cart::new(dims, &vec![periodic; dims.len()], i32::MAX).unwrap();
        let grid = Grid::of_cart(&cart, Some(weights));
        planned_cart(&grid, &Machine::blocks(sizes), &Options::default())
    }

    #[test]
    fn sizes_without_a_box_are_divided_well_within_node_sizes() {
        // Bricks and strips have 10,944.
        let found = plan(&[13, 6, 4, 3], true, &[3, 100, 1, 5], &[52; 18]);
        assert!(found.after.inter_node_edges <= 10_100, "{:?}", found.after);
        // The smallest sum has 1,448 edges on a node.
        let found = plan(&[14, 8, 8], true, &[2, 16, 16], &[56; 16]);
        assert_eq!(found.before.max_node_edges, 736);
        assert!(found.after.max_node_edges <= 736, "{:?}", found.after);
        assert!(found.after.inter_node_edges < found.before.inter_node_edges, "{:?}", found.after);
    }

    #[test]
    fn known_weights_determine_the_plan() {
        let sums = |dims: &[i32], weights: &[i64], sizes: &[usize]| {
            let plan = plan(dims, false, weights, sizes);
            (plan.before.inter_node_edges, plan.after.inter_node_edges)
        };
        // A block order that already has the large faces inside nodes is kept; the other order is mapped.
        assert_eq!(sums(&[4, 4], &[1, 16], &[4; 4]), (24, 24));
        assert_eq!(sums(&[4, 4], &[16, 1], &[4; 4]), (384, 24));
        assert_eq!(sums(&[8, 8, 8], &[1, 4, 16], &[32; 16]), (1408, 1408));
        assert_eq!(sums(&[8, 8, 8], &[16, 4, 1], &[32; 16]), (14848, 1408));
        assert_eq!(sums(&[8, 8, 8], &[4, 1, 1], &[32; 16]), (3712, 768));
        assert_eq!(sums(&[16, 16], &[4, 1], &[32; 8]), (896, 224));
        // Knowing that weights are equal counts as well.
        assert_eq!(sums(&[4, 4], &[1, 1], &[4; 4]), (24, 16));
        // A dimension without weight may be cut anywhere.
        assert_eq!(sums(&[4, 4], &[1, 0], &[4; 4]), (24, 0));
    }
}
