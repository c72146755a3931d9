//! The kinds of work that a program does with its inputs: which ranks exchange bytes, told by one weighted sum per rank.

use cartograph_traffic::{WEIGHTS, Work};
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::traffic::Traffic;

/// The most kinds; the least recently used one is forgotten.
const MOST_KINDS: usize = 16;

/// The most inputs of a kind.
const MOST_DIGESTS: usize = 50;

/// The most bytes of an entry, and the bytes of each process in larger jobs.
const MOST_BYTES: usize = 1_000_000;
const MOST_OF_PROCESS: usize = 100;

/// Runs did the same work if their numbers of messages, bytes and collectives differ by no more than this fraction, and
/// no more of all bytes went to other ranks: programs that iterate until convergence do not always take the same number
/// of steps.
pub(super) const ALIKE: f64 = 0.02;

/// Runs of one pattern may have different lengths, but as many bytes per message, and about as many collectives.
const PROPORTIONAL: f64 = 0.05;
const SOME_COLLECTIVES: f64 = 0.25;

/// The parts of a rank's mean bytes in which a pattern is stored.
const PARTS: f64 = 512.0;

/// An input is no longer of a kind after this number of its jobs of another kind.
const MISSES: u32 = 20;

/// An unknown input is assumed to be of the only kind after this number of others.
const SAME_KIND: usize = 3;

/// With this number of kinds, an unknown input may take a placement that is best for all of them.
const ALL_KINDS: usize = 3;

/// A kind of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// Its number, which is not used again.
    pub id: u32,
    /// The work of its first run; that of another run is a multiple of it.
    pub(super) work: Work,
    /// The weighted sums of bytes of all ranks, in [`PARTS`] of a rank's mean bytes; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pattern: Vec<i32>,
    /// The traffic, once a run of it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// The digests of its inputs, each with the number of jobs of another kind that had it since.
    #[serde(default)]
    pub(super) digests: Vec<(u64, u32)>,
    /// The program's number of runs at its last run.
    #[serde(default)]
    pub(super) last: u64,
}

/// What a run did.
#[derive(Debug, Clone, Default)]
pub struct Seen<'a> {
    /// Its messages, bytes and collectives.
    pub work: Work,
    /// For each rank, the sum of its bytes weighted by [`cartograph_traffic::partner_weight`]; empty if unknown.
    pub sums: &'a [i64],
    /// The digest of its arguments and inputs, if known.
    pub digest: Option<u64>,
    /// Its traffic, if that was recorded.
    pub traffic: Option<Traffic>,
}

/// The kind of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noted {
    /// The kind.
    pub kind: u32,
    /// Its work relative to that of the kind's first run.
    pub units: f64,
    /// True if no earlier run was of this kind.
    pub is_new: bool,
    /// True if the traffic of this run became that of the kind.
    pub is_recorded: bool,
}

/// The kinds of work that the next job may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guess {
    /// The kinds. If there are none, the job is to be recorded in the default order.
    pub kinds: Vec<u32>,
    /// True if the input is known. Otherwise, the job is to be recorded if it runs in the default order.
    pub is_known: bool,
}

impl Entry {
    /// The kind with this number.
    pub fn kind(&self, id: u32) -> Option<&Kind> {
        self.kinds.iter().find(|kind| kind.id == id)
    }

    /// Guesses the kind of the next job from the digest of its arguments and inputs.
    pub fn guess(&self, digest: Option<u64>) -> Guess {
        let had = |kind: &&Kind| kind.digests.iter().any(|(known, _)| Some(*known) == digest);
        let known: Vec<&Kind> = self.kinds.iter().filter(had).collect();
        let is_known = !known.is_empty();
        let may_be = match &self.kinds[..] {
            _ if is_known => known,
            // `cartograph tune`, and earlier versions, note no inputs.
            [only] if only.digests.is_empty() || only.digests.len() >= SAME_KIND => vec![only],
            all if all.len() >= ALL_KINDS => all.iter().collect(),
            _ => Vec::new(),
        };
        if may_be.iter().any(|kind| kind.traffic.is_none()) {
            return Guess { kinds: Vec::new(), is_known };
        }
        let is_known = is_known || may_be.len() == 1;
        Guess { kinds: may_be.into_iter().map(|kind| kind.id).collect(), is_known }
    }

    /// Notes the kind of a completed run, which is added if it is new. Without weighted sums, it is one of the guessed
    /// kinds rather than another with as much work.
    pub fn note(&mut self, seen: Seen<'_>, guess: &Guess) -> Noted {
        let Seen { work, sums, digest, traffic } = seen;
        let pattern = pattern(sums, work.bytes);
        let (guessed, others): (Vec<usize>, Vec<usize>) =
            (0..self.kinds.len()).partition(|at| guess.kinds.contains(&self.kinds[*at].id));
        let only = guessed.first().copied().filter(|_| guessed.len() == 1);
        // The recorder may have stopped itself.
        let found = only.filter(|_| work == Work::default()).or_else(|| {
            let guessed = guessed.into_iter().map(|at| (at, true));
            let mut all = guessed.chain(others.into_iter().map(|at| (at, false)));
            all.find(|(at, is_guessed)| self.kinds[*at].did(&work, &pattern, *is_guessed))
                .map(|(at, _)| at)
        });
        let at = found.unwrap_or_else(|| {
            let id = self.kinds.iter().map(|kind| kind.id + 1).max().unwrap_or(0).max(self.next_id);
            self.next_id = id.saturating_add(1);
            self.kinds.push(Kind::new(id, work));
            self.kinds.len() - 1
        });
        let kind = &mut self.kinds[at];
        if kind.pattern.is_empty() {
            kind.pattern = pattern;
        }
        let is_recorded = kind.traffic.is_none() && traffic.is_some();
        if is_recorded {
            kind.traffic = traffic;
        }
        kind.last = self.totals.runs;
        let (id, units) = (kind.id, units(&work, &kind.work));
        if let Some(digest) = digest {
            self.note_input(id, digest);
        }
        if found.is_none() || is_recorded {
            self.fit(id);
        }
        Noted { kind: id, units, is_new: found.is_none(), is_recorded }
    }

    fn note_input(&mut self, id: u32, digest: u64) {
        for kind in &mut self.kinds {
            let known = kind.digests.iter_mut().find(|(known, _)| *known == digest);
            match known {
                Some((_, missed)) => *missed = if kind.id == id { 0 } else { *missed + 1 },
                None if kind.id == id => kind.digests.push((digest, 0)),
                None => {}
            }
            kind.digests.retain(|(_, missed)| *missed < MISSES);
            if kind.digests.len() > MOST_DIGESTS {
                kind.digests.remove(0);
            }
        }
    }

    /// Forgets the least recently used kinds until the entry is small enough.
    pub(super) fn fit(&mut self, keep: u32) {
        let most = MOST_BYTES.max(self.processes as usize * MOST_OF_PROCESS);
        while self.kinds.len() > MOST_KINDS || self.json().len() > most {
            let old = self.kinds.iter().filter(|kind| kind.id != keep);
            let Some(old) = old.min_by_key(|kind| kind.last).map(|kind| kind.id) else { return };
            self.kinds.retain(|kind| kind.id != old);
            self.forget_runs_of(old);
        }
    }
}

impl Kind {
    pub(super) fn new(id: u32, work: Work) -> Self {
        Self { id, work, pattern: Vec::new(), traffic: None, digests: Vec::new(), last: 0 }
    }

    /// True if a run did this kind of work: the same, or if that is likely by its pattern or by a guess, a multiple.
    fn did(&self, work: &Work, pattern: &[i32], is_guessed: bool) -> bool {
        let is_multiple = || are_proportional(&self.work, work);
        match self.pattern.is_empty() || pattern.is_empty() {
            true => are_alike(&self.work, work) || (is_guessed && is_multiple()),
            false => is_multiple() && moved(&self.pattern, pattern) <= ALIKE,
        }
    }
}

/// The weighted sums of all ranks relative to all bytes.
pub(super) fn pattern(sums: &[i64], bytes: u64) -> Vec<i32> {
    if bytes == 0 {
        return Vec::new();
    }
    let part = sums.len() as f64 * PARTS / (bytes as f64 * WEIGHTS as f64);
    sums.iter().map(|sum| (*sum as f64 * part).round() as i32).collect()
}

/// The fraction of all bytes that went to other ranks: the weights of two ranks differ by a third of their range.
fn moved(one: &[i32], other: &[i32]) -> f64 {
    if one.len() != other.len() {
        return f64::INFINITY;
    }
    let apart: u64 =
        one.iter().zip(other).map(|(one, other)| u64::from(one.abs_diff(*other))).sum();
    3.0 * apart as f64 / (PARTS * one.len().max(1) as f64)
}

/// True if two numbers differ by no more than this fraction.
fn are_close(one: f64, other: f64, part: f64) -> bool {
    (one - other).abs() <= part * one.max(other)
}

/// True if two runs did the same work, within the usual variation.
fn are_alike(one: &Work, other: &Work) -> bool {
    let close = |one: u64, other: u64| are_close(one as f64, other as f64, ALIKE);
    close(one.messages, other.messages)
        && close(one.bytes, other.bytes)
        && close(one.collectives, other.collectives)
}

/// True if a run did a multiple of the work of another.
fn are_proportional(one: &Work, other: &Work) -> bool {
    let units = units(other, one);
    let close = |one: u64, other: u64, part| are_close(one as f64 * units, other as f64, part);
    close(one.messages, other.messages, PROPORTIONAL)
        && close(one.bytes, other.bytes, PROPORTIONAL)
        && close(one.collectives, other.collectives, SOME_COLLECTIVES)
}

/// The work of a run in units of another.
fn units(run: &Work, unit: &Work) -> f64 {
    let all = [(run.bytes, unit.bytes), (run.messages, unit.messages)];
    let all = all.into_iter().chain([(run.collectives, unit.collectives)]);
    let ratio = { all }.find(|(one, other)| *one > 0 && *other > 0);
    ratio.map_or(1.0, |(one, other)| one as f64 / other as f64)
}

#[cfg(test)]
mod tests;
