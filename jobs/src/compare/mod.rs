//! Compares the results of runs: their output, and the files that they write.

pub mod files;
mod output;

pub use output::{Comparison, Lines, add, compare};
