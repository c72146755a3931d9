//! The network address of a process's node: from Slurm's variables, and from a user's file by host name.

use std::ffi::{CStr, c_int};
use std::sync::{Once, OnceLock};

use crate::engine::Comm;
use crate::host::process::eprint_line;
use crate::host::settings::{Settings, WrittenNetworkMap, set};
use crate::host::{HostComm, sys};
use crate::launcher::variables::SLURM;
use crate::machine::Machine;
use crate::machine::address::{self, ReportedAddress, host_number};

/// The longest host name on Linux, in bytes.
const NAME_BYTES: usize = 64;

/// The number of words that a process sends about its node's address: Slurm's address, and the host name.
pub(super) const WORDS: usize = address::WORDS + NAME_BYTES / size_of::<c_int>();

/// This process's information about its node's address, as words. Reads the environment once per process.
pub(super) fn of_this_process() -> [c_int; WORDS] {
    static WORDS_OF_THIS: OnceLock<[c_int; WORDS]> = OnceLock::new();
    *WORDS_OF_THIS.get_or_init(|| {
        let word = |name| set(name).map(|value| value.to_string_lossy().into_owned());
        let (address, pattern) = (word("SLURM_TOPOLOGY_ADDR"), word("SLURM_TOPOLOGY_ADDR_PATTERN"));
        let by_slurm = ReportedAddress::slurm(address.as_deref(), pattern.as_deref()).words();
        let mut name = node_name().unwrap_or_else(host_name).into_bytes();
        name.resize(NAME_BYTES, 0);
        let name = name.as_chunks().0.iter().map(|bytes| c_int::from_ne_bytes(*bytes));
        let mut words = by_slurm.into_iter().map(|word| word as c_int).chain(name);
        std::array::from_fn(|_| words.next().unwrap_or(0))
    })
}

/// The host name in the words of a process; empty if unknown.
pub(super) fn host_of(words: &[c_int]) -> String {
    let name: Vec<u8> =
        words[address::WORDS..].iter().flat_map(|word| word.to_ne_bytes()).collect();
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).into_owned()
}

/// The node's name in Slurm, if Slurm started this process: mpiexec may pass on the variables of the node on which it
/// runs.
fn node_name() -> Option<String> {
    let word = |name| set(name).map(|value| value.to_string_lossy().into_owned());
    // SAFETY: asks the host for its state, which is allowed at any time.
    let world = (unsafe { sys::cg_is_active() } != 0).then(HostComm::world)?;
    let is = |name, number: i32| word(name).is_some_and(|value| value == number.to_string());
    let started = is(SLURM.rank, world.rank().ok()?) && is(SLURM.size?, world.size().ok()?);
    word("SLURMD_NODENAME").filter(|name| started && name.len() <= NAME_BYTES)
}

/// The host name from the kernel; empty if there is none.
fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer has this length.
    let code = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) };
    let name = CStr::from_bytes_until_nul(&name).ok().filter(|_| code == 0);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Adds the groups of nodes from the first consistent source. `words` has for each rank its words and its rank in
/// `MPI_COMM_WORLD`. Contradictions are added to `notes`.
pub(super) fn add<'a>(
    machine: Machine,
    words: impl Iterator<Item = (&'a [c_int], c_int)> + Clone,
    notes: &mut Vec<String>,
) -> Machine {
    // Users know processes by their rank in MPI_COMM_WORLD.
    let in_world = |rank: usize| {
        let (_, in_world) = words.clone().nth(rank).unwrap_or((&[], -1));
        usize::try_from(in_world).unwrap_or(rank)
    };
    let has_groups = |machine: &Machine| !machine.above().is_empty();
    if let Some(file) = Settings::get().network_map() {
        match of_file(&machine, file, words.clone(), in_world) {
            Ok(found) if has_groups(&found) => return found,
            Ok(_) => {}
            Err(note) => {
                static SAID: Once = Once::new();
                SAID.call_once(|| eprint_line!("{note}"));
                notes.push(note);
            }
        }
    }
    let by_slurm = words.clone().map(|(words, _)| {
        let words: [u32; address::WORDS] = std::array::from_fn(|at| words[at] as u32);
        ReportedAddress::from_words(&words)
    });
    match machine.addressed(by_slurm) {
        Ok(found) if has_groups(&found) => found,
        Ok(_) => machine,
        Err(why) => {
            let why = why.renumbered(in_world);
            notes.push(format!("SLURM_TOPOLOGY_ADDR {why}: switches ignored"));
            machine
        }
    }
}

/// Reads the addresses of the processes' nodes from the user's file.
fn of_file<'a>(
    machine: &Machine,
    file: &WrittenNetworkMap,
    words: impl Iterator<Item = (&'a [c_int], c_int)> + Clone,
    in_world: impl Fn(usize) -> usize,
) -> Result<Machine, String> {
    static SAID: Once = Once::new();
    SAID.call_once(|| file.complaints.iter().for_each(|line| eprint_line!("{line}")));
    let Some(network_map) = &file.network_map else { return Ok(machine.clone()) };
    let known = words.map(|(words, _)| network_map.at(host_number(&host_of(words))));
    if !network_map.is_empty() && known.clone().all(|known| known == ReportedAddress::Nothing) {
        return Err("CARTOGRAPH_LAYOUT: the file lists none of the job's nodes; ignored".into());
    }
    machine.addressed(known).map_err(|why| {
        let why = why.renumbered(in_world);
        format!("CARTOGRAPH_LAYOUT: the node's address in the file {why}: switches ignored")
    })
}
