//! The facts about a job's launcher that its rank file depends on.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::launcher::{Format, Variables, variables};

/// The facts that a job's rank file depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The name of the job's launcher for `cartograph plan --rankfile`.
    pub launcher: Cow<'static, str>,
    /// The names of the nodes, in the order of their lowest ranks in the old communicator, if known.
    pub hosts: Option<String>,
}

impl Launch {
    /// The longest list in bytes; a longer one is left to the user.
    const LONGEST_LIST: usize = 400;

    /// The launch of a job of `processes` on this MPI. `environment` gives the value of a variable, and `hosts` is the
    /// list of node names.
    pub fn new(
        mpi: &str,
        processes: i32,
        environment: impl Fn(&str) -> Option<String>,
        hosts: Option<String>,
    ) -> Self {
        // Launchers that start other launchers have one task per node, not per process.
        let all = processes.to_string();
        let started = |of: Variables| of.size.and_then(&environment).is_some_and(|n| n == all);
        let format = match () {
            () if mpi.contains("CRAY MPICH") => Format::Cray,
            () if started(variables::FLUX) => Format::Flux,
            () if started(variables::SLURM) => Format::Slurm,
            () if mpi.contains("Open MPI") => Format::Openmpi,
            () => Format::Mpich,
        };
        let hosts = hosts.filter(|hosts| hosts.len() <= Self::LONGEST_LIST);
        Self { launcher: format.name().into(), hosts }
    }

    /// True if it can be shown as part of a command: a report may come from another user.
    pub(super) fn is_plain(&self) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-,[]".contains(&byte);
        Format::named(&self.launcher).is_some()
            && self.hosts.iter().all(|hosts| !hosts.starts_with('-') && hosts.bytes().all(plain))
    }

    /// The options of `cartograph plan`.
    pub(super) fn options(&self) -> String {
        let Self { launcher, hosts } = self;
        let takes_names = Format::named(launcher).is_none_or(Format::takes_names);
        match hosts {
            _ if !takes_names => format!("--rankfile {launcher} FILE"),
            // Shells expand brackets.
            Some(hosts) if hosts.contains('[') => {
                format!("--rankfile {launcher} FILE --hosts '{hosts}'")
            }
            Some(hosts) => format!("--rankfile {launcher} FILE --hosts {hosts}"),
            None => format!("--rankfile {launcher} FILE --hosts NAMES"),
        }
    }
}
