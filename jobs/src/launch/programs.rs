//! Several programs in one job.

use std::ffi::{OsStr, OsString};

use cartograph_core::launcher::options::Role;
use cartograph_core::launcher::table::LauncherKind;

use super::line::{Given, Line, Unreadable, count, given};

/// Options of Hydra that are for one program, though they are before the first. Intel MPI's has one more.
const OF_ONE: [&str; 8] = ["env", "envlist", "envnone", "envall", "wdir", "path", "arch", "umask"];
const OF_ONE_IN_INTEL: &str = "host";

/// A program behind a colon.
#[derive(Debug, Clone)]
pub struct Part {
    /// The launcher's options for it.
    pub options: Vec<Given>,
    /// The program, with its wrappers before it and its arguments after it.
    pub program: Vec<OsString>,
}

impl Part {
    /// The words up to the program.
    pub(super) fn words(&self) -> Vec<OsString> {
        let options = self.options.iter().flat_map(|given| &given.words).cloned();
        std::iter::once(":".into()).chain(options).collect()
    }
}

impl Line {
    /// This line with the programs in its other parts.
    ///
    /// # Errors
    ///
    /// [`Unreadable`]: only what one command with the same options for all programs can say is understood.
    pub(super) fn with_others<'a>(
        mut self,
        parts: impl Iterator<Item = &'a [OsString]>,
    ) -> Result<Self, Unreadable> {
        let launcher = self.launcher;
        for part in parts {
            let mut options = Vec::new();
            let mut rest = part;
            while let Some(given) = rest.first().and_then(|_| given(launcher, rest)) {
                rest = &rest[given.words.len()..];
                options.push(given);
            }
            match rest.first().map(|word| word.to_string_lossy()) {
                None => return Err(Unreadable::NoProgram(launcher.name)),
                Some(word) if word.starts_with('-') => {
                    return Err(Unreadable::Option(word.into_owned(), launcher.name));
                }
                Some(_) => self.others.push(Part { options, program: rest.to_vec() }),
            }
        }
        if !self.others.is_empty() {
            self.check_options()?;
            let all =
                std::iter::once(&self.options).chain(self.others.iter().map(|part| &part.options));
            let counts: Option<Vec<usize>> = all.map(|options| count(options)).collect();
            self.counts = counts.ok_or(Unreadable::Uncounted)?;
        }
        Ok(self)
    }

    /// Checks that the ranks of several programs can be placed with these options.
    fn check_options(&self) -> Result<(), Unreadable> {
        // With relays, all programs start with the options of the first.
        let are_shared = match self.launcher.kind {
            LauncherKind::Orterun | LauncherKind::Prterun => false,
            LauncherKind::Hydra | LauncherKind::IntelHydra => true,
            _ => return Err(Unreadable::Several),
        };
        let is_wrong = |given: &&Given| match given.role {
            Role::Processes => false,
            Role::Other => are_shared,
            _ => true,
        };
        let is_intel = self.launcher.kind == LauncherKind::IntelHydra;
        let is_of_one = |given: &&Given| {
            given.name.is_none_or(|name| {
                are_shared && OF_ONE.contains(&name) || is_intel && name == OF_ONE_IN_INTEL
            })
        };
        let mut others = self.others.iter().flat_map(|part| &part.options);
        match others.find(is_wrong).or_else(|| self.options.iter().find(is_of_one)) {
            Some(given) => {
                let shown = given.words.join(OsStr::new(" "));
                Err(Unreadable::OfOne(shown.to_string_lossy().into_owned()))
            }
            None => Ok(()),
        }
    }

    /// All programs.
    pub fn programs(&self) -> impl Iterator<Item = &[OsString]> {
        std::iter::once(&*self.program).chain(self.others.iter().map(|part| &*part.program))
    }

    /// The words of this line without its programs.
    pub fn without_programs(&self) -> Vec<OsString> {
        self.words().into_iter().chain(self.others.iter().flat_map(Part::words)).collect()
    }

    /// This line, but with all programs started as one.
    #[must_use]
    pub fn as_one(&self) -> Self {
        let mut line = self.clone();
        if let Some(all) = self.processes().filter(|_| !self.others.is_empty()) {
            line.is_one = true;
            let numbers = line.options.iter_mut().filter(|given| given.role == Role::Processes);
            numbers.for_each(|given| given.words = ["-n".into(), all.to_string().into()].to_vec());
        }
        line
    }
}
