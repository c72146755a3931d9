//! The files that runs write below a directory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::output::{self, FILE, Lines};

/// If there are more files below a directory, none are compared.
pub const MOST_FILES: usize = 100_000;

/// Larger files are compared as bytes.
const MOST_TEXT: u64 = 1 << 24;

/// The properties that change when a file is written: its inode, size, and time of change.
type Stamp = (u64, u64, i64, i64);

/// The directories that launchers create for a job, by the starts of their names.
const OF_LAUNCHERS: [&str; 3] = ["ompi.", "openmpi-sessions-", "prte."];

/// The files below a directory.
pub struct Files {
    root: PathBuf,
    /// A directory to ignore.
    own: Option<PathBuf>,
    stamps: BTreeMap<PathBuf, Stamp>,
    /// True once there are too many files.
    pub too_many: bool,
}

impl Files {
    /// Lists the files below a directory, except those below `own`.
    pub fn below(root: PathBuf, own: Option<&Path>) -> Self {
        // Both may be given in different forms.
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (root, own) = (real(&root), own.map(real));
        let mut files = Self { root, own, stamps: BTreeMap::new(), too_many: false };
        files.written();
        files
    }

    /// The files that were written or created since the last call, by their names relative to the directory.
    fn written(&mut self) -> Vec<(String, PathBuf)> {
        let now = if self.too_many { None } else { self.stamps() };
        self.too_many |= now.is_none();
        let before = std::mem::replace(&mut self.stamps, now.unwrap_or_default());
        let new = self.stamps.iter().filter(|(path, stamp)| before.get(*path) != Some(stamp));
        let name =
            |path: &PathBuf| path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        new.map(|(path, _)| (name(path), path.clone())).collect()
    }

    /// Adds the lines of the files that were written since the last call, without unreadable files and those whose names
    /// contain an ignored text; returns the names of all.
    pub fn add_written(&mut self, lines: &mut Lines, ignored: &[String]) -> Vec<String> {
        let written = self.written();
        let counts = |name: &String| !ignored.iter().any(|word| name.contains(word));
        for (name, path) in written.iter().filter(|(name, _)| counts(name)) {
            let _ = add(lines, name, path, ignored);
        }
        written.into_iter().map(|(name, _)| name).collect()
    }

    /// The regular files below the directory; `None` if there are too many.
    fn stamps(&self) -> Option<BTreeMap<PathBuf, Stamp>> {
        let mut files = BTreeMap::new();
        let mut directories = vec![self.root.clone()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                match entry.metadata() {
                    Ok(found) if found.is_dir() => {
                        let path = entry.path();
                        let name = entry.file_name();
                        let is_session =
                            |start: &&str| name.as_encoded_bytes().starts_with(start.as_bytes());
                        let is_own = self.own.as_ref() == Some(&path);
                        if !is_own && !OF_LAUNCHERS.iter().any(is_session) {
                            directories.push(path);
                        }
                    }
                    Ok(found) if found.is_file() => {
                        let stamp = (found.ino(), found.len(), found.ctime(), found.ctime_nsec());
                        files.insert(entry.path(), stamp);
                    }
                    _ => {}
                }
            }
            if files.len() + directories.len() > MOST_FILES {
                return None;
            }
        }
        Some(files)
    }
}

/// Adds the lines of a file or, if it is not text or too large, a hash.
fn add(lines: &mut Lines, name: &str, path: &Path, ignored: &[String]) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut part = || {
        let mut text = Vec::new();
        Read::by_ref(&mut file).take(MOST_TEXT).read_to_end(&mut text).map(|_| text)
    };
    let mut text = part()?;
    if text.contains(&0) || text.len() as u64 == MOST_TEXT {
        let mut hasher = DefaultHasher::new();
        while !text.is_empty() {
            hasher.write(&text);
            text = part()?;
        }
        text = format!("bytes with the hash h{:016x}", hasher.finish()).into();
    }
    let text = String::from_utf8_lossy(&text);
    output::add(lines, name, &format!("{FILE}\n{text}"), ignored);
    Ok(())
}
