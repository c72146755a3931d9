//! The store: a directory with a file for each program, which jobs that run at once may change.
//!
//! A file is written whole: a temporary beside it, fsync, rename. Whoever changes one holds the store's lock, for an
//! instant;
//! where there are no locks, or another holds it for longer than a job may wait, the last one wins and one run is
//! forgotten.

mod key;

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use cartograph_core::learn::{Entry, Unusable};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

pub(crate) use key::{Key, program_at};

/// The longest that a job waits for the lock.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longer files are none of ours.
const LONGEST: u64 = 16 << 20;

/// The age at which files of jobs that were killed are removed.
const STALE: Duration = Duration::from_secs(7 * 24 * 3600);

/// The end of the names of entries, and the beginning of those of temporaries.
const END: &str = ".json";
const TEMPORARY: &str = ".new-";

pub(crate) struct Store {
    pub(crate) directory: PathBuf,
}

/// What `cartograph try` has found of a build: whether its grids may be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) moves_well: bool,
    /// True if that holds with `CARTOGRAPH_PAIRING=host` only.
    pub(crate) pairs_as_host: bool,
}

/// The name of an entry's file.
fn file(key: &Key, processes: u32) -> String {
    format!("{}-{processes}{END}", key.start())
}

impl Store {
    /// The place of the store: the one that is set, or in the user's home.
    pub(crate) fn place() -> Option<PathBuf> {
        let variable =
            |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let state = || {
            let own = variable("XDG_STATE_HOME").filter(|path| path.is_absolute());
            own.or_else(|| Some(variable("HOME")?.join(".local/state")))
        };
        let place = variable("CARTOGRAPH_STORE").or_else(|| Some(state()?.join("cartograph")))?;
        std::path::absolute(place).ok()
    }

    /// Opens the user's store, which is made if there is none.
    ///
    /// # Errors
    ///
    /// Why nothing can be stored.
    pub(crate) fn open() -> Result<Self, String> {
        Self::at(Self::place().ok_or("neither CARTOGRAPH_STORE nor HOME is set to a directory")?)
    }

    fn at(directory: PathBuf) -> Result<Self, String> {
        let wrong = |error: io::Error| format!("{}: {error}", directory.display());
        DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(wrong)?;
        let found = directory.metadata().map_err(wrong)?;
        // What others may write would decide how this user's jobs are started.
        if found.uid() != nix::unistd::geteuid().as_raw() || found.mode() & 0o022 != 0 {
            return Err(format!(
                "{} does not belong to this user, or others can write to it",
                directory.display()
            ));
        }
        Ok(Self { directory })
    }

    /// The entries of a program, for any number of processes, with those that cannot be used.
    pub(crate) fn entries(&self, key: &Key) -> Vec<Entry> {
        let start = key.start() + "-";
        let all = self.all().into_iter();
        let own = all.filter(|(name, _)| name.starts_with(&start));
        own.filter_map(|(_, entry)| entry.ok()).collect()
    }

    /// All entries, by the names of their files.
    pub(crate) fn all(&self) -> Vec<(String, Result<Entry, Unusable>)> {
        let Ok(entries) = fs::read_dir(&self.directory) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> =
            names.filter(|name| name.ends_with(END) && !name.starts_with('.')).collect();
        names.sort();
        let read = |name: String| {
            let entry = self.read(&name)?;
            Some((name, entry))
        };
        names.into_iter().filter_map(read).collect()
    }

    /// Reads an entry; `None` if there is no such file.
    fn read(&self, name: &str) -> Option<Result<Entry, Unusable>> {
        let wrong = |error: &io::Error| Unusable::Wrong(format!("cannot be read: {error}"));
        let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
        let file =
            OpenOptions::new().read(true).custom_flags(flags).open(self.directory.join(name));
        let mut text = String::new();
        match file.and_then(|file| file.take(LONGEST).read_to_string(&mut text)) {
            Ok(_) => Some(Entry::parse(&text)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => Some(Err(wrong(&error))),
        }
    }

    /// Changes an entry, as it is now or new.
    ///
    /// # Errors
    ///
    /// Why it stays as it is: the file is of another version, or cannot be written.
    pub(crate) fn update(
        &self,
        key: &Key,
        processes: u32,
        change: impl FnOnce(&mut Entry),
    ) -> Result<Entry, String> {
        let name = file(key, processes);
        let _lock = self.lock();
        self.clean();
        let mut entry = match self.read(&name) {
            Some(Ok(entry)) => entry,
            Some(Err(Unusable::Version(version))) => {
                return Err(format!("{name} has format version {version}; left unchanged"));
            }
            // A damaged file is of no use to anybody.
            Some(Err(Unusable::Wrong(_))) | None => {
                Entry::new(&key.program, &format!("{:016x}", key.build), processes)
            }
        };
        change(&mut entry);
        self.write(&name, &entry.json()).map_err(|error| format!("{name}: {error}"))?;
        Ok(entry)
    }

    /// Writes a file whole.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let place = self.directory.join(name);
        let directory = place.parent().unwrap_or(&self.directory);
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(directory)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&place)?;
        // Some file systems have no such thing.
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
        Ok(())
    }

    /// Removes an entry, and what `cartograph try` has found of its build.
    pub(crate) fn forget(&self, name: &str) -> io::Result<()> {
        let _lock = self.lock();
        if let Some((start, _)) = name.rsplit_once('-') {
            let _ = fs::remove_file(self.directory.join(VERDICTS).join(format!("{start}{END}")));
        }
        fs::remove_file(self.directory.join(name))
    }

    /// The verdict on a build, for any number of processes; `None` if there is none.
    pub(crate) fn verdict(&self, key: &Key) -> Option<Verdict> {
        let file = self.directory.join(VERDICTS).join(key.start() + END);
        serde_json::from_str(&fs::read_to_string(file).ok()?).ok()
    }

    /// Keeps the verdict on a build.
    pub(crate) fn judge(&self, key: &Key, verdict: Verdict) -> io::Result<()> {
        self.folder(VERDICTS)?;
        let text = serde_json::to_string(&verdict).expect("all keys are strings");
        self.write(&format!("{VERDICTS}/{}{END}", key.start()), &text)
    }

    /// A directory of the store for files of a kind.
    pub(crate) fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.directory.join(name);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(folder)
    }

    /// Takes the lock; `None` where there are no locks, or another has it for too long.
    fn lock(&self) -> Option<Flock<File>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let end = Instant::now() + PATIENCE;
        let mut file = options.open(self.directory.join("lock")).ok()?;
        loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => return Some(lock),
                Err((back, Errno::EWOULDBLOCK | Errno::EINTR)) if Instant::now() < end => {
                    file = back;
                    thread::sleep(Duration::from_millis(10));
                }
                Err(_) => return None,
            }
        }
    }

    /// Removes what killed jobs have left.
    fn clean(&self) {
        let old = |path: &Path| {
            let changed = path.symlink_metadata().and_then(|found| found.modified());
            changed.is_ok_and(|changed| {
                SystemTime::now().duration_since(changed).is_ok_and(|age| age > STALE)
            })
        };
        let list = |folder: &Path| {
            let entries = fs::read_dir(folder).into_iter().flatten();
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| old(path))
        };
        for path in list(&self.directory) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(TEMPORARY) {
                let _ = fs::remove_file(&path);
            }
        }
        for path in list(&self.directory.join(ALLOCATIONS)) {
            let _ = fs::remove_file(path);
        }
        for path in list(&self.directory.join(JOBS)) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// The folders of what is known of allocations, of recordings, and of verdicts.
pub(crate) const ALLOCATIONS: &str = "allocations";
pub(crate) const JOBS: &str = "jobs";
const VERDICTS: &str = "verdicts";

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key { program: "my app".into(), build: 7, mpi: 1 << 40 }
    }

    fn store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path().join("store")).unwrap();
        (directory, store)
    }

    #[test]
    fn entries_are_the_owners_and_written_whole() {
        let (_directory, store) = store();
        store.update(&key(), 16, |entry| entry.mpi = "some MPI".into()).unwrap();
        store.update(&key(), 8, |_| {}).unwrap();
        store.update(&Key { build: 8, ..key() }, 16, |_| {}).unwrap();
        let all = store.all();
        assert_eq!(all.len(), 3, "{all:?}");
        assert_eq!(store.entries(&key()).len(), 2);
        for name in all.iter().map(|(name, _)| name) {
            let mode = store.directory.join(name).metadata().unwrap().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(store.directory.metadata().unwrap().mode() & 0o777, 0o700);
        let text = "{".repeat(5);
        fs::write(store.directory.join(&all[0].0), text).unwrap();
        assert_eq!(store.entries(&key()).len(), 1);
        store.forget(&all[0].0).unwrap();
        assert_eq!(store.all().len(), 2);
        let open = |mode: u32| {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(&store.directory, mode).unwrap();
            Store::at(store.directory.clone()).map(|_| ())
        };
        assert!(open(0o777).unwrap_err().contains("others can write"));
        assert_eq!(open(0o755), Ok(()));
    }

    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_a_later_version_wrote_is_left_alone() {
        let (_directory, store) = store();
        store.update(&key(), 16, |_| {}).unwrap();
        let file = store.directory.join(file(&key(), 16));
        let later = fs::read_to_string(&file).unwrap().replace("\"schema\":1", "\"schema\":9");
        fs::write(&file, &later).unwrap();
        let why = store.update(&key(), 16, |_| panic!("not asked")).unwrap_err();
        assert!(why.contains("version 9"), "{why}");
        assert_eq!(fs::read_to_string(&file).unwrap(), later);
    }

    #[test]
    fn jobs_that_end_at_once_lose_no_run() {
        let (_directory, store) = store();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        store.update(&key(), 16, |entry| entry.totals.runs += 1).unwrap();
                    }
                });
            }
        });
        assert_eq!(store.entries(&key())[0].totals.runs, 40);
    }

    #[test]
    fn a_held_lock_blocks_no_process() {
        let (_directory, store) = store();
        let held = store.lock().unwrap();
        let start = Instant::now();
        store.update(&key(), 16, |entry| entry.totals.runs += 1).unwrap();
        assert!(start.elapsed() < PATIENCE + Duration::from_secs(2));
        drop(held);
        assert_eq!(store.entries(&key())[0].totals.runs, 1);
    }

    #[test]
    fn what_a_killed_job_left_does_no_harm() {
        let (_directory, store) = store();
        store.update(&key(), 16, |entry| entry.totals.runs = 5).unwrap();
        // Killed while it wrote: half of a temporary, which goes when it is old.
        let half = store.directory.join(format!("{TEMPORARY}abc"));
        fs::write(&half, "{\"schema\":1,\"prog").unwrap();
        store.update(&key(), 16, |entry| entry.totals.runs += 1).unwrap();
        assert!(half.exists());
        let old = SystemTime::now() - STALE - Duration::from_secs(60);
        File::options().write(true).open(&half).unwrap().set_modified(old).unwrap();
        store.update(&key(), 16, |entry| entry.totals.runs += 1).unwrap();
        assert!(!half.exists());
        assert_eq!(store.entries(&key())[0].totals.runs, 7);
    }
}
