//! Processor time of this thread, since the clock is misleading on a busy machine.

/// Seconds since some moment.
pub(crate) fn now() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to `time` alone.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } != 0;
    assert!(!failed, "every Unix of today counts the processor time of threads");
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
