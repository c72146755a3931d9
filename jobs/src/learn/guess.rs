//! The kinds of work of a program: that of the next job is guessed from its input, that of a completed one is noted.

use cartograph_traffic::Work;

use super::entry::{Build, Entry, of_build};
use super::kind::{Kind, pattern, units};
use super::traffic::Traffic;

/// The most kinds; the least recently used one is forgotten.
const MOST_KINDS: usize = 16;

/// The most inputs of a kind.
const MOST_DIGESTS: usize = 50;

/// The most bytes of an entry, and the bytes of each process in larger jobs.
const MOST_BYTES: usize = 1_000_000;
const MOST_OF_PROCESS: usize = 100;

/// An input is no longer of a kind after this number of its jobs of another kind.
const MISSES: u32 = 20;

/// An unknown input is assumed to be of the only kind after this number of other inputs.
const SAME_KIND: usize = 3;

/// With this number of kinds, an unknown input may take a placement that is best for all of them.
const ALL_KINDS: usize = 3;

/// What a run did.
#[derive(Debug, Clone, Default)]
pub struct Seen<'a> {
    /// Its messages, bytes and collectives.
    pub work: Work,
    /// For each rank, the sum of its bytes weighted by [`cartograph_traffic::partner_weight`]; empty if unknown.
    pub sums: &'a [i64],
    /// The digest of its arguments and inputs, if known.
    pub digest: Option<u64>,
    /// Its build.
    pub build: Build,
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

    /// Guesses the kind of the next job from the digest of its arguments and inputs: from jobs of its build, otherwise
    /// from those of earlier builds. A program of the same name with another path may be another program.
    pub fn guess(&self, digest: Option<u64>, build: Build) -> Guess {
        if !self.has_built(build) && !self.origins.is_empty() {
            return Guess::default();
        }
        let with = |digests: fn(&Kind) -> &[(u64, u32)], wanted: u64| -> Vec<&Kind> {
            let had = |kind: &&Kind| digests(kind).iter().any(|(known, _)| *known == wanted);
            self.kinds.iter().filter(had).collect()
        };
        let mut known = Vec::new();
        if let Some(digest) = digest {
            known = with(|kind| &kind.of_builds, of_build(digest, build.id));
            if known.is_empty() {
                known = with(|kind| &kind.digests, digest);
            }
        }
        let is_known = !known.is_empty();
        let may_be = match &self.kinds[..] {
            _ if is_known => known,
            // `cartograph tune` notes no inputs.
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
        let Seen { work, sums, digest, build, traffic } = seen;
        self.note_build(build);
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
            note_input(&mut self.kinds, |kind| &mut kind.digests, id, digest);
            note_input(&mut self.kinds, |kind| &mut kind.of_builds, id, of_build(digest, build.id));
        }
        if found.is_none() || is_recorded {
            self.fit(id);
        }
        Noted { kind: id, units, is_new: found.is_none(), is_recorded }
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

/// Notes the digest of an input among those of its kind.
fn note_input(
    kinds: &mut [Kind],
    digests: fn(&mut Kind) -> &mut Vec<(u64, u32)>,
    id: u32,
    digest: u64,
) {
    for kind in kinds {
        let is_own = kind.id == id;
        let known = digests(kind);
        let at = known.iter().position(|(known, _)| *known == digest);
        match at {
            // The last to be forgotten.
            _ if is_own => {
                at.map(|at| known.remove(at));
                known.push((digest, 0));
            }
            Some(at) => known[at].1 += 1,
            None => {}
        }
        known.retain(|(_, missed)| *missed < MISSES);
        if known.len() > MOST_DIGESTS {
            known.remove(0);
        }
    }
}

#[cfg(test)]
mod tests;
