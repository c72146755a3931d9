//! `cartograph dims`.

use cartograph::topology::dims_create;

use crate::output::{self, Failure, Result};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many processes the grid has
    nnodes: i32,
    /// How many dimensions
    ndims: usize,
    /// Sizes that are given, 0 for those that are not, such as 0x3x0
    #[arg(long, value_name = "AxBxC")]
    fixed: Option<String>,
}

/// Reads sizes such as 50x48.
pub(crate) fn parse_sides(text: &str) -> Result<Vec<i32>> {
    let sides: Option<Vec<i32>> =
        text.split('x').map(|side| side.trim().parse().ok().filter(|side| *side >= 0)).collect();
    sides.ok_or_else(|| Failure::usage(format!("'{text}' is no grid: write sizes such as 50x48")))
}

/// Writes sizes as they are read.
pub(crate) fn sides_text(sides: &[impl ToString]) -> String {
    sides.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut dims = match &arguments.fixed {
        Some(text) => parse_sides(text)?,
        None => vec![0; arguments.ndims],
    };
    if dims.len() != arguments.ndims {
        let (given, ndims) = (dims.len(), arguments.ndims);
        return Err(Failure::usage(format!("--fixed gives {given} sizes for {ndims} dimensions")));
    }
    dims_create(arguments.nnodes, &mut dims).map_err(|error| Failure::new(error.to_string()))?;
    output::print(&format!("{}\n", sides_text(&dims)))
}
