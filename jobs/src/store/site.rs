//! The site's store: entries that an administrator gives to all users. They are only read.

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::files::{names, read, temporary};
use crate::learn::Entry;
use crate::program::own_path;

/// The place of the store below the prefix of the installation.
const PLACE: &str = "etc/cartograph/known";

/// A site's store.
#[derive(Debug, Clone)]
pub(super) struct Site(PathBuf);

impl Site {
    /// The site's store, as set, or next to the installation; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Why it is not used.
    pub(super) fn find() -> Result<Option<Self>, String> {
        let set = env::var_os("CARTOGRAPH_SITE_STORE").filter(|value| !value.is_empty());
        let is_set = set.is_some();
        let Ok(command) = own_path() else { return Ok(None) };
        let beside = || Some(command.parent()?.parent()?.join(PLACE));
        let Some(place) = set.map(PathBuf::from).or_else(beside) else { return Ok(None) };
        if !is_set && !place.exists() {
            return Ok(None);
        }
        let administrator = fs::metadata(&command).map_or(0, |command| command.uid());
        Self::at(place, administrator).map(Some)
    }

    /// The store in a directory that belongs to root, to this user or to the administrator, and to which no others can
    /// write: entries decide how jobs are started.
    pub(super) fn at(place: PathBuf, administrator: u32) -> Result<Self, String> {
        let not_used =
            |why: &str| format!("the site's store {} is not used: {why}", place.display());
        let found = fs::metadata(&place).map_err(|error| not_used(&error.to_string()))?;
        let owners = [0, administrator, nix::unistd::geteuid().as_raw()];
        if !found.is_dir() {
            return Err(not_used("it is not a directory"));
        }
        if !owners.contains(&found.uid()) {
            return Err(not_used(
                "it belongs to another user than root, you, or who installed cartograph",
            ));
        }
        if found.mode() & 0o022 != 0 {
            return Err(not_used("others can write to it"));
        }
        Ok(Self(place))
    }

    /// An entry by the name of its file.
    pub(super) fn entry(&self, name: &str) -> Option<Entry> {
        let text = read(&self.0.join(name)).ok()??;
        let mut entry = Entry::parse(&text).ok()?.of_others();
        entry.started_from = "the site".to_owned();
        Some(entry)
    }

    /// The names of all entries.
    pub(super) fn names(&self) -> Vec<String> {
        names(&self.0)
    }
}

/// Writes an entry to a directory that is to become a site's store, and creates it if it does not exist.
pub(super) fn export(directory: &Path, name: &str, entry: &Entry) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(directory)?;
    let file = temporary(directory, &entry.json())?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    file.persist(directory.join(name))?;
    Ok(())
}
