//! A cheap clock: the processor's counter, if programs may read it.

use std::sync::OnceLock;

/// The values of the counter and of the system's clock when recording started.
static START: OnceLock<(u64, u64)> = OnceLock::new();

/// The counter.
#[inline]
pub(crate) fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this kind has it, and Linux lets programs read it.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    return clock(libc::CLOCK_MONOTONIC);
}

/// A clock of the system, in nanoseconds.
fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the result.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The processor time of this thread, in nanoseconds: unlike the counter, it excludes other processes on its core.
pub(crate) fn of_thread() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Starts comparing the two.
pub(crate) fn start() {
    START.get_or_init(|| (now(), clock(libc::CLOCK_MONOTONIC)));
}

/// The nanoseconds per tick, from the increase of both since the start.
pub(crate) fn nanoseconds() -> f64 {
    let Some((ticks, start)) = START.get() else { return 0.0 };
    let passed = now().saturating_sub(*ticks).max(1);
    let time = clock(libc::CLOCK_MONOTONIC).saturating_sub(*start);
    time as f64 / passed as f64
}
