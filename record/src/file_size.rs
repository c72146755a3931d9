//! Writes beyond the limit of a file's size (`ulimit -f`), which by default end the process with SIGXFSZ.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

use libc::{SIG_BLOCK, SIG_SETMASK, SIGXFSZ, sigset_t, timespec};

/// Runs `write`, in which a write beyond the limit is an error: the signal is taken, unless one was pending before.
pub(crate) fn without_signal<T>(write: impl FnOnce() -> T) -> T {
    let (limit, mut before) = (only(SIGXFSZ), only(SIGXFSZ));
    // SAFETY: both sets are initialized, and only this thread's mask changes.
    let is_held =
        unsafe { libc::pthread_sigmask(SIG_BLOCK, &raw const limit, &raw mut before) } == 0;
    let was_pending = is_pending();
    let written = write();
    if is_held {
        if !was_pending && is_pending() {
            let at_once = timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the set and the time are initialized; no details of the signal are needed.
            unsafe { libc::sigtimedwait(&raw const limit, null_mut(), &raw const at_once) };
        }
        // SAFETY: the set is that of this thread before.
        unsafe { libc::pthread_sigmask(SIG_SETMASK, &raw const before, null_mut()) };
    }
    written
}

/// A set of one signal.
fn only(signal: i32) -> sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call initializes the set.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        set.assume_init()
    }
}

/// True if the signal waits for this thread or process.
fn is_pending() -> bool {
    let mut pending = only(SIGXFSZ);
    // SAFETY: the set is initialized.
    unsafe {
        libc::sigpending(&raw mut pending) == 0
            && libc::sigismember(&raw const pending, SIGXFSZ) == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::process::Command;

    #[test]
    #[ignore = "run by the next test under ulimit -f"]
    fn writes_beyond_the_limit() {
        let path = std::env::temp_dir().join(format!("cartograph-limit-{}", std::process::id()));
        let mut file = std::fs::File::create(&path).unwrap();
        let written = without_signal(|| file.write_all(&[0; 1 << 16]));
        std::fs::remove_file(path).unwrap();
        println!("{:?}", written.map_err(|error| error.kind()));
    }

    #[test]
    fn a_write_beyond_the_limit_is_an_error() {
        let test = "file_size::tests::writes_beyond_the_limit";
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 16; exec \"$@\"", "sh"]).arg(std::env::current_exe().unwrap());
        let done = shell.args(["--ignored", "--exact", "--nocapture", test]).output().unwrap();
        let out = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && out.contains("Err(FileTooLarge)"), "{done:?}");
    }
}
