//! Measures memory: the system's allocator, counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn taken(size: usize) {
    let now = NOW.fetch_add(size, Relaxed) + size;
    PEAK.fetch_max(now, Relaxed);
    LARGEST.fetch_max(size, Relaxed);
}

// SAFETY: everything is the system's allocator's; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc_zeroed(layout) }
    }
}

/// The result of `run`, its peak memory in bytes above the start, and its largest allocation.
pub(crate) fn measure<T>(run: impl FnOnce() -> T) -> (T, usize, usize) {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    LARGEST.store(0, Relaxed);
    let answer = run();
    (answer, PEAK.load(Relaxed) - before, LARGEST.load(Relaxed))
}
