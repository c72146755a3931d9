//! Parses the command line of a launcher.

use std::ffi::{OsStr, OsString};
use std::fmt;

use cartograph_core::launcher::options::{Options, Role, Values};
use cartograph_core::launcher::table::{Launcher, LauncherKind, named};

use crate::program::{is_wrapper, name, runs_once};

/// An option on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its arguments, including its values.
    pub words: Vec<OsString>,
    /// The options that are joined to it: `l` in `-lN2`.
    pub letters: String,
    /// The name in the table, without dashes; `None` for an argument that is not in the table.
    pub name: Option<&'static str>,
    /// The value; for a parameter, its own value, and for other pairs, the first value.
    pub value: Option<String>,
    /// The effect on where ranks run.
    pub role: Role,
}

/// The programs of a job.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    /// The first, with its wrappers, such as `numactl`, before it and its arguments after it.
    pub first: Vec<OsString>,
    /// The others.
    pub others: Vec<Part>,
    /// The number of processes of each, if there are several.
    pub counts: Vec<usize>,
    /// True if the launcher starts all as one, `cartograph exec`, which chooses by the rank.
    pub is_one: bool,
    /// The user's words for all of them: srun's option and file.
    pub file: Vec<OsString>,
}

/// A program after a colon.
#[derive(Debug, Clone)]
pub struct Part {
    /// The launcher's options for it.
    pub options: Vec<Given>,
    /// The program, with its wrappers and arguments.
    pub program: Vec<OsString>,
}

impl Programs {
    /// The same with a word for each program.
    #[must_use]
    pub fn named(&self, word: &str) -> Self {
        let mut named = self.clone();
        named.first = vec![word.into()];
        named.others.iter_mut().for_each(|part| part.program = vec![word.into()]);
        named
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &[OsString]> {
        std::iter::once(&*self.first).chain(self.others.iter().map(|part| &*part.program))
    }

    /// The programs after the first one, if the launcher starts each separately.
    pub(super) fn behind(&self) -> impl Iterator<Item = &Part> {
        self.others.iter().filter(|_| !self.is_one)
    }
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
    /// The programs after them.
    pub programs: Programs,
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
    /// There are several programs, which this launcher cannot place.
    #[error("the command starts several programs")]
    Several,
    /// An option is for one of several programs.
    #[error("{0} is for one of several programs")]
    OfOne(String),
    /// The number of processes of one of several programs is not on the line.
    #[error("one of several programs is without -n")]
    Uncounted,
    /// A file of several programs does not list them in order, each for a range of ranks.
    #[error("the file of several programs is not understood")]
    File,
}

/// Open MPI's and PRRTE's parameters that map ranks to nodes.
pub(super) const MAPPING: [&str; 19] = [
    "rmaps",
    "rmaps_base_mapping_policy",
    "rmaps_base_ranking_policy",
    "rmaps_default_mapping_policy",
    "rmaps_default_ranking_policy",
    "rmaps_base_bynode",
    "rmaps_base_byslot",
    "rmaps_base_bycore",
    "rmaps_base_pernode",
    "rmaps_base_n_pernode",
    "rmaps_base_n_persocket",
    "rmaps_base_pattern",
    "rmaps_ppr_pattern",
    "rmaps_ppr_pernode",
    "rmaps_ppr_n_pernode",
    "rmaps_ppr_n_persocket",
    "rmaps_base_schedule_policy",
    "rmaps_base_cpus_per_proc",
    "rmaps_base_cpus_per_rank",
];

impl Line {
    /// Parses a line. `program` is the index of the program, if known; otherwise the program is the first argument that
    /// is neither an option nor an option's value. `prints` gives a command's output for `--version`, and
    /// `mpi` is the program's MPI, as for [`Launcher::of_command`].
    ///
    /// # Errors
    ///
    /// [`Unreadable`].
    pub fn read(
        words: &[OsString],
        mut program: Option<usize>,
        prints: impl Fn(&OsStr) -> String,
        mpi: Option<&str>,
    ) -> Result<Self, Unreadable> {
        let mut parts = words.split(|word| word == ":");
        let words = parts.next().unwrap_or_default();
        let known = &words[..program.unwrap_or(words.len()).min(words.len())];
        let (at, start) = starter(known).ok_or(Unreadable::NoLauncher)?;
        let launcher =
            Launcher::of_command(&known[at].to_string_lossy(), || prints(&known[at]), mpi)
                .ok_or(Unreadable::NoLauncher)?;
        let mut line = Self {
            launcher,
            before: words[..at].to_vec(),
            start: words[at..start].to_vec(),
            options: Vec::new(),
            programs: Programs::default(),
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
            let given = given(launcher, &known[next..]);
            let given = match (given, program) {
                (Some(given), _) => given,
                (None, None) if word.len() > 1 && word.starts_with('-') => {
                    return Err(Unreadable::Option(word.into_owned(), launcher.name));
                }
                (None, None) => break,
                // The wrapper starts the program, and its options are not the launcher's.
                (None, Some(_)) if is_wrapper(&name(&known[next])) => {
                    program = Some(next);
                    break;
                }
                // If the program is known, an unknown argument before it belongs to the previous option.
                (None, Some(_)) => Given {
                    words: vec![known[next].clone()],
                    letters: String::new(),
                    name: None,
                    value: None,
                    role: Role::Other,
                },
            };
            next += given.words.len();
            line.options.push(given);
        }
        line.programs.first = words[program.unwrap_or(next).min(words.len())..].to_vec();
        if line.programs.first.is_empty() {
            return Err(Unreadable::NoProgram(launcher.name));
        }
        line.with_others(parts)
    }

    /// The arguments of the line, up to the program.
    pub fn words(&self) -> Vec<OsString> {
        let options = self.options.iter().flat_map(|given| &given.words);
        self.before.iter().chain(&self.start).chain(options).cloned().collect()
    }

    /// The number of processes, if options set it.
    pub fn processes(&self) -> Option<u32> {
        let count = match &self.programs.counts[..] {
            [] => count(&self.options),
            counts => Some(counts.iter().sum()),
        };
        count.and_then(|count| u32::try_from(count).ok())
    }

    /// True if the launcher gets the nodes of each job by itself: then another job reveals nothing about this one's
    /// nodes, and may have to wait for nodes.
    pub fn allocates(&self, is_set: impl Fn(&str) -> bool) -> bool {
        let variables = self.launcher.allocations;
        !variables.is_empty() && !variables.iter().any(|variable| is_set(variable))
    }

    /// True if the launcher chooses the nodes of each job among those of the allocation when the job starts: other jobs
    /// that run then decide which they are.
    pub fn chooses_nodes(&self) -> bool {
        let is_named = self.options.iter().any(|given| given.role == Role::Hosts);
        let is_prun = self.start.iter().any(|word| word.as_encoded_bytes().ends_with(b"prun"));
        let chooses =
            matches!(self.launcher.kind, LauncherKind::Srun | LauncherKind::Flux) || is_prun;
        chooses && !is_named
    }

    /// The most nodes that the job can have, as far as its options and Slurm's variables show.
    pub fn most_nodes(&self, variable: impl Fn(&str) -> Option<String>) -> Option<usize> {
        let given = self.options.iter().rev().find(|given| given.role == Role::Nodes);
        let given = given.and_then(|given| given.value.clone());
        let of_slurm =
            || variable("SLURM_NNODES").filter(|_| self.launcher.kind == LauncherKind::Srun);
        let nodes = given.or_else(of_slurm);
        // 4, or 2-4.
        let nodes = nodes.and_then(|nodes| nodes.rsplit('-').next()?.parse().ok());
        [nodes, self.processes().map(|count| count as usize)].into_iter().flatten().min()
    }

    /// True if an option has the directories in which the launcher looks for a program.
    pub(super) fn searches_elsewhere(&self) -> bool {
        let has_no_path = |program: &[OsString]| !program[0].as_encoded_bytes().contains(&b'/');
        self.options.iter().any(|given| given.name == Some("path"))
            && self.programs.all().any(has_no_path)
    }

    /// A command before the launcher that must not run twice, as it would if the launcher were asked for the job's nodes.
    pub(crate) fn runs_once(&self) -> Option<&OsStr> {
        runs_once(&self.before)
    }

    /// True if the programs are in a file.
    pub fn names_programs(&self) -> bool {
        self.options.iter().any(|given| given.role == Role::Programs)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = super::Launch::from(self.clone()).with_front(&[]);
        f.write_str(&words.join(OsStr::new(" ")).to_string_lossy())
    }
}

/// The number of processes that these options set.
pub(super) fn count(options: &[Given]) -> Option<usize> {
    let given = options.iter().find(|given| given.role == Role::Processes)?;
    given.value.as_ref()?.parse::<u32>().ok().map(|count| count as usize)
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

/// The option at the start of these arguments, with its values; `None` if it is unknown.
pub(super) fn given(launcher: &Launcher, words: &[OsString]) -> Option<Given> {
    let word = words[0].to_string_lossy();
    let (options, name, joined) = option(launcher, &word)?;
    let is_letter = name.len() == 1 && !word.starts_with("--");
    let letters = word[1..].split(name).next().filter(|_| is_letter).unwrap_or_default();
    let next = |at: usize| words.get(at).map(|word| word.to_string_lossy().into_owned());
    let count = match options.values {
        _ if joined.is_some() && options.values != Values::Two => 0,
        Values::None | Values::Attached => 0,
        Values::One => 1,
        Values::Pair if next(1).is_some_and(|word| word.contains('=')) => 1,
        Values::Pair | Values::Two => 2,
    };
    let mut value = joined.or_else(|| next(1).filter(|_| count > 0));
    let mut role = options.role;
    if role == Role::Parameter {
        role = of_parameter(value.as_deref().unwrap_or_default());
        value = next(2);
    }
    let words = words[..words.len().min(1 + count)].to_vec();
    Some(Given { words, letters: letters.to_owned(), name: Some(name), value, role })
}

/// The option of an argument, its name, and the value in the same argument.
fn option(
    launcher: &Launcher,
    word: &str,
) -> Option<(&'static Options, &'static str, Option<String>)> {
    let named = |matches: &dyn Fn(&str) -> bool| {
        let all = launcher
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
    if !launcher.joins_letters {
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

/// The effect of a parameter with this name.
fn of_parameter(name: &str) -> Role {
    if MAPPING.contains(&name) { Role::Order } else { Role::Other }
}
