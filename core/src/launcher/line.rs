//! Parses the command line of a launcher, and builds one that places ranks.

use std::ffi::{OsStr, OsString};
use std::fmt;

use super::options::{Options, Role, Values};
use super::{Format, Kind, Launcher, named};

/// An option on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its arguments, including its values.
    pub words: Vec<OsString>,
    /// The name in the table, without dashes; `None` for an argument that is not in the table.
    pub name: Option<&'static str>,
    /// The value, or the first of several.
    pub value: Option<String>,
    /// The effect on where ranks run.
    pub role: Role,
}

/// The command line of a launcher.
#[derive(Debug, Clone)]
pub struct Line {
    /// The launcher.
    pub launcher: &'static Launcher,
    /// The arguments before the launcher, such as `env` and variables.
    pub before: Vec<OsString>,
    /// The launcher's command.
    pub start: Vec<OsString>,
    /// The options.
    pub options: Vec<Given>,
    /// The program, with its wrappers before it and its arguments after it.
    pub program: Vec<OsString>,
    /// True if MPICH's mpiexec has `-rankmap`.
    pub maps_ranks: bool,
}

/// Why a line cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// No argument is a launcher's command.
    #[error("no supported launcher found in the command")]
    NoLauncher,
    /// The launcher has no such option.
    #[error("unknown option {0} of {1}")]
    Option(String, &'static str),
    /// No argument is left that could be the program.
    #[error("no program found after the options of {0}")]
    NoProgram(&'static str),
}

/// Why a launcher cannot place ranks on this line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// It has no known option for that.
    #[error("{0} has no option that places ranks")]
    NoOption(&'static str),
    /// MPICH's mpiexec before version 5.
    #[error("this mpiexec of MPICH has no option -rankmap to place ranks")]
    NoRankmap,
    /// A rank file would reduce the available cores.
    #[error("{0} gives each rank several cores, and a rank file would give it one")]
    Cores(String),
    /// With PMI-2, Slurm reports every process on a separate node to MPICH.
    #[error(
        "when srun places ranks, PMI-2 reports each rank on a separate node to MPICH; use --mpi=pmix"
    )]
    Management,
}

/// How a launcher places ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The format of its rank file.
    pub format: Format,
    /// The launcher.
    pub kind: Kind,
}

/// The arguments and variables that pass a rank file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// Variables for the launcher's environment.
    pub variables: Vec<OsString>,
    /// Options, first among its own.
    pub options: Vec<OsString>,
}

/// The ends of the names of Open MPI's and PRRTE's parameters that map ranks to nodes.
const POLICIES: [&str; 2] = ["_mapping_policy", "_ranking_policy"];

impl Line {
    /// Parses a line. `program` is the index of the program, if known; otherwise the program is the first argument that
    /// is neither an option nor an option's value. `prints` gives what a command prints for `--version` and `--help`,
    /// and `mpi` is the program's, as for [`Launcher::of_command`].
    ///
    /// # Errors
    ///
    /// [`Unreadable`].
    pub fn read(
        words: &[OsString],
        program: Option<usize>,
        prints: impl Fn(&OsStr) -> String,
        mpi: Option<&str>,
    ) -> Result<Self, Unreadable> {
        let known = &words[..program.unwrap_or(words.len())];
        let (at, start) = starter(known).ok_or(Unreadable::NoLauncher)?;
        let (launcher, printed) =
            Launcher::of_command(&known[at].to_string_lossy(), || prints(&known[at]), mpi)
                .ok_or(Unreadable::NoLauncher)?;
        let mut line = Self {
            launcher,
            before: words[..at].to_vec(),
            start: words[at..start].to_vec(),
            options: Vec::new(),
            program: Vec::new(),
            maps_ranks: printed.contains("-rankmap"),
        };
        let mut next = start;
        while next < known.len() {
            let word = known[next].to_string_lossy();
            if word == "--" {
                next += 1;
                if program.is_none() {
                    break;
                }
                continue;
            }
            let given = launcher.given(&known[next..]);
            let given = match (given, program) {
                (Some(given), _) => given,
                (None, None) if word.len() > 1 && word.starts_with('-') => {
                    return Err(Unreadable::Option(word.into_owned(), launcher.name));
                }
                (None, None) => break,
                // If the program is known, an unknown argument before it belongs to the previous option.
                (None, Some(_)) => Given {
                    words: vec![known[next].clone()],
                    name: None,
                    value: None,
                    role: Role::Other,
                },
            };
            next += given.words.len();
            line.options.push(given);
        }
        line.program = words[program.unwrap_or(next)..].to_vec();
        if line.program.is_empty() {
            return Err(Unreadable::NoProgram(launcher.name));
        }
        Ok(line)
    }

    /// The arguments of the line, up to the program.
    pub fn words(&self) -> Vec<OsString> {
        let options = self.options.iter().flat_map(|given| &given.words);
        self.before.iter().chain(&self.start).chain(options).cloned().collect()
    }

    /// All arguments, including the program's.
    pub fn command(&self) -> Vec<OsString> {
        [self.words(), self.program.clone()].concat()
    }

    /// The number of processes, if an option sets it.
    pub fn processes(&self) -> Option<usize> {
        let given = self.options.iter().find(|given| given.role == Role::Processes)?;
        given.value.as_ref()?.parse().ok()
    }

    /// Returns whether the programs are in a file.
    pub fn names_programs(&self) -> bool {
        self.options.iter().any(|given| given.role == Role::Programs)
    }

    /// How this line's launcher places the ranks of a program of this MPI; `environment` gives the value of a
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
            Kind::Orterun | Kind::Prterun => Format::Openmpi,
            Kind::Hydra if self.maps_ranks => Format::Mpich,
            Kind::Hydra => return Err(Obstacle::NoRankmap),
            Kind::Srun => {
                let given = self.options.iter().find(|given| given.role == Role::Management);
                let said = given.and_then(|given| given.value.clone());
                let said = said.or_else(|| environment("SLURM_MPI_TYPE")).unwrap_or_default();
                if !mpi.contains("Open MPI") && !said.starts_with("pmix") {
                    return Err(Obstacle::Management);
                }
                Format::Slurm
            }
            Kind::Flux => Format::Flux,
            Kind::IntelHydra | Kind::Jsrun | Kind::Aprun | Kind::Pals => {
                return Err(Obstacle::NoOption(self.launcher.name));
            }
        };
        let takes_cores = |given: &&Given| given.role == Role::Cores;
        match self.options.iter().find(takes_cores).filter(|_| format == Format::Openmpi) {
            Some(given) => {
                Err(Obstacle::Cores(given.words.join(OsStr::new(" ")).to_string_lossy().into()))
            }
            None => Ok(Placement { format, kind }),
        }
    }

    /// This line, changed so that the launcher places `processes` ranks with a rank file, whose text is returned too.
    /// Placement options of the line that the launcher refuses together with the file are removed.
    #[must_use]
    pub fn placed(&self, placement: Placement, file: &OsStr, text: &str, processes: usize) -> Self {
        let Placement { format, kind } = placement;
        let (replaced, kept): (Vec<Given>, Vec<Given>) =
            self.options.iter().cloned().partition(|given| format.replaces(given.role));
        let Passing { variables, mut options } = placement.passing(file, text);
        // The order may say whether a core may have several ranks, or a separate option.
        let oversubscribes = |given: &Given| {
            let value = given.value.as_deref().unwrap_or_default().to_ascii_lowercase();
            value.split([':', ',']).any(|modifier| modifier == "oversubscribe")
        };
        if replaced.iter().any(oversubscribes) {
            match kind {
                Kind::Prterun => {
                    options.iter_mut().rev().take(1).for_each(|last| last.push(":oversubscribe"))
                }
                _ => options.push("--oversubscribe".into()),
            }
        }
        if format.replaces(Role::PerNode) && self.processes().is_none() {
            options.extend(["-n".into(), processes.to_string().into()]);
        }
        let mut before = self.before.clone();
        if !variables.is_empty() {
            before.push("env".into());
            before.extend(variables);
        }
        let own = Given { words: options, name: None, value: None, role: Role::Other };
        let options = std::iter::once(own).chain(kept).collect();
        Self { before, options, ..self.clone() }
    }
}

impl Placement {
    /// The arguments that pass a rank file to the launcher, and its text.
    pub fn passing(self, file: &OsStr, text: &str) -> Passing {
        let joined = |start: &str| {
            let mut word = OsString::from(start);
            word.push(file);
            word
        };
        let (variables, options) = match self.format {
            Format::Openmpi if self.kind == Kind::Orterun => {
                (vec![], vec!["--rankfile".into(), file.into()])
            }
            Format::Openmpi => (vec![], vec!["--map-by".into(), joined("rankfile:file=")]),
            Format::Mpich => (vec![], text.split_whitespace().map(Into::into).collect()),
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
    /// Returns whether an option with this effect must be removed if a file places ranks: because it contradicts the
    /// file, or because the launcher refuses both. Open MPI's lists of hosts stay, as they are what it may use.
    pub const fn replaces(self, role: Role) -> bool {
        match role {
            Role::Order => true,
            Role::PerNode => matches!(self, Self::Openmpi | Self::Mpich | Self::Slurm),
            Role::Hosts => matches!(self, Self::Mpich | Self::Slurm),
            _ => false,
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.command().join(OsStr::new(" ")).to_string_lossy())
    }
}

/// The index of a launcher's command, and of its first option.
fn starter(words: &[OsString]) -> Option<(usize, usize)> {
    /// The most arguments between `flux` and `run`.
    const BETWEEN: usize = 2;
    words.iter().enumerate().find_map(|(at, word)| {
        let launcher = named(word.to_str()?).next()?;
        let next = at + 1;
        match launcher.subcommand {
            None => Some((at, next)),
            Some(subcommand) => {
                let rest = words[next..].iter().take(BETWEEN);
                rest.clone().position(|word| word == subcommand).map(|run| (at, next + run + 1))
            }
        }
    })
}

impl Launcher {
    /// The option at the beginning of these arguments, with its values; `None` if it is unknown.
    fn given(&self, words: &[OsString]) -> Option<Given> {
        let word = words[0].to_string_lossy();
        let (options, name, joined) = self.option(&word)?;
        let next = |at: usize| words.get(at).map(|word| word.to_string_lossy().into_owned());
        let count = match options.values {
            _ if joined.is_some() && options.values != Values::Two => 0,
            Values::None | Values::Attached => 0,
            Values::One => 1,
            Values::Pair if next(1).is_some_and(|word| word.contains('=')) => 1,
            Values::Pair | Values::Two => 2,
        };
        let value = joined.or_else(|| next(1).filter(|_| count > 0));
        let role = role(options.role, value.as_deref());
        let words = words[..words.len().min(1 + count)].to_vec();
        Some(Given { words, name: Some(name), value, role })
    }

    /// The option of an argument, its name, and the value in the same argument.
    fn option(&self, word: &str) -> Option<(&'static Options, &'static str, Option<String>)> {
        let named = |matches: &dyn Fn(&str) -> bool| {
            let all = self
                .options
                .iter()
                .flat_map(|options| options.names().map(move |name| (options, name)));
            let mut found = all.filter(|(_, name)| matches(name));
            (found.next(), found.next().is_some())
        };
        let is_long = word.starts_with("--");
        let body = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
        let (text, value) = match body.split_once('=') {
            Some((text, value)) => (text, Some(value.to_owned())),
            None => (body, None),
        };
        if text.is_empty() {
            return None;
        }
        if let (Some((options, name)), _) = named(&|name| name == text) {
            return Some((options, name, value));
        }
        if !self.joins_letters {
            return None;
        }
        if is_long {
            let (found, is_ambiguous) = named(&|name| name.len() > 1 && name.starts_with(text));
            return found.filter(|_| !is_ambiguous).map(|(options, name)| (options, name, value));
        }
        let mut letters = body.char_indices();
        loop {
            let (at, letter) = letters.next()?;
            let (options, name) = named(&|name| name.chars().eq([letter])).0?;
            let rest = &body[at + letter.len_utf8()..];
            let takes = matches!(options.values, Values::One | Values::Attached);
            if takes || rest.is_empty() {
                let rest = Some(rest.to_owned()).filter(|rest| takes && !rest.is_empty());
                return Some((options, name, rest));
            }
        }
    }
}

/// The effect of an option with its value.
fn role(role: Role, value: Option<&str>) -> Role {
    let value = value.unwrap_or_default();
    let places = |end: &&str| value.starts_with("rmaps_") && value.ends_with(*end);
    // Modifiers stand behind a colon or a comma: slot:PE=4, ppr:2:node:pe=4.
    let has_cores = value.split([':', ',']).any(|modifier| {
        let modifier = modifier.to_ascii_lowercase();
        modifier.starts_with("pe-list=") || modifier.starts_with("pe=") && modifier != "pe=1"
    });
    match role {
        Role::Parameter if POLICIES.iter().any(places) => Role::Order,
        Role::Parameter => Role::Other,
        Role::Order | Role::PerNode if has_cores => Role::Cores,
        // As without the option.
        Role::Cores if value == "1" => Role::Order,
        role => role,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn read(text: &str, mpi: &str) -> Result<Line, Unreadable> {
        let prints =
            |_: &OsStr| if mpi.contains("5.0.2") { "-rankmap".into() } else { String::new() };
        Line::read(&words(text), None, prints, Some(mpi))
    }

    const HYDRA4: &str = "MPICH Version: 4.0.2";
    const HYDRA5: &str = "MPICH Version: 5.0.2";
    const ORTE: &str = "Open MPI v4.1.4";
    const PRTE: &str = "Open MPI v5.0.11";
    const CRAY: &str = "MPI VERSION : CRAY MPICH version 8.1";

    #[test]
    fn the_program_is_behind_the_options() {
        for (mpi, text) in [
            (
                HYDRA4,
                "mpiexec -n 4 -genv A 1 -genv B=2 --launcher=fork -hosts a:2,b:2 | ./app -n 3",
            ),
            (HYDRA4, "mpiexec.hydra -np 4 -f hosts -ppn 2 -envall | ./app"),
            (
                ORTE,
                "env A=1 mpirun -np 4 --mca pml ob1 -x PATH --map-by ppr:2:node -bind-to core | ./app",
            ),
            (
                PRTE,
                "mpirun -n 4 --prtemca a b --map-by slot:PE=2 --host a:2,b:2 --display map | ./app",
            ),
            (ORTE, "mpirun --allow-run-as-root --oversubscribe -c 4 | numactl -m 0 ./app"),
            ("", "srun -n4 -N 2 --exclusive -lu --mpi=pmix -c2 --cpu-bind cores -K1 | ./app -n 1"),
            ("", "srun --ntasks=8 --dist cyclic -I -m block:block -- | ./app"),
            ("", "flux run -n4 -N2 -xl -o mpi=none --taskmap cyclic | ./app"),
            ("", "flux mini run -n 4 | ./app"),
            ("", "jsrun -n 4 -a1 --smpiargs=-gpu -d packed | ./app"),
            ("", "aprun -n 8 -N 4 -cc depth -d 2 -ss | ./app"),
            (CRAY, "mpiexec -n 8 --ppn 4 --cpu-bind depth -d 2 --line-buffer | ./app"),
        ] {
            let (before, program) = text.split_once('|').unwrap();
            let line = read(&text.replace('|', ""), mpi).unwrap();
            assert_eq!(line.program, words(program), "{text}");
            assert_eq!(line.words(), words(&before.replace(" -- ", "")), "{text}");
        }
        assert_eq!(read("env -n 3 ./app", "").unwrap_err(), Unreadable::NoLauncher);
        assert_eq!(read("flux proxy x ./app", "").unwrap_err(), Unreadable::NoLauncher);
        let unknown = read("srun --frobnicate 3 ./app", "").unwrap_err();
        assert_eq!(unknown.to_string(), "unknown option --frobnicate of srun");
        assert_eq!(read("srun -n 3", "").unwrap_err(), Unreadable::NoProgram("srun"));
        // If the program is known, unknown arguments are kept.
        let known = words("mpirun --new 3 -n 4 ./app");
        let line = Line::read(&known, Some(5), |_| String::new(), Some(ORTE)).unwrap();
        assert_eq!((line.words(), line.processes()), (known[..5].to_vec(), Some(4)));
    }

    #[test]
    fn options_of_placement_make_room() {
        for (mpi, text, expected) in [
            (
                HYDRA5,
                "mpiexec -launcher fork -hosts a:2,b:2 -n 4 -ppn 2 ./app",
                "mpiexec -hosts x -rankmap 0 -launcher fork -n 4 ./app",
            ),
            (HYDRA5, "mpiexec -f hosts ./app", "mpiexec -hosts x -rankmap 0 -n 8 ./app"),
            (
                ORTE,
                "mpirun --map-by slot --rank-by core -N 4 --host a:4,b:4 --bind-to core ./app",
                "mpirun --rankfile F -n 8 --host a:4,b:4 --bind-to core ./app",
            ),
            (
                ORTE,
                "mpirun --map-by core:OVERSUBSCRIBE --mca rmaps_base_mapping_policy slot --mca pml ob1 -n 8 ./app",
                "mpirun --rankfile F --oversubscribe --mca pml ob1 -n 8 ./app",
            ),
            (
                PRTE,
                "mpirun --map-by :OVERSUBSCRIBE -np 8 ./app",
                "mpirun --map-by rankfile:file=F:oversubscribe -np 8 ./app",
            ),
            (PRTE, "mpirun --bynode -np 8 ./app", "mpirun --map-by rankfile:file=F -np 8 ./app"),
            (
                PRTE,
                "time srun -N2 --ntasks-per-node=4 -m cyclic -w a,b ./app",
                "time env SLURM_HOSTFILE=F srun --distribution=arbitrary -n 8 -N2 ./app",
            ),
            (
                CRAY,
                "srun -n 8 --ntasks-per-node 4 --distribution=cyclic ./app",
                "env MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=F srun -n 8 --ntasks-per-node 4 ./app",
            ),
            (
                CRAY,
                "mpiexec --ppn 4 -n 8 ./app",
                "env MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=F mpiexec --ppn 4 -n 8 ./app",
            ),
            (
                HYDRA4,
                "flux run -N2 --tasks-per-node=4 --taskmap=cyclic ./app",
                "flux run --taskmap=manual:-hosts x -rankmap 0 -N2 --tasks-per-node=4 ./app",
            ),
        ] {
            let line = read(text, mpi).unwrap();
            let placement = line.placement(mpi, |_| None).unwrap();
            let placed = line.placed(placement, OsStr::new("F"), "-hosts x -rankmap 0\n", 8);
            assert_eq!(placed.to_string(), expected);
        }
    }

    #[test]
    fn what_stands_in_the_way_is_named() {
        for (mpi, text, expected) in [
            (HYDRA4, "mpiexec -hosts a,b -n 4 ./app", "no option -rankmap"),
            (PRTE, "mpirun --map-by ppr:2:node:PE=4 ./app", "--map-by ppr:2:node:PE=4 gives each"),
            (ORTE, "mpirun --cpus-per-proc 2 ./app", "--cpus-per-proc 2 gives"),
            (HYDRA5, "srun -n 4 ./app", "PMI-2 reports each rank"),
            (HYDRA5, "srun -n 4 --mpi=pmi2 ./app", "PMI-2 reports each rank"),
            (HYDRA5, "jsrun -n 4 ./app", "jsrun has no option that places ranks"),
            ("Intel(R) MPI Library 2021.17", "mpirun -n 4 ./app", "Intel MPI's mpiexec has no"),
        ] {
            let found = read(text, mpi).unwrap().placement(mpi, |_| None);
            let obstacle = found.unwrap_err().to_string();
            assert!(obstacle.contains(expected), "{text}: {obstacle}");
        }
        let line = read("srun -n 4 ./app", HYDRA5).unwrap();
        assert!(line.placement(HYDRA5, |_| Some("pmix_v4".into())).is_ok());
        assert!(read("srun --mpi=pmix ./app", HYDRA5).unwrap().placement(HYDRA5, |_| None).is_ok());
        assert!(read("srun --multi-prog conf", HYDRA5).unwrap().names_programs());
    }
}
