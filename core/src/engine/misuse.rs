//! Programs that are known to pass `reorder = 1` and not to stand it. They are not moved, unless the user
//! insists. A new one is a new line in the table, with where its fault was seen.

use std::fmt;

/// A program that passes `reorder = 1` but does not work when its processes are moved.
#[derive(Debug, PartialEq, Eq)]
pub struct Misuse {
    program: &'static str,
    /// The beginning of the symbol of a function that calls the constructor, directly or not.
    symbol: &'static str,
    fault: &'static str,
}

/// All known ones.
static TABLE: [Misuse; 1] = [
    // `processors * * * map cart/reorder`: src/procmap.cpp of every release so far. Seen to hang.
    Misuse {
        program: "LAMMPS",
        symbol: "_ZN9LAMMPS_NS7ProcMap8cart_mapE",
        fault: "uses ranks of the grid on the old communicator",
    },
];

impl Misuse {
    /// The entry of the program that calls a constructor, if it has one: `symbols` are the linker's names of
    /// the functions on the call stack.
    pub fn by_callers<'a>(mut symbols: impl Iterator<Item = &'a str>) -> Option<&'static Self> {
        symbols.find_map(Self::of_symbol)
    }

    /// The entry for a function of this name.
    pub fn of_symbol(symbol: &str) -> Option<&'static Self> {
        TABLE.iter().find(|misuse| symbol.starts_with(misuse.symbol))
    }

    /// Its place in the table, counted from 1.
    pub(super) fn number(&'static self) -> i64 {
        TABLE.iter().zip(1..).find(|(misuse, _)| *misuse == self).map_or(0, |(_, number)| number)
    }

    /// The entry at that place, if there is one.
    pub(super) fn numbered(number: i64) -> Option<&'static Self> {
        TABLE.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }
}

/// Why its processes are not moved.
impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, fault, .. } = self;
        write!(f, "{program} {fault}; CARTOGRAPH_REORDER=always moves it all the same")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_number() {
        for misuse in &TABLE {
            assert_eq!(Misuse::numbered(misuse.number()), Some(misuse));
            assert_eq!(Misuse::of_symbol(&format!("{}iPi", misuse.symbol)), Some(misuse));
        }
        for number in [-1, 0, TABLE.len() as i64 + 1, i64::MAX, i64::MIN] {
            assert_eq!(Misuse::numbered(number), None);
        }
        assert_eq!(Misuse::of_symbol("main"), None);
    }
}
