//! Results: measured tables, kept as data in `lab/results`, and shown on the pages of `docs`. [`simulated`] has the
//! histories of jobs that `make lab-policy` measures.

pub mod host;
pub mod pages;
pub mod simulated;
pub mod table;

pub use table::{File, Table};

use std::path::{Path, PathBuf};

/// The directory of the results in the source tree.
pub fn directory() -> PathBuf {
    top().join("lab/results")
}

/// The top directory of the source tree.
pub fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
