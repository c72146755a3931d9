//! Examples and exit codes, for `--help` and for the manuals; and values for completions.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};

pub(crate) const COMMAND: &str = "\
Examples:
  cartograph run mpiexec -n 64 ./app
  cartograph plan --dims 50x48 --nodes 50 --ppn 48
  cartograph try mpiexec -n 8 ./app
  mpiexec -n 64 cartograph exec --report ./app
  cartograph tune -- mpiexec -n 64 ./app

Exit status:
  0; 1 on failure, 2 for wrong arguments; exec returns the exit status of the program";

pub(crate) const RUN: &str = "\
Examples:
  cartograph run mpiexec -n 64 ./app input
  cartograph run srun ./app
  cartograph known

Learning:
  The first job is recorded. Each later job starts with its ranks placed as in the fastest earlier jobs. A job that
  cannot be placed runs unchanged, and one line at the end gives the reason.

Exit status:
  that of the launcher";

pub(crate) const KNOWN: &str = "\
Examples:
  cartograph known
  cartograph known --forget app
  export CARTOGRAPH_REPORT=/reports/%j-%u.json   in the environment of all jobs; also %h, %p, %d: host, program, date
  cartograph known /reports --least 30

Exit status:
  0; 1 on failure, 2 for wrong arguments";

pub(crate) const EXEC: &str = "\
Examples:
  mpiexec -n 64 cartograph exec --report ./app
  srun -n 64 cartograph exec --report=report.json ./app
  mpiexec -n 64 cartograph exec --record run.traffic ./app
  mpiexec -n 64 cartograph exec --reorder on --weights 16,1 ./app

Exit status:
  that of the program; 126 if it cannot be run, 127 if it is not found, 2 for wrong arguments";

pub(crate) const PLAN: &str = "\
Examples:
  cartograph plan --dims 50x48 --nodes 50 --ppn 48
  cartograph plan --dims 12x10 --node-sizes 40,35,25,20 --weights 1,1 --svg plan.svg
  cartograph plan --traffic run.traffic --rankfile openmpi ranks

Algorithms:
  bricks         every node gets a box, and equal boxes tile the grid
  strips         the grid is cut into strips, traversed back and forth (boustrophedon), filling one node after the other
  bisection      grid and nodes are halved recursively
  multilevel     the graph is coarsened, partitioned, and refined during uncoarsening
  multisection   the graph is partitioned among switches, then among the nodes of each
  Node parts found independently are then assigned to switches.

Exit status:
  0; 1 on failure, 2 for wrong arguments";

pub(crate) const DIMS: &str = "\
Examples:
  cartograph dims 1536 3
  cartograph dims 24 3 --fixed 0x3x0

Exit status:
  0; 2 for wrong arguments";

pub(crate) const SHOW: &str = "\
Examples:
  cartograph show report.json
  cartograph show run.traffic --svg run.svg
  cartograph show run.traffic --json

Exit status:
  0; 1 on read or write errors, 2 for wrong arguments";

pub(crate) const TRY: &str = "\
Examples:
  cartograph try mpiexec -n 8 ./app
  cartograph try --ignore \"wall time\" mpiexec -n 8 -- python3 app.py

Exit status:
  0 if the output is the same with reordered ranks, or no rank was reordered; 1 if it differs or cannot be
  compared; 2 for wrong arguments; 130 if interrupted, 143 by SIGTERM";

pub(crate) const TUNE: &str = "\
Examples:
  cartograph tune -- mpiexec -n 64 ./app
  cartograph tune --time 'Solve time: (.*)' -- mpiexec -n 64 ./app

Exit status:
  0, also if no variant is faster; 1 on failure, 2 for wrong arguments, 130 if interrupted, 143 by SIGTERM";

pub(crate) const INFO: &str = "\
Examples:
  cartograph info

The halo exchange:
  halo [-n EXCHANGES | -t SECONDS] [BYTES...] exchanges faces of BYTES bytes in each dimension of a grid; its processes
  may be reordered. It prints the time of 1000 exchanges on stderr. Its source is examples/halo.c.

Exit status:
  0; 1 on failure";

/// A parser of values, some of which completions suggest; others may be valid too.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) words: &'static [&'static str],
    pub(crate) check: fn(&str) -> Result<String, String>,
}

impl TypedValueParser for Known {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        let check = self.check;
        StringValueParser::new().try_map(move |text| check(&text)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.words.iter().map(PossibleValue::new)))
    }
}

/// Any value.
pub(crate) fn any(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// The MPIs that libraries are built for.
pub(crate) const MPIS: Known =
    Known { words: &["mpich", "openmpi", "mpich5", "openmpi5", "abi"], check: any };
