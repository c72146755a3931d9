//! How a launcher places ranks, and the command line that does so.

use std::ffi::{OsStr, OsString};

use super::format::Format;
use super::line::{Given, Line, MAPPING};
use super::options::Role;
use super::table::LauncherKind;

/// Why a launcher cannot place ranks with this command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// It has no known option for this.
    #[error("{0} has no option that places ranks")]
    NoOption(&'static str),
    /// With PMI over a port, no relay can be between processes and launcher.
    #[error("{0} places ranks only without -pmi-port")]
    Port(&'static str),
    /// With PMI-2, Slurm reports every process on a separate node to MPICH.
    #[error(
        "when srun places ranks, PMI-2 reports each rank on a separate node to MPICH; use --mpi=pmix"
    )]
    Management,
}

/// How a launcher places ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The format of its rank file.
    pub format: Format,
    /// The launcher.
    pub kind: LauncherKind,
    /// The variables that place ranks as options do, with their values.
    pub variables: Vec<(String, String)>,
}

/// The arguments and variables that pass a rank file to the launcher.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// Variables for the launcher's environment.
    pub variables: Vec<OsString>,
    /// Options, which come first among its own.
    pub options: Vec<OsString>,
}

impl Line {
    /// True if relays of PMI can give this launcher's processes other ranks: no file is needed then.
    pub fn takes_relays(&self) -> bool {
        let mut words = self.options.iter().flat_map(|given| &given.words);
        matches!(self.launcher.kind, LauncherKind::Hydra | LauncherKind::IntelHydra)
            && !words.any(|word| word == "-pmi-port")
    }

    /// How this line's launcher places the ranks of a program of this MPI with a file; `environment` gives the value of a
    /// variable.
    ///
    /// # Errors
    ///
    /// [`Obstacle`]
    pub fn placement(
        &self,
        mpi: &str,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Placement, Obstacle> {
        let kind = self.launcher.kind;
        let format = match kind {
            _ if mpi.contains("CRAY MPICH") => Format::Cray,
            LauncherKind::Orterun | LauncherKind::Prterun => Format::Openmpi,
            LauncherKind::Hydra | LauncherKind::IntelHydra => {
                return Err(Obstacle::Port(self.launcher.name));
            }
            LauncherKind::Srun => {
                let given = self.options.iter().find(|given| given.role == Role::Management);
                let said = given.and_then(|given| given.value.clone());
                let said = said.or_else(|| environment("SLURM_MPI_TYPE")).unwrap_or_default();
                if !mpi.contains("Open MPI") && !said.starts_with("pmix") {
                    return Err(Obstacle::Management);
                }
                Format::Slurm
            }
            LauncherKind::Flux => Format::Flux,
            LauncherKind::Jsrun | LauncherKind::Aprun | LauncherKind::Pals => {
                return Err(Obstacle::NoOption(self.launcher.name));
            }
        };
        Ok(Placement { format, kind, variables: self.variables(environment) })
    }

    /// The variables that place ranks as this launcher's options do: set by arguments before it, or else
    /// by the environment.
    fn variables(&self, environment: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
        let starts: &[&str] = match self.launcher.kind {
            LauncherKind::Orterun => &["OMPI_MCA_"],
            LauncherKind::Prterun => &["PRTE_MCA_", "OMPI_MCA_"],
            _ => &[],
        };
        let set = |name: &str| {
            let words = self.before.iter().rev().filter_map(|word| word.to_str()?.split_once('='));
            let found = words.into_iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| value.to_owned()).or_else(|| environment(name))
        };
        let names =
            starts.iter().flat_map(|start| MAPPING.iter().map(move |own| format!("{start}{own}")));
        names.filter_map(|name| set(&name).map(|value| (name, value))).collect()
    }

    /// This line, changed so that the launcher places `processes` ranks with a rank file of this text. Options that it
    /// rejects together with the file are removed. It does not bind ranks to parts of their node, if it can leave that.
    #[must_use]
    pub fn placed(
        &self,
        placement: &Placement,
        file: &OsStr,
        text: &str,
        processes: usize,
    ) -> Self {
        let Placement { format, kind, variables: unset } = placement;
        let unbinds = *kind == LauncherKind::Prterun;
        let is_replaced =
            |given: &Given| format.replaces(given.role) || unbinds && given.role == Role::Binding;
        let (replaced, kept): (Vec<Given>, Vec<Given>) =
            self.options.iter().cloned().partition(is_replaced);
        let Passing { variables, mut options } = placement.passing(file, text);
        // The order may determine whether a core may have several ranks, or a separate option may.
        let oversubscribes = |value: &str| {
            let value = value.to_ascii_lowercase();
            value.split([':', ',']).any(|modifier| modifier == "oversubscribe")
        };
        let options_say = replaced.iter().filter_map(|given| given.value.as_deref());
        let variables_say = unset.iter().map(|(_, value)| value.as_str());
        if options_say.chain(variables_say).any(oversubscribes) {
            match kind {
                LauncherKind::Prterun => {
                    options.iter_mut().rev().take(1).for_each(|last| last.push(":oversubscribe"))
                }
                _ => options.push("--oversubscribe".into()),
            }
        }
        if format.replaces(Role::PerNode) && self.processes().is_none() {
            options.extend(["-n".into(), processes.to_string().into()]);
        }
        // The launcher refuses ranks whose cores overlap in the file, and without binding does not look at them.
        if unbinds {
            options.extend(["--bind-to".into(), "none".into()]);
        }
        let mut before = self.before.clone();
        if !variables.is_empty() || !unset.is_empty() {
            before.push("env".into());
            before.extend(unset.iter().flat_map(|(name, _)| ["-u".into(), name.into()]));
            before.extend(variables);
        }
        let own = Given { words: options, name: None, value: None, role: Role::Other };
        let options = std::iter::once(own).chain(kept).collect();
        Self { before, options, ..self.clone() }
    }
}

impl Placement {
    /// A placement by this launcher with nothing else that places ranks.
    pub const fn of(format: Format, kind: LauncherKind) -> Self {
        Self { format, kind, variables: Vec::new() }
    }

    /// The arguments that pass a rank file to the launcher, and its text.
    pub fn passing(&self, file: &OsStr, text: &str) -> Passing {
        let joined = |start: &str| {
            let mut word = OsString::from(start);
            word.push(file);
            word
        };
        let (variables, options) = match self.format {
            Format::Openmpi if self.kind == LauncherKind::Orterun => {
                (vec![], vec!["--rankfile".into(), file.into()])
            }
            Format::Openmpi => (vec![], vec!["--map-by".into(), joined("rankfile:file=")]),
            Format::Slurm => {
                (vec![joined("SLURM_HOSTFILE=")], vec!["--distribution=arbitrary".into()])
            }
            Format::Cray => (
                vec!["MPICH_RANK_REORDER_METHOD=3".into(), joined("MPICH_RANK_REORDER_FILE=")],
                vec![],
            ),
            Format::Flux => (vec![], vec![format!("--taskmap=manual:{}", text.trim()).into()]),
        };
        Passing { variables, options }
    }
}

impl Format {
    /// True if an option with this effect must be removed if a file places ranks: because it contradicts the file, or
    /// because the launcher rejects the two together. Open MPI's lists of hosts stay, since they are the nodes that it
    /// may use.
    pub const fn replaces(self, role: Role) -> bool {
        match role {
            Role::Order => true,
            Role::PerNode => matches!(self, Self::Openmpi | Self::Slurm),
            Role::Hosts => matches!(self, Self::Slurm),
            _ => false,
        }
    }
}
