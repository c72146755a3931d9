//! The settings: one table of the environment variables, which the library, `cartograph info` and the manual read.

use crate::engine::check::Check;
use crate::engine::combine::Combine;
use crate::engine::policy::{Policy, Reorder};
use crate::machine::names_a_file;
use crate::mapping::{Distances, Weights};
use crate::topology::BoxShape;

/// `CARTOGRAPH_NEIGHBOR`: the implementation of nonblocking and persistent neighborhood collectives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Neighbor {
    /// Native ones on large communicators and if a process is a neighbor more than once, if they are correct.
    #[default]
    ByNeighbors,
    /// Native ones wherever they are correct.
    Graph,
    /// An all-to-all of the host.
    AllToAll,
}

/// `CARTOGRAPH_PAIRING`: the pairing of blocks if a process is a neighbor more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// The pairing of the standard.
    Standard,
    /// The pairing that the host delivers.
    Host,
}

/// A setting whose values are of a type.
pub struct Setting<T: 'static> {
    /// The name of the variable.
    pub name: &'static str,
    /// Its values, in a line for users.
    pub text: &'static str,
    /// True if it is for users; else parts of Cartograph set it for each other, or tests.
    is_public: bool,
    /// Returns whether a value is the name of a file or directory that is read.
    names_file: fn(&str) -> bool,
    /// The value of a text, or its fault, as text that follows the name.
    parse: fn(&str) -> Result<T, String>,
    /// The value where it is not set.
    default: fn() -> T,
    /// The value used instead of an invalid one, and its description.
    instead: (fn() -> T, &'static str),
}

/// A setting, whatever its values are.
pub trait Known: Sync {
    /// The name of the variable.
    fn name(&self) -> &'static str;
    /// Its values, in a line for users.
    fn text(&self) -> &'static str;
    /// Returns whether it is for users.
    fn is_public(&self) -> bool;
    /// Returns whether a value is the name of a file or directory that is read.
    fn names_file(&self, value: &str) -> bool;
    /// The fault of a value, as text that follows the name.
    fn fault(&self, value: &str) -> Option<String>;
}

/// All of them, those for users first.
pub static ALL: [&dyn Known; 19] = [
    &REORDER,
    &REPORT,
    &WEIGHTS,
    &DIMS,
    &LAYOUT,
    &LEVEL_WEIGHTS,
    &CHECK,
    &PAIRING,
    &COMBINE,
    &STORE,
    &TRAFFIC,
    &PROFILE,
    &WORLD,
    &WORLD_OF,
    &RECORD,
    &CLOCK,
    &LIB_DIR,
    &MPI,
    &NEIGHBOR,
];

/// The processes that may be moved.
pub static REORDER: Setting<Policy> = Setting {
    name: "CARTOGRAPH_REORDER",
    text: "off: no process is moved; on (if not set): by grids and graphs with reorder = 1; all: by distributed graphs too; \
           always: also with reorder = 0; scramble:SEED[:CONSTRUCTOR+...]: at random, by all constructors or some, to test \
           the program, and scramble0 in its place: rank 0 too",
    is_public: true,
    names_file: nothing,
    parse: |text| text.parse().map_err(|error| format!("is {error}")),
    default: Policy::default,
    instead: (|| Policy { reorder: Reorder::Off, ..Policy::default() }, "taken as off"),
};

/// The place of the report. What may be there is read by the host's layer.
pub static REPORT: Setting<()> = Setting {
    is_public: true,
    ..any(
        "CARTOGRAPH_REPORT",
        "1: a report on stderr; a file name: there; in JSON if it ends in .json",
    )
};

/// The weights of edges along each dimension of grids.
pub static WEIGHTS: Setting<Option<Weights>> = Setting {
    name: "CARTOGRAPH_WEIGHTS",
    text: "the weights of edges along each dimension of grids: 16,1,1, or for some grids 4x4x1:16,1,1;8x8:1,4",
    is_public: true,
    names_file: nothing,
    parse: |text| Weights::parse(text).map(Some),
    default: || None,
    instead: (|| None, "all dimensions are taken to weigh the same"),
};

/// The sides of what is divided.
pub static DIMS: Setting<Option<BoxShape>> = Setting {
    name: "CARTOGRAPH_DIMS",
    text: "the sides of what is divided, such as 1x1x10, by which MPI_Dims_create answers where all are free",
    is_public: true,
    names_file: nothing,
    parse: |text| text.parse().map(Some).map_err(|error| format!("has a fault: {error}")),
    default: || None,
    instead: (|| None, "MPI_Dims_create answers as without it"),
};

/// The places of processes. It is read by the host's layer, which knows how many there are.
pub static LAYOUT: Setting<()> = Setting {
    is_public: true,
    names_file: names_a_file,
    ..any(
        "CARTOGRAPH_LAYOUT",
        "which ranks share a node, in place of what the MPI says: 4x16, with switches 2x4x16, 40*48,16,8, or a file with the \
         node of each rank",
    )
};

/// The cost of an edge by the level that it crosses.
pub static LEVEL_WEIGHTS: Setting<Distances> = Setting {
    name: "CARTOGRAPH_LEVEL_WEIGHTS",
    text: "the cost of an edge inside a node, between nodes of one switch, between switches and so on: 1,10,30 if not set",
    is_public: true,
    names_file: nothing,
    parse: Distances::parse,
    default: Distances::default,
    instead: (Distances::default, "taken as 1,10,30"),
};

/// The rules of the standard that are enforced.
pub static CHECK: Setting<Check> = Setting {
    name: "CARTOGRAPH_CHECK",
    text: "rules of the standard that are enforced though all MPIs let programs break them: edges, weights, arguments; all",
    is_public: true,
    names_file: nothing,
    parse: |text| {
        Check::parse(text).map_err(|word| {
            format!("has '{word}', but edges, weights, arguments and all are known")
        })
    },
    default: Check::default,
    instead: (Check::default, "nothing is checked"),
};

/// The pairing of blocks.
pub static PAIRING: Setting<Option<Pairing>> = Setting {
    name: "CARTOGRAPH_PAIRING",
    text: "which block is received where when a process is a neighbor more than once: standard, or host, as without Cartograph",
    is_public: true,
    names_file: nothing,
    parse: |text| {
        one_of(text, [("standard", Some(Pairing::Standard)), ("host", Some(Pairing::Host))])
    },
    default: || None,
    instead: (|| None, "not set"),
};

/// The combining of small blocks.
pub static COMBINE: Setting<Combine> = Setting {
    name: "CARTOGRAPH_COMBINE",
    text: "small blocks of blocking neighborhood collectives share messages: on, where that takes fewer; off",
    is_public: true,
    names_file: nothing,
    parse: |text| one_of(text, [("on", Combine::On), ("off", Combine::Off)]),
    default: || Combine::Off,
    instead: (|| Combine::Off, "taken as off"),
};

/// A recording of the program.
pub static TRAFFIC: Setting<()> = Setting {
    names_file: always,
    ..any(
        "CARTOGRAPH_TRAFFIC",
        "a recording by which edges of grids and graphs weigh what was sent along them; cartograph exec --traffic sets it",
    )
};

/// A profile of the program.
pub static PROFILE: Setting<()> = Setting {
    names_file: always,
    ..any(
        "CARTOGRAPH_PROFILE",
        "a profile by cartograph tune, for cartograph exec, which sets it for the library as well, so that it advises no more",
    )
};

/// A profile with an order of MPI_COMM_WORLD.
pub static WORLD: Setting<()> = Setting {
    names_file: always,
    ..any(
        "CARTOGRAPH_WORLD",
        "a profile with an order of MPI_COMM_WORLD, for its library; cartograph exec --profile sets it",
    )
};

/// The process whose MPI_COMM_WORLD has another order.
pub static WORLD_OF: Setting<()> = any(
    "CARTOGRAPH_WORLD_OF",
    "the number of the process whose MPI_COMM_WORLD has another order; the library of CARTOGRAPH_WORLD sets it for the report",
);

/// The directory of a recording.
pub static RECORD: Setting<()> = any(
    "CARTOGRAPH_RECORD",
    "the directory that the recorder makes, with a file for each process; cartograph exec --record sets it",
);

/// The directory of times.
pub static CLOCK: Setting<()> = any(
    "CARTOGRAPH_CLOCK",
    "the directory in which the recorder notes how long processes run, and nothing else; cartograph tune sets it",
);

/// The directory of the libraries.
pub static LIB_DIR: Setting<()> = Setting {
    names_file: always,
    ..any(
        "CARTOGRAPH_LIB_DIR",
        "the directory in which cartograph exec finds libcartograph.so.0 and cartograph/, if not in that of its installation",
    )
};

/// The directory of what `cartograph run` learns.
pub static STORE: Setting<()> = Setting {
    is_public: true,
    ..any(
        "CARTOGRAPH_STORE",
        "the directory of what cartograph run learns; ~/.local/state/cartograph if not set",
    )
};

/// The MPI whose library is taken.
pub static MPI: Setting<()> = any(
    "CARTOGRAPH_MPI",
    "auto, or the only MPI whose library the one to preload takes; by it the library knows that cartograph exec started it",
);

/// The implementation of nonblocking and persistent neighborhood collectives.
pub static NEIGHBOR: Setting<Neighbor> = Setting {
    name: "CARTOGRAPH_NEIGHBOR",
    text: "how nonblocking and persistent neighborhood collectives run, for tests: graph, by the MPI's own wherever they are \
           right; alltoall, never by these",
    is_public: false,
    names_file: nothing,
    parse: |text| one_of(text, [("graph", Neighbor::Graph), ("alltoall", Neighbor::AllToAll)]),
    default: Neighbor::default,
    instead: (Neighbor::default, "not set"),
};

impl<T> Setting<T> {
    /// Reads a value.
    ///
    /// # Errors
    ///
    /// The fault, as text that follows the name.
    pub fn parse(&self, text: &str) -> Result<T, String> {
        (self.parse)(text)
    }

    /// The value of the variable's text, if it is set; if it is invalid, also a message with the value used instead.
    pub fn read(&self, text: Option<&str>) -> (T, Option<String>) {
        match text.map(self.parse) {
            None => ((self.default)(), None),
            Some(Ok(value)) => (value, None),
            Some(Err(fault)) => {
                let (value, words) = &self.instead;
                (value(), Some(format!("cartograph: {} {fault}; {words}", self.name)))
            }
        }
    }
}

impl<T> Known for Setting<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn text(&self) -> &'static str {
        self.text
    }

    fn is_public(&self) -> bool {
        self.is_public
    }

    fn names_file(&self, value: &str) -> bool {
        (self.names_file)(value)
    }

    fn fault(&self, value: &str) -> Option<String> {
        self.parse(value).err()
    }
}

/// A setting whose values are read elsewhere, and that is not for users.
const fn any(name: &'static str, text: &'static str) -> Setting<()> {
    Setting {
        name,
        text,
        is_public: false,
        names_file: nothing,
        parse: |_| Ok(()),
        default: || (),
        instead: (|| (), "not set"),
    }
}

fn nothing(_: &str) -> bool {
    false
}

fn always(_: &str) -> bool {
    true
}

/// One of two values.
fn one_of<T>(text: &str, [one, other]: [(&str, T); 2]) -> Result<T, String> {
    let known = format!("is '{text}', but {} and {} are known", one.0, other.0);
    [one, other].into_iter().find(|(word, _)| *word == text).map(|(_, value)| value).ok_or(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_fault_is_named_with_what_is_taken_instead() {
        let (policy, complaint) = REORDER.read(Some("al"));
        assert_eq!(policy.reorder, Reorder::Off);
        let complaint = complaint.unwrap();
        assert!(complaint.starts_with("cartograph: CARTOGRAPH_REORDER is 'al', but off, "));
        assert!(complaint.ends_with("; taken as off"), "{complaint}");
        assert_eq!(REORDER.read(None).0.reorder, Reorder::On);
        assert_eq!(
            COMBINE.read(Some("yes")),
            (
                Combine::Off,
                Some(
                    "cartograph: CARTOGRAPH_COMBINE is 'yes', but on and off are known; taken as off"
                        .to_owned()
                )
            )
        );
        assert_eq!(PAIRING.read(Some("host")), (Some(Pairing::Host), None));
    }

    #[test]
    fn settings_for_users_come_first() {
        let public = ALL.iter().filter(|setting| setting.is_public()).count();
        assert!(ALL[..public].iter().all(|setting| setting.is_public()));
        for (at, setting) in ALL.iter().enumerate() {
            assert!(ALL[..at].iter().all(|other| other.name() != setting.name()));
        }
    }
}
