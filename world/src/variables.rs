//! The ranks that launchers set in the environment of processes, where programs and scripts read them.

use std::ffi::c_int;

use cartograph_core::launcher::variables;

/// Set to the number of a process whose MPI_COMM_WORLD is in another order, for its report; its children are not it.
const MADE: &str = "CARTOGRAPH_WORLD_OF";

/// Writes the new rank into those variables that have the old one.
pub(crate) fn rewrite(old: c_int, new: c_int) {
    let own = std::process::id().to_string();
    // SAFETY: as below.
    unsafe { std::env::set_var(MADE, own) };
    let old = old.to_string();
    for name in variables::ALL.iter().map(|of| of.rank) {
        if std::env::var(name).is_ok_and(|value| value == old) {
            // SAFETY: the thread that is in MPI_Init does this; the standard requires that no other changes the
            // environment meanwhile.
            unsafe { std::env::set_var(name, new.to_string()) };
        }
    }
}
