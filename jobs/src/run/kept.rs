//! The places that are kept for the next job with the same line, host files and variables.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use cartograph_core::launcher::variables;
use cartograph_shim::splitmix::digest;
use serde::{Deserialize, Serialize};

use super::surroundings::Surroundings;
use crate::launch::{Places, binding, printed};
use crate::program::find_program;
use crate::store::{ALLOCATIONS, Store};

/// The starts of variables that name nodes, or place ranks as options of launchers do.
const PLACING: [&str; 14] = [
    "SLURM_",
    "PBS_",
    "LSB_",
    "FLUX_",
    "COBALT_",
    "PE_HOSTFILE",
    "OMPI_MCA_",
    "PRTE_MCA_",
    "HYDRA_",
    "MPIEXEC_",
    "MPICH_",
    "I_MPI_",
    "PALS_",
    "MV2_",
];

/// A larger file is not a host file.
const LONGEST: u64 = 1 << 20;

/// A program that no placement helps, or that cannot be placed or recorded, is examined again in one of this many jobs.
const LOOKS: u32 = 10;

/// A launcher that prints nothing for this time is not asked again.
pub(super) const SLOW: Duration = Duration::from_secs(1);

/// The most programs, or placements, of a kind that are known.
const MOST: usize = 1000;

/// The facts about a line in its circumstances.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Facts {
    /// The places in the launcher's default order, as seen in the last job's recording.
    #[serde(default)]
    own: Option<Places>,
    /// The placements that the launcher followed.
    #[serde(default)]
    followed: BTreeSet<u64>,
    /// The programs that no placement helps here, each with the number of jobs since that was found.
    #[serde(default)]
    hopeless: BTreeMap<String, u32>,
    /// The programs that could be neither recorded nor placed, each with the reason and that number.
    #[serde(default)]
    unrecorded: BTreeMap<String, (String, u32)>,
    /// The programs that ended before `MPI_Finalize` when they were recorded.
    #[serde(default)]
    ended: BTreeSet<String>,
}

/// Whether a job is to start at once, without a recording, because earlier jobs taught nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Never,
    NothingHelps,
    /// It can be neither recorded nor placed, for this reason.
    Unrecorded(String),
    /// It is time to examine the program again.
    Over,
}

/// Facts in a file of the store.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    facts: Facts,
    /// The facts as they are in the file.
    written: Facts,
    /// The name of the file.
    name: String,
    /// The texts that may name the nodes.
    texts: Vec<String>,
    /// True if a variable names the allocation.
    is_allocation: bool,
}

impl Kept {
    /// Reads the facts about a launcher's words.
    pub(super) fn read(store: &Store, words: &[OsString]) -> Self {
        let is_allocation = variables::JOBS.iter().any(|name| env::var_os(name).is_some());
        let texts = circumstances(words, env::vars_os());
        let mut name = format!("{ALLOCATIONS}/");
        let _ = write!(name, "{:016x}.json", digest(texts.join("\n").as_bytes()));
        let read =
            || serde_json::from_str(&fs::read_to_string(store.directory.join(&name)).ok()?).ok();
        let facts: Facts = read().unwrap_or_default();
        Self { written: facts.clone(), facts, name, texts, is_allocation }
    }

    /// The places of the last job, if this one has the same: outside an allocation, only if the line or its host files
    /// name the nodes, so that a rank file names nodes that the launcher itself would use.
    pub(super) fn own(&self) -> Option<&Places> {
        // Versions before this did not keep CPUs.
        let own = self.facts.own.as_ref().filter(|own| own.have_cpus())?;
        (self.is_allocation || own.hosts().all(|host| names(&self.texts, host))).then_some(own)
    }

    /// True if the launcher followed the placement of this number.
    pub(super) fn has_followed(&self, placement: u64) -> bool {
        self.facts.followed.contains(&placement)
    }

    pub(super) fn follows(&mut self, placement: u64) {
        if self.facts.followed.len() == MOST {
            self.facts.followed.clear();
        }
        self.facts.followed.insert(placement);
    }

    /// Whether a job of this program is to start at once, without a recording. `is_here` if its nodes are those of the
    /// last one, as far as its line and variables show.
    pub(super) fn rests(&mut self, store: &Store, program: &str, is_here: bool) -> Rest {
        let facts = &mut self.facts;
        let (jobs, rest) = match (facts.unrecorded.get_mut(program), is_here) {
            (Some((why, jobs)), _) => (jobs, Rest::Unrecorded(why.clone())),
            (None, true) => match facts.hopeless.get_mut(program) {
                Some(jobs) => (jobs, Rest::NothingHelps),
                None => return Rest::Never,
            },
            (None, false) => return Rest::Never,
        };
        *jobs += 1;
        let is_over = *jobs >= LOOKS;
        self.write(store);
        if is_over { Rest::Over } else { rest }
    }

    /// Notes that no placement helps this program.
    pub(super) fn gives_up(&mut self, store: &Store, program: &str) {
        insert(&mut self.facts.hopeless, program, 0);
        self.write(store);
    }

    /// Notes why a job of this program could be neither recorded nor placed. The next one tries again.
    pub(super) fn misses(&mut self, store: &Store, program: &str, why: &str) {
        let again = self.facts.unrecorded.contains_key(program);
        let jobs = if again { 0 } else { LOOKS - 1 };
        insert(&mut self.facts.unrecorded, program, (why.to_owned(), jobs));
        self.write(store);
    }

    /// Keeps the places of a job of this program, which has failed. `is_cut` if it ended before `MPI_Finalize`.
    pub(super) fn fails(&mut self, store: &Store, program: &str, own: &Places, is_cut: bool) {
        if is_cut && self.facts.ended.len() < MOST {
            self.facts.ended.insert(program.to_owned());
        }
        self.keep(store, own);
    }

    /// True if this program ended before `MPI_Finalize` when it was recorded.
    pub(super) fn has_ended(&self, program: &str) -> bool {
        self.facts.ended.contains(program)
    }

    /// Keeps the places of a job of this program, in which it was seen.
    pub(super) fn confirm(&mut self, store: &Store, program: &str, own: &Places) {
        self.facts.unrecorded.remove(program);
        self.facts.ended.remove(program);
        self.keep(store, own);
    }

    fn keep(&mut self, store: &Store, own: &Places) {
        if self.facts.own.as_ref() != Some(own) {
            self.facts.own = Some(own.clone());
            // That was found on other nodes.
            self.facts.hopeless.clear();
        }
        self.write(store);
    }

    /// Forgets all facts.
    pub(super) fn forget(&mut self, store: &Store) {
        self.facts = Facts::default();
        let _ = fs::remove_file(store.directory.join(&self.name));
    }

    /// Writes the facts for the next job; without them, it determines them again.
    fn write(&mut self, store: &Store) {
        if self.facts != self.written && store.folder(ALLOCATIONS).is_ok() {
            let text = serde_json::to_string(&self.facts).expect("all keys are strings");
            let _ = store.note(&self.name, &text);
            self.written = self.facts.clone();
        }
    }
}

/// Adds a program; too many are forgotten.
fn insert<T>(programs: &mut BTreeMap<String, T>, program: &str, value: T) {
    if programs.len() == MOST && !programs.contains_key(program) {
        programs.clear();
    }
    programs.insert(program.to_owned(), value);
}

/// The output by which a launcher is recognized, which is kept for the next job.
pub(super) fn launcher_output(
    launcher: &OsStr,
    store: &Result<Store, String>,
    around: &impl Surroundings,
) -> String {
    let file = launcher_file(launcher);
    let kept = store.as_ref().ok().zip(file.as_ref());
    if let Some(text) = kept.and_then(|(store, file)| store.read(file)) {
        return text;
    }
    let began = Instant::now();
    let version = printed(launcher, |question| around.ask(question).ok());
    // Without output, it may have been busy, and must not delay each job.
    let is_slow = began.elapsed() > SLOW;
    if let Some((store, file)) = kept.filter(|_| is_slow || !version.is_empty()) {
        let _ = store.folder(ALLOCATIONS).and_then(|_| store.note(file, &version));
    }
    version
}

/// The name of the file for a launcher's output: its file and the variables by which that finds others.
fn launcher_file(launcher: &OsStr) -> Option<String> {
    let path = fs::canonicalize(find_program(launcher).ok()?).ok()?;
    let file = path.metadata().ok()?;
    let variables = ["PATH", "LD_LIBRARY_PATH"].map(env::var_os);
    let text = format!("{path:?} {} {} {:?}", file.len(), file.mtime(), variables);
    Some(format!("{ALLOCATIONS}/launcher-{:016x}.txt", digest(text.as_bytes())))
}

/// The texts on which the places of a launcher's processes depend: its words, the variables that place ranks, and the
/// content of files that these name.
fn circumstances(
    words: &[OsString],
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<String> {
    let lossy = |text: &OsStr| text.to_string_lossy().into_owned();
    let mut texts: Vec<String> = words.iter().map(|word| lossy(word)).collect();
    let set = variables.map(|(name, value)| format!("{}={}", lossy(&name), lossy(&value)));
    let mut set: Vec<String> =
        set.filter(|set| PLACING.iter().any(|start| set.starts_with(start))).collect();
    set.sort();
    texts.extend(set);
    // Launchers may pass on the CPUs of the job script.
    texts.push(binding::own());
    let host_file = |text: &String| {
        let whole = Path::new(text);
        let file = if whole.is_file() { whole } else { Path::new(text.split_once('=')?.1) };
        let is_small = file.metadata().is_ok_and(|file| file.is_file() && file.len() <= LONGEST);
        is_small.then(|| {
            fs::read(file).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        })?
    };
    let files: Vec<String> = texts.iter().filter_map(host_file).collect();
    texts.extend(files);
    texts
}

/// True if a text names this host, with or without its domain.
fn names(texts: &[String], host: &str) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let wanted = short(host);
    texts
        .iter()
        .any(|text| text.split(|c| !is_part(c)).any(|name| name == host || short(name) == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_depend_on_host_files_and_variables_that_place_ranks() {
        let directory = tempfile::tempdir().unwrap();
        let hosts = directory.path().join("hosts");
        let of = |text: &str, set: &[(&str, &str)]| {
            fs::write(&hosts, text).unwrap();
            let words = ["mpiexec".into(), "-f".into(), hosts.clone().into_os_string()];
            let set = set.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
            circumstances(&words, set.collect::<Vec<_>>().into_iter())
        };
        let first = of("n0:4\nn1:4\n", &[]);
        assert!(names(&first, "n0") && names(&first, "n1.cluster") && !names(&first, "n2"));
        assert_eq!(first, of("n0:4\nn1:4\n", &[("EDITOR", "vi")]));
        assert_ne!(first, of("n0:4\nn2:4\n", &[]));
        assert_ne!(first, of("n0:4\nn1:4\n", &[("OMPI_MCA_rmaps", "seq")]));
        let file = hosts.to_str().unwrap();
        let [one, two] = ["a", "b"].map(|text| of(text, &[("PBS_NODEFILE", file)]));
        assert_ne!(one, two);
        let joined = format!("--hostfile={file}");
        assert!(circumstances(&[joined.into()], [].into_iter()).contains(&"b".to_owned()));
    }
}
