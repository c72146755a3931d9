//! Measurements, as the programs print them.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// One case: its cost without and with Cartograph.
pub(crate) struct Case {
    pub(crate) part: String,
    pub(crate) name: String,
    /// Neighbors of a process, dimensions for `MPI_Dims_create`, bytes of a block for neighborhood
    /// collectives; 0 where it does not matter.
    pub(crate) degree: u32,
    pub(crate) processes: u32,
    /// The unit of `host` and `ours`.
    pub(crate) unit: String,
    pub(crate) host: f64,
    pub(crate) ours: f64,
}

impl Case {
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [part, name, degree, processes, unit, host, ours] = fields[..] else { return None };
        Some(Self {
            part: part.into(),
            name: name.into(),
            degree: degree.parse().ok()?,
            processes: processes.parse().ok()?,
            unit: unit.into(),
            host: host.parse().ok()?,
            ours: ours.parse().ok()?,
        })
    }

    /// The ratio of the host's time to Cartograph's.
    pub(crate) fn ratio(&self) -> f64 {
        self.host / self.ours
    }

    /// The name, with the details that distinguish cases of one name.
    pub(crate) fn label(&self) -> String {
        match (self.part.as_str(), self.degree) {
            (_, 0) => self.name.clone(),
            ("dims", ndims) => format!("{}, {ndims} dimensions", self.name),
            (_, degree) => format!("{}, degree {degree}", self.name),
        }
    }

    /// Returns whether the other case is this one on another host.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let key = |case: &Self| (case.degree, case.processes);
        key(self) == key(other) && self.part == other.part && self.name == other.name
    }
}

/// All measurements of one host.
pub(crate) struct Run {
    pub(crate) host: String,
    pub(crate) cases: Vec<Case>,
}

impl Run {
    /// Reads `lines.tsv` of a directory `build/HOST/bench`.
    pub(crate) fn read(directory: &Path) -> io::Result<Self> {
        let unnamed =
            || io::Error::other(format!("{} is not build/HOST/bench", directory.display()));
        let host = directory.parent().and_then(Path::file_name).ok_or_else(unnamed)?;
        let lines = fs::read_to_string(directory.join("lines.tsv"))?;
        let cases = lines.lines().filter_map(Case::read).collect();
        Ok(Self { host: host.to_string_lossy().into_owned(), cases })
    }

    /// The cases of a part.
    pub(crate) fn part<'a>(&'a self, part: &str) -> impl Iterator<Item = &'a Case> {
        self.cases.iter().filter(move |case| case.part == part)
    }
}

/// One case for each that some host has, in the order of the first host that has it.
pub(crate) fn rows<'a>(runs: &'a [Run], part: &str) -> Vec<&'a Case> {
    let mut rows: Vec<&Case> = Vec::new();
    for case in runs.iter().flat_map(|run| run.part(part)) {
        if !rows.iter().any(|row| row.is_like(case)) {
            rows.push(case);
        }
    }
    // A size that only some hosts have comes between the others.
    rows.sort_by_key(|case| case.processes);
    rows
}

/// The directories of runs as arguments name them.
pub(crate) fn read_all(directories: &[PathBuf]) -> io::Result<Vec<Run>> {
    directories.iter().map(|directory| Run::read(directory)).collect()
}
