//! The means by which the ranks of a job come to their nodes: by the launcher where it can, else as far as the user, or
//! `cartograph try`, allows it.

use std::env;

use cartograph_core::launcher::Line;

use super::arms::Means;
use crate::arms::{Placer, Way};
use crate::exec;
use crate::store::{Key, Store, Verdict};

/// What a job allows.
pub(super) struct Placing {
    pub(super) line: Line,
    /// MPI_COMM_WORLD may have another order.
    pub(super) world: bool,
    /// Grids may be moved, unless it is known that they may not.
    pub(super) moves_grids: bool,
    /// What `cartograph try` has found of this build.
    verdict: Option<Verdict>,
}

impl Placing {
    pub(super) fn new(line: &Line, store: &Store, world: bool, moves_grids: bool) -> Self {
        let key = Key::of(&line.clone().into(), None);
        let verdict = key.and_then(|key| store.verdict(&key));
        Self { line: line.clone(), world, moves_grids, verdict }
    }

    /// The means for a program of this MPI, which perhaps lets a grid of all its processes be moved.
    ///
    /// # Errors
    ///
    /// Why there are none.
    pub(super) fn means(&self, mpi: &str, has_grid: bool) -> Result<(Placer, Means), String> {
        let mut placer = Placer::new(self.line.clone().into(), Ok(self.line.clone()), mpi, None);
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
        let start = match placer.obstacle() {
            None => Some(Way::Launcher),
            Some(_) if self.world && placer.no_world.is_none() => Some(Way::World),
            Some(_) => None,
        };
        match placer.obstacle() {
            Some(why) if start.is_none() && !moves_grids => {
                let why =
                    why.to_owned() + &self.others(has_grid && !is_off, placer.no_world.as_deref());
                Err(why)
            }
            _ => Ok((placer, Means { start, moves_grids })),
        }
    }

    /// Why the launcher's help is needed, or how to do without it.
    fn others(&self, has_grid: bool, no_world: Option<&str>) -> String {
        let grids = match self.verdict {
            Some(_) if has_grid => "; by cartograph try, its grids must not be moved",
            None if has_grid => "; cartograph try finds out whether its grids may be moved instead",
            _ => "",
        };
        let world = match no_world {
            Some(why) if self.world => format!("; nor can MPI_COMM_WORLD get another order: {why}"),
            None => "; --world reorders MPI_COMM_WORLD instead".to_owned(),
            Some(_) => String::new(),
        };
        format!("{grids}{world}")
    }
}
