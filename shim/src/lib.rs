//! Code that Cartograph's preloaded libraries share with each other and with the command. The library to preload for
//! every MPI has no standard library, so neither does this crate.
//!
//! - [`variables`]: the variables in which launchers set ranks.
//! - [`environment`]: variables, unless the program has more rights than its user.
//! - [`splitmix`]: numbers that look random.
//! - [`switch`]: the values of `CARTOGRAPH_REPORT` that are not file names.
//! - `elf`: the libraries that were built for MPIs, by their files.
//! - `names`, [`next`], [`mod@say`]: wrapped functions, the functions below them, and messages on stderr.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

#[cfg(feature = "elf")]
pub mod elf;
pub mod environment;
mod names;
pub mod next;
pub mod say;
pub mod splitmix;
pub mod switch;
pub mod variables;
