//! Programs that do not work with behavior that the standard allows. To add one, add a line to a table, with the source
//! of the fault.
//!
//! - [`IncompatibleProgram`]: these pass `reorder = 1` but fail when reordered. Their ranks are kept, unless the user
//!   insists.
//! - `PAIRS_ITSELF`: these correct the MPI's wrong pairing of blocks themselves. They get the MPI's pairing, unless the
//!   user insists.

use std::fmt;

/// A program that passes `reorder = 1` but does not work when its ranks are reordered.
#[derive(Debug, PartialEq, Eq)]
pub struct IncompatibleProgram {
    program: &'static str,
    /// The beginning of the symbol of a function that calls the constructor, directly or not.
    symbol: &'static str,
    fault: &'static str,
}

/// All known programs.
static TABLE: [IncompatibleProgram; 1] = [
    // `processors * * * map cart/reorder`: src/procmap.cpp of every release so far. Seen to hang.
    IncompatibleProgram {
        program: "LAMMPS",
        symbol: "_ZN9LAMMPS_NS7ProcMap8cart_mapE",
        fault: "uses ranks of the grid on the old communicator",
    },
];

/// The beginnings of the symbols of functions that swap the blocks of dimensions of one or two processes themselves
/// before a neighborhood collective, with a description.
///
/// SPARC 1.0.0 and 2.0.0: `src/lapVecRoutines.c`, `src/gradVecRoutines.c` and others. Otherwise its forces are wrong.
const PAIRS_ITSELF: [&str; 3] = ["Lap_plus_diag_vec_mult_", "Lap_vec_mult_", "Gradient_vec_dir"];

/// A function in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The program fails when reordered.
    IncompatibleProgram(&'static IncompatibleProgram),
    /// The program swaps blocks itself; the text follows "since".
    PairsItself(&'static str),
}

impl Known {
    /// The entry for a function of this name.
    pub fn of_symbol(symbol: &str) -> Option<Self> {
        let pairs_itself = || PAIRS_ITSELF.iter().any(|known| symbol.starts_with(known));
        let incompatible_program =
            IncompatibleProgram::of_symbol(symbol).map(Self::IncompatibleProgram);
        incompatible_program
            .or_else(|| pairs_itself().then_some(Self::PairsItself("SPARC swaps them itself")))
    }
}

impl IncompatibleProgram {
    /// The entry for a function of this name.
    fn of_symbol(symbol: &str) -> Option<&'static Self> {
        TABLE.iter().find(|incompatible_program| symbol.starts_with(incompatible_program.symbol))
    }

    /// Its index in the table, counted from 1.
    pub(super) fn number(&'static self) -> i64 {
        TABLE
            .iter()
            .zip(1..)
            .find(|(incompatible_program, _)| *incompatible_program == self)
            .map_or(0, |(_, number)| number)
    }

    /// The entry at that index, if there is one.
    pub(super) fn numbered(number: i64) -> Option<&'static Self> {
        TABLE.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }
}

/// Why its ranks are kept.
impl fmt::Display for IncompatibleProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, fault, .. } = self;
        write!(f, "{program} {fault}; CARTOGRAPH_REORDER=always reorders its ranks anyway")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_number() {
        for incompatible_program in &TABLE {
            assert_eq!(
                IncompatibleProgram::numbered(incompatible_program.number()),
                Some(incompatible_program)
            );
            assert_eq!(
                IncompatibleProgram::of_symbol(&format!("{}iPi", incompatible_program.symbol)),
                Some(incompatible_program)
            );
        }
        for number in [-1, 0, TABLE.len() as i64 + 1, i64::MAX, i64::MIN] {
            assert_eq!(IncompatibleProgram::numbered(number), None);
        }
        assert_eq!(IncompatibleProgram::of_symbol("main"), None);
        assert!(TABLE[0].to_string().starts_with("LAMMPS uses ranks of the grid"));
    }

    #[test]
    fn programs_that_pair_blocks_themselves_are_known() {
        for symbol in
            ["Lap_plus_diag_vec_mult_orth_kpt", "Lap_vec_mult_orth", "Gradient_vec_dir.cold"]
        {
            assert!(matches!(Known::of_symbol(symbol), Some(Known::PairsItself(_))), "{symbol}");
        }
        assert_eq!(Known::of_symbol("Setup_Comms"), None);
        let lammps = Known::of_symbol("_ZN9LAMMPS_NS7ProcMap8cart_mapEiPi");
        assert_eq!(lammps, IncompatibleProgram::numbered(1).map(Known::IncompatibleProgram));
    }
}
