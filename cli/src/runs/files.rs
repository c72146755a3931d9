//! The files that runs write below a directory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::compare::{self, Lines};

/// More files below a directory are not looked at.
const MOST_FILES: usize = 100_000;

/// Larger files are compared byte by byte.
const MOST_TEXT: u64 = 1 << 24;

/// The facts that change when a file is written: its inode, size, and time of change.
type Stamp = (u64, u64, i64, i64);

/// The files below a directory.
pub(crate) struct Files {
    root: PathBuf,
    stamps: BTreeMap<PathBuf, Stamp>,
}

impl Files {
    /// Looks at what is below a directory; `None` if that is too much.
    pub(crate) fn below(root: PathBuf) -> Option<Self> {
        stamps(&root).map(|stamps| Self { root, stamps })
    }

    /// The files that were written or made since this was last asked, by their names below the directory.
    pub(crate) fn written(&mut self) -> Vec<(String, PathBuf)> {
        let now = stamps(&self.root).unwrap_or_default();
        let before = std::mem::replace(&mut self.stamps, now);
        let new = self.stamps.iter().filter(|(path, stamp)| before.get(*path) != Some(stamp));
        let name =
            |path: &PathBuf| path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        new.map(|(path, _)| (name(path), path.clone())).collect()
    }
}

/// The regular files below a directory; `None` if they are too many.
fn stamps(root: &Path) -> Option<BTreeMap<PathBuf, Stamp>> {
    let mut files = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => directories.push(entry.path()),
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

/// Adds the lines of a file; of one that is not text or too large for it, a hash.
pub(crate) fn add(
    lines: &mut Lines,
    name: &str,
    path: &Path,
    ignored: &[String],
) -> io::Result<()> {
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
    compare::add(lines, name, &format!("(a file)\n{text}"), ignored);
    Ok(())
}
