//! Finds the program in a launcher's command.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use cartograph_core::launcher::Line;

use super::input::Input;
use super::job;
use crate::exec::program::{find_program, needs_mpi, own_path};
use crate::output::{Failure, Result};

/// True if an argument of a command is a program that is linked with an MPI.
fn is_linked_with_mpi(name: &OsStr) -> bool {
    find_program(name).is_ok_and(|program| needs_mpi(&program))
}

/// The index of the program after the launcher's options, if all of these are known.
fn behind_options(command: &[OsString]) -> Option<usize> {
    let line = Line::read(command, None, printed, None).ok()?;
    find_program(&line.program[0]).ok()?;
    Some(command.len() - line.program.len())
}

/// A launcher's command.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) launcher: Vec<OsString>,
    pub(crate) program: Vec<OsString>,
    /// The MPI that the user names.
    pub(crate) mpi: Option<String>,
}

impl Launch {
    /// Finds the program: the word after `--` or, without that, the first argument that is an executable file linked
    /// with an MPI, or the first word after the options of a known launcher.
    pub(crate) fn of(command: &[OsString], mpi: Option<&str>) -> Result<Self> {
        let words = || command.iter().map(|word| word.to_string_lossy());
        if let Some(word) =
            words().find(|w| w.contains("CARTOGRAPH_") || w.contains("libcartograph"))
        {
            return Err(Failure::usage(format!(
                "{word} would load Cartograph in baseline runs; omit it"
            )));
        }
        if words().any(|word| word == ":") {
            return Err(Failure::usage(
                "the command starts several programs, separated by ':'; test each one separately",
            ));
        }
        let at = if let Some(at) = command.iter().position(|word| word == "--") {
            at + 1
        } else {
            let found = command.iter().position(|word| is_linked_with_mpi(word));
            found
                .or_else(|| behind_options(command))
                .ok_or_else(|| Self::without_program(command))?
        };
        let launcher = command[..at].iter().filter(|word| *word != "--").cloned().collect();
        let program = command[at..].to_vec();
        let Some(name) = program.first() else {
            return Err(Failure::usage("no program after --"));
        };
        if Path::new(name).file_name() == Some(OsStr::new("cartograph")) {
            return Err(Failure::usage(
                "omit cartograph exec from the command; it is added automatically",
            ));
        }
        Ok(Self { launcher, program, mpi: mpi.map(str::to_owned) })
    }

    /// The failure if no argument of a command is a program.
    fn without_program(command: &[OsString]) -> Failure {
        let is_option = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
        let words: Vec<&OsString> =
            command.iter().skip(1).filter(|word| !is_option(word)).collect();
        let is_path = |word: &&&OsString| word.as_encoded_bytes().contains(&b'/');
        let wrong: Vec<Failure> =
            words.iter().filter(is_path).filter_map(|path| find_program(path).err()).collect();
        let finds_one = (1..command.len()).any(|at| find_program(&command[at]).is_ok());
        // A script that an interpreter reads need not be executable.
        if let Some(failure) =
            wrong.into_iter().find(|failure| failure.code() == Failure::NOT_FOUND || !finds_one)
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

    /// The program, without its arguments.
    pub(crate) fn program(&self) -> &OsStr {
        &self.program[0]
    }

    /// The command as given by the user.
    pub(crate) fn baseline(&self) -> Vec<OsString> {
        [&self.launcher[..], &self.program].concat()
    }

    /// The command line of `cartograph where` in place of the program.
    pub(crate) fn of_places(&self) -> Result<Vec<OsString>> {
        Ok([&self.launcher[..], &[own()?, "where".into()]].concat())
    }

    /// The command line with `cartograph exec` and its options before the program; `setting` is for its environment.
    pub(crate) fn under_exec(
        &self,
        setting: Option<&str>,
        options: &[OsString],
    ) -> Result<Vec<OsString>> {
        let set = setting.map(|setting| ["env".into(), setting.into()]);
        let exec = [own()?, "exec".into()];
        let mpi = self.mpi.as_ref().map(|name| ["--mpi".into(), name.into()]);
        let [set, mpi] = [&set, &mpi].map(|words| words.as_ref().map_or(&[][..], |words| words));
        Ok([&self.launcher[..], set, &exec, mpi, options, &self.program].concat())
    }
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

/// The output by which a launcher is recognized.
pub(crate) fn printed(launcher: &OsStr) -> String {
    /// No launcher takes this long to print its version.
    const LONGEST: Duration = Duration::from_secs(10);
    let printed = |option: &str| {
        let run = job::run(&[launcher.to_owned(), option.into()], None, &Input::Nothing, LONGEST);
        run.map_or_else(|_| String::new(), |run| run.stdout + &run.stderr)
    };
    let version = printed("--version");
    // Hydra's options also depend on how it was built.
    if version.contains("HYDRA") { version + &printed("--help") } else { version }
}
