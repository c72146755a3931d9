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
    /// The site's store, as set or beside the installation, if only an administrator or this user can write to it:
    /// entries decide how jobs are started.
    pub(super) fn find() -> Option<Self> {
        let set = env::var_os("CARTOGRAPH_SITE_STORE").filter(|value| !value.is_empty());
        let command = own_path().ok()?;
        let place =
            set.map(PathBuf::from).or_else(|| Some(command.parent()?.parent()?.join(PLACE)))?;
        let administrator = fs::metadata(&command).ok()?.uid();
        Self::at(place, administrator)
    }

    /// The store in a directory that belongs to root, to this user or to the administrator.
    pub(super) fn at(place: PathBuf, administrator: u32) -> Option<Self> {
        let found = fs::metadata(&place).ok()?;
        let owners = [0, administrator, nix::unistd::geteuid().as_raw()];
        let is_safe = found.is_dir() && owners.contains(&found.uid()) && found.mode() & 0o022 == 0;
        is_safe.then_some(Self(place))
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
