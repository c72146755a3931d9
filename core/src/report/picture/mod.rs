//! Pictures of where processes are, before and after: drawings in SVG, and text for terminals.

pub mod colors;
pub mod figure;
pub mod grid;
mod matrix;
mod panel;
mod slices;
pub mod terminal;

pub use figure::{Figure, sheet};

use super::effect::LevelEffect;
use super::record::Record;
use crate::mapping::Cost;
use crate::topology::TopologySummary;

/// Cells of a matrix beyond which a picture shows nothing any more.
const MOST_CELLS: usize = 1 << 18;

/// The caption of two pictures side by side.
#[derive(Debug, Clone)]
pub struct Caption {
    /// The unit of the costs: "edges" or "bytes".
    pub weighs: &'static str,
    /// The subject of the pictures, in words: a grid or graph and its nodes.
    pub subject: String,
    /// The algorithm that found the mapping on the right.
    pub algorithm: String,
    /// The cost of the left one.
    pub before: Cost,
    /// The cost of the right one.
    pub after: Cost,
    /// A lower bound on the edges between nodes, for any mapping.
    pub lower_bound: i64,
    /// The effect at the levels above and below the nodes.
    pub levels: Vec<LevelEffect>,
}

/// The figure of a topology in a report. `None` if the report has too little for a picture.
pub fn of_record(record: &Record) -> Option<Figure> {
    let effect = record.effect.as_ref()?;
    let nodes = record.nodes.as_ref()?;
    let caption = Caption {
        weighs: "edges",
        subject: format!("{}: {} on {nodes}", record.function, record.topology),
        algorithm: effect.algorithm.to_string(),
        before: effect.before,
        after: effect.after,
        lower_bound: effect.lower_bound,
        levels: effect.levels.clone(),
    };
    if let Some(traffic) = &record.traffic {
        return Figure::matrices(&caption, &traffic.before, &traffic.after);
    }
    let TopologySummary::Cart { dims, .. } = &record.topology else { return None };
    let dims: Vec<usize> = dims.iter().map(|side| *side as usize).collect();
    let places = record.places.as_ref()?;
    let cells = dims.iter().try_fold(1usize, |cells, side| cells.checked_mul(*side))?;
    Some(Figure::grids(&caption, &dims, &places.before(cells)?, &places.after(cells)?))
}
