//! Why a constructor kept all ranks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why every process kept its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub enum Reason {
    /// None of the mappings found is better than rank order.
    NothingToGain,
    /// The program passed `reorder = 0`.
    NotAsked,
    /// `CARTOGRAPH_REORDER` is `off` on some rank, or names other constructors.
    Off,
    /// The old communicator has a topology, or its processes have ranks in one.
    InPlace,
    /// An earlier grid with these processes and dims, but other periods or weights, kept ranks.
    AsBefore,
    /// All processes share a node.
    OneNode,
    /// Arguments that must be the same on all ranks differ.
    Differing,
    /// The host does not know which processes share a node.
    NoLayout,
    /// A mapping helps if all dimensions have equal weights and are exchanged at once, but that is unknown, and it may
    /// hurt otherwise.
    RejectedAsRisky,
    /// Distributed graphs are reordered only if the info or the user allows it.
    NotConfirmed,
    /// The program forbade it in the info of the call.
    Refused,
    /// The program is not known to follow its new ranks.
    UnknownProgram,
    /// The graph has more edges than rank 0 gathers.
    TooLarge,
}

/// Each reason with its code for programs and its text for people.
const WORDS: [(Reason, &str, &str); 13] = [
    (Reason::NothingToGain, "nothing_to_gain", "nothing to gain"),
    (Reason::NotAsked, "not_asked", "reorder = 0"),
    (Reason::Off, "off", "disabled by CARTOGRAPH_REORDER"),
    (
        Reason::InPlace,
        "in_place",
        "the communicator already has a topology; set CARTOGRAPH_REORDER=all to reorder anyway",
    ),
    (Reason::AsBefore, "as_before", "same decision as for an earlier grid with these dims"),
    (Reason::OneNode, "one_node", "one node"),
    (Reason::Differing, "differing", "arguments differ between ranks"),
    (Reason::NoLayout, "no_layout", "the MPI does not report which ranks share a node"),
    (
        Reason::RejectedAsRisky,
        "rejected_as_risky",
        "reordering helps if all faces carry equal data and are exchanged at once, but may hurt otherwise",
    ),
    (
        Reason::NotConfirmed,
        "not_confirmed",
        "distributed graphs need CARTOGRAPH_REORDER=all, or cartograph_reorder = true in the info",
    ),
    (Reason::Refused, "refused", "cartograph_reorder = false in the info"),
    (
        Reason::UnknownProgram,
        "unknown_program",
        "the program is not known to follow new ranks; use cartograph run, or check it with cartograph try",
    ),
    (Reason::TooLarge, "too_large", "too large: more edges than rank 0 gathers"),
];

impl Reason {
    /// The code in JSON, and the text.
    fn words(self) -> (&'static str, &'static str) {
        let of = WORDS.iter().find(|(reason, ..)| *reason == self);
        of.map(|(_, code, text)| (*code, *text)).expect("every reason has a row")
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().1)
    }
}

/// A reason in a file.
#[derive(Serialize, Deserialize)]
struct Written {
    code: String,
    text: String,
}

impl From<Reason> for Written {
    fn from(reason: Reason) -> Self {
        let (code, text) = reason.words();
        Self { code: code.into(), text: text.into() }
    }
}

impl TryFrom<Written> for Reason {
    type Error = String;

    fn try_from(Written { code, .. }: Written) -> Result<Self, String> {
        let found = WORDS.iter().find(|(_, known, _)| *known == code);
        found.map(|(reason, ..)| *reason).ok_or_else(|| format!("unknown reason '{code}'"))
    }
}
