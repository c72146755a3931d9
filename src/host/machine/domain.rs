//! The location of a process inside its node, by the cores that Linux binds it to.

use std::ffi::c_int;
use std::fs;
use std::process;
use std::sync::OnceLock;

use crate::machine::Machine;
use crate::machine::cpus::{self, KINDS};

/// The length in words of the domains of a process.
pub(super) const WORDS: usize = 2;

/// An unknown domain.
const UNKNOWN: u16 = u16::MAX;

/// The package, NUMA domain and cache to which this process is bound, as words. Reads some kernel files, once per
/// process.
pub(super) fn of_this_process() -> [c_int; WORDS] {
    static DOMAINS: OnceLock<[c_int; WORDS]> = OnceLock::new();
    *DOMAINS.get_or_init(|| {
        let read = |path: &str| fs::read_to_string(format!("/sys/devices/system/{path}")).ok();
        let [package, numa, cache] = cpus::domains(&bound_to(), read);
        let number = |domain: Option<u16>| u32::from(domain.unwrap_or(UNKNOWN));
        [(number(package) | number(numa) << 16) as c_int, number(cache) as c_int]
    })
}

/// Adds a level to a layout for each kind of domain that all processes know. `words` has the domains of each rank.
pub(super) fn add<'a>(
    mut machine: Machine,
    words: impl Iterator<Item = &'a [c_int]> + Clone,
) -> Machine {
    let domain = |words: &[c_int], kind: usize| {
        let word = words[kind / 2] as u32;
        (word >> (16 * (kind % 2))) as u16
    };
    for (at, kind) in KINDS.into_iter().enumerate() {
        let of_all = || words.clone().map(|words| domain(words, at));
        if of_all().all(|domain| domain != UNKNOWN) {
            let ids: Vec<u64> = of_all().map(u64::from).collect();
            machine = machine.with_level(kind, &ids);
        }
    }
    machine.without_idle_levels()
}

/// The CPUs that this process may use; none if Linux does not list them.
fn bound_to() -> Vec<usize> {
    /// More CPUs than any Linux kernel supports.
    const MOST: usize = 1 << 16;
    const BITS: usize = u64::BITS as usize;
    let mut mask = vec![0u64; MOST / BITS];
    // The process's ID asks for its first thread, which launchers bind; the program may have bound other threads more
    // narrowly.
    let (first, room) = (process::id() as libc::pid_t, mask.as_mut_ptr().cast());
    // SAFETY: the buffer has this length.
    let code = unsafe { libc::sched_getaffinity(first, MOST / 8, room) };
    if code != 0 {
        return Vec::new();
    }
    let is_set = |cpu: &usize| mask[cpu / BITS] >> (cpu % BITS) & 1 == 1;
    (0..MOST).filter(is_set).collect()
}
