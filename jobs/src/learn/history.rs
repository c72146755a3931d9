//! The runs of an entry as evidence: which of them may be compared.

use cartograph_shim::splitmix::mix;

use super::entry::{Entry, Past};
use super::evidence::{COMPARED, median_times};
use super::kind::ALIKE;
use super::measure::{Run, lower_median};
use super::spent::{Cost, Spent};

/// The most runs on each side from which the gain of a run is estimated: the machine may have changed meanwhile.
const BESIDE: usize = 5;

/// A placement of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The kind of work that it was made for.
    pub kind: u32,
    /// The order, never empty.
    pub order: String,
}

impl Placement {
    fn is_of(&self, run: &Past) -> bool {
        (self.kind, &self.order) == (run.made_for, &run.order)
    }
}

impl Entry {
    /// The runs of a kind on nodes of a shape, as evidence: the default order is arm 0, followed by `placements`; runs
    /// in others are omitted.
    pub fn runs_of(&self, kind: u32, shape: u64, placements: &[Placement]) -> Vec<Run> {
        let mut runs = self.runs_everywhere(kind, shape, placements);
        runs.retain(|run| run.shape == shape);
        runs
    }

    /// Like `runs_of`, but also with the runs on nodes of other shapes, where every placement counts as the first.
    pub fn runs_everywhere(&self, kind: u32, shape: u64, placements: &[Placement]) -> Vec<Run> {
        let groups = self.groups(kind);
        let all = self.runs.iter().filter(|run| run.kind == kind && !run.is_first);
        let runs = all.filter_map(|run| {
            let arm = match &run.order[..] {
                "" => 0,
                _ if run.shape != shape => 1,
                _ => placements.iter().position(|placement| placement.is_of(run))? + 1,
            };
            Some(Run {
                arm,
                group: group(&groups, run.units),
                shape: run.shape,
                seconds: run.seconds / run.units,
            })
        });
        runs.collect()
    }

    /// The runs of all kinds on all nodes in the default order and in a placement, as arms 0 and 1. Those of one kind
    /// and shape form a group.
    pub fn runs_in(&self, placement: &Placement) -> Vec<Run> {
        self.kinds.iter().flat_map(|kind| self.runs_of_kind(kind.id, placement)).collect()
    }

    /// The runs of a kind among these.
    pub fn runs_of_kind(&self, kind: u32, placement: &Placement) -> Vec<Run> {
        let own = self.runs.iter().filter(|run| run.nodes > 0);
        let mut shapes: Vec<u64> = own.map(|run| run.shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let on = |shape: u64| {
            let runs = self.runs_of(kind, shape, std::slice::from_ref(placement));
            let group = move |of: u64| mix(mix(shape ^ of) ^ u64::from(kind));
            runs.into_iter().map(move |run| Run { group: group(run.group), ..run })
        };
        shapes.into_iter().flat_map(on).collect()
    }

    /// The placements in which runs were completed.
    pub fn placements(&self) -> Vec<Placement> {
        let mut all: Vec<Placement> = Vec::new();
        for run in self.runs.iter().filter(|run| !run.order.is_empty()) {
            if !all.iter().any(|known| known.is_of(run)) {
                all.push(Placement { kind: run.made_for, order: run.order.clone() });
            }
        }
        all
    }

    /// The different lengths of a kind's runs, in units of its first run, that occurred more than once. All other runs
    /// are one group, since their times would be compared with nothing.
    fn groups(&self, kind: u32) -> Vec<f64> {
        let mut found: Vec<(f64, usize)> = Vec::new();
        for run in self.runs.iter().filter(|run| run.kind == kind) {
            match found.iter_mut().find(|(units, _)| are_close(*units, run.units)) {
                Some((_, count)) => *count += 1,
                None => found.push((run.units, 1)),
            }
        }
        found.into_iter().filter(|(_, count)| *count > 1).map(|(units, _)| units).collect()
    }

    /// The predicted and measured gains of a kind on nodes of other shapes.
    pub fn experience(&self, kind: u32, shape: u64) -> Vec<(f64, f64)> {
        let mut seen: Vec<(u64, Placement, f64)> = Vec::new();
        let of = |run: &&Past| run.kind == kind && run.shape != shape && !run.order.is_empty();
        for run in self.runs.iter().filter(of) {
            if !seen.iter().any(|(shape, known, _)| *shape == run.shape && known.is_of(run)) {
                let placement = Placement { kind: run.made_for, order: run.order.clone() };
                seen.push((run.shape, placement, run.predicted));
            }
        }
        let found = seen.into_iter().filter_map(|(shape, placement, predicted)| {
            Some((predicted, median_times(&self.runs_of(kind, shape, &[placement]), 1)?))
        });
        found.collect()
    }

    /// The node-hours that placements saved and lost in all runs.
    pub fn hours(&self) -> (f64, f64) {
        let kinds = self.kinds.iter().map(|kind| self.hours_of_kind(kind.id));
        kinds.fold((self.totals.saved, self.totals.lost), |(saved, lost), of| {
            (saved + of.0, lost + of.1)
        })
    }

    /// The hours of a kind among these, without those of runs that are no longer kept.
    pub fn hours_of_kind(&self, kind: u32) -> (f64, f64) {
        let all = (0..self.runs.len()).filter(|at| self.runs[*at].kind == kind);
        all.map(|at| self.hours_of(at)).fold((0.0, 0.0), |(saved, lost), hours| {
            (saved + hours.max(0.0), lost + (-hours).max(0.0))
        })
    }

    /// The node-hours that a run saved by its placement, or lost if negative: 0 if it cannot be compared, and for
    /// savings, if there are too few runs.
    pub(super) fn hours_of(&self, at: usize) -> f64 {
        let run = &self.runs[at];
        let Some(Compared { own, placed, is_sure }) = self.compared(at, false) else { return 0.0 };
        let ahead = run.seconds * (own / placed - 1.0);
        if ahead > 0.0 && !is_sure { 0.0 } else { ahead / 3600.0 * f64::from(run.nodes) }
    }

    /// The times around a run in its placement; `None` for a run in the default order, or if there are none to compare.
    fn compared(&self, at: usize, on_all_nodes: bool) -> Option<Compared> {
        let run = self.runs.get(at).filter(|run| !run.order.is_empty())?;
        let own = self.beside(at, on_all_nodes, |other| other.order.is_empty());
        let mut placed = self.beside(at, on_all_nodes, |other| {
            (run.made_for, &run.order) == (other.made_for, &other.order)
        });
        if run.is_first {
            placed.push(run.seconds / run.units);
        }
        let is_sure = own.len().min(placed.len()) >= COMPARED;
        Some(Compared { own: lower_median(&own)?, placed: lower_median(&placed)?, is_sure })
    }

    /// The times of the nearest runs of some placement that did the same work, before and after a run.
    fn beside(&self, at: usize, on_all_nodes: bool, is_of: impl Fn(&Past) -> bool) -> Vec<f64> {
        let run = &self.runs[at];
        let is_alike = |other: &&Past| {
            run.kind == other.kind
                && (on_all_nodes || run.shape == other.shape)
                && !other.is_first
                && are_close(run.units, other.units)
                && is_of(other)
        };
        let (before, after) = self.runs.split_at(at);
        let before = before.iter().rev().filter(is_alike).take(BESIDE);
        let after = after.iter().filter(is_alike).take(BESIDE);
        before.chain(after).map(|run| run.seconds / run.units).collect()
    }

    /// True if a kind's first run was in the default order on nodes of this shape.
    pub(super) fn is_first_on(&self, kind: u32, shape: u64) -> bool {
        let first = self.runs.iter().find(|run| run.kind == kind && run.is_first);
        first.is_some_and(|first| first.shape == shape && first.order.is_empty())
    }

    /// The time that placements cost so far, with those of the program's jobs with other numbers of processes.
    pub(super) fn spent(&self, others: &[Self]) -> Spent {
        let mut costs: Vec<(u64, Cost)> =
            std::iter::once(self).chain(others).flat_map(Self::costs).collect();
        costs.sort_by_key(|(ended, _)| *ended);
        Spent::new(&costs.into_iter().map(|(_, cost)| cost).collect::<Vec<Cost>>())
    }

    /// The end and the cost of each run. A placement without runs to compare on nodes of its shape is compared on nodes of
    /// other shapes.
    fn costs(&self) -> Vec<(u64, Cost)> {
        let cost = |at: usize| {
            let Past { seconds, units, order, .. } = &self.runs[at];
            if let Some(found) = self.compared(at, false).or_else(|| self.compared(at, true)) {
                let bare = seconds * found.own / found.placed;
                return Cost { bare, more: seconds - bare, is_check: false, is_uncompared: false };
            }
            let is_check = order.is_empty();
            let placed = if is_check {
                self.beside(at, false, |other| !other.order.is_empty())
            } else {
                Vec::new()
            };
            let more = lower_median(&placed).map_or(0.0, |placed| seconds - placed * units);
            Cost { bare: *seconds, more: more.max(0.0), is_check, is_uncompared: !is_check }
        };
        let own = (0..self.runs.len()).filter(|at| self.runs[*at].nodes > 0);
        own.map(|at| (self.runs[at].ended, cost(at))).collect()
    }
}

/// The median times per unit of work around a run.
pub(super) struct Compared {
    /// In the default order.
    own: f64,
    /// In the run's placement.
    placed: f64,
    /// True if both have enough runs.
    is_sure: bool,
}

/// The group of runs of this length.
fn group(groups: &[f64], units: f64) -> u64 {
    groups.iter().position(|known| are_close(*known, units)).map_or(u64::MAX, |at| at as u64)
}

/// True if two runs have the same length.
fn are_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= ALIKE * one.max(other)
}

#[cfg(test)]
mod tests;
