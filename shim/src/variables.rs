//! The environment variables in which launchers and batch systems set a process's place in the job.

/// The variables that one kind of launcher sets in each process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variables {
    /// The launcher, for messages.
    pub launcher: &'static str,
    /// The rank in the job.
    pub rank: &'static str,
    /// The number of processes of the job.
    pub size: Option<&'static str>,
}

impl Variables {
    const fn new(launcher: &'static str, rank: &'static str) -> Self {
        Self { launcher, rank, size: None }
    }

    const fn size(self, size: &'static str) -> Self {
        Self { size: Some(size), ..self }
    }
}

/// The variables of Flux.
pub const FLUX: Variables = Variables::new("flux run", "FLUX_TASK_RANK").size("FLUX_JOB_SIZE");

/// The variables of Slurm's launcher.
pub const SLURM: Variables = Variables::new("srun", "SLURM_PROCID").size("SLURM_STEP_NUM_TASKS");

/// The variables of all launchers. srun's come last: mpiexec may start its processes on nodes with srun, and passes on
/// srun's variables.
pub const ALL: [Variables; 7] = [
    Variables::new("Open MPI's launcher", "OMPI_COMM_WORLD_RANK").size("OMPI_COMM_WORLD_SIZE"),
    Variables::new("MVAPICH's launcher", "MV2_COMM_WORLD_RANK").size("MV2_COMM_WORLD_SIZE"),
    Variables::new("the launcher of MPICH or Intel MPI", "PMI_RANK").size("PMI_SIZE"),
    Variables::new("a launcher with PMIx", "PMIX_RANK"),
    Variables::new("PALS", "PALS_RANKID"),
    FLUX,
    SLURM,
];

/// The variables in which batch systems and launchers name a job; the first one set counts. The first is Slurm's. Flux has
/// one for a process's job, and one for the job in which that was started.
pub const JOBS: [&str; 8] = [
    "SLURM_JOB_ID",
    "PBS_JOBID",
    "LSB_JOBID",
    "FLUX_JOB_ID",
    "FLUX_ENCLOSING_ID",
    "COBALT_JOBID",
    "JOB_ID",
    "PMIX_NAMESPACE",
];

/// The variable with the step of Slurm's job that a launcher has started.
pub const STEP: &str = "SLURM_STEP_ID";

/// The value of the first variable that is set to the rank of this process; `read` returns the value of a variable.
pub fn rank<T>(read: impl Fn(&'static str) -> Option<T>) -> Option<T> {
    ALL.iter().find_map(|variables| read(variables.rank))
}
