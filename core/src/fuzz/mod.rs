//! Bodies that take random bytes: the bodies of `fuzz/`, which `cargo test` runs as well, on the
//! committed seeds and on bytes of its own. Each panics where something does not hold.

mod constructors;
#[path = "../../../cli/src/elf.rs"]
#[allow(
    dead_code,
    missing_docs,
    reason = "the command's and the preloaded library's, here to be fuzzed"
)]
mod elf_reader;
mod files;
mod numbers;
mod plans;
#[cfg(test)]
mod tests;
#[path = "../../../world/src/order.rs"]
mod world_order;

pub use constructors::constructors;
pub use files::{elf, hosts, layout, metis, profile, recording, report, topology};
pub use numbers::numbers;
pub use plans::{graph, grid};

/// Does something with bytes.
pub type Body = fn(&[u8]);

/// All of them, by the names of their seeds' folders.
pub const ALL: [(&str, Body); 12] = [
    ("grid", grid),
    ("graph", graph),
    ("layout", layout),
    ("topology", topology),
    ("hosts", hosts),
    ("recording", recording),
    ("metis", metis),
    ("profile", profile),
    ("report", report),
    ("elf", elf),
    ("constructors", constructors),
    ("numbers", numbers),
];
