//! The program in a command line, after commands that start it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::file::{find_program, needs_mpi};

/// Commands that start the program in their arguments. They write no file and change nothing, so they may run twice.
const HARMLESS: [&str; 13] = [
    "env",
    "nice",
    "ionice",
    "nohup",
    "time",
    "timeout",
    "taskset",
    "chrt",
    "numactl",
    "hwloc-bind",
    "setarch",
    "prlimit",
    "stdbuf",
];

/// Others, which may write files, and their subcommands.
const OTHERS: [(&str, &[&str]); 6] = [
    ("unbuffer", &[]),
    ("strace", &[]),
    ("ltrace", &[]),
    ("valgrind", &[]),
    ("perf", &["stat", "record", "trace"]),
    ("nsys", &["profile"]),
];

/// The subcommands of a command that starts the program in its arguments; `None` for any other command.
fn subcommands(command: &str) -> Option<&'static [&'static str]> {
    if HARMLESS.contains(&command) {
        return Some(&[]);
    }
    OTHERS.iter().find(|(other, _)| *other == command).map(|(_, subcommands)| *subcommands)
}

/// The first of the words before a launcher that may be a command which must not run twice.
pub(crate) fn runs_once(before: &[OsString]) -> Option<&OsStr> {
    let found = before.iter().enumerate().find(|(at, word)| {
        let name = name(word);
        let has_option =
            || before.get(at + 1).is_some_and(|next| next.as_encoded_bytes().starts_with(b"-"));
        match HARMLESS.contains(&&*name) {
            // -o names a file.
            true => name == "time" && has_option(),
            false => *at == 0 || find_program(word).is_ok(),
        }
    });
    found.map(|(_, word)| &**word)
}

/// The file name of a word.
pub(crate) fn name(word: &OsStr) -> String {
    Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The word that names the program after wrappers, if the command begins with a wrapper, else the first word. Unlike
/// `program_at`, it asks the loader only about commands with wrappers.
pub fn behind_wrapper(words: &[OsString]) -> &OsStr {
    let at = Some(0).filter(|_| !is_wrapper(&name(&words[0]))).or_else(|| program_at(words));
    &words[at.unwrap_or(0)]
}

/// The index of the program in a command line: the first word that is linked with an MPI, after any wrapper, or else
/// the first that can be run and is not a wrapper.
pub(crate) fn program_at(words: &[OsString]) -> Option<usize> {
    let runs = |at: &usize| find_program(&words[*at]).is_ok();
    let linked =
        words.iter().position(|word| find_program(word).is_ok_and(|program| needs_mpi(&program)));
    linked
        .or_else(|| (behind_wrappers(words)..words.len()).find(runs))
        .or_else(|| (0..words.len()).find(runs))
}

/// The index of the first word after wrappers and their subcommands.
pub(super) fn behind_wrappers(words: &[OsString]) -> usize {
    let mut next = 0;
    for (at, word) in words.iter().enumerate() {
        let word = name(word);
        if let Some(subcommands) = subcommands(&word) {
            let has_one = words
                .get(at + 1)
                .is_some_and(|word| subcommands.iter().any(|subcommand| *word == **subcommand));
            next = at + 1 + usize::from(has_one);
        } else if at >= next && find_program(&words[at]).is_ok() {
            break;
        }
    }
    next
}

/// True if a command of this name starts the program in its arguments.
pub(crate) fn is_wrapper(command: &str) -> bool {
    subcommands(command).is_some()
}
