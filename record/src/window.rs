//! The first calls of the process, in order, as many as fit.

use cartograph_traffic::{Call, Window as Written};
use rustc_hash::FxHashMap;

use crate::{limits, outermost, ticks};

/// The most ticks, about a microsecond, between two tests for completion that count as waiting; longer gaps count as
/// work.
const POLLING: u64 = 3000;

/// The window of the process.
pub(crate) struct Window {
    calls: Vec<Call>,
    numbers: Option<FxHashMap<Call, u32>>,
    /// The index of a call, and the ticks since the end of the previous call.
    events: Vec<(u32, u64)>,
    /// The number of sends and receives with requests so far.
    posts: u32,
    start: u64,
    /// The end of the last call, and the work since then before calls that are not in the window.
    last: u64,
    work: u64,
    /// The calling thread. With several threads, the order of calls cannot be replayed.
    thread: Option<usize>,
    /// The most calls.
    most: usize,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Closed,
    Open,
    Full,
}

/// True if calls are still recorded, which is the only reason to time all of them. A hint: the window itself is checked
/// under the lock of the counts.
#[inline]
pub(crate) fn is_open() -> bool {
    outermost::times_all()
}

impl Window {
    /// A window that does not record.
    pub(crate) const fn closed() -> Self {
        Self {
            calls: Vec::new(),
            numbers: None,
            events: Vec::new(),
            posts: 0,
            start: 0,
            last: 0,
            work: 0,
            thread: None,
            most: 0,
            state: State::Closed,
        }
    }

    /// Starts recording calls, at most this number.
    pub(crate) fn open(&mut self, most: usize) {
        if most == 0 {
            return;
        }
        (self.start, self.most, self.state) = (ticks::now(), most, State::Open);
        self.last = self.start;
        outermost::time_all(true);
    }

    /// True if it records calls of this thread.
    pub(crate) fn takes(&mut self) -> bool {
        self.stop_if_limited();
        if self.state != State::Open {
            return false;
        }
        let thread = outermost::thread();
        if *self.thread.get_or_insert(thread) != thread {
            *self = Self::closed();
            outermost::time_all(false);
            return false;
        }
        true
    }

    /// Records a completed call.
    pub(crate) fn push(&mut self, call: Call) {
        if self.state != State::Open {
            return;
        }
        self.posts += u32::from(matches!(call, Call::Isend(..) | Call::Irecv(..)));
        let calls = &mut self.calls;
        let number = *self.numbers.get_or_insert_default().entry(call).or_insert_with_key(|call| {
            calls.push(call.clone());
            calls.len() as u32 - 1
        });
        self.pass();
        self.events.push((number, std::mem::take(&mut self.work)));
        if self.events.len() == self.most {
            self.stop();
        }
    }

    /// Stops recording calls.
    fn stop(&mut self) {
        if self.state == State::Open {
            self.state = State::Full;
            outermost::time_all(false);
        }
    }

    fn stop_if_limited(&mut self) {
        if limits::calls_have_stopped() {
            self.stop();
        }
    }

    /// Records the time of a call as waiting, without a call to replay.
    pub(crate) fn pass(&mut self) {
        self.work += outermost::began().saturating_sub(self.last);
        self.last = ticks::now();
    }

    /// Records a test for something that is not complete.
    pub(crate) fn poll(&mut self) {
        if self.takes() {
            let since = outermost::began().saturating_sub(self.last);
            self.work += if since > POLLING { since } else { 0 };
            self.last = ticks::now();
        }
    }

    /// The number of the next send or receive with a request.
    pub(crate) fn next_post(&self) -> u32 {
        self.posts
    }

    /// Records the completion of requests with these numbers.
    pub(crate) fn push_wait(&mut self, posts: &mut [u32]) {
        posts.sort_unstable();
        let now = self.posts;
        for run in posts.chunk_by(|one, next| one + 1 == *next) {
            self.push(Call::Wait(now - run[0], run.len() as u32));
        }
    }

    /// Takes the window, to be written once: when it is full, or when the process ends.
    pub(crate) fn give(&mut self, ends: bool) -> Option<Self> {
        self.stop_if_limited();
        let given = match self.state {
            State::Closed => false,
            State::Open => ends,
            State::Full => true,
        };
        if !given {
            return None;
        }
        outermost::time_all(false);
        Some(std::mem::replace(self, Self::closed()))
    }

    /// The form in which it is written.
    pub(crate) fn written(self) -> Written {
        let tick = ticks::nanoseconds();
        let time = |ticks: u64| (ticks as f64 * tick) as u64;
        let events: Vec<(u32, u64)> =
            self.events.iter().map(|(call, gap)| (*call, time(*gap))).collect();
        let whole = time(self.last.saturating_sub(self.start));
        Written::new(&self.calls, &events, whole, self.state == State::Full)
    }
}
