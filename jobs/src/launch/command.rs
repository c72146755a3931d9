//! Reads the command that starts a job: the launcher with its options, and the program after them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use super::line::{Line, Programs, Unreadable};
use crate::error::{Cause, Failure, Result};
use crate::pmi::Parts;
use crate::processes::Question;
use crate::program::{With, check, find_program, needs_mpi, own_path, program_at};

/// A launcher's command.
#[derive(Clone, Default)]
pub struct Launch {
    /// The launcher and its options.
    pub launcher: Vec<OsString>,
    /// The programs after them.
    pub programs: Programs,
    /// The MPI that the user names.
    pub mpi: Option<String>,
}

impl Launch {
    /// Reads a command, as a line if its launcher is known. The program begins after the options of a known launcher
    /// or, if one of these is unknown, after `--` or with the first word that is linked with an MPI. `prints` is the
    /// output by which a launcher is recognized.
    pub fn read(
        command: &[OsString],
        mpi: Option<&str>,
        prints: impl Fn(&OsStr) -> String,
    ) -> Result<(Self, core::result::Result<Line, Unreadable>)> {
        let words = || command.iter().map(|word| word.to_string_lossy());
        if let Some(word) =
            words().find(|w| w.contains("CARTOGRAPH_") || w.contains("libcartograph"))
        {
            return Err(Failure::usage(format!("the command already sets {word}; omit it")));
        }
        let end = command.iter().position(|word| word == ":").unwrap_or(command.len());
        let (at, line) = split(command, end, prints)?;
        let launcher = command[..at].iter().filter(|word| *word != "--").cloned().collect();
        if let Ok(line) = &line
            && line.searches_elsewhere()
        {
            return Err(Failure::usage(
                "the launcher searches the directories of its option path; give the program's path",
            ));
        }
        let own = line.clone().map(Self::from).unwrap_or_default();
        let mpi = mpi.map(str::to_owned);
        let launch = match own.programs.is_one {
            true => Self { mpi, ..own },
            false => {
                let first = command[at..end].to_vec();
                Self { launcher, programs: Programs { first, ..own.programs }, mpi }
            }
        };
        if launch.programs.all().any(|program| name(program) == "cartograph") {
            return Err(Failure::usage(
                "omit cartograph exec from the command; it is added automatically",
            ));
        }
        Ok((launch, line))
    }

    /// The name of the program's file.
    pub fn name(&self) -> &OsStr {
        name(&self.programs.first)
    }

    /// The command as given by the user.
    pub fn baseline(&self) -> Vec<OsString> {
        match &self.programs.file[..] {
            [] => self.with_front(&[]),
            file => [&self.launcher[..], file].concat(),
        }
    }

    /// Explains why one of the programs cannot be run with the library.
    ///
    /// # Errors
    ///
    /// The reason.
    pub fn check(&self) -> Result<()> {
        let (mpi, with) = (self.mpi.as_deref(), With { recorder: false, library: true });
        self.programs.all().try_for_each(|words| check(words, program_word(words), mpi, with))
    }

    /// The command with these words before each program.
    pub(super) fn with_front(&self, front: &[OsString]) -> Vec<OsString> {
        let mut words = [&self.launcher[..], front, &self.programs.first].concat();
        for part in &self.programs.others {
            if self.programs.is_one {
                words.extend_from_slice(&part.program);
            } else {
                words.extend([&part.words(), front, &part.program].concat());
            }
        }
        words
    }

    /// The programs that `cartograph exec` chooses from, if they are started as one.
    fn parts(&self) -> Parts {
        let words = self.programs.all().map(<[OsString]>::len);
        Parts(
            self.programs.counts.iter().zip(words).map(|(count, words)| [*count, words]).collect(),
        )
    }

    /// The command line of `cartograph where`, with these options, in place of the program.
    pub(crate) fn of_places(&self, options: &[OsString]) -> Result<Vec<OsString>> {
        let own = [&[own()?, "where".into()], options].concat();
        let mut words = [&self.launcher[..], &own].concat();
        for part in self.programs.behind() {
            words.extend([part.words(), own.clone()].concat());
        }
        Ok(words)
    }

    /// The command line with `cartograph exec` and its options before each program; `setting` is for its environment.
    pub fn under_exec(&self, setting: Option<&str>, options: &[OsString]) -> Result<Vec<OsString>> {
        Ok(self.with_front(&self.exec(setting, options)?))
    }

    /// The same, but programs run without this command on nodes that lack it.
    pub(crate) fn under_optional_exec(&self, options: &[OsString]) -> Result<Vec<OsString>> {
        /// A shell script that becomes the command in its arguments or, if that file does not exist, the command after
        /// the first `$0` arguments.
        const WITHOUT: &str = r#"[ -x "$1" ] || shift "$0"; exec "$@""#;
        let exec = self.exec(None, options)?;
        let script = match self.programs.is_one {
            false => WITHOUT.to_owned(),
            true => format!(r#"[ -x "$1" ] && exec "$@"; shift "$0"; {}"#, self.parts().by_rank()),
        };
        // Shells such as dash drop variables that they cannot have, among them the functions that bash exports.
        let is_plain = |name: &OsStr| {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            let bytes = name.as_encoded_bytes();
            bytes.iter().all(is_part) && !bytes.first().is_some_and(u8::is_ascii_digit)
        };
        let shell = match env::vars_os().all(|(name, _)| is_plain(&name)) {
            true => &["/bin/sh", "-c"][..],
            false => &["/bin/bash", "--posix", "-c"],
        };
        if !Path::new(shell[0]).exists() {
            return Ok(self.with_front(&exec));
        }
        let shell = shell.iter().chain([&&*script]).map(OsString::from).collect::<Vec<_>>();
        Ok(self.with_front(&[&shell[..], &[exec.len().to_string().into()], &exec].concat()))
    }

    /// The words of `cartograph exec` with its options.
    fn exec(&self, setting: Option<&str>, options: &[OsString]) -> Result<Vec<OsString>> {
        let set = setting.map(|setting| ["env".into(), setting.into()]);
        let exec = [own()?, "exec".into()];
        let mpi = self.mpi.as_ref().map(|name| ["--mpi".into(), name.into()]);
        let parts =
            self.programs.is_one.then(|| ["--parts".into(), self.parts().to_string().into()]);
        let [set, mpi, parts] =
            [&set, &mpi, &parts].map(|words| words.as_ref().map_or(&[][..], |words| words));
        Ok([set, &exec, mpi, options, parts].concat())
    }
}

/// The word that names a program, after its wrappers.
pub(crate) fn program_word(words: &[OsString]) -> &OsStr {
    &words[program_at(words).unwrap_or(0)]
}

/// The name of a program's file.
fn name(words: &[OsString]) -> &OsStr {
    Path::new(program_word(words)).file_name().unwrap_or_default()
}

/// The index of the first program in a command, which is before `end`, and the line of a known launcher.
///
/// # Errors
///
/// If no argument is a program.
fn split(
    command: &[OsString],
    end: usize,
    prints: impl Fn(&OsStr) -> String,
) -> Result<(usize, core::result::Result<Line, Unreadable>)> {
    let line = Line::read(command, None, &prints, None);
    let has_file = line.as_ref().is_ok_and(Line::names_programs);
    if end < command.len() || has_file {
        let line = if has_file { line.and_then(Line::with_file) } else { line };
        let line = line.map_err(|why| Failure::usage(why.to_string()))?;
        line.programs.all().try_for_each(|program| find_program(&program[0]).map(drop))?;
        return Ok((end.saturating_sub(line.programs.first.len()), Ok(line)));
    }
    if let Ok(line) = &line
        && find_program(&line.programs.first[0]).is_ok()
    {
        return Ok((end - line.programs.first.len(), Ok(line.clone())));
    }
    let is_linked = |word: &OsString| find_program(word).is_ok_and(|program| needs_mpi(&program));
    let marked = command.iter().position(|word| word == "--").map(|at| at + 1);
    let linked = || command.iter().position(is_linked).filter(|at| *at > 0);
    let at = marked.or_else(linked).ok_or_else(|| without_program(command))?;
    if at == command.len() {
        return Err(Failure::usage("no program after --"));
    }
    let line = Line::read(command, Some(at), prints, None);
    // A wrapper stands before it.
    let at = line.as_ref().map_or(at, |line| command.len() - line.programs.first.len());
    Ok((at, line))
}

/// The failure if no argument of a command is a program.
fn without_program(command: &[OsString]) -> Failure {
    let is_option = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
    let words: Vec<&OsString> = command.iter().skip(1).filter(|word| !is_option(word)).collect();
    let is_path = |word: &&&OsString| word.as_encoded_bytes().contains(&b'/');
    let wrong: Vec<Failure> =
        words.iter().filter(is_path).filter_map(|path| find_program(path).err()).collect();
    let finds_one = (1..command.len()).any(|at| find_program(&command[at]).is_ok());
    // A script that an interpreter reads need not be executable.
    if let Some(failure) =
        wrong.into_iter().find(|failure| failure.cause == Cause::NotFound || !finds_one)
    {
        return failure;
    }
    let shown = |words: &[OsString]| words.join(OsStr::new(" ")).to_string_lossy().into_owned();
    let Some(at) = (1..command.len()).find(|&at| find_program(&command[at]).is_ok()) else {
        return Failure::usage(format!(
            "no program found after {}: none of its arguments is an executable file or in PATH",
            shown(&command[..1])
        ));
    };
    Failure::usage(format!(
        "which argument is the program? {} is not linked with an MPI; if it is the program, put -- before it: \
         cartograph try {} -- {}",
        shown(&command[at..=at]),
        shown(&command[..at]),
        shown(&command[at..])
    ))
}

/// The path of this command, by which launchers start it.
fn own() -> Result<OsString> {
    let own = own_path().ok().filter(|path| path.exists()).map(Into::into);
    own.ok_or_else(|| Failure::new("cannot locate the cartograph executable; was it removed?"))
}

impl From<Line> for Launch {
    fn from(line: Line) -> Self {
        let launcher = line.words();
        Self { launcher, programs: line.programs, mpi: None }
    }
}

/// The output by which a launcher is recognized, as `ask` gets it.
pub fn printed(launcher: &OsStr, ask: impl FnOnce(&Question<'_>) -> Option<String>) -> String {
    /// No launcher takes this long to print its version.
    const LONGEST: Duration = Duration::from_secs(10);
    let words = [launcher.to_owned(), "--version".into()];
    let question = Question { words: &words, longest: LONGEST, is_answer: None };
    ask(&question).unwrap_or_default()
}
