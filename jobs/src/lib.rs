//! The parts that a job under Cartograph needs in addition to the library: how its launcher is started, what earlier
//! jobs taught, and the placement of its ranks. The command `cartograph` and the lab use this crate, which writes to no
//! terminal.
//!
//! Each module imports only those before it:
//!
//! - [`error`]: failures and warnings, in words for the user.
//! - [`replay`]: predicts the time of recorded calls for other placements.
//! - [`pmi`]: gives processes other ranks than the launcher's, by relays between the two.
//! - [`learn`]: chooses the placement of a program's next job from the results of its jobs.
//! - [`traffic`]: the messages and the nodes of a recording.
//! - [`predict`]: forecasts of a recorded program in other placements.
//! - [`program`]: programs after their wrappers, and the libraries to preload for them.
//! - [`processes`]: the job in the foreground, and runs with a time limit, their output kept.
//! - [`launch`]: the launcher's line, and the places of the processes that it starts.
//! - [`compare`]: the output and the files of runs.
//! - [`store`]: the directory with all that is learned.
//! - [`place`]: the placements that are worth a job, and how jobs start in them.
//! - [`run`]: the decision on a job, and the lesson after it.
//! - [`draw`]: pictures of the places of processes.
#![deny(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::print_stderr,
        clippy::print_stdout,
        reason = "the command prints, in one write and without control characters"
    )
)]

pub mod compare;
pub mod draw;
pub mod error;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
pub mod launch;
pub mod learn;
pub mod place;
pub mod pmi;
pub mod predict;
pub mod processes;
pub mod program;
pub mod replay;
pub mod run;
pub mod store;
pub mod traffic;
