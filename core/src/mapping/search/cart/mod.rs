//! Mapping grids.

mod bisect;
mod bound;
mod brick;
mod compact_box;
mod construct;
mod region;
mod strips;
mod subject;
#[cfg(test)]
mod tests;
