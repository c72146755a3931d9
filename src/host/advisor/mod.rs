//! Answers the questions of the engine's constructors about a communicator of the program.

pub(super) mod history;
pub(crate) mod weights;

use std::sync::Arc;

use super::{HostComm, Result, attributes, machine, neighbor};
use crate::engine::history::{History, Identities};
use crate::engine::{Advisor, Comm, MachineKnowledge};
use crate::machine::Machine;

/// The advisor for this communicator.
pub(crate) struct HostAdvisor<'a>(pub(crate) &'a HostComm);

impl Advisor<HostComm> for HostAdvisor<'_> {
    fn knowledge(&self) -> MachineKnowledge {
        machine::knowledge(self.0)
    }

    fn has_topology(&self) -> bool {
        // SAFETY: the communicator is the program's for the time of the call.
        matches!(unsafe { attributes::attached(self.0.0) }, Ok(Some(_)))
    }

    fn identity(&self) -> u64 {
        history::identity(self.0)
    }

    fn identities(&self) -> Option<Identities> {
        history::identities(self.0)
    }

    fn process(&self) -> u64 {
        history::process()
    }

    fn history(&self) -> &History {
        history::history()
    }

    fn weights(&self, dims: &[i32]) -> Option<Vec<i64>> {
        weights::weights(self.0, dims)
    }

    fn host_graph(&self, processes: i32, repeated: &dyn Fn() -> bool) -> bool {
        neighbor::route::wanted(processes, repeated)
    }

    fn pairing(&self, repeated: &dyn Fn() -> bool) -> i32 {
        neighbor::pairing::wanted(repeated)
    }

    fn machine(&self, known: bool) -> Result<Option<Arc<Machine>>> {
        match known {
            // Others learn this from rank 0, so it must not fail on rank 0 only.
            true if self.0.rank()? == 0 => {
                let known = machine::known(self.0).unwrap_or(None);
                Ok(known.map(|runs| Arc::new(runs.machine())))
            }
            true => Ok(None),
            false => Ok(machine::gather(self.0)?.map(Arc::new)),
        }
    }
}
