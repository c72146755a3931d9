//! Reads the command that starts a job: the launcher with its options, and the program behind them.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use super::line::{Line, Unreadable};
use crate::error::{Cause, Failure, Result};
use crate::program::{find_program, needs_mpi, own_path, program_at};

/// A launcher's command.
#[derive(Clone)]
pub struct Launch {
    /// The launcher and its options.
    pub launcher: Vec<OsString>,
    /// The program with its wrappers, such as `numactl`, before it and its arguments after it.
    pub program: Vec<OsString>,
    /// The MPI that the user names.
    pub mpi: Option<String>,
}

impl Launch {
    /// Reads a command, as a line if its launcher is known. The program begins behind the options of a known launcher or,
    /// if one of these is unknown, behind `--` or with the first word that is linked with an MPI. `prints` is the output
    /// by which a launcher is recognized.
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
        let several = || Failure::usage("the command starts several programs");
        if words().any(|word| word == ":") {
            return Err(several());
        }
        let (at, line) = split(command, prints)?;
        if line.as_ref().is_ok_and(Line::names_programs) {
            return Err(several());
        }
        let launcher = command[..at].iter().filter(|word| *word != "--").cloned().collect();
        let launch =
            Self { launcher, program: command[at..].to_vec(), mpi: mpi.map(str::to_owned) };
        if launch.name() == "cartograph" {
            return Err(Failure::usage(
                "omit cartograph exec from the command; it is added automatically",
            ));
        }
        Ok((launch, line))
    }

    /// The word that names the program, behind its wrappers.
    pub fn program(&self) -> &OsStr {
        &self.program[program_at(&self.program).unwrap_or(0)]
    }

    /// The name of the program's file.
    pub fn name(&self) -> &OsStr {
        Path::new(self.program()).file_name().unwrap_or_default()
    }

    /// The command as given by the user.
    pub fn baseline(&self) -> Vec<OsString> {
        [&self.launcher[..], &self.program].concat()
    }

    /// The command line of `cartograph where`, with these options, in place of the program.
    pub(crate) fn of_places(&self, options: &[OsString]) -> Result<Vec<OsString>> {
        Ok([&self.launcher[..], &[own()?, "where".into()], options].concat())
    }

    /// The command line with `cartograph exec` and its options before the program; `setting` is for its environment.
    pub fn under_exec(&self, setting: Option<&str>, options: &[OsString]) -> Result<Vec<OsString>> {
        let set = setting.map(|setting| ["env".into(), setting.into()]);
        let exec = [own()?, "exec".into()];
        let mpi = self.mpi.as_ref().map(|name| ["--mpi".into(), name.into()]);
        let [set, mpi] = [&set, &mpi].map(|words| words.as_ref().map_or(&[][..], |words| words));
        Ok([&self.launcher[..], set, &exec, mpi, options, &self.program].concat())
    }
}

/// The index of the program in a command, and the line of a known launcher.
///
/// # Errors
///
/// If no argument is a program.
fn split(
    command: &[OsString],
    prints: impl Fn(&OsStr) -> String,
) -> Result<(usize, core::result::Result<Line, Unreadable>)> {
    let line = Line::read(command, None, &prints, None);
    if let Ok(line) = &line
        && find_program(&line.program[0]).is_ok()
    {
        return Ok((command.len() - line.program.len(), Ok(line.clone())));
    }
    let is_linked = |word: &OsString| find_program(word).is_ok_and(|program| needs_mpi(&program));
    let marked = command.iter().position(|word| word == "--").map(|at| at + 1);
    let linked = || command.iter().position(is_linked).filter(|at| *at > 0);
    let at = marked.or_else(linked).ok_or_else(|| without_program(command))?;
    if at == command.len() {
        return Err(Failure::usage("no program after --"));
    }
    Ok((at, Line::read(command, Some(at), prints, None)))
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
        Self { launcher: line.words(), program: line.program, mpi: None }
    }
}

/// The output by which a launcher is recognized, as `ask` gets it from a command within a time limit.
pub fn printed(
    launcher: &OsStr,
    ask: impl FnOnce(&[OsString], Duration) -> Option<String>,
) -> String {
    /// No launcher takes this long to print its version.
    const LONGEST: Duration = Duration::from_secs(10);
    ask(&[launcher.to_owned(), "--version".into()], LONGEST).unwrap_or_default()
}
