//! The jobs whose ranks are placed by relays, and whether they were.

use std::fs;
use std::path::PathBuf;

use cartograph_core::machine::Machine;

use crate::learn::shape;
use crate::place::Arm;
use crate::pmi::Mapping;
use crate::pmi::process::PLACED;

/// The facts about a job.
pub(super) struct Relayed {
    /// The file with the order of ranks.
    pub(super) file: PathBuf,
    /// The shape of the nodes for which the order was made.
    pub(super) shape: u64,
}

impl Relayed {
    /// The shape of the job's nodes in the default order, and a remark. If the processes kept their ranks, there is no
    /// placement to learn about.
    pub(super) fn shape(
        &self,
        arm: &mut Option<Arm>,
        machine: &Machine,
        build: u64,
    ) -> Result<(u64, &'static str), String> {
        let seen = shape(machine.nodes(), build);
        let Some(placed) = arm else { return Ok((seen, "")) };
        match self.was_placed() {
            Some(true) if seen == shape(&placed.node_of, build) => Ok((self.shape, "")),
            Some(true) => Err("its ranks were not placed as requested; nothing learned".into()),
            _ => {
                *arm = None;
                Ok((seen, "; its nodes were not those of earlier jobs"))
            }
        }
    }

    /// Whether the processes took their new ranks, if they got far enough to decide that.
    pub(super) fn was_placed(&self) -> Option<bool> {
        let text = fs::read_to_string(self.file.with_extension(PLACED)).ok()?;
        Some(text == "1")
    }
}

/// The nodes of ranks, as an entry keeps them.
pub fn nodes_of_ranks(machine: &Machine) -> String {
    Mapping::new(machine.nodes().to_vec()).text()
}
