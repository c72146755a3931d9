//! The origin of this process's report, as far as known.

use std::env;
use std::ffi::{CStr, c_char};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::report::Origin;
use crate::report::origin::job_id;

/// The origin of this process's report, found without the network or a user directory.
pub(in crate::host) fn origin() -> Origin {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    // SAFETY: reads numbers that the kernel keeps.
    let (user, parent) = unsafe { (libc::getuid(), libc::getppid()) };
    let host = host();
    let program = env::current_exe().ok();
    let program = program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    Origin {
        // Without a batch system, the launcher on this host identifies the job.
        id: job_id(set).unwrap_or_else(|| format!("{host}-{parent}")),
        user: set("USER").or_else(|| set("LOGNAME")).unwrap_or_else(|| user.to_string()),
        host,
        program: program.unwrap_or_default(),
        date: now(),
    }
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

/// The time in UTC, to the second.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let seconds = libc::time_t::try_from(seconds).unwrap_or_default();
    // SAFETY: all fields may be zero.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    let mut text = [0 as c_char; 32];
    // SAFETY: places for the results, and a zero-terminated text, as the buffer is if nothing is written.
    let text = unsafe {
        libc::gmtime_r(&raw const seconds, &raw mut parts);
        libc::strftime(
            text.as_mut_ptr(),
            text.len(),
            c"%Y-%m-%dT%H:%M:%SZ".as_ptr(),
            &raw const parts,
        );
        CStr::from_ptr(text.as_ptr())
    };
    text.to_string_lossy().into_owned()
}
