//! A program whose jobs are simulated.

use cartograph_jobs::learn::Build;
use cartograph_shim::splitmix::mix;
use cartograph_traffic::Work;

/// The number of processes of simulated jobs.
pub(super) const RANKS: u32 = 4;

/// A program whose jobs are simulated, with all disturbances.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The true speed of each arm; that of arm 0, the default order, is 1.
    pub speeds: Vec<f64>,
    /// The predicted speeds.
    pub predicted: Vec<f64>,
    /// The standard deviation of the logarithm of a run's time.
    pub noise: f64,
    /// The growth of the logarithm of all times with each job.
    pub drift: f64,
    /// The number of jobs after which all times change, and the factor.
    pub step: Option<(usize, f64)>,
    /// The fraction of jobs that get a slow node, and the factor.
    pub slow: Option<(f64, f64)>,
    /// The factor of the first job's time, if it is slower.
    pub first: Option<f64>,
    /// The number of jobs after which the speed of all arms except the default order becomes this.
    pub change: Option<(usize, f64)>,
    /// Factors of times that recur in a cycle, with no difference in work.
    pub rhythm: Vec<f64>,
    /// The work of inputs with the same pattern.
    pub inputs: Vec<f64>,
    /// An input with a different pattern.
    pub other: Option<Other>,
    /// The shapes of nodes, chosen at random; if empty, there is one shape.
    pub shapes: Vec<Shape>,
    /// True if no shape recurs.
    pub is_renewed: bool,
    /// True if each shape stands for a number of processes. The first job of each starts from the entries of the others.
    pub is_sized: bool,
    /// The number of jobs after which the program is rebuilt; 0 if it never is.
    pub builds: usize,
    /// The number of jobs of another user, with whose entry the first job starts.
    pub others: usize,
}

/// An input with another pattern.
#[derive(Debug, Clone, Copy)]
pub struct Other {
    /// The speed of its own arms.
    pub speed: f64,
    /// The speed of an arm made for one pattern in a job of the other.
    pub across: f64,
    /// Its bytes, relative to those of the first input.
    pub bytes: f64,
    /// The jobs that have it.
    pub turns: Turns,
    /// The digests of inputs.
    pub digests: Digests,
}

/// The jobs that have another input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turns {
    /// Every second one.
    Second,
    /// Ten of twenty.
    Ten,
    /// One of ten, at random.
    Tenth,
}

/// The digests of inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digests {
    /// One for each input.
    Known,
    /// Another one in each job.
    Unknown,
    /// The same for both inputs.
    Ambiguous,
    /// The same for both, which are two programs of one name and path.
    OfPrograms,
}

/// The differences of nodes of one shape from others.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The fraction of the logarithm of the speeds that is realized there.
    pub part: f64,
    /// If set, the speed of all arms except the default order.
    pub speed: Option<f64>,
    /// The fraction of the logarithm of the predictions that is predicted there.
    pub predicted: f64,
    /// The factor of all times.
    pub factor: f64,
}

/// Pseudorandom numbers, the same in each run.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// A separate sequence for each seed.
    pub fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// A number from 0 to 1.
    pub fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(1);
        (mix(self.0) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number between two others.
    pub fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.part()
    }

    /// One of some things.
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.part() * all.len() as f64) as usize]
    }

    /// An approximately normal number, computed only by operations that every machine rounds alike.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.part()).sum::<f64>() - 6.0
    }
}

/// A job: its number, the index of its input, its shape, and whether it has the other pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) number: usize,
    pub(super) input: usize,
    pub(super) shape: usize,
    pub(super) is_other: bool,
}

impl Program {
    /// The time of a job, including disturbances.
    pub fn seconds(&self, arm: usize, number: usize, chance: &mut Chance) -> f64 {
        let job = Job { number, input: 0, shape: 0, is_other: false };
        self.expected(job) / self.speed(arm, false, job) * self.disturbance(job, chance)
    }

    /// The next job.
    pub(super) fn job(&self, number: usize, chance: &mut Chance) -> Job {
        let mut turn = |several: usize| (chance.part() * several as f64) as usize;
        let shape = if self.is_renewed { number } else { turn(self.shapes.len()) };
        let input = turn(self.inputs.len());
        let is_other = self.other.is_some_and(|other| match other.turns {
            Turns::Second => number % 2 == 1,
            Turns::Ten => number / 10 % 2 == 1,
            Turns::Tenth => turn(10) == 0,
        });
        Job { number, input, shape, is_other }
    }

    /// The time of a job in the default order, without disturbances.
    pub(super) fn expected(&self, job: Job) -> f64 {
        let work = self.inputs.get(job.input).copied().unwrap_or(1.0);
        let step = self.step.filter(|(at, _)| job.number >= *at);
        let step = step.map_or(0.0, |(_, factor)| factor.ln());
        let rhythm = match self.rhythm.len() {
            0 => 1.0,
            count => self.rhythm[job.number % count],
        };
        let factor = self.shapes.get(job.shape).map_or(1.0, |shape| shape.factor);
        (work.ln() + self.drift * job.number as f64 + step).exp() * rhythm * factor
    }

    /// The disturbances of a job, as a factor.
    pub(super) fn disturbance(&self, job: Job, chance: &mut Chance) -> f64 {
        let first = self.first.filter(|_| job.number == 0).unwrap_or(1.0);
        let slow = self.slow.filter(|(part, _)| chance.part() < *part);
        first * (slow.map_or(0.0, |(_, factor)| factor.ln()) + self.noise * chance.normal()).exp()
    }

    /// The speed of an arm, which is made for the other pattern or not, in a job.
    pub(super) fn speed(&self, arm: usize, is_for_other: bool, job: Job) -> f64 {
        match self.other {
            _ if arm == 0 => return 1.0,
            Some(other) if job.is_other != is_for_other => return other.across,
            Some(other) if job.is_other => return other.speed,
            _ => {}
        }
        if let Some((_, speed)) = self.change.filter(|(at, _)| job.number >= *at) {
            return speed;
        }
        let Some(Shape { part, speed, .. }) = self.shapes.get(job.shape) else {
            return self.speeds[arm];
        };
        speed.unwrap_or_else(|| self.speeds[arm].powf(*part))
    }

    /// The predicted speed of an arm on nodes of a shape.
    pub(super) fn predicted(&self, arm: usize, shape: usize) -> f64 {
        let part = self.shapes.get(shape).map_or(1.0, |shape| shape.predicted);
        self.predicted[arm].powf(part)
    }

    /// The build of a job's program.
    pub(super) fn build(&self, job: Job) -> Build {
        let is_program = self.other.is_some_and(|other| other.digests == Digests::OfPrograms);
        let builds = job.number.checked_div(self.builds).unwrap_or(0) as u64;
        Build { id: 2 * builds + u64::from(is_program && job.is_other), place: 0 }
    }

    /// The recording of a job: its work, and the weighted sums of ranks.
    pub(super) fn recording(&self, job: Job) -> (Work, Vec<i64>, u64) {
        let length = self.inputs.get(job.input).copied().unwrap_or(1.0);
        let (pattern, bytes, digests) = match self.other {
            Some(other) if job.is_other => (1, other.bytes, other.digests),
            Some(other) => (0, 1.0, other.digests),
            None => (0, 1.0, Digests::Known),
        };
        let bytes = 1e6 * length * bytes;
        let sum = |rank| (mix(pattern << 32 | rank) >> 52) as f64 - 2048.0;
        let sums = (0..u64::from(RANKS)).map(|rank| (sum(rank) * bytes / 4.0) as i64).collect();
        let digest = match digests {
            Digests::Known => pattern << 32 | job.input as u64,
            Digests::Unknown => 1 << 40 | job.number as u64,
            Digests::Ambiguous | Digests::OfPrograms => 0,
        };
        let messages = (1000.0 * length) as u64;
        (Work { messages, bytes: bytes as u64, collectives: 0 }, sums, digest)
    }
}
