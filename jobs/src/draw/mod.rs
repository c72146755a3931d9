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
