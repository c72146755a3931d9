//! The verdicts of `cartograph try`: one file for each build.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{END, Key, Store, VERDICTS, key};

/// The result of `cartograph try` for a build.
#[derive(Serialize, Deserialize)]
struct Verdict {
    /// True if its grids and graphs may be reordered, without other settings.
    follows: bool,
}

impl Store {
    /// True if `cartograph try` found that the build of the program in a command line may be reordered, with every MPI
    /// with which it was tried, and without other settings. Every process of a job asks this: the program is read only
    /// if there is a verdict on one of its name.
    pub(crate) fn follows(words: &[OsString]) -> bool {
        Self::place()
            .and_then(|place| Self::existing(place).ok())
            .is_some_and(|store| store.has_passed(words))
    }

    pub(super) fn has_passed(&self, words: &[OsString]) -> bool {
        let folder = self.directory.join(VERDICTS);
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
        let passed = |name: &String| {
            let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
            serde_json::from_str(&text).is_ok_and(|Verdict { follows }| follows)
        };
        own.peek().is_some() && own.all(passed)
    }

    /// Keeps the verdict on a build: whether its grids and graphs may be reordered, without other settings.
    pub(crate) fn judge(&self, key: &Key, follows: bool) -> io::Result<()> {
        self.folder(VERDICTS)?;
        let text = serde_json::to_string(&Verdict { follows }).expect("all keys are strings");
        self.write(&format!("{VERDICTS}/{}{END}", key.start()), &text)
    }
}
