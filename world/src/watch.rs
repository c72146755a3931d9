//! Prints a line if processes wait for others that do not arrive: processes without this library never will.

use std::ffi::c_int;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use cartograph_shim::say;

/// Processes leave MPI_Init together, apart from local work.
const PATIENCE: Duration = Duration::from_secs(10);

/// The state of a wait, for the thread that watches it.
#[derive(Default)]
struct Progress {
    /// The process has a message from rank 0.
    heard: bool,
    done: bool,
}

/// A wait under watch.
pub(crate) struct Watch {
    rank: c_int,
    progress: Arc<(Mutex<Progress>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts to watch a process. If the thread cannot be started, there is no watch.
    pub(crate) fn start(rank: c_int) -> Self {
        let progress = Arc::new((Mutex::new(Progress::default()), Condvar::new()));
        let of_thread = Arc::clone(&progress);
        let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(move || {
            let (lock, changed) = &*of_thread;
            let guard = lock.lock().expect("nothing panics in here");
            let waited =
                changed.wait_timeout_while(guard, PATIENCE, |progress| !progress.done);
            let Ok((progress, _)) = waited else { return };
            if !progress.done && speaks(rank, progress.heard) {
                say!(
                    "MPI_Init has been waiting for {} s: some processes run without libcartograph_world. \
                     Start all of them by cartograph exec with the same profile, or none",
                    PATIENCE.as_secs()
                );
            }
        });
        Self { rank, progress, thread: thread.ok() }
    }

    /// Records the message from rank 0.
    pub(crate) fn heard(&self) {
        self.progress.0.lock().expect("nothing panics in here").heard = self.rank > 0;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.progress.0.lock().expect("nothing panics in here").done = true;
        self.progress.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// True if this process prints the message: rank 0 or, if rank 0 did not respond and so may lack the library, a few of
/// the others.
fn speaks(rank: c_int, heard: bool) -> bool {
    rank == 0 || !heard && (rank as u32).is_power_of_two()
}
