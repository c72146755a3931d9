//! The jobs of a simulated program, one after the other.

use std::collections::BTreeMap;

use cartograph_jobs::learn::{
    Conditions, Entry, Guess, LEAST_PREDICTED, Past, Placement, Seen, Traffic, WINDOW, claimed,
};

use super::program::{Chance, Job, Program, RANKS};

/// A history.
#[derive(Debug, Clone, Copy, Default)]
pub struct History {
    /// The savings from the 11th job on, summed as fractions of the time of each job in the default order.
    pub saved: f64,
    /// The possible savings.
    pub could_save: f64,
    /// The largest fraction of the time of any 20 jobs in the default order that was lost to slower placements.
    pub lost: f64,
    /// The fraction of the time in the default order by which jobs from the 21st on were slower; negative if faster.
    pub slower: f64,
    /// True if an arm was reported as faster but is not.
    pub is_wrong: bool,
    /// True if an arm was rightly reported as faster.
    pub is_right: bool,
}

/// The times of a job without disturbances, which are the same in all placements.
#[derive(Debug, Clone, Copy)]
struct Times {
    /// In the default order.
    own: f64,
    /// In the chosen placement.
    chosen: f64,
    /// In the fastest one.
    best: f64,
}

/// The placement of a job, with its predicted speed; `None` for the default order.
type Chosen = Option<(Placement, f64)>;

/// The jobs that a program has had.
struct Jobs<'a> {
    program: &'a Program,
    seed: u64,
    chance: Chance,
    /// The entry of each number of processes.
    entries: BTreeMap<usize, Entry>,
    /// The kind of the other pattern.
    other: Option<u32>,
}

impl Program {
    /// Simulates this number of jobs.
    pub fn jobs(&self, count: usize, seed: u64) -> History {
        let (chance, entries) = (Chance::new(seed), BTreeMap::new());
        let mut jobs = Jobs { program: self, seed, chance, entries, other: None };
        let mut found = History::default();
        for number in 0..self.others {
            jobs.run(number, &mut found);
        }
        jobs.entries = jobs.entries.into_iter().map(|(size, it)| (size, it.of_others())).collect();
        found = History::default();
        let own = self.others..self.others + count;
        let times: Vec<Times> = own.map(|number| jobs.run(number, &mut found)).collect();
        let sum = |times: &[Times], of: fn(&Times) -> f64| times.iter().map(of).sum::<f64>();
        let late = |from: usize| &times[from.min(count)..];
        found.saved = sum(late(10), |job| 1.0 - job.chosen / job.own);
        found.could_save = sum(late(10), |job| 1.0 - job.best / job.own);
        let lost = |window: &[Times]| {
            sum(window, |job| (job.chosen - job.own).max(0.0)) / sum(window, |job| job.own)
        };
        found.lost = times.windows(WINDOW).map(lost).fold(0.0, f64::max);
        found.slower = sum(late(20), |job| job.chosen) / sum(late(20), |job| job.own) - 1.0;
        found
    }
}

impl Jobs<'_> {
    /// Runs the next job, and finds out whether an arm is then reported as faster.
    fn run(&mut self, number: usize, found: &mut History) -> Times {
        let job = self.program.job(number, &mut self.chance);
        let (.., digest) = self.program.recording(job);
        let size = self.size(job);
        let guess = |entry: &Entry| entry.guess(Some(digest), self.program.build(job));
        let others = self.entries.iter().filter(|(other, _)| **other != size);
        let others: Vec<Entry> = others.map(|(_, entry)| entry.clone()).collect();
        let (guess, chosen) = match (self.entries.get(&size), others.first()) {
            (Some(entry), _) => {
                let guess = guess(entry);
                let chosen = self.choose((entry, &others), &guess, job);
                (guess, chosen)
            }
            // Since the job's own messages are unknown, a smaller gain is not trusted.
            (None, Some(other)) => {
                let mut predicted = other.clone().of_others();
                predicted.runs.clear();
                let chosen = self.choose((&predicted, &others), &guess(&predicted), job);
                (Guess::default(), chosen.filter(|(_, predicted)| *predicted >= LEAST_PREDICTED))
            }
            (None, None) => (Guess::default(), None),
        };
        let times = self.times(&chosen, job);
        let kind = self.learn(&guess, chosen, times.chosen, job);
        self.claim(kind, job, found);
        times
    }

    /// A number for the nodes and the build of a job.
    fn shape(&self, job: Job) -> u64 {
        self.program.build(job).id << 32 | job.shape as u64
    }

    /// The number that stands for a job's number of processes.
    fn size(&self, job: Job) -> usize {
        if self.program.is_sized { job.shape } else { 0 }
    }

    /// The placement of a job.
    fn choose(&self, (entry, others): (&Entry, &[Entry]), guess: &Guess, job: Job) -> Chosen {
        if guess.kinds.is_empty() {
            return None;
        }
        let arms = 1..self.program.predicted.len();
        let all = guess.kinds.iter().flat_map(|kind| arms.clone().map(move |arm| (*kind, arm)));
        let candidate = |(kind, arm): (u32, usize)| {
            let predicted = self.program.predicted(arm, job.shape);
            (Placement { kind, order: arm.to_string() }, predicted)
        };
        let candidates: Vec<(Placement, f64)> = all.map(candidate).collect();
        let conditions = Conditions { seed: self.seed, shape: self.shape(job), in_a_hurry: false };
        let choice = entry.choose(others, guess, &candidates, &conditions);
        choice.arm.checked_sub(1).map(|at| candidates[at].clone())
    }

    fn times(&self, chosen: &Chosen, job: Job) -> Times {
        let program = self.program;
        let own = program.expected(job);
        let order = chosen.as_ref().map(|(placement, _)| placement);
        let arm = order.map_or(0, |placement| placement.order.parse().unwrap_or(0));
        let is_for_other = order.is_some_and(|placement| self.other == Some(placement.kind));
        let arms = 0..program.predicted.len();
        let best = arms.map(|arm| program.speed(arm, job.is_other, job)).fold(1.0, f64::max);
        Times { own, chosen: own / program.speed(arm, is_for_other, job), best: own / best }
    }

    /// Notes a job that took this time, with disturbances, and returns its kind.
    fn learn(&mut self, guess: &Guess, chosen: Chosen, time: f64, job: Job) -> u32 {
        let (work, sums, digest) = self.program.recording(job);
        let seconds = time * self.program.disturbance(job, &mut self.chance);
        let is_recorded = guess.kinds.is_empty() || (!guess.is_known && chosen.is_none());
        let traffic = is_recorded.then(Traffic::default);
        let build = self.program.build(job);
        let seen = Seen { work, sums: &sums, digest: Some(digest), build, traffic };
        let (size, shape) = (self.size(job), self.shape(job));
        let entry = self.entries.entry(size).or_insert_with(|| Entry::new("program", RANKS));
        let noted = entry.note(seen, guess);
        if job.is_other {
            self.other = Some(noted.kind);
        }
        let (order, made_for, predicted) = match chosen {
            // The placement of a first job was made for its own kind of work.
            Some((Placement { order, .. }, predicted)) if guess.kinds.is_empty() => {
                (order, noted.kind, predicted)
            }
            Some((Placement { kind, order }, predicted)) => (order, kind, predicted),
            None => (String::new(), 0, 1.0),
        };
        entry.add(Past {
            kind: noted.kind,
            units: noted.units,
            order,
            made_for,
            predicted,
            shape,
            nodes: 2,
            seconds,
            ended: job.number as u64 + 1,
            is_first: noted.is_new,
        });
        noted.kind
    }

    /// Finds out whether an arm is reported as faster after a job.
    fn claim(&self, kind: u32, job: Job, found: &mut History) {
        for arm in 1..self.program.predicted.len() {
            let placement = Placement { kind, order: arm.to_string() };
            let runs = self.entries[&self.size(job)].runs_of(kind, self.shape(job), &[placement]);
            let is_faster = self.program.speed(arm, job.is_other, job) > 1.0;
            let noted = if is_faster { &mut found.is_right } else { &mut found.is_wrong };
            *noted = *noted || claimed(&runs, 1).is_some();
        }
    }
}
