//! The ranks that launchers set in the environment of processes, which programs and scripts read.

use std::ffi::c_int;

use cartograph_core::launcher::variables;
use cartograph_core::settings;

/// Writes the new rank into the variables that have the old one.
pub(crate) fn rewrite(old: c_int, new: c_int) {
    let own = std::process::id().to_string();
    // For the report of this process, not of its children.
    // SAFETY: as below.
    unsafe { std::env::set_var(settings::WORLD_OF.name, own) };
    let old = old.to_string();
    for name in variables::ALL.iter().map(|of| of.rank) {
        if std::env::var(name).is_ok_and(|value| value == old) {
            // SAFETY: the thread that is in MPI_Init does this; the standard requires that no other changes the
            // environment meanwhile.
            unsafe { std::env::set_var(name, new.to_string()) };
        }
    }
}
