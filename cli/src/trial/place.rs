//! The directory in which a program is tried: a copy, so that every run finds the same files, such as a checkpoint, and
//! the user's files do not change.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::output::{Failure, Result};

/// A directory that is larger, or has more files, is not copied for each run.
const MOST_BYTES: u64 = 1 << 28;
const MOST_ENTRIES: usize = 10_000;

/// A directory for runs.
pub(super) struct WorkDirectory {
    original: PathBuf,
    /// The copy is next to the original, so that relative paths to the outside remain valid.
    copy: Option<TempDir>,
}

impl WorkDirectory {
    /// A copy of a directory, or the directory itself.
    pub(super) fn new(original: PathBuf, is_copied: bool) -> Result<Self> {
        if !is_copied {
            return Ok(Self { original, copy: None });
        }
        let shown = original.display();
        if is_large(&original) {
            return Err(Failure::new(format!(
                "{shown} has more than {MOST_ENTRIES} files or {} MB, too much to copy for each run: run in a directory \
                 with the program's input only, or pass --in-place if runs may change the files here",
                MOST_BYTES >> 20
            )));
        }
        let parent = original.parent().unwrap_or(&original);
        let copy = tempfile::Builder::new().prefix(".cartograph-try-").tempdir_in(parent);
        let copy = copy.map_err(|error| {
            Failure::new(format!(
                "cannot copy {shown} to a directory beside it: {error}; pass --in-place if runs may change the files here"
            ))
        })?;
        Ok(Self { original, copy: Some(copy) })
    }

    /// The directory for the next run, with its original files.
    pub(super) fn fresh(&self) -> Result<&Path> {
        let Some(copy) = &self.copy else { return Ok(&self.original) };
        let copied = clear(copy.path()).and_then(|()| copy_all(&self.original, copy.path()));
        copied.map(|()| copy.path()).map_err(|error| {
            Failure::new(format!(
                "cannot copy {} to {}: {error}; pass --in-place if runs may change the files here",
                self.original.display(),
                copy.path().display()
            ))
        })
    }

    /// The directory for results, which runs neither see nor remove.
    pub(super) fn for_reports(&self) -> &Path {
        match (&self.copy, self.original.parent()) {
            (Some(_), Some(beside)) => beside,
            _ => &self.original,
        }
    }

    /// Tells the user what happens to the files in the directory.
    pub(super) fn text(&self) -> &'static str {
        match self.copy {
            Some(_) => "runs use a copy of this directory; its files stay as they are\n",
            None => {
                "runs use this directory: a program that continues from its own files, such as a checkpoint, differs from run \
                 to run\n"
            }
        }
    }

    /// True if runs change the user's own files.
    pub(super) fn is_original(&self) -> bool {
        self.copy.is_none()
    }
}

/// True if a directory is too large to be copied for each run.
fn is_large(root: &Path) -> bool {
    let (mut bytes, mut entries) = (0, 0);
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            entries += 1;
            match entry.metadata() {
                Ok(found) if found.is_dir() => directories.push(entry.path()),
                Ok(found) if found.is_file() => bytes += found.len(),
                _ => {}
            }
            if entries > MOST_ENTRIES || bytes > MOST_BYTES {
                return true;
            }
        }
    }
    false
}

/// Removes the contents of a directory.
fn clear(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Copies files, links and directories with their times, since programs may look for their latest files.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let found = entry.metadata()?;
        if found.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else if found.is_dir() {
            fs::create_dir(&to)?;
            copy_all(&from, &to)?;
            fs::set_permissions(&to, found.permissions())?;
        } else if found.is_file() {
            fs::copy(&from, &to)?;
            // A file that cannot be opened for this keeps the time of the copy.
            let _ = found.modified().and_then(|time| File::open(&to)?.set_modified(time));
        }
    }
    Ok(())
}
