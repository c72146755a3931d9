//! mpi4py on a host: its own tests of communicators, groups, topologies and neighborhood collectives. Every test that
//! passes on the bare host passes under Cartograph.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use regex::Regex;

use super::Outcome;
use super::exec::mpi_of;
use crate::session::{Session, word};
use crate::testlist::top;

/// The number of processes of mpi4py's tests.
const PROCESSES: u32 = 3;

/// Runs the words after the first with their output in a file per rank.
const INTO_FILES: &str = r#"exec >"$1.${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" 2>&1; shift; exec "$@""#;

/// Runs a program of Python with its arguments.
const RUN: &str = "
import runpy, sys
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition('/')[0])
runpy.run_path(sys.argv[0], run_name='__main__')";

/// Gets the requirements of tests in Python; not for two hosts at once.
pub(super) fn prepare(session: &mut Session<'_>, words: [&str; 2]) -> Result<(), String> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().map_err(|error| error.to_string())?;
    session.must(Command::new(top().join(words[0])).arg(words[1]))
}

/// mpi4py with the host's MPI.
pub(super) struct Mpi4py {
    /// The folder into which it is installed.
    pub(super) folder: PathBuf,
    main: PathBuf,
    /// The host's MPI, which mpi4py's wheel finds through settings.
    pub(super) settings: Vec<String>,
    /// The option for its tests by which they leave out a kind of arrays.
    pub(super) without: &'static str,
}

impl Mpi4py {
    pub(super) fn new(session: &mut Session<'_>) -> Result<Self, String> {
        prepare(session, ["scripts/setup.sh", "mpi4py"])?;
        let folder = top().join("build/hosts/mpi4py");
        let entries = std::fs::read_dir(&folder).map_err(|error| error.to_string())?;
        let mut sources = entries.flatten().map(|entry| entry.path());
        let source = sources.find(|path| word(path).contains("/source-"));
        let main = source.ok_or("mpi4py's tests are not here")?.join("test/main.py");
        let empty = session
            .write("empty.c", "int MPI_Finalize(void);int main(void){return MPI_Finalize();}");
        let program = session.compile("empty", word(&empty), &[]);
        let mpi = PathBuf::from(mpi_of(session, &program)?);
        let mut libraries = mpi.parent().ok_or("a library lies in a folder")?.to_owned();
        if word(&mpi).contains("libmpich") {
            // Debian's name for it differs from the one that mpi4py looks for.
            libraries = session.work("named");
            std::fs::create_dir_all(&libraries).map_err(|error| error.to_string())?;
            std::os::unix::fs::symlink(&mpi, libraries.join("libmpi.so.12"))
                .map_err(|error| error.to_string())?;
        }
        // Its wheel is for all MPIs of a family.
        let family = if session.host.name.starts_with("openmpi") { "openmpi" } else { "mpich" };
        let settings = vec![
            format!("MPI4PY_MPIABI={family}"),
            format!("MPI4PY_LIBMPI={}", mpi.display()),
            format!("LD_LIBRARY_PATH={}", libraries.display()),
        ];
        // Arrays of the standard library have the same MPI datatypes as those of numpy, which has more.
        Ok(Self { folder, main, settings, without: "--no-array" })
    }

    /// The Python with mpi4py.
    pub(super) fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// Runs processes of a program.
    pub(super) fn run(&self, session: &mut Session<'_>, processes: u32, words: &[&str]) -> bool {
        let settings: Vec<&str> = self.settings.iter().map(String::as_str).collect();
        session.run(processes, &settings, words)
    }

    /// Runs mpi4py's own tests after a line of Python; returns the tests that pass on all ranks.
    pub(super) fn tests(
        &self,
        session: &mut Session<'_>,
        python: &Path,
        line: &str,
        chosen: &[&str],
    ) -> BTreeSet<String> {
        let files = session.work("tests");
        let file_of = |rank| format!("{}.{rank}", files.display());
        (0..PROCESSES).for_each(|rank| drop(std::fs::remove_file(file_of(rank))));
        let program = format!("{line}{RUN}");
        let words = ["sh", "-c", INTO_FILES, "sh", word(&files), word(python), "-c", &program];
        let words = [&words[..], &[word(&self.main), "-v", self.without], chosen].concat();
        session.seconds = 1200;
        self.run(session, PROCESSES, &words);
        let texts =
            (0..PROCESSES).map(|rank| std::fs::read_to_string(file_of(rank)).unwrap_or_default());
        let texts: Vec<String> = texts.collect();
        session.out = texts.concat();
        let passed = Regex::new(r"(?m)^(test\w+ \([\w.]+\))(?: .*)?\.\.\. ok$").expect("a pattern");
        let of = |text| passed.captures_iter(text).map(|found| found[1].to_owned()).collect();
        let sets = texts.iter().map(|text| of(text));
        sets.reduce(|all: BTreeSet<String>, more| &all & &more).unwrap_or_default()
    }

    /// Checks that all of its tests pass, and that there are more than some number, or that those pass which pass on
    /// the bare host.
    pub(super) fn passes(
        &self,
        session: &mut Session<'_>,
        python: &Path,
        line: &str,
        (chosen, some): (&[&str], usize),
    ) {
        let ours = self.tests(session, python, line, chosen);
        if session.code == 0 {
            return session.check("mpi4py's tests run", ours.len() > some);
        }
        let preloaded = std::mem::take(&mut session.preloaded);
        let (out, bare) = (session.out.clone(), self.tests(session, python, "", chosen));
        session.check("mpi4py's tests run on the bare host", bare.len() > some);
        session.out = out;
        let lost = &bare - &ours;
        session.check(&format!("all that pass on the bare host: {lost:?}"), lost.is_empty());
        session.preloaded = preloaded;
    }
}

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let mpi4py = Mpi4py::new(&mut session)?;
    let (python, example) = (mpi4py.python(), top().join("examples/stencil.py"));
    // Attributes first: their callbacks query topologies, and the handles are reused for the grids of other tests.
    let of = ["test_attributes", "test_comm$", "test_comm_topo", "test_group", "_ngh_"];
    let chosen: Vec<&str> = of.iter().flat_map(|pattern| ["-i", pattern]).collect();
    // The collectives use the same code, and take most of the time.
    let without_collectives = &chosen[..chosen.len() - 2];
    mpi4py.passes(&mut session, &python, "", (without_collectives, 40));
    // It finds the MPI that Python loads late, and there mpi4py finds all functions by name, including those with large
    // counts and persistent ones that Open MPI lacks.
    session.preloaded = vec![top().join("build/lib/libcartograph.so")];
    let chosen = if session.host.shortened { without_collectives } else { &chosen };
    mpi4py.passes(&mut session, &python, "", (chosen, 40));
    let words = ["env", "CARTOGRAPH_REORDER=scramble:1", word(&python), word(&example)];
    let ran = mpi4py.run(&mut session, 4, &words);
    session.check("the example", ran && session.out == "a grid of 2 x 2, 0 wrong\n");
    session.verdict()
}
