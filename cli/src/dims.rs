//! `cartograph dims`.

use cartograph_core::topology::{BoxShape, dims_create};

use crate::output::{self, Failure, Result};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The number of processes in the grid
    #[arg(value_parser = clap::value_parser!(i32).range(1..))]
    nnodes: i32,
    /// The number of dimensions
    #[arg(value_parser = clap::value_parser!(u32).range(..=MOST_DIMENSIONS as i64))]
    ndims: u32,
    /// Fixed sizes, 0 for those to choose, such as 0x3x0
    #[arg(long, value_name = "AxBxC")]
    fixed: Option<String>,
    /// Aspect ratio of the global domain, such as 1x1x10: choose the sizes with the fewest bytes of halos
    #[arg(long = "box", value_name = "AxBxC", conflicts_with = "fixed")]
    shape: Option<BoxShape>,
}

/// More dimensions are a typing error: no grid has more than 31 with two or more processes.
const MOST_DIMENSIONS: usize = 1024;

/// Reads sizes such as 50x48.
pub(crate) fn parse_sides(text: &str) -> Result<Vec<i32>> {
    let ndims = text.split('x').count();
    if ndims > MOST_DIMENSIONS {
        return Err(Failure::usage(format!(
            "a grid has at most {MOST_DIMENSIONS} dimensions, not {ndims}"
        )));
    }
    let sides: Option<Vec<i32>> =
        text.split('x').map(|side| side.trim().parse().ok().filter(|side| *side >= 0)).collect();
    sides.ok_or_else(|| {
        Failure::usage(format!("invalid grid '{text}' (expected sizes such as 50x48)"))
    })
}

/// Formats sizes in the form in which they are read.
pub(crate) fn sides_text(sides: &[impl ToString]) -> String {
    sides.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let ndims = arguments.ndims as usize;
    if let Some(shape) = &arguments.shape {
        if shape.ndims() != ndims {
            let given = shape.ndims();
            return Err(Failure::usage(format!(
                "--box gives {given} sides for {ndims} dimensions"
            )));
        }
        let dims =
            shape.dims(arguments.nnodes, &[]).map_err(|error| Failure::usage(error.to_string()))?;
        return output::print(&format!("{}\n", sides_text(&dims)));
    }
    let mut dims = match &arguments.fixed {
        Some(text) => parse_sides(text)?,
        None => vec![0; ndims],
    };
    if dims.len() != ndims {
        let given = dims.len();
        return Err(Failure::usage(format!("--fixed gives {given} sizes for {ndims} dimensions")));
    }
    dims_create(arguments.nnodes, &mut dims).map_err(|error| Failure::usage(error.to_string()))?;
    output::print(&format!("{}\n", sides_text(&dims)))
}
