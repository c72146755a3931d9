//! The table of launchers, and how each is recognized.

use super::options::{self, Options};

/// The kinds of launchers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LauncherKind {
    /// MPICH's, which MVAPICH uses as well.
    Hydra,
    /// Intel MPI's Hydra, with other options.
    IntelHydra,
    /// Open MPI's, up to version 4.
    Orterun,
    /// PRRTE's, which Open MPI uses from version 5.
    Prterun,
    /// Slurm's.
    Srun,
    /// Flux's.
    Flux,
    /// HPE's PALS, `mpiexec` on Cray EX.
    Pals,
}

/// A launcher.
#[derive(Debug)]
pub struct Launcher {
    /// The kind.
    pub kind: LauncherKind,
    /// The name for messages.
    pub name: &'static str,
    /// The file names of its command, up to the first dot: `mpiexec.hydra` and `mpiexec.mpich` are `mpiexec`.
    pub commands: &'static [&'static str],
    /// The subcommand, as in `flux run`.
    pub subcommand: Option<&'static str>,
    /// Text that only this launcher prints for `--version`, if several have the same command.
    pub prints: &'static [&'static str],
    /// Text in `MPI_Get_library_version` of the MPIs that come with it, if several launchers have the same command.
    pub mpis: &'static [&'static str],
    /// Variables that are set in an allocation, if the launcher requests nodes for each job when none of them is set.
    pub allocations: &'static [&'static str],
    /// True if one-letter options may be joined to each other and to their value, as in `-n4`, and long ones may be
    /// abbreviated.
    pub joins_letters: bool,
    /// The options.
    pub options: &'static [Options],
}

/// A launcher that is recognized by its command alone.
const PLAIN: Launcher = Launcher {
    kind: LauncherKind::Hydra,
    name: "",
    commands: &[],
    subcommand: None,
    prints: &[],
    mpis: &[],
    allocations: &[],
    joins_letters: false,
    options: &[],
};

/// All launchers. Among those with the same command, the first that matches counts.
pub const ALL: &[Launcher] = &[
    Launcher {
        kind: LauncherKind::Pals,
        name: "PALS' mpiexec",
        commands: &["mpiexec", "mpirun"],
        prints: &["PALS", "mpiexec version"],
        mpis: &["CRAY MPICH"],
        joins_letters: true,
        options: options::PALS,
        ..PLAIN
    },
    Launcher {
        kind: LauncherKind::IntelHydra,
        name: "Intel MPI's mpiexec",
        commands: &["mpiexec", "mpirun"],
        prints: &["Intel(R) MPI Library"],
        mpis: &["Intel(R) MPI"],
        options: options::HYDRA,
        ..PLAIN
    },
    Launcher {
        kind: LauncherKind::Hydra,
        name: "MPICH's mpiexec",
        commands: &["mpiexec", "mpirun"],
        prints: &["HYDRA build details"],
        mpis: &["MPICH", "MVAPICH"],
        options: options::HYDRA,
        ..PLAIN
    },
    Launcher {
        kind: LauncherKind::Orterun,
        name: "Open MPI 4's mpiexec",
        commands: &["orterun", "mpiexec", "mpirun"],
        prints: &["(OpenRTE)", "(Open MPI) 4.", "(Open MPI) 3."],
        mpis: &["Open MPI v4.", "Open MPI v3."],
        options: options::ORTERUN,
        ..PLAIN
    },
    Launcher {
        kind: LauncherKind::Prterun,
        name: "Open MPI's mpiexec",
        commands: &["prterun", "prun", "mpiexec", "mpirun"],
        prints: &["(Open MPI)", "(PRRTE)", "(PRTE)"],
        mpis: &["Open MPI"],
        options: options::PRTERUN,
        ..PLAIN
    },
    Launcher {
        kind: LauncherKind::Srun,
        name: "srun",
        commands: &["srun"],
        allocations: &["SLURM_JOB_ID"],
        joins_letters: true,
        options: options::SRUN,
        ..PLAIN
    },
    Launcher {
        kind: LauncherKind::Flux,
        name: "flux run",
        commands: &["flux"],
        subcommand: Some("run"),
        allocations: &["FLUX_URI"],
        joins_letters: true,
        options: options::FLUX,
        ..PLAIN
    },
];

/// The launchers that an argument may be: those whose command has this file name, up to its first dot.
pub fn named(word: &str) -> impl Iterator<Item = &'static Launcher> {
    let name = word.rsplit('/').next().unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default().to_owned();
    ALL.iter().filter(move |launcher| launcher.commands.contains(&&*name))
}

impl Launcher {
    /// The launcher that an argument is. `prints` gives the command's output for `--version`, and is called only if
    /// several launchers share its name; `mpi` is the program's MPI as reported by `MPI_Get_library_version`, which
    /// identifies the launcher if its output does not.
    pub fn of_command(
        word: &str,
        prints: impl FnOnce() -> String,
        mpi: Option<&str>,
    ) -> Option<&'static Self> {
        let candidates: Vec<&'static Self> = named(word).collect();
        if let [] | [_] = candidates[..] {
            return candidates.first().copied();
        }
        let printed = prints();
        let find = |text: &str, words: fn(&Self) -> &'static [&'static str]| {
            candidates
                .iter()
                .find(|launcher| words(launcher).iter().any(|word| text.contains(word)))
        };
        find(&printed, |launcher| launcher.prints)
            .or_else(|| find(mpi?, |launcher| launcher.mpis))
            .copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_recognized_by_name_output_and_mpi() {
        let kind = |word: &str, printed: &str, mpi: Option<&str>| {
            let found = Launcher::of_command(word, || printed.to_owned(), mpi);
            found.map(|launcher| launcher.kind)
        };
        for (word, printed, mpi, expected) in [
            ("/opt/bin/srun", "", None, Some(LauncherKind::Srun)),
            ("flux", "", None, Some(LauncherKind::Flux)),
            ("prterun", "", None, Some(LauncherKind::Prterun)),
            (
                "mpiexec",
                "HYDRA build details:\n    Version: 4.0.2",
                None,
                Some(LauncherKind::Hydra),
            ),
            (
                "mpiexec.hydra",
                "Intel(R) MPI Library for Linux* OS, Version 2021.17",
                None,
                Some(LauncherKind::IntelHydra),
            ),
            (
                "mpiexec.openmpi",
                "mpiexec.openmpi (OpenRTE) 4.1.4",
                None,
                Some(LauncherKind::Orterun),
            ),
            ("mpirun", "mpirun (Open MPI) 4.1.6", None, Some(LauncherKind::Orterun)),
            ("mpirun", "mpirun (Open MPI) 5.0.11", None, Some(LauncherKind::Prterun)),
            ("mpiexec", "mpiexec version 1.2.12 revision", None, Some(LauncherKind::Pals)),
            ("mpiexec", "", Some("Open MPI v4.1.4, package: Debian"), Some(LauncherKind::Orterun)),
            ("mpiexec", "", Some("Open MPI v5.0.11"), Some(LauncherKind::Prterun)),
            ("mpiexec", "", Some("MPICH Version: 5.0.2"), Some(LauncherKind::Hydra)),
            ("mpiexec", "", Some("MPI VERSION : CRAY MPICH version 8.1"), Some(LauncherKind::Pals)),
            ("mpiexec", "", None, None),
            ("env", "", Some("MPICH"), None),
        ] {
            assert_eq!(kind(word, printed, mpi), expected, "{word} {printed} {mpi:?}");
        }
    }

    #[test]
    fn no_option_is_in_the_table_of_a_launcher_twice() {
        for launcher in ALL {
            let mut names: Vec<&str> = launcher.options.iter().flat_map(Options::names).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}: {names:?}", launcher.name);
        }
    }
}
