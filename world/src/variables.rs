//! The ranks that launchers tell processes in their environment: programs and scripts read them there.

use std::ffi::c_int;

/// The variables with the rank of a process in the job.
const RANKS: [&str; 8] = [
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "PMIX_RANK",
    "SLURM_PROCID",
    "MV2_COMM_WORLD_RANK",
    "PALS_RANKID",
    "ALPS_APP_PE",
    "FLUX_TASK_RANK",
];

/// Writes the new rank into those variables that have the old one.
pub(crate) fn rewrite(old: c_int, new: c_int) {
    let old = old.to_string();
    for name in RANKS {
        if std::env::var(name).is_ok_and(|value| value == old) {
            // SAFETY: the thread that is in MPI_Init does this; the standard wants no other to change the environment then.
            unsafe { std::env::set_var(name, new.to_string()) };
        }
    }
}
