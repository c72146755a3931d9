//! The store: a directory with a file for each program, which concurrent jobs may change.
//!
//! A file is written whole: to a temporary file next to it, with fsync and rename. A job that changes a file holds the
//! store's lock for an instant. Without locks, or if another job holds the lock for too long, the last writer wins and
//! one run is forgotten.

mod files;
mod identity;
mod key;
mod remains;
mod site;
mod verdicts;

use std::cmp::Reverse;
use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use tempfile::{Builder, TempDir};

use crate::learn::{Entry, Unusable};
use files::{END, names, read, temporary};
pub use identity::Unidentified;
pub use key::Key;
pub(crate) use remains::{ALLOCATIONS, FORECASTS};
use remains::{JOBS, boot, clean, try_lock};
use site::Site;

/// The most numbers of processes whose entries a job reads.
const MOST_OTHERS: usize = 8;

/// The longest that a job waits for the lock.
const PATIENCE: Duration = Duration::from_secs(2);

/// A directory with entries.
#[derive(Clone)]
pub struct Store {
    pub(crate) directory: PathBuf,
    /// Entries for all users, which are only read.
    site: Option<Site>,
}

/// The folder for the files of a job, which is removed with this. While the job runs, it has a lock.
pub struct JobFolder {
    folder: TempDir,
    _lock: Option<Flock<File>>,
}

impl JobFolder {
    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A trial of a placement, which ends with this.
pub(crate) struct Trial(#[expect(dead_code, reason = "held, not read")] Flock<File>);

/// Another job of a program makes a trial.
#[derive(Debug)]
pub(crate) struct UnderWay;

/// The name of an entry's file.
fn file(key: &Key, processes: u32) -> String {
    format!("{}-{processes}{END}", key.start_of_entry())
}

/// True if an entry's file is one of this program.
fn is_of(key: &Key, name: &str) -> bool {
    name.strip_prefix(&key.start_of_entry()).is_some_and(|rest| rest.starts_with('-'))
}

impl Store {
    /// The directory of the store: as set, or in the user's home.
    pub fn place() -> Option<PathBuf> {
        let variable =
            |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let state = || {
            let own = variable("XDG_STATE_HOME").filter(|path| path.is_absolute());
            own.or_else(|| Some(variable("HOME")?.join(".local/state")))
        };
        let place = variable("CARTOGRAPH_STORE").or_else(|| Some(state()?.join("cartograph")))?;
        std::path::absolute(place).ok()
    }

    /// Opens the user's store, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// Why nothing can be stored there.
    pub fn open() -> Result<Self, String> {
        let place =
            Self::place().ok_or("neither CARTOGRAPH_STORE nor HOME is set to a directory")?;
        Ok(Self { site: Site::find().ok().flatten(), ..Self::at(place)? })
    }

    /// Looks for the site's store.
    ///
    /// # Errors
    ///
    /// Why it is not used.
    pub fn check_site() -> Result<(), String> {
        Site::find().map(drop)
    }

    /// Opens a store in this directory.
    pub(crate) fn at(directory: PathBuf) -> Result<Self, String> {
        let wrong = |error: io::Error| format!("{}: {error}", directory.display());
        DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(wrong)?;
        Self::existing(directory)
    }

    /// Any user's store, to read it.
    pub fn of(directory: PathBuf) -> Self {
        Self { directory, site: None }
    }

    /// A store that exists.
    fn existing(directory: PathBuf) -> Result<Self, String> {
        let wrong = |error: io::Error| format!("{}: {error}", directory.display());
        let found = directory.metadata().map_err(wrong)?;
        // Files that others can write would decide how this user's jobs are started.
        if found.uid() != nix::unistd::geteuid().as_raw() || found.mode() & 0o022 != 0 {
            return Err(format!(
                "{} does not belong to this user, or others can write to it",
                directory.display()
            ));
        }
        Ok(Self::of(directory))
    }

    /// The entry of a program, if it is usable: the user's, or that of the site.
    pub(crate) fn entry(&self, key: &Key, processes: u32) -> Option<Entry> {
        let entry = match self.text(&file(key, processes)).ok()? {
            Some(text) => Entry::parse(&text).ok()?,
            None => self.of_site(key, processes)?,
        };
        (entry.processes == processes).then_some(entry)
    }

    /// The site's entry of a program.
    fn of_site(&self, key: &Key, processes: u32) -> Option<Entry> {
        let entry = self.site.as_ref()?.entry(&file(key, processes))?;
        (entry.processes == processes).then_some(entry)
    }

    /// True if there is an entry for this number of processes, even if it is unusable.
    pub(crate) fn has(&self, key: &Key, processes: u32) -> bool {
        !matches!(self.text(&file(key, processes)), Ok(None))
    }

    /// The entries of a program for other numbers of processes, those nearest first: the last ones that changed, or the
    /// site's if the user has none of this program.
    pub(crate) fn others(&self, key: &Key, processes: u32) -> Vec<Entry> {
        let mut names = self.names_of(key);
        let changed = |name: &String| fs::metadata(self.directory.join(name))?.modified();
        names.sort_by_cached_key(|name| Reverse(changed(name).ok()));
        let mut known: Vec<Entry> = if names.is_empty() {
            let site = self.site.as_ref().map(|site| (site, site.names()));
            let all = site.into_iter().flat_map(|(site, names)| {
                names
                    .into_iter()
                    .filter(|name| is_of(key, name))
                    .filter_map(|name| site.entry(&name))
            });
            all.collect()
        } else {
            let texts = names.iter().take(MOST_OTHERS).filter_map(|name| self.text(name).ok()?);
            texts.filter_map(|text| Entry::parse(&text).ok()).collect()
        };
        known.retain(|entry| entry.processes != processes);
        let far = |entry: &Entry| (f64::from(entry.processes) / f64::from(processes)).ln().abs();
        known.sort_by(|one, other| far(one).total_cmp(&far(other)));
        known
    }

    /// The entry of a program that was known with one number of processes only.
    pub(crate) fn only_entry(&self, key: &Key) -> Option<Entry> {
        match &self.names_of(key)[..] {
            [only] => Entry::parse(&self.text(only).ok()??).ok(),
            _ => None,
        }
    }

    /// The names of the entries of a program, one for each number of processes.
    fn names_of(&self, key: &Key) -> Vec<String> {
        names(&self.directory).into_iter().filter(|name| is_of(key, name)).collect()
    }

    /// All entries, by the names of their files.
    pub fn all(&self) -> Vec<(String, Result<Entry, Unusable>)> {
        let mut names = names(&self.directory);
        names.sort();
        let read = |name: String| {
            let wrong = |error: io::Error| Unusable::Wrong(format!("cannot be read: {error}"));
            let text = self.text(&name).map_err(wrong).transpose()?;
            Some((name, text.and_then(|text| Entry::parse(&text))))
        };
        names.into_iter().filter_map(read).collect()
    }

    /// The text of an entry; `None` if there is no such file.
    fn text(&self, name: &str) -> io::Result<Option<String>> {
        read(&self.directory.join(name))
    }

    /// Changes an entry, or creates it.
    ///
    /// # Errors
    ///
    /// Why it is unchanged: the file has another version, or cannot be read or written.
    pub fn update(
        &self,
        key: &Key,
        processes: u32,
        change: impl FnOnce(&mut Entry),
    ) -> Result<Entry, String> {
        let name = file(key, processes);
        let _lock = self.lock();
        clean(&self.directory);
        let text = self.text(&name);
        let text = text.map_err(|error| format!("{name} cannot be read: {error}"))?;
        let mut entry = match text.map(|text| Entry::parse(&text)) {
            Some(Ok(entry)) => entry,
            Some(Err(Unusable::Version(version))) => {
                return Err(format!("{name} has format version {version}; left unchanged"));
            }
            // A damaged file is useless, so it is replaced.
            Some(Err(Unusable::Wrong(_))) => Entry::new(&key.program, processes),
            None => {
                self.of_site(key, processes).unwrap_or_else(|| Entry::new(&key.program, processes))
            }
        };
        entry.build = format!("{:016x}", key.build);
        change(&mut entry);
        self.write(&name, &entry.json()).map_err(|error| format!("{name}: {error}"))?;
        Ok(entry)
    }

    /// The text of a file.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.directory.join(name)).ok()
    }

    /// Writes a complete file that jobs can do without, and does not wait for the disk.
    pub(crate) fn note(&self, name: &str, text: &str) -> io::Result<()> {
        let place = self.directory.join(name);
        temporary(place.parent().unwrap_or(&self.directory), text)?.persist(&place)?;
        Ok(())
    }

    /// Writes a file whole: if the job is killed, the file is the old or the new one.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let place = self.directory.join(name);
        let directory = place.parent().unwrap_or(&self.directory);
        let file = temporary(directory, text)?;
        file.as_file().sync_all()?;
        file.persist(&place)?;
        // Some file systems do not support this.
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
        Ok(())
    }

    /// Copies an entry to a directory that is to become a site's store.
    pub fn export(directory: &Path, name: &str, entry: &Entry) -> io::Result<()> {
        site::export(directory, name, entry)
    }

    /// Removes an entry, and the verdicts of `cartograph try` on its builds.
    pub fn forget(&self, name: &str) -> io::Result<()> {
        let _lock = self.lock();
        let parts: Vec<&str> = name.split('-').collect();
        if let [program, .., mpi, _] = parts[..] {
            verdicts::forget(&self.directory, program, mpi);
        }
        fs::remove_file(self.directory.join(name))
    }

    /// True if `cartograph try` found that the build of the program in a command line may be reordered, with every MPI
    /// with which it was tried, and without other settings.
    pub fn follows(words: &[OsString]) -> bool {
        let store = Self::place().and_then(|place| Self::existing(place).ok());
        store.is_some_and(|store| verdicts::allow(&store.directory, words))
    }

    /// Keeps the verdict on a build: whether its grids and graphs may be reordered, without other settings.
    pub fn judge(&self, key: &Key, follows: bool) -> io::Result<()> {
        self.folder(verdicts::FOLDER)?;
        self.write(&verdicts::file(&key.start()), &verdicts::text(follows))
    }

    /// A folder for the files of a job.
    ///
    /// # Errors
    ///
    /// Why it cannot be created.
    pub fn job_folder(&self) -> Result<JobFolder, String> {
        let wrong = |error: io::Error| format!("{}: {error}", self.directory.join(JOBS).display());
        let jobs = self.folder(JOBS).map_err(wrong)?;
        let folder = Builder::new().prefix(&boot()).tempdir_in(jobs).map_err(wrong)?;
        let lock = File::open(&folder).ok().and_then(|open| try_lock(open).ok());
        Ok(JobFolder { folder, _lock: lock })
    }

    /// Begins a trial of a program, unless another job has one under way; `None` if there are no locks.
    pub(crate) fn trial(&self, key: &Key, processes: u32) -> Result<Option<Trial>, UnderWay> {
        let place = self.folder(ALLOCATIONS).ok();
        let name = format!("trial-{}-{processes}", key.start());
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = place.and_then(|place| options.open(place.join(name)).ok());
        match file.map(try_lock) {
            Some(Ok(lock)) => Ok(Some(Trial(lock))),
            Some(Err(Errno::EWOULDBLOCK)) => Err(UnderWay),
            _ => Ok(None),
        }
    }

    /// A directory of the store for files of a kind.
    pub(crate) fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.directory.join(name);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(folder)
    }

    /// Takes the lock; `None` if there are no locks, or another job holds it for too long.
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
}

#[cfg(test)]
mod tests;
