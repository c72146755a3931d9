//! A window of a process: its first calls in order, with the time between them, which suffices to replay some steps of
//! a program.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The most calls of a window.
pub const MOST_EVENTS: usize = 4096;

/// The most bytes that a window takes in a file.
const MOST_BYTES: usize = 60_000;

/// The longest body of a loop, in items.
const LONGEST_BODY: usize = 1024;

/// The number of times that the search for loops starts again, which bounds their nesting.
const MOST_ROUNDS: usize = 32;

/// The first calls of a process, from `MPI_Init` on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Window {
    /// The nanoseconds from `MPI_Init` to the end of the last of these calls.
    pub nanoseconds: u64,
    /// True if further calls followed that did not fit.
    pub cut: bool,
    /// The distinct calls.
    pub calls: Vec<Call>,
    /// The calls in order.
    pub steps: Vec<Step>,
}

/// A call, with ranks of `MPI_COMM_WORLD`. A wildcard is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// A blocking send: destination, bytes, tag.
    Send(u32, u64, i32),
    /// A nonblocking send, or a persistent one that is started.
    Isend(u32, u64, i32),
    /// A blocking receive: source, tag.
    Recv(Option<u32>, Option<i32>),
    /// A nonblocking receive.
    Irecv(Option<u32>, Option<i32>),
    /// Requests completed: those with numbers `a - back` to `a - back + count - 1`, where `a` is the number of earlier
    /// sends and receives with requests.
    Wait(u32, u32),
    /// A blocking collective.
    Collective(Collective),
}

/// A collective of a group of processes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Collective {
    /// The MPI function.
    pub function: Cow<'static, str>,
    /// A number that is the same for all processes of the communicator.
    pub group: u64,
    /// The number of processes.
    pub size: u32,
    /// The root, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<u32>,
    /// The bytes that each process contributes; in all-to-alls, to each other process.
    pub bytes: u64,
}

/// A call or a loop.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Step {
    /// The index of a call, and the nanoseconds since the previous call.
    Call(u32, u64),
    /// Steps that repeat.
    Loop {
        /// The number of repetitions.
        times: u32,
        /// The steps; times are means.
        steps: Vec<Step>,
    },
}

impl Call {
    /// The other process, or the root.
    pub fn peer_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::Send(to, ..) | Self::Isend(to, ..) => Some(to),
            Self::Recv(from, _) | Self::Irecv(from, _) => from.as_mut(),
            Self::Wait(..) => None,
            Self::Collective(collective) => collective.root.as_mut(),
        }
    }
}

impl Window {
    /// A window of calls, given the index of each and the nanoseconds before it. Calls that do not fit are dropped.
    pub fn new(calls: &[Call], events: &[(u32, u64)], nanoseconds: u64, cut: bool) -> Self {
        let mut kept = events.len();
        loop {
            let mut number = vec![None; calls.len()];
            let mut used = Vec::new();
            let renumbered = events[..kept].iter().map(|(call, gap)| {
                let number = number[*call as usize].get_or_insert_with(|| {
                    used.push(calls[*call as usize].clone());
                    used.len() as u32 - 1
                });
                (*number, *gap)
            });
            let steps = fold(renumbered.collect());
            let share = nanoseconds as u128 * kept as u128 / events.len().max(1) as u128;
            let cut = cut || kept < events.len();
            let window = Self { nanoseconds: share as u64, cut, calls: used, steps };
            let length = serde_json::to_string(&window).map_or(0, |text| text.len());
            if length <= MOST_BYTES {
                return window;
            }
            kept = kept * 3 / 4;
        }
    }

    /// The calls in order, each with the nanoseconds before it; `None` if there are more than [`MOST_EVENTS`], or an
    /// index is invalid.
    pub fn events(&self) -> Option<Vec<(&Call, u64)>> {
        let events = self.indices()?.into_iter();
        Some(events.map(|(call, gap)| (&self.calls[call as usize], gap)).collect())
    }

    /// The first calls of it, at most this number; all if an index is invalid.
    #[must_use]
    pub fn first(&self, most: usize) -> Self {
        match self.indices() {
            Some(events) if events.len() > most => {
                let share = u128::from(self.nanoseconds) * most as u128 / events.len() as u128;
                Self::new(&self.calls, &events[..most], share as u64, true)
            }
            _ => self.clone(),
        }
    }

    /// The calls in order by their indices.
    fn indices(&self) -> Option<Vec<(u32, u64)>> {
        let mut events = Vec::new();
        self.expand(&self.steps, MOST_ROUNDS, &mut events).then_some(events)
    }

    /// The nanoseconds before each call, counting those of loops once.
    pub fn gaps_mut(&mut self) -> Vec<&mut u64> {
        let mut gaps = Vec::new();
        gaps_of(&mut self.steps, &mut gaps);
        gaps
    }

    fn expand(&self, steps: &[Step], deepest: usize, to: &mut Vec<(u32, u64)>) -> bool {
        steps.iter().all(|step| match step {
            Step::Call(call, gap) => {
                let is_right = (*call as usize) < self.calls.len() && to.len() < MOST_EVENTS;
                if is_right {
                    to.push((*call, *gap));
                }
                is_right
            }
            // An empty body would repeat for nothing.
            Step::Loop { times, steps } if deepest > 0 && !steps.is_empty() => {
                (0..*times).all(|_| self.expand(steps, deepest - 1, to))
            }
            Step::Loop { .. } => false,
        })
    }
}

fn gaps_of<'a>(steps: &'a mut [Step], gaps: &mut Vec<&'a mut u64>) {
    for step in steps {
        match step {
            Step::Call(_, gap) => gaps.push(gap),
            Step::Loop { steps, .. } => gaps_of(steps, gaps),
        }
    }
}

/// Turns repetitions into loops, the shortest first; after each length, shorter ones may have become possible.
fn fold(events: Vec<(u32, u64)>) -> Vec<Step> {
    let mut steps: Vec<Step> =
        events.into_iter().map(|(call, gap)| Step::Call(call, gap)).collect();
    let (mut length, mut again) = (1, MOST_ROUNDS);
    while length <= LONGEST_BODY && 2 * length <= steps.len() {
        let before = steps.len();
        steps = fold_bodies(steps, length);
        if steps.len() < before && again > 0 {
            (length, again) = (1, again - 1);
        } else {
            length += 1;
        }
    }
    steps
}

/// Creates loops with bodies of one length.
fn fold_bodies(mut steps: Vec<Step>, length: usize) -> Vec<Step> {
    let mut at = 0;
    // Items before this index are final.
    let mut folded = Vec::new();
    let mut done = 0;
    loop {
        let alike = |i: usize| same(&steps[i], &steps[i + length]);
        let Some(repeated) = first_run(at..steps.len().saturating_sub(length), length, alike)
        else {
            break;
        };
        at = repeated.start;
        let times = repeated.len() / length + 1;
        folded.extend(steps[done..at].iter_mut().map(take));
        let mut bodies = steps[at..at + times * length].chunks_mut(length);
        let mut body: Vec<Step> =
            bodies.next().map_or_else(Vec::new, |body| body.iter_mut().map(take).collect());
        for other in bodies {
            body.iter_mut().zip(&*other).for_each(|(sum, step)| add(sum, step));
        }
        body.iter_mut().for_each(|sum| divide(sum, times as u64));
        folded.push(Step::Loop { times: times as u32, steps: body });
        at += times * length;
        done = at;
    }
    if done == 0 {
        return steps;
    }
    folded.extend(steps[done..].iter_mut().map(take));
    folded
}

/// The first of the longest runs of indices that pass a test, if it has at least `length` of them. Such a run includes
/// one of any `length` consecutive indices, so most are never tested: a process writes its window while others wait.
fn first_run(
    all: Range<usize>,
    length: usize,
    mut passes: impl FnMut(usize) -> bool,
) -> Option<Range<usize>> {
    let Range { mut start, end } = all;
    while start + length <= end {
        let probe = start + length - 1;
        if !passes(probe) {
            start = probe + 1;
            continue;
        }
        let first = (start..probe).rev().find(|i| !passes(*i)).map_or(start, |i| i + 1);
        let last = (probe + 1..end).find(|i| !passes(*i)).unwrap_or(end);
        if last - first >= length {
            return Some(first..last);
        }
        start = last + 1;
    }
    None
}

fn take(step: &mut Step) -> Step {
    std::mem::replace(step, Step::Call(0, 0))
}

/// True if two steps differ only in times.
fn same(one: &Step, other: &Step) -> bool {
    match (one, other) {
        (Step::Call(one, _), Step::Call(other, _)) => one == other,
        (Step::Loop { times, steps }, Step::Loop { times: count, steps: others }) => {
            times == count
                && steps.len() == others.len()
                && steps.iter().zip(others).all(|(one, other)| same(one, other))
        }
        _ => false,
    }
}

/// Adds the times of a step to those of another.
fn add(sum: &mut Step, step: &Step) {
    match (sum, step) {
        (Step::Call(_, sum), Step::Call(_, gap)) => *sum = sum.saturating_add(*gap),
        (Step::Loop { steps, .. }, Step::Loop { steps: others, .. }) => {
            steps.iter_mut().zip(others).for_each(|(sum, step)| add(sum, step));
        }
        _ => {}
    }
}

fn divide(sum: &mut Step, by: u64) {
    match sum {
        Step::Call(_, sum) => *sum /= by,
        Step::Loop { steps, .. } => steps.iter_mut().for_each(|sum| divide(sum, by)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(count: u32) -> Vec<Call> {
        (0..count).map(|to| Call::Isend(to, 8, 0)).collect()
    }

    fn indices(window: &Window) -> Vec<u32> {
        let to = |call: &Call| match call {
            Call::Isend(to, ..) => *to,
            _ => panic!("{call:?}"),
        };
        window.events().unwrap().iter().map(|(call, _)| to(call)).collect()
    }

    #[test]
    fn loops_are_found_and_restored() {
        // A setup, ten steps of three sweeps each and an end; times of the steps rise.
        let mut events = vec![(0, 5), (1, 5)];
        for step in 0..10 {
            for _ in 0..3 {
                events.extend([(2, 100 + step), (3, 7)]);
            }
            events.push((4, 1));
        }
        events.push((0, 9));
        let window = Window::new(&calls(5), &events, 77, false);
        let body = Step::Loop { times: 3, steps: vec![Step::Call(2, 104), Step::Call(3, 7)] };
        let whole = Step::Loop { times: 10, steps: vec![body, Step::Call(4, 1)] };
        let steps = [Step::Call(0, 5), Step::Call(1, 5), whole, Step::Call(0, 9)];
        assert_eq!((&window.steps[..], window.cut, window.nanoseconds), (&steps[..], false, 77));
        let before: Vec<u32> = events.iter().map(|(call, _)| *call).collect();
        assert_eq!(indices(&window), before);
        let text = serde_json::to_string(&window).unwrap();
        assert_eq!(serde_json::from_str::<Window>(&text).unwrap(), window);
    }

    #[test]
    fn calls_without_loops_are_kept_and_fit() {
        // The digits of a number: every call occurs, without a pattern.
        let mut state = 1u64;
        let mut events = Vec::new();
        for _ in 0..MOST_EVENTS {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            events.push(((state >> 40) as u32 % 3000, state >> 20));
        }
        let window = Window::new(&calls(3000), &events, 1000, false);
        let text = serde_json::to_string(&window).unwrap();
        assert!(window.cut && text.len() <= MOST_BYTES, "{}", text.len());
        let found = indices(&window);
        let before: Vec<u32> = events.iter().map(|(call, _)| *call).take(found.len()).collect();
        assert!(found.len() > 500 && found == before);
        assert_eq!(window.nanoseconds, 1000 * found.len() as u64 / MOST_EVENTS as u64);
    }

    #[test]
    fn runs_are_found_with_few_tests() {
        let mut state = 1u64;
        let mut random = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % most
        };
        for _ in 0..2000 {
            let passing = 1 + random(12);
            let all: Vec<bool> = (0..random(60)).map(|_| random(13) < passing).collect();
            let length = 1 + random(8) as usize;
            let start = random(10) as usize;
            let mut ends = start;
            let mut expected = None;
            for run in all.get(start..).unwrap_or_default().chunk_by(|one, next| one == next) {
                if run[0] && run.len() >= length && expected.is_none() {
                    expected = Some(ends..ends + run.len());
                }
                ends += run.len();
            }
            assert_eq!(first_run(start..all.len(), length, |i| all[i]), expected, "{all:?}");
        }
        // In a window without repetitions, all lengths together take fewer tests than ten for each call.
        let mut tests = 0;
        for length in 1..=LONGEST_BODY {
            let found = first_run(0..MOST_EVENTS - length, length, |_| {
                tests += 1;
                false
            });
            assert_eq!(found, None);
        }
        assert!(tests < 10 * MOST_EVENTS, "{tests}");
    }

    #[test]
    fn an_untrusted_window_allocates_no_memory() {
        let endless = |times, steps| Window {
            calls: calls(1),
            steps: vec![Step::Loop { times, steps }],
            ..Window::default()
        };
        assert!(endless(u32::MAX, vec![Step::Call(0, 0)]).events().is_none());
        assert!(endless(u32::MAX, vec![]).events().is_none());
        assert!(endless(1, vec![Step::Call(1, 0)]).events().is_none());
        let deep = (0..=MOST_ROUNDS)
            .fold(vec![Step::Call(0, 0)], |steps, _| vec![Step::Loop { times: 1, steps }]);
        assert!(endless(1, deep).events().is_none());
    }
}
