//! Started requests, and the messages of persistent ones.

use std::ffi::c_int;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::peers::slot;
use crate::sent::Block;
use crate::work::Amount;

/// The most requests whose completion is awaited: some that were freed may have been mistaken for others.
const MOST_PENDING: usize = 1 << 16;

/// The number of slots for receives after the window, as a power of two.
const RECENT_BITS: u32 = 8;
const RECENT: usize = 1 << RECENT_BITS;

/// A started request.
pub(super) struct Pending {
    /// The source, if it is a receive: `Some(None)` if that is unknown.
    pub(super) receives: Option<Option<u32>>,
    /// The number of its first message in the window, and of its messages there.
    pub(super) post: u32,
    pub(super) count: u32,
}

/// A persistent request, and the effect of each start.
#[derive(Clone)]
pub(super) struct Persistent {
    pub(super) amount: Amount,
    pub(super) does: Does,
}

/// The effects of a start that are counted in addition to its amount.
#[derive(Clone)]
pub(super) enum Does {
    Nothing,
    /// Sends blocks, with the tag of a message.
    Send(Arc<[(u32, Block)]>, Option<c_int>),
    /// Calls a collective.
    Call(&'static str),
    /// Receives from any rank or one rank, with a tag.
    Receive(Option<u32>, Option<c_int>),
}

/// The requests of a process.
pub(super) struct Requests {
    /// The messages of persistent requests, sent whenever they are started.
    persistent: Option<FxHashMap<usize, Persistent>>,
    /// Requests of the window that are not known to be complete, by handle.
    pending: Option<FxHashMap<usize, Pending>>,
    /// Receives that were posted after the window: handle and source, in the slot of the handle. If two share a slot,
    /// one is lost, and its waiting time counts for an unknown sender.
    recent: [(usize, Option<u32>); RECENT],
}

impl Requests {
    pub(super) const fn new() -> Self {
        Self { persistent: None, pending: None, recent: [(0, None); RECENT] }
    }

    /// Adds a receive that is not in the window.
    #[inline]
    pub(super) fn receive(&mut self, request: usize, from: Option<u32>) {
        self.recent[slot(request, RECENT_BITS)] = (request, from);
    }

    /// Adds a started request, if there is room.
    pub(super) fn start(&mut self, request: usize, started: Pending) {
        let pending = self.pending.get_or_insert_default();
        if pending.len() < MOST_PENDING {
            pending.insert(request, started);
        }
    }

    /// Removes a completed request, if it is known.
    #[inline]
    pub(super) fn finish(&mut self, request: usize) -> Option<Pending> {
        let recent = &mut self.recent[slot(request, RECENT_BITS)];
        if recent.0 == request && request != 0 {
            recent.0 = 0;
            return Some(Pending { receives: Some(recent.1), post: u32::MAX, count: 0 });
        }
        self.pending.as_mut()?.remove(&request)
    }

    /// Stores the message of a persistent request, for its starts.
    pub(super) fn keep(&mut self, request: usize, persistent: Persistent) {
        self.persistent.get_or_insert_default().insert(request, persistent);
    }

    /// A persistent request, as it was created.
    pub(super) fn kept(&self, request: usize) -> Option<Persistent> {
        self.persistent.as_ref()?.get(&request).cloned()
    }

    /// Forgets a request that is freed.
    pub(super) fn forget(&mut self, request: usize) {
        self.persistent.as_mut().map(|persistent| persistent.remove(&request));
        let _ = self.finish(request);
        self.pending.as_mut().map(|pending| pending.remove(&request));
    }
}
