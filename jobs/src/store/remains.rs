//! The remains of jobs in a store, and the files that jobs can do without.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::fcntl::{Flock, FlockArg};

use super::files::TEMPORARY;

/// The folders for allocations, forecasts and recordings.
pub(crate) const ALLOCATIONS: &str = "allocations";
pub(crate) const FORECASTS: &str = "forecasts";
pub(super) const JOBS: &str = "jobs";

/// The most forecasts that are kept.
const MOST_FORECASTS: usize = 100;

/// The age at which files of killed jobs are removed.
pub(super) const STALE: Duration = Duration::from_secs(7 * 24 * 3600);

/// The age from which on the folder of a job without a lock belongs to no job that is starting.
pub(super) const STARTED: Duration = Duration::from_secs(60);

/// Removes the remains of killed jobs from a store.
pub(super) fn clean(store: &Path) {
    let older = |path: &Path, than: Duration| {
        let changed = path.symlink_metadata().and_then(|found| found.modified());
        changed.is_ok_and(|changed| {
            SystemTime::now().duration_since(changed).is_ok_and(|age| age > than)
        })
    };
    let all = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.filter_map(|entry| Some(entry.ok()?.path()))
    };
    let list = |folder: &Path| all(folder).filter(|path| older(path, STALE));
    for path in list(store) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(TEMPORARY) {
            let _ = fs::remove_file(&path);
        }
    }
    let mut forecasts: Vec<PathBuf> = all(&store.join(FORECASTS)).collect();
    if forecasts.len() > MOST_FORECASTS {
        let changed = |path: &PathBuf| path.symlink_metadata().and_then(|it| it.modified()).ok();
        forecasts.sort_by_cached_key(|path| Reverse(changed(path)));
    }
    let forecasts = forecasts.into_iter().skip(MOST_FORECASTS);
    for path in list(&store.join(ALLOCATIONS)).chain(forecasts) {
        let _ = fs::remove_file(path);
    }
    // A lock that can be taken has no owner, but the locks of other nodes may be invisible.
    let boot = boot();
    let is_own = |path: &Path| {
        boot.len() > ".-".len()
            && path
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(boot.as_bytes()))
    };
    let is_free = |path: &Path| File::open(path).is_ok_and(|open| try_lock(open).is_ok());
    let is_left = |path: &PathBuf| {
        older(path, STALE) || (is_own(path) && older(path, STARTED) && is_free(path))
    };
    for path in all(&store.join(JOBS)).filter(is_left) {
        let _ = fs::remove_dir_all(path);
    }
}

/// The start of the names of folders of jobs on this node since it was booted.
pub(super) fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!(".{}-", id.split('-').next().unwrap_or_default().trim())
}

/// Takes the lock of a file that no process has locked.
pub(super) fn try_lock(file: File) -> nix::Result<Flock<File>> {
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error)
}
