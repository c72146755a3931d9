//! The contribution of a process to the agreement of all, and the color of the split by which ranks compare theirs.
//!
//! Digests may collide. The subsequent calls on the communicator must not depend on that, so the part of the color that
//! determines them is exact: `Contribution::call_sequence`. They depend only on that part, on rank 0's contribution,
//! and on the sizes of communicators.

use super::advisor::Advisor;
use super::arguments::{Function, Shared};
use super::check::Rule;
use super::comm::Comm;
use super::decision::ReorderRequest;
use super::digest::Digest;
use super::error::Error;
use crate::topology::{self, Class};

/// The contribution of one process to the agreement of all.
pub(super) struct Contribution<'a> {
    /// The first fault in this process' own arguments, if there is one.
    pub(super) fault: Option<topology::Error>,
    /// The arguments that must be the same on all processes; ignored if there is a fault.
    pub(super) shared: Shared<'a>,
    /// The number of processes in the new topology. `None` in `MPI_Cart_sub`, whose sub-grids together have all.
    pub(super) vertices: Option<i32>,
    /// The request of this process about reordering; `None` in functions that do not reorder.
    pub(super) request: Option<ReorderRequest>,
    /// The choice of this process if a function has two forms.
    pub(super) choice: Option<Choice>,
    /// The neighbors in the new topology; `None` if there is a fault.
    pub(super) neighbors: Option<Neighbors<'a>>,
}

/// The neighbors of a process in a new topology, to its knowledge.
#[derive(Clone, Copy)]
pub(super) struct Neighbors<'a> {
    /// The number of processes that it has.
    pub(super) processes: i32,
    /// True if, to the knowledge of this process, some process is a neighbor of a process more than once.
    pub(super) repeated: &'a dyn Fn() -> bool,
}

/// A choice between two forms of a call, such as with or without weights, which must be the same on all processes.
pub(super) struct Choice {
    /// The argument that makes the choice.
    pub(super) argument: &'static str,
    /// The two forms, as text.
    pub(super) ways: [&'static str; 2],
    /// The choice of this process, 0 or 1; `None` if its arguments fit both.
    pub(super) chosen: Option<usize>,
    /// True if different choices are accepted, because every host accepts them, unless [`Rule::Weights`] is
    /// checked.
    pub(super) tolerated: bool,
}

/// The number of bits of a color that hold a digest.
const DIGEST_BITS: u32 = 25;

/// Colors from here on are digests; lower ones are those of functions that split into several parts.
const DIGESTS: i32 = 1 << 29;

/// More than the number of call sequences. With the bits of the digest they use up all colors.
const CALL_SEQUENCES: i32 = 48;
const _: () = assert!(DIGESTS as i64 + ((CALL_SEQUENCES as i64) << DIGEST_BITS) == 1 << 31);

/// The color in `MPI_Comm_split` of a process with a fault. No other color has this value, so processes
/// without a fault notice it.
pub(super) const AT_FAULT: i32 = DIGESTS - 1;
const _: () = assert!(AT_FAULT < DIGESTS);

impl Choice {
    /// The fault of the first rank whose choice differs from that of a rank below it.
    pub(super) fn made_differently(&self, first: i64, second: i64) -> Error {
        let [way, other_way] = self.ways;
        let (late, early, way, other_way) = match first < second {
            true => (second, first, other_way, way),
            false => (first, second, way, other_way),
        };
        let text = format!(
            "{} is {way}, but {other_way} on rank {early}; it must be one or the other on all ranks",
            self.argument
        );
        Error::OnRank { rank: late as i32, class: Class::Arg, text }
    }
}

impl Contribution<'_> {
    /// The form of the call that this process chose.
    pub(super) fn way(&self) -> Option<usize> {
        self.choice.as_ref().and_then(|choice| choice.chosen)
    }

    /// True if this process wants native neighborhood collectives, given the neighbors that it knows.
    pub(super) fn host_graph<C: Comm>(&self, advisor: &impl Advisor<C>) -> bool {
        let of = |Neighbors { processes, repeated }| advisor.host_graph(processes, repeated);
        self.neighbors.is_some_and(of)
    }

    /// True if this process allows them if others want them: it does not know all neighbors in a distributed graph.
    pub(super) fn allows_host_graph<C: Comm>(&self, advisor: &impl Advisor<C>, own: bool) -> bool {
        let distributed = [Function::DistGraphCreate, Function::DistGraphCreateAdjacent];
        match self.neighbors {
            Some(known) if distributed.contains(&self.shared.function) => {
                advisor.host_graph(known.processes, &|| true)
            }
            _ => own,
        }
    }

    /// The pairing of blocks that this process wants, given the neighbors that it knows.
    pub(super) fn pairing<C: Comm>(&self, advisor: &impl Advisor<C>) -> i32 {
        self.neighbors.map_or(0, |known| advisor.pairing(known.repeated))
    }

    /// The pairing that it wants if others may know of other neighbors, or do not know their pairing.
    pub(super) fn pairing_among_others<C: Comm>(&self, advisor: &impl Advisor<C>) -> i32 {
        match self.neighbors {
            // Its parts are alike.
            Some(known) if self.vertices.is_none() => advisor.pairing(known.repeated),
            Some(_) => advisor.pairing(&|| true),
            None => 0,
        }
    }

    /// The color of this rank on a communicator of `size` processes.
    pub(super) fn color(&self, size: i32, host_graph: bool, pairing: i32) -> i32 {
        if self.fault.is_some() {
            return AT_FAULT;
        }
        let request = self.request.unwrap_or_default();
        let way = self.way();
        let [_, arguments] = self.shared.digests();
        let own_settings = [request.permission_rank() as i32, request.settings.reporting.into()];
        let digest = Digest::default()
            .number(arguments)
            .array(&[way.map_or(-1, |way| way as i32)])
            .array(&own_settings)
            .array(&[pairing])
            .number(request.settings.check.bits() as u64)
            .finish();
        DIGESTS
            + ((self.call_sequence(size, host_graph) << DIGEST_BITS)
                | (digest as i32 & ((1 << DIGEST_BITS) - 1)))
    }

    /// Encodes the calls on the communicator that follow the split, with `host_graph` for those of neighborhood
    /// collectives: ranks whose sequences differ never have one color. A number below [`CALL_SEQUENCES`].
    fn call_sequence(&self, size: i32, host_graph: bool) -> i32 {
        let request = self.request.unwrap_or_default();
        let parts = match (self.shared.function, self.vertices) {
            (Function::CartCreate, Some(vertices)) if vertices == size => 0,
            (Function::CartCreate, _) => 1,
            (Function::GraphCreate, Some(0)) => 2,
            (Function::GraphCreate, Some(vertices)) if vertices == size => 3,
            (Function::GraphCreate, _) => 4,
            (Function::DistGraphCreate, _) => 5,
            (Function::DistGraphCreateAdjacent, _) if !request.settings.check.has(Rule::Edges) => 6,
            (Function::DistGraphCreateAdjacent, _) => 7,
            (Function::CartSub, _) => unreachable!("it splits by its parts"),
        };
        4 * parts + 2 * i32::from(host_graph) + i32::from(request.needs_broadcast())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::check::Check;
    use crate::engine::decision::CallSettings;

    /// The colors of a call with each number of vertices, either kind of collectives, and settings and choices that
    /// lead to other calls or another result.
    #[test]
    fn different_arguments_have_different_colors() {
        let mut colors = Vec::new();
        let functions = [
            (Function::CartCreate, &[Some(4), Some(3)][..]),
            (Function::GraphCreate, &[Some(0), Some(4), Some(3)]),
            (Function::DistGraphCreate, &[Some(4)]),
            (Function::DistGraphCreateAdjacent, &[Some(4)]),
        ];
        for (function, sizes) in functions {
            for (vertices, bits) in sizes.iter().flat_map(|size| (0..8).map(move |b| (*size, b))) {
                let bit = |at: i32| bits >> at & 1 == 1;
                let settings = CallSettings {
                    reporting: bit(0),
                    check: if bit(1) {
                        Check::default().with(Rule::Edges)
                    } else {
                        Check::default()
                    },
                    ..CallSettings::default()
                };
                let request = Some(ReorderRequest { settings, ..ReorderRequest::default() });
                for chosen in [None, Some(0), Some(1)] {
                    let choice = Some(Choice {
                        argument: "weights",
                        ways: ["one", "the other"],
                        chosen,
                        tolerated: false,
                    });
                    let shared = Shared { function, arguments: &[] };
                    let contribution = Contribution {
                        fault: None,
                        shared,
                        vertices,
                        request,
                        choice,
                        neighbors: None,
                    };
                    let sequence = contribution.call_sequence(4, bit(2));
                    assert!((0..CALL_SEQUENCES).contains(&sequence), "{sequence}");
                    colors.push(contribution.color(4, bit(2), 0));
                }
            }
        }
        assert!(colors.iter().all(|color| *color >= DIGESTS));
        let count = colors.len();
        colors.sort_unstable();
        colors.dedup();
        assert_eq!(colors.len(), count);
    }
}
