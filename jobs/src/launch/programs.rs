//! Several programs in one job.

use std::ffi::{OsStr, OsString};
use std::fs;

use cartograph_core::launcher::options::Role;
use cartograph_core::launcher::table::LauncherKind;

use super::line::{Given, Line, Part, Programs, Unreadable, count, given};

/// Options of Hydra that are for one program, though they are before the first. Intel MPI's has one more.
const OF_ONE: [&str; 8] = ["env", "envlist", "envnone", "envall", "wdir", "path", "arch", "umask"];
const OF_ONE_IN_INTEL: &str = "host";

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
                Some(_) => self.programs.others.push(Part { options, program: rest.to_vec() }),
            }
        }
        if !self.programs.others.is_empty() {
            self.check_options()?;
            let others = self.programs.others.iter().map(|part| &part.options);
            let all = std::iter::once(&self.options).chain(others);
            let counts: Option<Vec<usize>> = all.map(|options| count(options)).collect();
            self.programs.counts = counts.ok_or(Unreadable::Uncounted)?;
        }
        Ok(self)
    }

    /// This line of srun with the programs in its file in place of the file. All are started as one.
    ///
    /// # Errors
    ///
    /// [`Unreadable`].
    pub(super) fn with_file(mut self) -> Result<Self, Unreadable> {
        if self.launcher.kind != LauncherKind::Srun {
            return Err(Unreadable::Several);
        }
        let [file] = &self.programs.first[..] else { return Err(Unreadable::File) };
        let text = fs::read_to_string(file).map_err(|_| Unreadable::File)?;
        let all = count(&self.options).ok_or(Unreadable::Uncounted)?;
        let programs = programs(&text, all).ok_or(Unreadable::File)?;
        self.options.retain(|given| given.role != Role::Programs);
        let (counts, programs): (Vec<usize>, Vec<Vec<OsString>>) = programs.into_iter().unzip();
        let mut programs = programs.into_iter();
        let first = programs.next().ok_or(Unreadable::File)?;
        let others = programs.map(|program| Part { options: Vec::new(), program }).collect();
        let file = ["--multi-prog".into(), file.clone()].to_vec();
        self.programs = Programs { first, others, counts, is_one: true, file };
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
        let mut others = self.programs.others.iter().flat_map(|part| &part.options);
        match others.find(is_wrong).or_else(|| self.options.iter().find(is_of_one)) {
            Some(given) => {
                let shown = given.words.join(OsStr::new(" "));
                Err(Unreadable::OfOne(shown.to_string_lossy().into_owned()))
            }
            None => Ok(()),
        }
    }

    /// The words of this line without its programs.
    pub fn without_programs(&self) -> Vec<OsString> {
        self.words().into_iter().chain(self.programs.others.iter().flat_map(Part::words)).collect()
    }

    /// This line, but with all programs started as one.
    #[must_use]
    pub fn as_one(&self) -> Self {
        let mut line = self.clone();
        let are_several = !self.programs.others.is_empty() && !self.programs.is_one;
        if let Some(all) = self.processes().filter(|_| are_several) {
            line.programs.is_one = true;
            let numbers = line.options.iter_mut().filter(|given| given.role == Role::Processes);
            numbers.for_each(|given| given.words = ["-n".into(), all.to_string().into()].to_vec());
        }
        line
    }
}

/// A file with more programs is not read: their words would stand in one command.
const MOST_PROGRAMS: usize = 64;

/// The programs in a file for `srun --multi-prog`, each with its number of processes; `None` unless they are for all ranks
/// in their order, and their words are plain. Only ASCII's white space ends words.
fn programs(text: &str, all: usize) -> Option<Vec<(usize, Vec<OsString>)>> {
    let lines =
        text.lines().map(str::trim_ascii).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut next = 0;
    let mut programs = Vec::new();
    for line in lines {
        // Quotes, and numbers that srun replaces.
        if line.contains(['\'', '"', '\\', '%']) {
            return None;
        }
        let mut words = line.split_ascii_whitespace();
        let ranks = words.next()?;
        let (first, last) = match ranks {
            "*" => (next, all.checked_sub(1)?),
            ranks => {
                let (first, last) = ranks.split_once('-').unwrap_or((ranks, ranks));
                (first.parse().ok()?, last.parse().ok()?)
            }
        };
        let program: Vec<OsString> = words.map(OsString::from).collect();
        if first != next || last < first || program.is_empty() {
            return None;
        }
        next = last.checked_add(1)?;
        programs.push((next - first, program));
    }
    (next == all && programs.len() <= MOST_PROGRAMS).then_some(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_programs_is_read_if_it_is_plain() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let expected = Some(vec![(3, words("./a x")), (1, words("./b")), (4, words("./c"))]);
        assert_eq!(programs("# all\n0-2 ./a  x\n\n 3\t./b\n* ./c\n", 8), expected);
        for wrong in [
            "0-2 ./a\n4-7 ./b",
            "4-7 ./b\n0-3 ./a",
            "0,2,4 ./a\n* ./b",
            "0-3 ./a",
            "0-8 ./a",
            "0-3 ./a\n4-7",
            "0-3 ./a %t\n4-7 ./b",
            "0-3 ./a 'x y'\n4-7 ./b",
            "0-7 ./a\n* ./b",
            "",
        ] {
            assert_eq!(programs(wrong, 8), None, "{wrong}");
        }
    }
}
