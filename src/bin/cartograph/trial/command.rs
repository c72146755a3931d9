//! Where in a launcher's command the program is.

use std::env;
use std::ffi::{OsStr, OsString};

use crate::exec;
use crate::output::{Failure, Result};

/// A launcher's command.
pub(super) struct Launch {
    launcher: Vec<OsString>,
    program: Vec<OsString>,
}

impl Launch {
    /// Finds the program: what follows `--` or, without it, the first argument that is an executable file linked with
    /// an MPI.
    pub(super) fn of(command: &[OsString]) -> Result<Self> {
        if let Some(at) = command.iter().position(|word| word == "--") {
            let (launcher, program) = (command[..at].to_vec(), command[at + 1..].to_vec());
            if program.is_empty() {
                return Err(Failure::usage("there is no program after the second --"));
            }
            return Ok(Self { launcher, program });
        }
        if command.iter().any(|word| word == ":") {
            return Err(Failure::usage(
                "the command starts several programs, with ':' between them; try each by itself",
            ));
        }
        let at = command.iter().position(|word| exec::is_linked_with_mpi(word)).ok_or_else(|| {
            Failure::usage(
                "which argument is the program? None is an executable file linked with an MPI: put -- before \
                 it, as in cartograph try -- mpiexec -n 8 -- python3 app.py",
            )
        })?;
        Ok(Self { launcher: command[..at].to_vec(), program: command[at..].to_vec() })
    }

    /// The program, without its arguments.
    pub(super) fn program(&self) -> &OsStr {
        &self.program[0]
    }

    /// The command as the user wrote it.
    pub(super) fn alone(&self) -> Vec<OsString> {
        [&self.launcher[..], &self.program].concat()
    }

    /// The same with `cartograph exec` and its options before the program.
    pub(super) fn under(&self, options: &[OsString]) -> Result<Vec<OsString>> {
        let own = env::current_exe()
            .map_err(|error| Failure::new(format!("cannot find the own program: {error}")))?;
        let exec = [own.into_os_string(), OsStr::new("exec").to_owned()];
        Ok([&self.launcher[..], &exec, options, &self.program].concat())
    }
}
