//! The public programs of `lab/programs/programs.json`, and their output. LAMMPS and PETSc's example come from Debian;
//! build the others with Debian's Open MPI.
//!
//! The inputs are in the same directory: LAMMPS has a liquid in a periodic box and a plate of crystal with free edges,
//! both of which it divides into 4 x 4; CloverLeaf a square with the densest state in a corner; the NPB programs the
//! grids of class W, with fewer iterations. SNAP's time is not that of its sweeps, which rank 0 measures without the
//! sweeps that it need not wait for. Comb itself compares each cell with the expected value, and aborts if they differ.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use cartograph_lab::top;
use regex::Regex;
use serde::Deserialize;

use super::Outcome;

/// All programs.
#[derive(Deserialize)]
pub(crate) struct Cases {
    pub(crate) cases: Vec<Case>,
    /// A program whose best placement is known, and which is always available.
    pub(crate) control: Case,
    /// The runs of `cartograph try`, with eight processes. The later ones are Debian's abinit, gromacs,
    /// python3-petsc4py, r-cran-rmpi, libboost-mpi-dev and python3-dolfinx; pbdMPI is built from the source of 0.5-4,
    /// with the package float: 0.5-5 needs a newer R than Debian 12's.
    pub(crate) tried: Vec<Tried>,
    /// The runs of two processes with and without recording.
    pub(crate) recorded: Vec<Recorded>,
    /// The programs whose knowledge carries over.
    pub(crate) carried: Vec<Carried>,
    /// The output of each program.
    pub(crate) programs: HashMap<String, Program>,
}

/// A program on four nodes.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) title: String,
    /// The rate of the links.
    pub(crate) links: String,
    /// True if its grids or graphs may be reordered.
    pub(crate) moves: bool,
    pub(crate) processes: u32,
    /// The program and its arguments.
    pub(crate) line: String,
}

/// A program that is run with 16 and 12 processes.
#[derive(Deserialize)]
pub(crate) struct Carried {
    pub(crate) title: String,
    pub(crate) links: String,
    /// The program and its arguments.
    pub(crate) line: String,
    /// The arguments with 12 processes, if they differ.
    pub(crate) at_12: Option<String>,
}

/// A program for `cartograph try`.
#[derive(Deserialize)]
pub(crate) struct Tried {
    pub(crate) title: String,
    /// The texts of lines and files that are not compared.
    pub(crate) ignore: Vec<String>,
    pub(crate) line: String,
}

/// A program that is recorded.
#[derive(Deserialize)]
pub(crate) struct Recorded {
    pub(crate) title: String,
    pub(crate) line: String,
    /// The replacement in inputs, so that a run takes a second or more: the file, the old text, and the new one.
    pub(crate) inputs: Vec<[String; 3]>,
}

/// The output of a program: files of its directory, and patterns in them; the groups of a pattern, if any, are the
/// values.
#[derive(Deserialize)]
pub(crate) struct Program {
    /// The time of the part that the program measures itself, in s.
    time: [String; 2],
    results: [String; 2],
    /// Options of `cartograph tune`.
    pub(crate) tune: Vec<String>,
}

impl Cases {
    pub(crate) fn read() -> Outcome<Self> {
        let text = fs::read_to_string(top().join("lab/programs/programs.json"))?;
        Ok(serde_json::from_str(&text)?)
    }
}

impl Program {
    /// The time of a run in a directory, and its results.
    pub(crate) fn found(&self, directory: &Path) -> Outcome<(f64, Vec<String>)> {
        let [times, results] = [&self.time, &self.results].map(|what| found(directory, what));
        let results = results?;
        let time = times?.last().and_then(|time| time.parse().ok());
        let time = time.filter(|_| !results.is_empty());
        Ok((time.ok_or("no time or no results")?, results))
    }
}

/// The lines of a file, or the groups in them, that match a pattern. The file's name begins with `name`.
fn found(directory: &Path, [name, pattern]: &[String; 2]) -> Outcome<Vec<String>> {
    let pattern = Regex::new(pattern)?;
    let entries =
        fs::read_dir(directory)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let begins = entries.filter(|entry| entry.starts_with(name)).min();
    let path = directory.join(begins.as_ref().unwrap_or(name));
    let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
    let part = |line| {
        let groups = pattern.captures(line)?;
        Some(groups.get(1).map_or(line, |group| group.as_str()).to_owned())
    };
    Ok(text.lines().filter_map(part).collect())
}
