//! How the ranks of a job get to their nodes: through the launcher if possible, otherwise as far as the user, or
//! `cartograph try`, allows.

use std::env;

use cartograph_core::launcher::Line;

use super::arms::Means;
use crate::arms::{Placer, Way};
use crate::exec;
use crate::store::{Key, Store, Verdict};

/// The means of placement that a job allows.
pub(super) struct Placing {
    pub(super) line: Line,
    /// True if MPI_COMM_WORLD may be reordered.
    pub(super) world: bool,
    /// True if grids may be reordered, unless `cartograph try` found otherwise.
    pub(super) moves_grids: bool,
    /// The result of `cartograph try` for this build.
    verdict: Option<Verdict>,
}

impl Placing {
    pub(super) fn new(line: &Line, store: &Store, world: bool, moves_grids: bool) -> Self {
        let key = Key::of(&line.clone().into(), None);
        let verdict = key.and_then(|key| store.verdict(&key));
        Self { line: line.clone(), world, moves_grids, verdict }
    }

    /// The means for a program of this MPI, which may allow reordering a grid of all its processes. `cores` is the number
    /// of cores of a node, if ranks must not be bound to one core each.
    ///
    /// # Errors
    ///
    /// Why there are none.
    pub(super) fn means(
        &self,
        mpi: &str,
        has_grid: bool,
        cores: Option<usize>,
    ) -> Result<(Placer, Means), String> {
        let placement = self.line.placement(mpi, |name| env::var(name).ok());
        let by_launcher = placement
            .map(|placement| (self.line.clone(), placement))
            .map_err(|why| why.to_string());
        let obstacle = by_launcher.as_ref().err().cloned();
        let mut placer = Placer::new(self.line.clone().into(), by_launcher, cores);
        let no_world = exec::check_world(&self.line.program[0], None).err();
        let is_off = env::var_os("CARTOGRAPH_REORDER").is_some_and(|word| word == "off");
        let library = exec::check(&self.line.program[0], None);
        let moves_grids = match self.verdict {
            _ if !has_grid || is_off || library.is_err() => false,
            Some(Verdict { moves_well, pairs_as_host }) => {
                placer.setting = pairs_as_host.then_some("CARTOGRAPH_PAIRING=host");
                moves_well
            }
            None => self.moves_grids,
        };
        let start = match &obstacle {
            None => Some(Way::Launcher),
            Some(_) if self.world && no_world.is_none() => Some(Way::World),
            Some(_) => None,
        };
        match obstacle {
            Some(why) if start.is_none() && !moves_grids => {
                let no_world = no_world.as_ref().map(|failure| &failure.text[..]);
                Err(why + &self.others(has_grid && !is_off, no_world))
            }
            _ => Ok((placer, Means { start, moves_grids })),
        }
    }

    /// Explains which alternatives to the launcher's placement exist.
    fn others(&self, has_grid: bool, no_world: Option<&str>) -> String {
        let grids = match self.verdict {
            Some(_) if has_grid => "; cartograph try found that its grids must not be reordered",
            None if has_grid => {
                "; cartograph try checks whether its grids may be reordered instead"
            }
            _ => "",
        };
        let world = match no_world {
            Some(why) if self.world => {
                format!("; MPI_COMM_WORLD cannot be reordered either: {why}")
            }
            None => "; --world reorders MPI_COMM_WORLD instead".to_owned(),
            Some(_) => String::new(),
        };
        format!("{grids}{world}")
    }
}
