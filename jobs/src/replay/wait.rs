//! Waits of ranks for their requests.

use super::network::OVERHEAD;

/// A request that has not completed.
pub(super) const PENDING: u64 = u64::MAX;

/// The requests for which a rank waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    first: usize,
    end: usize,
    pending: usize,
    /// The time at which the last of the others completed.
    last: u64,
}

impl Wait {
    /// A wait that begins now, for the requests from `first` to `end`. `requests` has the time at which each completed.
    pub(super) fn new(requests: &[u64], [first, end]: [usize; 2], now: u64) -> Self {
        let mut wait = Self { first, end, pending: end - first, last: now };
        for (request, done) in (first..).zip(&requests[first..end]) {
            if *done != PENDING {
                wait.complete(request, *done);
            }
        }
        wait
    }

    /// A request completes, which may be one of those.
    pub(super) fn complete(&mut self, request: usize, done: u64) {
        if (self.first..self.end).contains(&request) {
            self.pending -= 1;
            self.last = self.last.max(done);
        }
    }

    /// The time at which the call returns, if all requests have completed.
    pub(super) fn over(&self) -> Option<u64> {
        let requests = (self.end - self.first) as u64;
        (self.pending == 0).then(|| self.last.saturating_add(OVERHEAD * requests / 2))
    }
}
