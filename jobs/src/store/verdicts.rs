//! The verdicts of `cartograph try`: one file for each build.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::key;

/// The folder in the store, and the suffix of its files.
pub(super) const FOLDER: &str = "verdicts";
const END: &str = ".json";

/// The result of `cartograph try` for a build.
#[derive(Serialize, Deserialize)]
struct Verdict {
    /// True if its grids and graphs may be reordered, without other settings.
    follows: bool,
}

/// The name of the file for a build, below the store; `start` begins the names of its entries.
pub(super) fn file(start: &str) -> String {
    format!("{FOLDER}/{start}{END}")
}

/// The text of a file.
pub(super) fn text(follows: bool) -> String {
    serde_json::to_string(&Verdict { follows }).expect("all keys are strings")
}

/// True if all verdicts in a store on the build of the program in a command line allow reordering. Every process of a job
/// asks this: the program is read only if there is a verdict on one of its name.
pub(super) fn allow(store: &Path, words: &[OsString]) -> bool {
    let folder = store.join(FOLDER);
    let files = fs::read_dir(&folder).into_iter().flatten();
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let names: Vec<String> = names.filter(|name| name.ends_with(END)).collect();
    let is_named = |word: &OsString| {
        let file = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
        let start = key::start_of_name(&cartograph_traffic::printable(&file)) + "-";
        names.iter().any(|name| name.starts_with(&start))
    };
    if !words.iter().any(is_named) {
        return false;
    }
    let Some(start) = key::start_of_build(words) else { return false };
    let mut own = names.iter().filter(|name| name.starts_with(&start)).peekable();
    let allows = |name: &String| {
        let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
        serde_json::from_str(&text).is_ok_and(|Verdict { follows }| follows)
    };
    own.peek().is_some() && own.all(allows)
}

/// Removes the verdicts on the builds of a program with this MPI.
pub(super) fn forget(store: &Path, program: &str, mpi: &str) {
    for file in fs::read_dir(store.join(FOLDER)).into_iter().flatten().flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if name.starts_with(&format!("{program}-")) && name.ends_with(&format!("-{mpi}{END}")) {
            let _ = fs::remove_file(file.path());
        }
    }
}
