//! The arguments of `cartograph tune`.

use std::ffi::OsString;
use std::path::PathBuf;

use regex::Regex;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Maximum runs per variant, interleaved (>= 2)
    #[arg(long, default_value = "5", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(super) runs: u32,
    /// Start no run after SECONDS, and end a run that takes longer
    #[arg(long, default_value = "1800", value_name = "SECONDS")]
    pub(super) seconds: u64,
    /// Compare the time that the program prints: the first group of a regular expression, or its first number;
    /// default: the time from MPI_Init to MPI_Finalize
    #[arg(long, value_name = "REGEX")]
    pub(super) time: Option<Regex>,
    /// Tolerance of numbers in the output, relative to their size or, if they are smaller, to 0.001
    #[arg(long, default_value = "1e-6")]
    pub(super) tolerance: f64,
    /// Ignore lines of the output that contain this text, and files whose names contain it; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(super) ignore: Vec<String>,
    /// Also try other dims when the program uses MPI_Dims_create and they would shrink halos
    #[arg(long)]
    pub(super) dims: bool,
    /// The profile to write, with a rank file next to it; default: PROGRAM.cartograph.json here
    #[arg(long, value_name = "FILE")]
    pub(super) profile: Option<PathBuf>,
    /// Also write the results as JSON: the MPI, the launcher, the nodes and the placements
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    /// The MPI of the program: mpich, openmpi, or another that `cartograph info` lists
    #[arg(long, value_name = "NAME", value_parser = crate::help::MPIS, hide_possible_values = true)]
    pub(super) mpi: Option<String>,
    /// The launcher, the program and its arguments: mpiexec -n 64 ./app; use -- before PROGRAM if ambiguous
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}
