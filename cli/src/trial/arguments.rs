//! The arguments of `cartograph try`.

use std::ffi::OsString;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Number of runs with rank 0 in place, and again with rank 0 moved, each in a different order
    #[arg(long, default_value = "3", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(super) runs: u64,
    /// Time limit of each run; default: an hour for the first two, then ten times their time plus ten seconds
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) seconds: Option<u64>,
    /// Tolerance of numbers, relative to their size or, if they are smaller, to 0.001
    #[arg(long, default_value = "1e-6")]
    pub(super) tolerance: f64,
    /// Ignore lines that contain this text, such as those with a rank's position, and files whose names contain it; may
    /// be repeated
    #[arg(long, value_name = "TEXT")]
    pub(super) ignore: Vec<String>,
    /// Also reorder when the program passes reorder = 0
    #[arg(long)]
    pub(super) always: bool,
    /// Run in this directory, not in a copy of it, and let the program change its files
    #[arg(long)]
    pub(super) in_place: bool,
    /// The MPI of the program: mpich, openmpi, or another that `cartograph info` lists
    #[arg(long, value_name = "NAME", value_parser = crate::help::MPIS, hide_possible_values = true)]
    pub(super) mpi: Option<String>,
    /// The launcher, the program and its arguments: mpiexec -n 8 ./app; use -- before PROGRAM
    /// if ambiguous
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}
