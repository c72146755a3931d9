//! The constructors that the user allows to reorder ranks: `CARTOGRAPH_REORDER`.

use std::str::FromStr;

use super::arguments::Function;
use crate::mapping::Scramble;

/// The constructors that may reorder ranks, the most cautious setting first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reorder {
    /// None.
    Off,
    /// Like [`On`](Self::On), but only in programs that are known to follow their new ranks; others keep all ranks.
    #[default]
    Known,
    /// Grids and graphs if the program passes `reorder = 1`; distributed graphs only if the info allows it as well:
    /// there, programs keep data by the old rank.
    On,
    /// All, if the program passes `reorder = 1`.
    All,
    /// All, even if the program passes 0.
    Always,
}

impl Reorder {
    /// The setting for a program that is known to follow its new ranks, or is not.
    #[must_use]
    pub fn of_program(self, is_known: impl FnOnce() -> bool) -> Self {
        if self == Self::Known && is_known() { Self::On } else { self }
    }
}

/// The value of `CARTOGRAPH_REORDER`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// The constructors that may reorder ranks.
    pub reorder: Reorder,
    /// A random order for testing the program.
    pub scramble: Option<Scramble>,
    /// The constructors that reorder ranks at random.
    pub by: Constructors,
}

/// The accepted values of [`Policy`], for messages.
pub const WORDS: &str = "off, known, on, all, always and scramble[0]:SEED[:CONSTRUCTOR+...]";

/// A set of the [`CONSTRUCTORS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constructors(u8);

/// The constructors that can reorder ranks.
pub const CONSTRUCTORS: [Function; 4] = [
    Function::CartCreate,
    Function::GraphCreate,
    Function::DistGraphCreate,
    Function::DistGraphCreateAdjacent,
];

impl Default for Constructors {
    /// All of them.
    fn default() -> Self {
        CONSTRUCTORS.into_iter().fold(Self(0), Self::and)
    }
}

impl Constructors {
    /// True if a constructor is in the set.
    pub fn has(self, function: Function) -> bool {
        self.0 & Self::bit(function) != 0
    }

    fn and(self, function: Function) -> Self {
        Self(self.0 | Self::bit(function))
    }

    fn bit(function: Function) -> u8 {
        CONSTRUCTORS.iter().position(|known| *known == function).map_or(0, |at| 1 << at)
    }

    /// Reads names with a plus between them: `cart_create+graph_create`.
    fn parse(text: &str) -> Option<Self> {
        text.split('+').try_fold(Self(0), |found, name| {
            CONSTRUCTORS
                .into_iter()
                .find(|known| known.word() == name)
                .map(|known| found.and(known))
        })
    }
}

impl FromStr for Policy {
    type Err = String;

    /// Parses `off`, `known`, `on`, `all`, `always`, `scramble:7`, which means `all,scramble:7`, or two such words with a comma,
    /// `always,scramble:7`; `0` and `1` mean `off` and `on`. `scramble:7:cart_create` reorders only in
    /// `MPI_Cart_create`, and likewise for the other [`CONSTRUCTORS`], or several with a plus between them. `scramble0`
    /// instead of `scramble` also moves the process of rank 0.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("invalid value '{text}' (expected {WORDS})");
        let (mut reorder, mut scramble, mut by) = (None, None, Constructors::default());
        for word in text.split(',') {
            let twice = match word.trim().split_once(':') {
                Some((name @ ("scramble" | "scramble0"), how)) => {
                    let (seed, names) = match how.split_once(':') {
                        Some((seed, names)) => (seed, Some(names)),
                        None => (how, None),
                    };
                    if let Some(names) = names {
                        by = Constructors::parse(names).ok_or_else(wrong)?;
                    }
                    let seed = seed.parse().map_err(|_| wrong())?;
                    scramble.replace(Scramble { seed, rank_zero: name == "scramble0" }).is_some()
                }
                Some(_) => return Err(wrong()),
                None => reorder
                    .replace(match word.trim() {
                        "off" | "0" => Reorder::Off,
                        "known" => Reorder::Known,
                        "on" | "1" => Reorder::On,
                        "all" => Reorder::All,
                        "always" => Reorder::Always,
                        _ => return Err(wrong()),
                    })
                    .is_some(),
            };
            if twice {
                return Err(wrong());
            }
        }
        // A test of a program must cover every setting that reorders.
        Ok(Self { reorder: reorder.unwrap_or(Reorder::All), scramble, by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_setting_are_parsed() {
        let read = |text: &str| {
            text.parse::<Policy>().map(|p| (p.reorder, p.scramble.map(|scramble| scramble.seed)))
        };
        let moves_rank_zero = |text: &str| {
            text.parse::<Policy>().unwrap().scramble.map(|scramble| scramble.rank_zero)
        };
        assert_eq!(moves_rank_zero("scramble:7"), Some(false));
        assert_eq!(moves_rank_zero("on,scramble0:7:cart_create"), Some(true));
        assert_eq!(read("off"), Ok((Reorder::Off, None)));
        assert_eq!(read("0"), Ok((Reorder::Off, None)));
        assert_eq!(read("known"), Ok((Reorder::Known, None)));
        assert_eq!(read("on"), Ok((Reorder::On, None)));
        assert_eq!(read("1"), Ok((Reorder::On, None)));
        assert_eq!(read("all"), Ok((Reorder::All, None)));
        assert_eq!(read("always"), Ok((Reorder::Always, None)));
        assert_eq!(read("scramble:7"), Ok((Reorder::All, Some(7))));
        assert_eq!(read("always,scramble:0"), Ok((Reorder::Always, Some(0))));
        assert_eq!(read("scramble:7, on"), Ok((Reorder::On, Some(7))));
        assert_eq!(read("off,scramble:7"), Ok((Reorder::Off, Some(7))));
        for wrong in [
            "",
            "maybe",
            "On",
            "scramble",
            "scramble:",
            "scramble:-1",
            "scramble:x",
            "on:1",
            "on,",
            "on,all",
            "scramble:1,scramble:2",
            "scramble:1:",
            "scramble:1:cart_sub",
            "scramble:1:cart_create+",
            "scramble:1:MPI_Cart_create",
            "scramble:1:2",
            "18446744073709551616",
            "scramble:18446744073709551616",
        ] {
            let expected = format!("invalid value '{wrong}' (expected {WORDS})");
            assert_eq!(wrong.parse::<Policy>(), Err(expected));
        }
    }

    #[test]
    fn constructors_are_scrambled_by_name() {
        let by = |text: &str| {
            let policy: Policy = text.parse().unwrap();
            CONSTRUCTORS.map(|function| policy.by.has(function))
        };
        assert_eq!(by("on"), [true; 4]);
        assert_eq!(by("scramble:1"), [true; 4]);
        assert_eq!(by("scramble:1:cart_create"), [true, false, false, false]);
        assert_eq!(by("always,scramble:1:dist_graph_create"), [false, false, true, false]);
        let two = "scramble:1:dist_graph_create_adjacent+graph_create";
        assert_eq!(by(two), [false, true, false, true]);
        assert_eq!(by(&format!("{two}+graph_create")), [false, true, false, true]);
        assert!(!two.parse::<Policy>().unwrap().by.has(Function::CartSub));
    }
}
