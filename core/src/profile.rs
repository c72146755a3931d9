//! Profiles: the settings that `cartograph tune` found for a program on a machine, in a file.

pub mod order;

use std::ffi::OsStr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::mapping::Weights;
use crate::topology::BoxShape;

/// The version of the format. It increases when a field changes its meaning or is removed.
pub const SCHEMA: u32 = 1;

/// A profile, the first line of its file. Every process reads this line, but only rank 0 reads the second, an order of
/// MPI_COMM_WORLD with a number for each process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The name of the program's file.
    pub program: String,
    /// The number of processes of the job.
    pub processes: usize,
    /// The numbers of processes per node, without repetitions.
    pub node_sizes: Vec<usize>,
    /// The name of the order.
    pub order: String,
    /// `CARTOGRAPH_WEIGHTS` for a program that allows reordering its grids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// `CARTOGRAPH_DIMS`, if other dims than the standard's were tried and are faster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dims: Option<String>,
    /// True if grids are reordered. Otherwise, ranks are started on other nodes.
    pub moves_grids: bool,
    /// True if an order of MPI_COMM_WORLD follows, on which all processes of the job must agree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub orders_world: bool,
    /// The speed relative to the baseline, as predicted by replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<f64>,
    /// The seconds of the baseline and of this variant, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<(f64, f64)>,
}

/// The version of a profile.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

impl Profile {
    /// The profile as the line that [`Profile::parse`] reads.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("all keys are strings")
    }

    /// The order of MPI_COMM_WORLD and its gain, in words.
    pub fn world(&self) -> String {
        let gain = match (self.measured, self.predicted) {
            (Some((before, after)), _) => format!("measured {:.2}x", before / after),
            (None, Some(gain)) => format!("predicted {gain:.2}x"),
            (None, None) => "of unknown speed".to_owned(),
        };
        format!(
            "MPI_COMM_WORLD has the rank order of a profile: {}, {gain} relative to the default order",
            self.order
        )
    }

    /// Parses a profile's line.
    ///
    /// # Errors
    ///
    /// Why it is not used, as text that follows the name of the file.
    pub fn parse(line: &[u8]) -> Result<Self, String> {
        let none = |error| format!("has no profile in its first line: {error}");
        // Checked before the fields, which may differ between versions.
        let Version { schema } = serde_json::from_slice(line).map_err(none)?;
        if schema != SCHEMA {
            return Err(format!(
                "has format version {schema}, but this Cartograph reads version {SCHEMA}"
            ));
        }
        let profile: Self = serde_json::from_slice(line).map_err(none)?;
        let Self { program, order, weights, dims, .. } = &profile;
        let texts = [Some(program), Some(order), weights.as_ref(), dims.as_ref()];
        if texts.into_iter().flatten().any(|text| text.contains(char::is_control)) {
            return Err("has control characters".to_owned());
        }
        Ok(profile)
    }

    /// The variables that a profile sets, if it is for this program and for the numbers of processes of the job and of
    /// this node, if these are known.
    ///
    /// # Errors
    ///
    /// Why the profile is not used, as text that follows the name of the file.
    pub fn settings_for(
        &self,
        program: &OsStr,
        numbers: (Option<usize>, Option<usize>),
    ) -> Result<Vec<(&'static str, String)>, String> {
        self.fits(program, numbers)?;
        if !self.moves_grids && !self.orders_world {
            return Err("holds a start order for the launcher; use the rank file written with it"
                .to_owned());
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
        let reorder = if self.moves_grids { "on" } else { "off" };
        settings.push(("CARTOGRAPH_REORDER", reorder.to_owned()));
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
            return Err(format!("is for {} processes, but the job has {all}", self.processes));
        }
        match here.filter(|here| !self.node_sizes.contains(here)) {
            Some(here) => Err(format!("is for other nodes: this one has {here} processes")),
            None => Ok(()),
        }
    }
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
            orders_world: false,
            predicted: Some(1.5),
            measured: Some((2.0, 1.0)),
        };
        let fits = |program: &str, shape| profile.fits(OsStr::new(program), shape);
        assert_eq!(fits("/some/where/app", (Some(16), Some(4))), Ok(()));
        assert_eq!(fits("./app", (None, None)), Ok(()));
        assert!(fits("./other", (None, None)).unwrap_err().contains("the program app"));
        assert!(fits("./app", (Some(8), None)).unwrap_err().contains("16 processes"));
        assert!(fits("./app", (Some(16), Some(8))).unwrap_err().contains("other nodes"));
        assert_eq!(Profile::parse(profile.json().as_bytes()), Ok(profile.clone()));
        let others = [
            (Profile { schema: SCHEMA + 1, ..profile.clone() }, "version 2"),
            (Profile { program: "app\u{1b}[2J".into(), ..profile.clone() }, "control characters"),
            (Profile { dims: Some("4\0".into()), ..profile.clone() }, "control characters"),
        ];
        for (other, why) in others {
            assert!(Profile::parse(other.json().as_bytes()).unwrap_err().contains(why));
        }
        // Without this, ranks would be kept in a program of which nothing is known.
        let settings = profile.settings_for(OsStr::new("app"), (None, None)).unwrap();
        assert!(settings.contains(&("CARTOGRAPH_REORDER", "on".to_owned())), "{settings:?}");
        // A later version has other fields.
        let why = Profile::parse(br#"{"schema":2,"name":"app"}"#).unwrap_err();
        assert!(why.contains("has format version 2"), "{why}");
    }
}
