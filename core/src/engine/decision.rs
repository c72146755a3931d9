//! Decides whether a constructor reorders ranks: by the user's settings, the call's arguments, and whether the program
//! is known to follow its new ranks.

use super::advisor::{Advisor, MachineKnowledge};
use super::check::Check;
use super::comm::Comm;
use super::policy::Reorder;
use super::reason::Reason;
use super::survey::needs_survey;
use crate::mapping::Options;

/// The settings of one process for a constructor. If ranks differ, the most cautious [`Reorder`] counts, and otherwise
/// the settings of rank 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CallSettings {
    /// The constructors that may reorder ranks.
    pub reorder: Reorder,
    /// `cartograph_reorder` in the info of the call, if set.
    pub info: Option<bool>,
    /// True if a report was requested, so that rank 0 makes a plan even if ranks must be kept.
    pub reporting: bool,
    /// The rules whose violation is an error.
    pub check: Check,
    /// Options of the search for mappings.
    pub options: Options,
}

/// The arguments of one process to a constructor about reordering.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ReorderRequest {
    /// The argument `reorder`.
    pub reorder: bool,
    /// True if the constructor is one of distributed graphs.
    pub distributed: bool,
    /// True if the old communicator has a topology.
    pub has_topology: bool,
    /// The settings from the environment and the info.
    pub settings: CallSettings,
}

/// A rank's decision about reordering in a call, the most cautious first. The call is the same on all ranks, so the
/// least of these is the decision of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Permission {
    Off,
    Refused,
    NotAsked,
    NotConfirmed,
    /// The program is not known to follow its new ranks.
    Unknown,
    /// The old communicator has a topology.
    InPlace,
    /// Reordering is allowed unless the processes already have ranks in a topology.
    Granted,
    /// Reordering is allowed even then.
    Insisted,
}

impl Permission {
    const ALL: [Self; 8] = [
        Self::Off,
        Self::Refused,
        Self::NotAsked,
        Self::NotConfirmed,
        Self::Unknown,
        Self::InPlace,
        Self::Granted,
        Self::Insisted,
    ];
}

/// The decision of rank 0, as a number: these flags, and in the two bits at `KNOWLEDGE` a [`MachineKnowledge`].
const REPORTING: i64 = 1;
const SCRAMBLE: i64 = 2;
const KNOWLEDGE: u32 = 2;
const SURVEY: i64 = 16;

impl ReorderRequest {
    fn permission(&self) -> Permission {
        let Self { reorder, distributed, has_topology, settings } = *self;
        match settings.reorder {
            Reorder::Off => Permission::Off,
            _ if settings.info == Some(false) => Permission::Refused,
            Reorder::Always => Permission::Insisted,
            _ if !reorder => Permission::NotAsked,
            _ if settings.info == Some(true) => Permission::Insisted,
            Reorder::All => Permission::Insisted,
            Reorder::Known | Reorder::On if distributed => Permission::NotConfirmed,
            Reorder::Known => Permission::Unknown,
            Reorder::On if has_topology => Permission::InPlace,
            Reorder::On => Permission::Granted,
        }
    }

    /// The permission of this rank, as a nonnegative number; the least of all ranks counts.
    pub(super) fn permission_rank(&self) -> i64 {
        self.permission() as i64
    }

    fn may_move(&self) -> bool {
        self.permission() >= Permission::Granted
    }

    /// True if rank 0's decision matters.
    pub(super) fn needs_broadcast(&self) -> bool {
        self.may_move() || self.settings.reporting
    }

    /// Encodes the facts that only rank 0 contributes, as a nonnegative number.
    pub(super) fn encode_root<C: Comm>(&self, advisor: &impl Advisor<C>) -> i64 {
        let survey = || needs_survey(advisor);
        self.encode(|| advisor.knowledge(), survey)
    }

    fn encode(
        &self,
        knowledge: impl FnOnce() -> MachineKnowledge,
        survey: impl FnOnce() -> bool,
    ) -> i64 {
        // Useless facts are not determined, since that takes time.
        let knowledge =
            if self.needs_broadcast() { knowledge() } else { MachineKnowledge::Unknown };
        let scramble = self.may_move() && self.settings.options.scramble.is_some();
        let moving = self.may_move() && (scramble || knowledge != MachineKnowledge::OneNode);
        (if self.settings.reporting { REPORTING } else { 0 })
            | (if scramble { SCRAMBLE } else { 0 })
            | (knowledge as i64) << KNOWLEDGE
            | (if moving && survey() { SURVEY } else { 0 })
    }

    /// Decides for all ranks, if all ranks of `comm` have equal requests: either rank 0 decides and all ranks
    /// [broadcast](Self::needs_broadcast), or no rank does.
    pub(super) fn decide<C: Comm>(
        &self,
        comm: &C,
        advisor: &impl Advisor<C>,
    ) -> Result<ReorderDecision, C::Error> {
        let root = if comm.rank()? == 0 { self.encode_root(advisor) } else { 0 };
        let mut words = [self.permission_rank(), root];
        if self.needs_broadcast() {
            let mut bytes = words.map(i64::to_le_bytes);
            comm.broadcast(0, bytes.as_flattened_mut())?;
            words = bytes.map(i64::from_le_bytes);
        }
        Ok(self.decision(words[0], words[1]))
    }

    /// Decides for a process that cannot ask others, by its own knowledge.
    pub fn decide_alone(&self, knowledge: MachineKnowledge) -> ReorderDecision {
        let root = self.encode(|| knowledge, || false);
        self.decision(self.permission_rank(), root)
    }

    /// Decides by the least [`permission_rank`](Self::permission_rank) of all ranks and rank 0's number for this call.
    pub(super) fn decision(&self, permission_rank: i64, root: i64) -> ReorderDecision {
        let knowledge = root >> KNOWLEDGE & 3;
        let scramble = root & SCRAMBLE != 0;
        let one_node = knowledge == MachineKnowledge::OneNode as i64 && !scramble;
        let permission = Permission::ALL.into_iter().find(|known| *known as i64 == permission_rank);
        let permission = permission.unwrap_or(Permission::Off);
        let kept = match permission {
            Permission::Off => Some(Reason::Off),
            Permission::Refused => Some(Reason::Refused),
            Permission::NotAsked => Some(Reason::NotAsked),
            Permission::NotConfirmed => Some(Reason::NotConfirmed),
            Permission::Unknown => Some(Reason::UnknownProgram),
            Permission::InPlace => Some(Reason::InPlace),
            Permission::Granted | Permission::Insisted => one_node.then_some(Reason::OneNode),
        };
        let moving = kept.is_none();
        let reporting = root & REPORTING != 0;
        ReorderDecision {
            moving,
            planning: moving || reporting,
            reporting,
            scramble: moving && scramble,
            keeps_in_place: permission < Permission::Insisted,
            surveys: moving && root & SURVEY != 0,
            known: knowledge != MachineKnowledge::Unknown as i64,
            kept,
            forced: !self.reorder,
        }
    }
}

/// The decision of a constructor; the same on all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReorderDecision {
    /// True if ranks may be reordered.
    pub moving: bool,
    /// True if rank 0 makes a plan, to reorder ranks or to report the possible gain.
    pub planning: bool,
    pub(super) reporting: bool,
    /// Ranks are reordered at random.
    pub(super) scramble: bool,
    /// True if processes that already have ranks in a topology keep them.
    pub keeps_in_place: bool,
    /// True if rank 0 must ask the others for their identities.
    pub(super) surveys: bool,
    /// What rank 0 knows about the nodes of processes.
    pub(super) known: bool,
    /// Why all ranks are kept; `None` if they may be reordered.
    pub(super) kept: Option<Reason>,
    /// True if the program passed `reorder = 0`, which [`Reorder::Always`] overrules.
    pub(super) forced: bool,
}

impl ReorderDecision {
    /// The decision if ranks passed different arguments: ranks are kept.
    pub(super) fn of_differing_arguments(self) -> Self {
        let kept = self.kept.or(Some(Reason::Differing));
        Self { moving: false, planning: self.reporting, scramble: false, kept, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::policy::Policy;
    use crate::mapping::Scramble;

    #[test]
    fn settings_and_arguments_decide_whether_ranks_move() {
        let [off, unknown, in_place, not_confirmed, refused, not_asked] = [
            Reason::Off,
            Reason::UnknownProgram,
            Reason::InPlace,
            Reason::NotConfirmed,
            Reason::Refused,
            Reason::NotAsked,
        ]
        .map(Some);
        let all = [Reorder::Off, Reorder::Known, Reorder::On, Reorder::All, Reorder::Always];
        let outcomes_of = |reorder, distributed, has_topology, info, scramble| {
            all.map(|policy| {
                let options = Options { scramble, ..Options::default() };
                let settings =
                    CallSettings { reorder: policy, info, options, ..CallSettings::default() };
                let request = ReorderRequest { reorder, distributed, has_topology, settings };
                let root = (MachineKnowledge::Known as i64) << KNOWLEDGE;
                request.decision(request.permission_rank(), root).kept
            })
        };
        let outcomes = |reorder, distributed, info, scramble| {
            outcomes_of(reorder, distributed, false, info, scramble)
        };
        let moved = None;
        for scramble in [None, Some(Scramble { seed: 3, rank_zero: false })] {
            let of_grid = outcomes(true, false, None, scramble);
            assert_eq!(of_grid, [off, unknown, moved, moved, moved]);
            let of_graph = outcomes(true, true, None, scramble);
            assert_eq!(of_graph, [off, not_confirmed, not_confirmed, moved, moved]);
            let chosen = outcomes(true, true, Some(true), scramble);
            assert_eq!(chosen, [off, moved, moved, moved, moved]);
            let forbidden = outcomes(true, true, Some(false), scramble);
            assert_eq!(forbidden, [off, refused, refused, refused, refused]);
            // Processes of a topology are in place.
            let of_topology =
                |distributed, info| outcomes_of(true, distributed, true, info, scramble);
            let of_grid = of_topology(false, None);
            assert_eq!(of_grid, [off, unknown, in_place, moved, moved]);
            let of_graph = of_topology(true, None);
            assert_eq!(of_graph, [off, not_confirmed, not_confirmed, moved, moved]);
            for distributed in [false, true] {
                let chosen = of_topology(distributed, Some(true));
                assert_eq!(chosen, [off, moved, moved, moved, moved]);
                for info in [None, Some(true)] {
                    let zero = outcomes(false, distributed, info, scramble);
                    assert_eq!(zero, [off, not_asked, not_asked, not_asked, moved]);
                }
            }
        }
    }

    #[test]
    fn processes_in_place_are_moved_where_all_ranks_insist() {
        let of = |word: &str| {
            let Policy { reorder, scramble, .. } = word.parse().unwrap();
            let options = Options { scramble, ..Options::default() };
            let settings = CallSettings { reorder, options, ..CallSettings::default() };
            ReorderRequest { reorder: true, settings, ..ReorderRequest::default() }
        };
        let keeps = |word: &str, other: &str| {
            let [own, other] = [of(word), of(other)];
            own.decision(own.permission_rank().min(other.permission_rank()), 0).keeps_in_place
        };
        for word in ["all", "always", "scramble:1"] {
            assert!(!keeps(word, word), "{word}");
            for cautious in ["on", "on,scramble:1"] {
                assert!(keeps(cautious, cautious) && keeps(word, cautious), "{word} {cautious}");
            }
        }
    }

    #[test]
    fn the_decision_of_rank_0_applies_to_all() {
        let request = ReorderRequest { reorder: true, ..ReorderRequest::default() };
        let [off, granted] = [Permission::Off as i64, Permission::Granted as i64];
        let known = |knowledge| (knowledge as i64) << KNOWLEDGE;
        let decided = |permission, root| {
            let made = request.decision(permission, root);
            [made.moving, made.planning, made.reporting, made.scramble, made.known]
        };
        let nodes = known(MachineKnowledge::Known);
        assert_eq!(decided(off, nodes | SCRAMBLE), [false, false, false, false, true]);
        assert_eq!(decided(off, nodes | REPORTING), [false, true, true, false, true]);
        assert_eq!(decided(granted, nodes), [true, true, false, false, true]);
        let unknown = known(MachineKnowledge::Unknown);
        assert_eq!(decided(granted, unknown | SCRAMBLE), [true, true, false, true, false]);
        let one = known(MachineKnowledge::OneNode);
        assert_eq!(decided(granted, one), [false, false, false, false, true]);
        assert_eq!(decided(granted, one | SCRAMBLE), [true, true, false, true, true]);

        // If arguments differ, ranks are kept, even with random reordering.
        let moving = request.decision(granted, nodes | SCRAMBLE);
        let expected = ReorderDecision {
            moving: false,
            planning: false,
            scramble: false,
            kept: Some(Reason::Differing),
            ..moving
        };
        assert_eq!(moving.of_differing_arguments(), expected);
        let told = request.decision(off, nodes | REPORTING);
        assert_eq!(told.of_differing_arguments(), told);
    }

    #[test]
    fn a_known_program_is_reordered_as_with_on() {
        for reorder in [Reorder::Off, Reorder::Known, Reorder::On, Reorder::All, Reorder::Always] {
            assert_eq!(reorder.of_program(|| false), reorder);
            let known = if reorder == Reorder::Known { Reorder::On } else { reorder };
            assert_eq!(reorder.of_program(|| true), known);
        }
        // If that is unknown, ranks do not ask each other.
        let settings = CallSettings::default();
        let request = ReorderRequest { reorder: true, settings, ..ReorderRequest::default() };
        assert!(!request.needs_broadcast());
        let settings = CallSettings { reporting: true, ..settings };
        assert!(ReorderRequest { settings, ..request }.needs_broadcast());
    }
}
