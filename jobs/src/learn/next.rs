//! The placement of a program's next job.

use super::entry::Entry;
use super::evidence::{COMPARED, median_times};
use super::guess::Guess;
use super::history::Placement;
use super::policy::{self, Choice, Conditions, Known, Reason};

/// A placement for several kinds of work may not be slower than this in any of them.
const NEVER_SLOWER: f64 = 0.98;

impl Entry {
    /// Chooses the placement of the next job: one of `candidates`, with their predicted gains, as arms 1 and up, or the
    /// default order. For a job that may be of several kinds, this is the placement that is best for the kind that it
    /// suits least, if it is measured in all of them and slower in none. `others` are the program's entries for other
    /// numbers of processes.
    pub fn choose(
        &self,
        others: &[Self],
        guess: &Guess,
        candidates: &[(Placement, f64)],
        conditions: &Conditions,
    ) -> Choice {
        if let [kind] = guess.kinds[..] {
            let placements: Vec<Placement> =
                candidates.iter().map(|(one, _)| one.clone()).collect();
            let predicted = candidates.iter().map(|(_, predicted)| *predicted);
            let predicted: Vec<f64> = std::iter::once(1.0).chain(predicted).collect();
            let known = Known {
                predicted: &predicted,
                runs: &self.runs_everywhere(kind, conditions.shape, &placements),
                experience: &self.experience_with(others, kind, conditions.shape),
                is_first_here: self.is_first_on(kind, conditions.shape),
                spent: self.spent(others),
                is_uncompared_here: self.spent(&[]).is_uncompared,
                is_changed: false,
            };
            return policy::choose(&known, conditions);
        }
        let least = |(placement, _): &(Placement, f64)| {
            let gains = guess.kinds.iter().map(|kind| {
                let runs = self.runs_of(*kind, conditions.shape, std::slice::from_ref(placement));
                let count = |arm: usize| runs.iter().filter(|run| run.arm == arm).count();
                median_times(&runs, 1).filter(|_| count(0).min(count(1)) >= COMPARED).unwrap_or(0.0)
            });
            gains.fold(f64::INFINITY, f64::min)
        };
        let all = candidates.iter().map(least).enumerate();
        let best = all.filter(|(_, gain)| gain.is_finite() && *gain >= NEVER_SLOWER);
        match best.max_by(|(_, one), (_, other)| one.total_cmp(other)) {
            Some((at, expected)) => {
                Choice { arm: at + 1, reason: Reason::Best, best: at + 1, expected }
            }
            None => Choice { arm: 0, reason: Reason::Check, best: 0, expected: 1.0 },
        }
    }
}
