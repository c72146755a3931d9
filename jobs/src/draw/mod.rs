//! Pictures of the places of processes, before and after: drawings in SVG, and text for terminals.

pub mod colors;
pub mod figure;
pub mod grid;
mod matrix;
mod names;
mod panel;
mod slices;
pub mod terminal;

pub use figure::{Caption, Figure, sheet};

use cartograph_core::report::Record;
use cartograph_core::topology::TopologySummary;

/// The figure of a topology in a report. `None` if the report has too little data for a picture.
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
