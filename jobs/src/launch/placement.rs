//! How a launcher places ranks, and the command line that does so.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use cartograph_core::launcher::format::Format;
use cartograph_core::launcher::options::Role;
use cartograph_core::launcher::table::LauncherKind;

use super::line::{Given, Line, MAPPING};

/// Why a launcher cannot place ranks with this command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// It has no known option for this.
    #[error("{0} has no option that places ranks")]
    NoOption(&'static str),
    /// With PMI over a port, no relay can be between processes and launcher.
    #[error("{0} places ranks only without -pmi-port")]
    Port(&'static str),
    /// Processes learn their places through an unknown interface.
    #[error("srun places ranks of this MPI only with --mpi=pmi2 or --mpi=pmix")]
    Management,
    /// Files or input of single ranks would be those of other ranks.
    #[error("{0} numbers files or input by the launcher's ranks, which relays change")]
    Numbered(String),
    /// An option may do the same.
    #[error(
        "{0} may number files or input by the launcher's ranks, which relays change: its meaning is unknown"
    )]
    Unknown(String),
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

/// Options with files for the output and input of ranks, or with the ranks that read and write.
const HYDRA_STREAMS: [&str; 6] =
    ["outfile-pattern", "outfile", "errfile-pattern", "errfile", "output-from", "s"];
const SRUN_STREAMS: [&str; 6] = ["o", "output", "e", "error", "i", "input"];

/// The variables for these options of srun.
const SRUN_MODES: [&str; 3] = ["SLURM_STDOUTMODE", "SLURM_STDERRMODE", "SLURM_STDINMODE"];

/// True if this file or number depends on the rank: a rank other than 0, which no relay changes, or `%t` or `%r`, perhaps
/// with a width.
fn is_numbered(value: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let is_rank = |part: &str| part.trim_start_matches(is_digit).starts_with(['t', 'r']);
    let is_list =
        value.starts_with(is_digit) && value.chars().all(|c| is_digit(c) || ",-".contains(c));
    is_list && value != "0" || value.split('%').skip(1).any(is_rank)
}

/// Arguments with spaces between them.
fn joined(words: &[OsString]) -> String {
    words.join(OsStr::new(" ")).to_string_lossy().into_owned()
}

impl Line {
    /// True if relays of PMI can give this launcher's processes other ranks: no file is needed then. `environment` gives
    /// the value of a variable.
    pub fn takes_relays(&self, environment: impl Fn(&str) -> Option<String>) -> bool {
        let mut words = self.options.iter().flat_map(|given| &given.words);
        match self.launcher.kind {
            LauncherKind::Hydra | LauncherKind::IntelHydra => {
                !words.any(|word| word == "-pmi-port")
            }
            LauncherKind::Srun => self.management(environment).as_deref() == Some("pmi2"),
            _ => false,
        }
    }

    /// True if processes know their ranks before MPI_Init, by which those of one file become their programs.
    pub(crate) fn knows_ranks(&self, environment: impl Fn(&str) -> Option<String>) -> bool {
        let set = || self.management(environment).unwrap_or_default();
        !self.programs.is_one || set().starts_with("pmi")
    }

    /// The interface through which srun's processes learn their places, if an option or a variable sets it.
    fn management(&self, environment: impl Fn(&str) -> Option<String>) -> Option<String> {
        let given = self.options.iter().rev().find(|given| given.role == Role::Management);
        given
            .and_then(|given| given.value.clone())
            .or_else(|| self.set("SLURM_MPI_TYPE", environment))
    }

    /// The value of a variable: set by arguments before the launcher, or else by the environment.
    fn set(&self, name: &str, environment: impl Fn(&str) -> Option<String>) -> Option<String> {
        let words = self.before.iter().rev().filter_map(|word| word.to_str()?.split_once('='));
        let found = words.into_iter().find(|(set, _)| *set == name);
        found.map(|(_, value)| value.to_owned()).or_else(|| environment(name))
    }

    /// Checks that no option or variable gives a file or the input to single ranks: under a relay, another process has
    /// the rank.
    ///
    /// # Errors
    ///
    /// [`Obstacle::Numbered`] and [`Obstacle::Unknown`]
    pub fn check_streams(
        &self,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<(), Obstacle> {
        let (options, variables) = match self.launcher.kind {
            LauncherKind::Srun => (&SRUN_STREAMS[..], &SRUN_MODES[..]),
            _ => (&HYDRA_STREAMS[..], &[][..]),
        };
        let is_stream = |given: &&Given| {
            given.name.is_some_and(|name| options.contains(&name))
                && given.value.as_deref().is_some_and(is_numbered)
        };
        if let Some(given) = self.options.iter().find(is_stream) {
            return Err(Obstacle::Numbered(joined(&given.words)));
        }
        if let Some(given) = self.options.iter().find(|given| given.name.is_none()) {
            return Err(Obstacle::Unknown(joined(&given.words)));
        }
        let set = |name: &&str| self.set(name, &environment).is_some_and(|set| is_numbered(&set));
        match variables.iter().find(|name| set(name)) {
            Some(name) => Err(Obstacle::Numbered((*name).to_owned())),
            None => Ok(()),
        }
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
            // It numbers processes after they have become their programs.
            _ if mpi.contains("CRAY MPICH") && !self.programs.is_one => Format::Cray,
            LauncherKind::Orterun | LauncherKind::Prterun => Format::Openmpi,
            LauncherKind::Hydra | LauncherKind::IntelHydra => {
                return Err(Obstacle::Port(self.launcher.name));
            }
            LauncherKind::Srun => {
                let said = self.management(&environment).unwrap_or_default();
                if !mpi.contains("Open MPI") && !said.starts_with("pmix") {
                    return Err(Obstacle::Management);
                }
                Format::Slurm
            }
            LauncherKind::Flux => Format::Flux,
            LauncherKind::Pals => return Err(Obstacle::NoOption(self.launcher.name)),
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
        let names =
            starts.iter().flat_map(|start| MAPPING.iter().map(move |own| format!("{start}{own}")));
        names.filter_map(|name| self.set(&name, &environment).map(|value| (name, value))).collect()
    }

    /// This line, changed so that the launcher places `processes` ranks with a rank file of this text. Options that it
    /// rejects together with the file are removed. Ranks are not bound to parts of their node, if the launcher can
    /// leave them unbound.
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
            |given: &Given| replaces(*format, given.role) || unbinds && given.role == Role::Binding;
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
        if replaces(*format, Role::PerNode) && self.processes().is_none() {
            options.extend(["-n".into(), processes.to_string().into()]);
        }
        let kept_letters = replaced.iter().filter(|given| !given.letters.is_empty());
        options.extend(kept_letters.map(|given| format!("-{}", given.letters).into()));
        // The launcher refuses ranks whose cores overlap in the file, and without binding does not check them.
        if unbinds {
            options.extend(["--bind-to".into(), "none".into()]);
        }
        let mut before = self.before.clone();
        if !variables.is_empty() || !unset.is_empty() {
            before.push("env".into());
            before.extend(unset.iter().flat_map(|(name, _)| ["-u".into(), name.into()]));
            before.extend(variables);
        }
        let own = Given {
            words: options,
            letters: String::new(),
            name: None,
            value: None,
            role: Role::Other,
        };
        let options = std::iter::once(own).chain(kept).collect();
        Self { before, options, ..self.clone() }
    }
}

impl Placement {
    /// A placement by this launcher with nothing else that places ranks.
    pub const fn of(format: Format, kind: LauncherKind) -> Self {
        Self { format, kind, variables: Vec::new() }
    }

    /// True if the launcher takes a rank file of this name. PRRTE (3.0.2 to 4.1) takes any "pe" in the value of
    /// --map-by for the modifier PE, with which it refuses `--bind-to none`, and a colon for the end of a modifier.
    pub fn takes(&self, file: &Path) -> bool {
        let name = file.to_string_lossy().to_ascii_lowercase();
        self.kind != LauncherKind::Prterun || !(name.contains("pe") || name.contains(':'))
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

/// True if an option with this effect must be removed if a file places ranks: because it contradicts the file, or
/// because the launcher rejects the two together. Open MPI's lists of hosts stay, since they are the nodes that it
/// may use.
const fn replaces(format: Format, role: Role) -> bool {
    match role {
        Role::Order => true,
        Role::PerNode => matches!(format, Format::Openmpi | Format::Slurm),
        // Since 23.11, srun rejects a number of nodes as well: they are counted in the file.
        Role::Hosts | Role::Nodes => matches!(format, Format::Slurm),
        _ => false,
    }
}
