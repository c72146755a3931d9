//! The arguments of `cartograph run`.

use std::ffi::OsString;

use cartograph_jobs::run::Request;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print nothing at the end of the job
    #[arg(long)]
    pub(super) quiet: bool,
    /// Use the best known placement in this job, without a trial
    #[arg(long)]
    no_trial: bool,
    /// A name for the program, to distinguish jobs with the same file and number of processes
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// local: ranks choose the devices of their node by their place there, not by their number in MPI_COMM_WORLD; only
    /// needed until a job has shown that
    #[arg(long, value_name = "local", value_parser = ["local"], hide_possible_values = true)]
    devices: Option<String>,
    /// The command that starts the job: mpiexec -n 64 ./app input
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

impl Arguments {
    /// The job as these arguments start it.
    pub(super) fn request(&self) -> Request<'_> {
        Request {
            command: &self.command,
            name: self.name.as_deref(),
            no_trial: self.no_trial,
            are_devices_local: self.devices.is_some(),
        }
    }
}
