//! The settings: one table of the environment variables, which the library, `cartograph info` and the manual read.

pub use cartograph_shim::environment::is_privileged;

use crate::engine::check::Check;
use crate::engine::policy::{Policy, Reorder};
use crate::machine::names_a_file;
use crate::mapping::{Distances, Weights};
use crate::topology::{BoxShape, NoBox};

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

/// A setting with values of a type.
pub struct Setting<T: 'static> {
    /// The name of the variable.
    pub name: &'static str,
    /// Its values, in a line for users.
    pub text: &'static str,
    /// True if it is for users; otherwise parts of Cartograph, or tests, set it.
    is_public: bool,
    /// True if a value is the name of a file or directory to read.
    names_file: fn(&str) -> bool,
    /// Parses a value, or returns its fault, as text that follows the name.
    parse: fn(&str) -> Result<T, String>,
    /// The value if it is not set.
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
    /// True if it is for users.
    fn is_public(&self) -> bool;
    /// True if a value is the name of a file or directory to read.
    fn names_file(&self, value: &str) -> bool;
    /// The fault of a value, as text that follows the name.
    fn fault(&self, value: &str) -> Option<String>;
}

/// All of them, those for users first.
pub static ALL: [&dyn Known; 17] = [
    &REORDER,
    &REPORT,
    &WEIGHTS,
    &DIMS,
    &LAYOUT,
    &LEVEL_WEIGHTS,
    &CHECK,
    &PAIRING,
    &STORE,
    &SITE_STORE,
    &RUN,
    &RECORD,
    &RECORD_LIMITED,
    &CLOCK,
    &LIB_DIR,
    &MPI,
    &NEIGHBOR,
];

/// The constructors that may reorder ranks.
pub static REORDER: Setting<Policy> = Setting {
    name: "CARTOGRAPH_REORDER",
    text: "off: no reordering; known (default): grids and graphs with reorder = 1 in programs that are linked with \
           Cartograph or passed cartograph try; on: in all programs; all: distributed graphs too; always: also with \
           reorder = 0; scramble:SEED[:CONSTRUCTOR+...]: random order in all or some constructors, to test \
           the program; scramble0: rank 0 moved too",
    is_public: true,
    names_file: nothing,
    parse: |text| text.parse(),
    default: Policy::default,
    instead: (|| Policy { reorder: Reorder::Off, ..Policy::default() }, "using off"),
};

/// The destination of the report. The host's layer parses it.
pub static REPORT: Setting<()> = Setting {
    is_public: true,
    ..any(
        "CARTOGRAPH_REPORT",
        "1: report on stderr; FILE: report to this file, in JSON if it ends in .json",
    )
};

/// The weights of edges along each dimension of grids.
pub static WEIGHTS: Setting<Option<Weights>> = Setting {
    name: "CARTOGRAPH_WEIGHTS",
    text: "weights of edges along each dimension of grids: 16,1,1, or for certain grids 4x4x1:16,1,1;8x8:1,4",
    is_public: true,
    names_file: nothing,
    parse: |text| Weights::parse(text).map(Some),
    default: || None,
    instead: (|| None, "assuming equal weights"),
};

/// The aspect ratio of the global domain.
pub static DIMS: Setting<Option<BoxShape>> = Setting {
    name: "CARTOGRAPH_DIMS",
    text: "aspect ratio of the global domain, such as 1x1x10, used by MPI_Dims_create when all dims are 0",
    is_public: true,
    names_file: nothing,
    parse: |text| text.parse().map(Some).map_err(|error: NoBox| error.to_string()),
    default: || None,
    instead: (|| None, "ignored"),
};

/// The places of processes. The host's layer, which knows their number, parses it.
pub static LAYOUT: Setting<()> = Setting {
    is_public: true,
    names_file: names_a_file,
    ..any(
        "CARTOGRAPH_LAYOUT",
        "which ranks share a node, overriding the MPI: 4x16, with switches 2x4x16, 40*48,16,8, or a file with the \
         node of each rank",
    )
};

/// The cost of an edge by the level that it crosses.
pub static LEVEL_WEIGHTS: Setting<Distances> = Setting {
    name: "CARTOGRAPH_LEVEL_WEIGHTS",
    text: "cost of an edge inside a node, between nodes of one switch, between switches and so on; default 1,10,30",
    is_public: true,
    names_file: nothing,
    parse: Distances::parse,
    default: Distances::default,
    instead: (Distances::default, "using 1,10,30"),
};

/// The rules of the standard to enforce.
pub static CHECK: Setting<Check> = Setting {
    name: "CARTOGRAPH_CHECK",
    text: "standard rules to enforce that MPI libraries do not check: edges, weights, arguments; all",
    is_public: true,
    names_file: nothing,
    parse: |text| {
        Check::parse(text).map_err(|word| {
            format!("invalid value '{word}' (expected edges, weights, arguments or all)")
        })
    },
    default: Check::default,
    instead: (Check::default, "no checks"),
};

/// The pairing of blocks.
pub static PAIRING: Setting<Option<Pairing>> = Setting {
    name: "CARTOGRAPH_PAIRING",
    text: "pairing of blocks for repeated neighbors: standard, or host (as without Cartograph)",
    is_public: true,
    names_file: nothing,
    parse: |text| {
        one_of(text, [("standard", Some(Pairing::Standard)), ("host", Some(Pairing::Host))])
    },
    default: || None,
    instead: (|| None, "ignored"),
};

/// The directory of a recording.
pub static RECORD: Setting<()> = any(
    "CARTOGRAPH_RECORD",
    "the directory of the recording, with a file per process; set by cartograph exec --record",
);

/// The limits of a recording.
pub static RECORD_LIMITED: Setting<()> = any(
    "CARTOGRAPH_RECORD_LIMITED",
    "calls or work: a small recording, with the first calls or only the work, which stops if it costs too much; set by cartograph run",
);

/// The directory for run times.
pub static CLOCK: Setting<()> = any(
    "CARTOGRAPH_CLOCK",
    "the directory for the run times of processes, without a recording; set by cartograph tune",
);

/// The directory of the libraries.
pub static LIB_DIR: Setting<()> = Setting {
    names_file: always,
    ..any(
        "CARTOGRAPH_LIB_DIR",
        "the directory of libcartograph.so.0 and cartograph/ for cartograph exec; default: its installation",
    )
};

/// The directory in which `cartograph run` stores what it learns.
pub static STORE: Setting<()> = Setting {
    is_public: true,
    ..any(
        "CARTOGRAPH_STORE",
        "the directory in which cartograph run stores what it learns; default: ~/.local/state/cartograph",
    )
};

/// The directory with entries for all users.
pub static SITE_STORE: Setting<()> = Setting {
    is_public: true,
    ..any(
        "CARTOGRAPH_SITE_STORE",
        "the directory with what cartograph run knows for all users; default: etc/cartograph/known of the installation",
    )
};

/// The MPI whose library is loaded.
pub static MPI: Setting<()> =
    any("CARTOGRAPH_MPI", "auto, or the only MPI whose library is loaded; set by cartograph exec");

/// Whether Slurm's plugin, `packaging/slurm`, replaces `srun` by `cartograph run srun`.
pub static RUN: Setting<()> = Setting {
    is_public: true,
    ..any(
        "CARTOGRAPH_RUN",
        "1: srun becomes cartograph run srun, if the site has the plugin for Slurm",
    )
};

/// The implementation of nonblocking and persistent neighborhood collectives.
pub static NEIGHBOR: Setting<Neighbor> = Setting {
    name: "CARTOGRAPH_NEIGHBOR",
    text: "nonblocking and persistent neighborhood collectives, for tests: graph (native where correct) or alltoall \
           (never native)",
    is_public: false,
    names_file: nothing,
    parse: |text| one_of(text, [("graph", Neighbor::Graph), ("alltoall", Neighbor::AllToAll)]),
    default: Neighbor::default,
    instead: (Neighbor::default, "ignored"),
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
                (value(), Some(format!("{}: {fault}; {words}", self.name)))
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

/// A setting whose values are parsed elsewhere, and that is not for users.
const fn any(name: &'static str, text: &'static str) -> Setting<()> {
    Setting {
        name,
        text,
        is_public: false,
        names_file: nothing,
        parse: |_| Ok(()),
        default: || (),
        instead: (|| (), "ignored"),
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
    let known = format!("invalid value '{text}' (expected {} or {})", one.0, other.0);
    [one, other].into_iter().find(|(word, _)| *word == text).map(|(_, value)| value).ok_or(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_setting_is_named_with_its_replacement() {
        let (policy, complaint) = REORDER.read(Some("al"));
        assert_eq!(policy.reorder, Reorder::Off);
        let complaint = complaint.unwrap();
        assert!(complaint.starts_with("CARTOGRAPH_REORDER: invalid value 'al' (expected off, "));
        assert!(complaint.ends_with("; using off"), "{complaint}");
        assert_eq!(REORDER.read(None).0.reorder, Reorder::Known);
        assert_eq!(
            PAIRING.read(Some("yes")),
            (
                None,
                Some(
                    "CARTOGRAPH_PAIRING: invalid value 'yes' (expected standard or host); ignored"
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
