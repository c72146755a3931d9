//! Whether a constructor may move processes: what the user says in `CARTOGRAPH_REORDER`, what the
//! call says, and what is known of programs.

use std::str::FromStr;

use super::arguments::Function;
use super::check::Check;
use super::misuse::Misuse;
use super::{Comm, Knowledge};
use crate::mapping::Options;

/// In which constructors processes may be moved, the most cautious first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reorder {
    /// In none.
    Off,
    /// In those of grids and graphs where the program passes `reorder = 1`; in those of distributed graphs
    /// only where the info says so as well: programs keep data by the old rank there.
    #[default]
    On,
    /// In all where the program passes `reorder = 1`.
    All,
    /// In all, also where the program passes 0 or is known not to stand it.
    Always,
}

/// `CARTOGRAPH_REORDER`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// In which constructors processes may be moved.
    pub reorder: Reorder,
    /// The seed, if processes are moved at random to find out whether the program stands it: then those of
    /// known programs as well.
    pub scramble: Option<u64>,
    /// By which constructors.
    pub by: Constructors,
}

/// The words that [`Policy`] is read from.
pub const WORDS: &str = "off, on, all, always and scramble:SEED[:CONSTRUCTOR+...]";

/// Some of the constructors that may move processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constructors(u8);

/// All of them.
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
    /// Whether a constructor is one of these.
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

    /// Reads `off`, `on`, `all`, `always`, `scramble:7`, which is `all,scramble:7`, or two such words
    /// with a comma, `always,scramble:7`; `0` and `1` are `off` and `on`. `scramble:7:cart_create` moves by
    /// `MPI_Cart_create` alone, and so the other [`CONSTRUCTORS`], or several with a plus between them.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}', but {WORDS} are known");
        let (mut reorder, mut scramble, mut by) = (None, None, Constructors::default());
        for word in text.split(',') {
            let twice = match word.trim().split_once(':') {
                Some(("scramble", how)) => {
                    let (seed, names) = match how.split_once(':') {
                        Some((seed, names)) => (seed, Some(names)),
                        None => (how, None),
                    };
                    if let Some(names) = names {
                        by = Constructors::parse(names).ok_or_else(wrong)?;
                    }
                    scramble.replace(seed.parse().map_err(|_| wrong())?).is_some()
                }
                Some(_) => return Err(wrong()),
                None => reorder
                    .replace(match word.trim() {
                        "off" | "0" => Reorder::Off,
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
        // A test of a program is to find what any word that moves processes would meet.
        Ok(Self { reorder: reorder.unwrap_or(Reorder::All), scramble, by })
    }
}

/// What a process brings along to every constructor. Where it differs from rank to rank the most
/// cautious [`Reorder`] counts, and rank 0's other wishes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Terms {
    /// In which constructors processes may be moved.
    pub reorder: Reorder,
    /// What the info of the call says of it, if anything.
    pub info: Option<bool>,
    /// Whether somebody wants to know how ranks are placed, also where nobody is moved.
    pub reporting: bool,
    /// Rules whose breach is an error.
    pub check: Check,
    /// How to search.
    pub options: Options,
}

/// What a process wants of a placement.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wish {
    /// The argument of the constructor.
    pub reorder: bool,
    /// Whether it is one of distributed graphs.
    pub distributed: bool,
    /// What holds for all constructors.
    pub terms: Terms,
}

/// What a rank says of moving processes in a call, the most cautious first. The call is the same on all
/// ranks, so the least of these is what all of them say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Leave {
    Off,
    Refused,
    NotAsked,
    NotTold,
    Given,
    /// Also to move processes of programs that are known not to stand it.
    Insisted,
}

impl Leave {
    const ALL: [Self; 6] =
        [Self::Off, Self::Refused, Self::NotAsked, Self::NotTold, Self::Given, Self::Insisted];
}

/// What only rank 0 says: a number of which the lowest bits mean these, the next two [`Knowledge`], and
/// the rest the place of a [`Misuse`] in its table, counted from 1.
const REPORTING: i64 = 1;
const SCRAMBLE: i64 = 2;
const KNOWLEDGE: u32 = 2;
const MISUSE: u32 = 4;

impl Wish {
    fn leave(&self) -> Leave {
        let Self { reorder, distributed, terms } = *self;
        match terms.reorder {
            Reorder::Off => Leave::Off,
            _ if terms.info == Some(false) => Leave::Refused,
            Reorder::Always => Leave::Insisted,
            _ if !reorder => Leave::NotAsked,
            Reorder::On if distributed && terms.info.is_none() => Leave::NotTold,
            _ if terms.options.scramble.is_some() => Leave::Insisted,
            _ => Leave::Given,
        }
    }

    /// How cautious this rank is, as a number that is not negative; the least of all ranks counts.
    pub(super) fn caution(&self) -> i64 {
        self.leave() as i64
    }

    fn may_move(&self) -> bool {
        self.leave() >= Leave::Given
    }

    /// Whether it matters what rank 0 says.
    pub(super) fn asks(&self) -> bool {
        self.may_move() || self.terms.reporting
    }

    /// What only rank 0 says, as a number that is not negative.
    pub(super) fn of_root<C: Comm>(&self, comm: &C) -> i64 {
        // Nothing is asked for that is of no use: that takes time.
        let knowledge = if self.asks() { comm.knowledge() } else { Knowledge::Unknown };
        let scramble = self.may_move() && self.terms.options.scramble.is_some();
        let moving = self.may_move() && (scramble || knowledge != Knowledge::OneNode);
        let misuse = if moving { comm.misuse().map_or(0, Misuse::number) } else { 0 };
        (if self.terms.reporting { REPORTING } else { 0 })
            | (if scramble { SCRAMBLE } else { 0 })
            | (knowledge as i64) << KNOWLEDGE
            | misuse << MISUSE
    }

    /// What is going to happen where all ranks of `comm` wish the same. It is rank 0 that says so, and
    /// all [ask](Self::asks) or none.
    pub(super) fn course_of_all<C: Comm>(&self, comm: &C) -> Result<Course, C::Error> {
        let root = if comm.rank()? == 0 { self.of_root(comm) } else { 0 };
        let mut words = [self.caution(), root];
        if self.asks() {
            let mut bytes = words.map(i64::to_le_bytes);
            comm.broadcast(0, bytes.as_flattened_mut())?;
            words = bytes.map(i64::from_le_bytes);
        }
        Ok(self.agreed(words[0], words[1]))
    }

    /// What the least [`caution`](Self::caution) of all ranks and rank 0's number mean for this call.
    pub(super) fn agreed(&self, caution: i64, root: i64) -> Course {
        let knowledge = root >> KNOWLEDGE & 3;
        let scramble = root & SCRAMBLE != 0;
        let one_node = knowledge == Knowledge::OneNode as i64 && !scramble;
        let leave = Leave::ALL.into_iter().find(|known| *known as i64 == caution);
        let verdict = match (leave.unwrap_or(Leave::Off), Misuse::numbered(root >> MISUSE)) {
            (Leave::Off, _) => Verdict::Off,
            (Leave::Refused, _) => Verdict::Refused,
            (Leave::NotAsked, _) => Verdict::NotAsked,
            (Leave::NotTold, _) => Verdict::NotTold,
            (Leave::Given | Leave::Insisted, _) if one_node => Verdict::OneNode,
            (Leave::Given, Some(misuse)) => Verdict::Misused(misuse),
            (Leave::Given | Leave::Insisted, _) => Verdict::Applied { forced: !self.reorder },
        };
        let moving = matches!(verdict, Verdict::Applied { .. });
        let reporting = root & REPORTING != 0;
        Course {
            moving,
            planning: moving || reporting,
            reporting,
            scramble: moving && scramble,
            known: knowledge != Knowledge::Unknown as i64,
            verdict,
        }
    }
}

/// What is going to happen in a constructor; the same on every rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    /// Processes may be moved.
    pub moving: bool,
    /// Rank 0 makes a plan, to move processes by or to report what it would bring.
    pub planning: bool,
    pub(super) reporting: bool,
    /// Processes are moved at random.
    pub(super) scramble: bool,
    /// Rank 0 knows where processes run.
    pub(super) known: bool,
    pub(super) verdict: Verdict,
}

impl Course {
    /// The same where ranks passed arguments that differ: nobody is moved.
    pub(super) fn of_differing_arguments(self) -> Self {
        let verdict = if self.moving { Verdict::Differing } else { self.verdict };
        Self { moving: false, planning: self.reporting, scramble: false, verdict, ..self }
    }
}

/// Whether a plan was applied, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was; `forced` where the program had passed `reorder = 0`.
    Applied {
        /// By [`Reorder::Always`].
        forced: bool,
    },
    /// The program passed `reorder = 0`.
    NotAsked,
    /// A distributed graph whose info does not say so, with [`Reorder::On`].
    NotTold,
    /// The info of the call says no.
    Refused,
    /// The program is known not to stand it.
    Misused(&'static Misuse),
    /// [`Reorder::Off`] on some rank, or another constructor is on trial.
    Off,
    /// All processes are on one node.
    OneNode,
    /// Arguments that must be the same on all ranks differ.
    Differing,
    /// Nothing that was found is better than the order of the ranks.
    NothingGained,
    /// What was found gains only if all dimensions weigh the same, which nobody said.
    Withheld,
    /// The graph is too large to be looked at as a whole.
    TooLarge,
    /// The host cannot tell which processes share a node.
    NoLayout,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_read() {
        let read = |text: &str| text.parse::<Policy>().map(|p| (p.reorder, p.scramble));
        assert_eq!(read("off"), Ok((Reorder::Off, None)));
        assert_eq!(read("0"), Ok((Reorder::Off, None)));
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
            let expected = format!("'{wrong}', but {WORDS} are known");
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
        assert!(!two.parse::<Policy>().unwrap().by.has(Function::CartSub));
    }

    #[test]
    fn what_is_said_of_a_call_decides_whether_processes_move() {
        use Verdict::*;
        let all = [Reorder::Off, Reorder::On, Reorder::All, Reorder::Always];
        let verdicts = |reorder, distributed, info, scramble| {
            all.map(|policy| {
                let options = Options { scramble, ..Options::default() };
                let terms = Terms { reorder: policy, info, options, ..Terms::default() };
                let wish = Wish { reorder, distributed, terms };
                let root = (Knowledge::Known as i64) << KNOWLEDGE;
                wish.agreed(wish.caution(), root).verdict
            })
        };
        let (moved, forced) = (Applied { forced: false }, Applied { forced: true });
        for scramble in [None, Some(3)] {
            assert_eq!(verdicts(true, false, None, scramble), [Off, moved, moved, moved]);
            assert_eq!(verdicts(true, true, None, scramble), [Off, NotTold, moved, moved]);
            assert_eq!(verdicts(true, true, Some(true), scramble), [Off, moved, moved, moved]);
            assert_eq!(
                verdicts(true, true, Some(false), scramble),
                [Off, Refused, Refused, Refused]
            );
            for distributed in [false, true] {
                let zero = |info| verdicts(false, distributed, info, scramble);
                assert_eq!(zero(None), [Off, NotAsked, NotAsked, forced]);
                assert_eq!(zero(Some(true)), [Off, NotAsked, NotAsked, forced]);
            }
        }
    }

    #[test]
    fn known_programs_are_moved_where_the_user_insists() {
        let lammps = Misuse::by_callers(["_ZN9LAMMPS_NS7ProcMap8cart_mapEiPi"].into_iter());
        let lammps = lammps.expect("in the table");
        let verdict = |text: &str| {
            let Policy { reorder, scramble, .. } = text.parse().unwrap();
            let options = Options { scramble, ..Options::default() };
            let terms = Terms { reorder, options, ..Terms::default() };
            let wish = Wish { reorder: true, distributed: false, terms };
            let root = (Knowledge::Known as i64) << KNOWLEDGE | lammps.number() << MISUSE;
            wish.agreed(wish.caution(), root).verdict
        };
        assert_eq!(verdict("on"), Verdict::Misused(lammps));
        assert_eq!(verdict("all"), Verdict::Misused(lammps));
        assert_eq!(verdict("off"), Verdict::Off);
        for text in ["always", "scramble:1", "on,scramble:1"] {
            assert_eq!(verdict(text), Verdict::Applied { forced: false }, "{text}");
        }
    }
}
