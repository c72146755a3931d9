//! Profiles: what was found for a program on a machine, in a file.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use cartograph::mapping::Weights;
use cartograph::topology::BoxShape;
use serde::{Deserialize, Serialize};

/// The version of the format. It grows when a field changes its meaning or is removed.
pub(crate) const SCHEMA: u32 = 1;

/// A longer first line is that of another file.
const LONGEST: u64 = 1 << 20;

/// A profile, the first line of its file. Every process reads it, and so no more of the file: an order of MPI_COMM_WORLD,
/// with its numbers for each process, is the second line, which rank 0 alone reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Profile {
    pub(crate) schema: u32,
    /// The name of the program's file.
    pub(crate) program: String,
    pub(crate) processes: usize,
    /// The numbers of processes that nodes have, each once.
    pub(crate) node_sizes: Vec<usize>,
    /// The order, in words.
    pub(crate) order: String,
    /// `CARTOGRAPH_WEIGHTS` for a program that lets its grids be moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) weights: Option<String>,
    /// `CARTOGRAPH_DIMS`, where other dims than the standard's were tried and are faster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dims: Option<String>,
    /// True if grids are moved. If not, ranks are started on other nodes.
    pub(crate) moves_grids: bool,
    /// True if small blocks of neighborhood collectives share messages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) combines_blocks: bool,
    /// True if an order of MPI_COMM_WORLD follows, on which all processes of a job have to agree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) orders_world: bool,
    /// The speed relative to the program alone, by replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) foretold: Option<f64>,
    /// The seconds that it took alone, and so, if it was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) measured: Option<(f64, f64)>,
}

impl Profile {
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("all keys are strings")
    }

    /// Reads a profile.
    ///
    /// # Errors
    ///
    /// Why it is not used, as text that follows the name of the file.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let mut line = Vec::new();
        File::open(file)
            .and_then(|file| BufReader::new(file.take(LONGEST)).read_until(b'\n', &mut line))
            .map_err(|error| format!("cannot be read: {error}"))?;
        let profile: Self = serde_json::from_slice(&line)
            .map_err(|error| format!("has no profile in its first line: {error}"))?;
        match profile.schema {
            SCHEMA => Ok(profile),
            schema => Err(format!("has version {schema} of the form")),
        }
    }

    /// The variables that a profile sets, if it is for this program on the machine on which the process runs, as far as
    /// launchers tell that.
    ///
    /// # Errors
    ///
    /// Why the profile is not used, as text that follows the name of the file.
    pub(crate) fn settings_for(
        &self,
        program: &OsStr,
    ) -> Result<Vec<(&'static str, String)>, String> {
        self.fits(program, shape())?;
        if !self.moves_grids && !self.combines_blocks && !self.orders_world {
            return Err(
                "has an order in which ranks are started, which its rank file gives the launcher"
                    .to_owned(),
            );
        }
        let mut settings = Vec::new();
        if let Some(weights) = &self.weights {
            Weights::parse(weights).map_err(|error| error.to_string())?;
            settings.push(("CARTOGRAPH_WEIGHTS", weights.clone()));
        }
        if let Some(dims) = &self.dims {
            dims.parse::<BoxShape>().map_err(|error| error.to_string())?;
            settings.push(("CARTOGRAPH_DIMS", dims.clone()));
        }
        if !self.moves_grids {
            settings.push(("CARTOGRAPH_REORDER", "off".to_owned()));
        }
        if self.combines_blocks {
            settings.push(("CARTOGRAPH_COMBINE", "on".to_owned()));
        }
        Ok(settings)
    }

    fn fits(
        &self,
        program: &OsStr,
        (all, here): (Option<usize>, Option<usize>),
    ) -> Result<(), String> {
        let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
        if name != self.program {
            return Err(format!("is for the program {}", self.program));
        }
        if let Some(all) = all.filter(|all| *all != self.processes) {
            return Err(format!("is for {} processes, and the job has {all}", self.processes));
        }
        match here.filter(|here| !self.node_sizes.contains(here)) {
            Some(here) => Err(format!("is for other nodes: this one has {here} processes")),
            None => Ok(()),
        }
    }
}

/// The numbers of processes of the job and of this node, as far as launchers tell that.
fn shape() -> (Option<usize>, Option<usize>) {
    let number = |name: &str| env::var(name).ok()?.parse::<usize>().ok();
    let all = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_NTASKS"];
    let here = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"];
    (all.into_iter().find_map(number), here.into_iter().find_map(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_for_one_program_and_shape() {
        let profile = Profile {
            schema: SCHEMA,
            program: "app".into(),
            processes: 16,
            node_sizes: vec![4],
            order: "weights 16,1".into(),
            weights: Some("4x4:16,1".into()),
            dims: None,
            moves_grids: true,
            combines_blocks: false,
            orders_world: false,
            foretold: Some(1.5),
            measured: Some((2.0, 1.0)),
        };
        let fits = |program: &str, shape| profile.fits(OsStr::new(program), shape);
        assert_eq!(fits("/some/where/app", (Some(16), Some(4))), Ok(()));
        assert_eq!(fits("./app", (None, None)), Ok(()));
        assert!(fits("./other", (None, None)).unwrap_err().contains("the program app"));
        assert!(fits("./app", (Some(8), None)).unwrap_err().contains("16 processes"));
        assert!(fits("./app", (Some(16), Some(8))).unwrap_err().contains("other nodes"));
        assert_eq!(serde_json::from_str::<Profile>(&profile.json()).unwrap(), profile);
    }
}
