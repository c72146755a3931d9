//! The nodes of processes: the first constructor that needs them asks the host, and caches them.
//!
//! A constructor that may reorder, or that is reported, gathers the nodes of all processes of its communicator; no
//! other function sends messages for this. Each process caches the result with the communicator, because `MPI_Cart_map`
//! is local, and with `MPI_COMM_WORLD` if that has the same processes. The layout of `MPI_COMM_WORLD` implies that of
//! every part of it. `CARTOGRAPH_LAYOUT` gives a layout without any communication.

mod address;
mod domain;

use std::collections::HashSet;
use std::ffi::c_int;
use std::mem;
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};

use super::attributes::key::{Key, drop_arc, no_copy};
use super::process::eprint_line;
use super::settings::Settings;
use super::sys;
use super::{HostComm, Result, errors::check, family};
use crate::engine::{Comm, MachineKnowledge};
use crate::machine::{Machine, Runs};

/// The [`Runs`] of a communicator other than `MPI_COMM_WORLD`.
static LAYOUT: Key = Key::new(no_copy, drop_arc::<Runs>);

/// Those of `MPI_COMM_WORLD`. They are not an attribute: a constructor on any communicator may find them, in a callback
/// of the program or on another thread, while the host iterates over the world's attributes.
static OF_WORLD: OnceLock<Arc<Runs>> = OnceLock::new();

/// The place of a communicator's layout outside its attributes. SMPI may have several worlds in one process.
fn place(comm: &HostComm) -> Option<&'static OnceLock<Arc<Runs>>> {
    (comm.0 == HostComm::world().0 && !family::is_smpi()).then_some(&OF_WORLD)
}

/// The layout of a communicator, if it is known without communication. Local, and does not change the communicator.
pub(super) fn known(comm: &HostComm) -> Result<Option<Arc<Runs>>> {
    if comm.size()? == 1 {
        return Ok(Some(Arc::new((&Machine::one_node(1)).into())));
    }
    // A program that uses only sessions may outlive the host's keys, so it caches nothing.
    if !is_active() {
        return Ok(None);
    }
    if let Some(runs) = cached(comm)? {
        return Ok(Some(runs));
    }
    let world = HostComm::world();
    let of_world = match cached(&world)? {
        Some(runs) => runs,
        None => match written(&world, comm)? {
            Some(machine) => Arc::new((&machine).into()),
            None => return Ok(None),
        },
    };
    if comm.0 == world.0 {
        return Ok(Some(of_world));
    }
    let part =
        |ranks: Vec<c_int>| of_world.machine().select(ranks.iter().map(|rank| *rank as usize));
    Ok(ranks_in_world(comm)?.map(|ranks| Arc::new((&part(ranks)).into())))
}

/// [`known`] for the agreement of a constructor, where it must not fail on one process only. The layout is cached.
pub(super) fn knowledge(comm: &HostComm) -> MachineKnowledge {
    // If there is a world, its rank 0 reports invalid settings.
    if !is_active() {
        Settings::get().complain();
    }
    match known(comm) {
        Ok(Some(runs)) => {
            let is_flat = runs.is_flat();
            if runs.ranks() > 1 {
                keep(comm, runs);
            }
            if is_flat { MachineKnowledge::OneNode } else { MachineKnowledge::Known }
        }
        Ok(None) | Err(_) => MachineKnowledge::Unknown,
    }
}

/// The layout of a communicator, gathered from all its processes and cached, on rank 0; `None` elsewhere, and if the
/// host does not know it. Collective.
pub(super) fn gather(comm: &HostComm) -> Result<Option<Machine>> {
    let Some(place) = ProcessLocation::of_this_process(comm)? else { return Ok(None) };
    let places = comm.gather_alike(&place.words())?;
    let found = (comm.rank()? == 0).then(|| GatheredLayout::read(&places)).flatten();
    let runs = share(comm, found.as_ref())?;
    let [of_comm, of_world] = runs;
    if let Some(runs) = of_comm {
        keep(comm, Arc::new(runs));
    }
    if let Some(runs) = of_world {
        keep(&HostComm::world(), Arc::new(runs));
    }
    Ok(found.map(|found| {
        if Settings::get().report.is_some() {
            NOTES.lock().unwrap_or_else(PoisonError::into_inner).extend(found.notes);
        }
        found.machine
    }))
}

/// Contradictions in the gathered data, until the report [takes](take_notes) them.
static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Warnings about the layouts that were gathered since the last call.
pub(super) fn take_notes() -> Vec<String> {
    mem::take(&mut NOTES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The facts that a process reports about itself.
struct ProcessLocation {
    /// The number of its node; `None` if the host failed to report it.
    node: Option<u64>,
    /// Its domains below the node.
    domains: [c_int; domain::WORDS],
    /// The address of its node in the network.
    address: [c_int; address::WORDS],
    /// Its rank in `MPI_COMM_WORLD`, if rank 0 of the communicator is in that as well.
    rank_in_world: Option<c_int>,
}

/// The number of words of a [`ProcessLocation`].
const WORDS: usize = 4 + domain::WORDS + address::WORDS;

/// The index of the first word of the address.
const ADDRESS: usize = 4 + domain::WORDS;

/// The value for a process without a rank in `MPI_COMM_WORLD`.
const NOWHERE: c_int = -1;

impl ProcessLocation {
    /// The location of this process; `None` if the host does not know it, on any process. Collective.
    fn of_this_process(comm: &HostComm) -> Result<Option<Self>> {
        let mut node = 0;
        // SAFETY: a place for the number.
        let code = unsafe { sys::cg_node_id(comm.0, comm.rank()?, &raw mut node) };
        if code == sys::CG_ABSENT {
            return Ok(None);
        }
        // A process that fails reports it in the gather, where others wait for it.
        let node = (code == sys::CG_SUCCESS).then_some(node as u64);
        // SAFETY: a communicator of the program, and an existing world.
        let rank = is_active().then(|| unsafe { sys::cg_rank_in_shared_world(comm.0) });
        let rank_in_world = rank.filter(|rank| *rank != sys::CG_UNDEFINED);
        let (domains, address) = (domain::of_this_process(), address::of_this_process());
        Ok(Some(Self { node, domains, address, rank_in_world }))
    }

    fn words(&self) -> [c_int; WORDS] {
        let mut words = [0; WORDS];
        let node = self.node.unwrap_or(0);
        words[..4].copy_from_slice(&[
            c_int::from(self.node.is_some()),
            node as c_int,
            (node >> 32) as c_int,
            self.rank_in_world.unwrap_or(NOWHERE),
        ]);
        words[4..ADDRESS].copy_from_slice(&self.domains);
        words[ADDRESS..].copy_from_slice(&self.address);
        words
    }
}

/// The layout that rank 0 builds from the locations of all processes.
struct GatheredLayout {
    machine: Machine,
    /// The same in the order of `MPI_COMM_WORLD`, if that has the same processes.
    of_world: Option<Machine>,
    /// Contradictions: these sources were not used.
    notes: Vec<String>,
}

impl GatheredLayout {
    /// `None` if the host failed on any process. Uses memory in proportion to the processes, here on rank 0 only.
    fn read(words: &[c_int]) -> Option<Self> {
        let places = || words.chunks_exact(WORDS);
        if places().any(|place| place[0] == 0) {
            return None;
        }
        let node = |place: &[c_int]| u64::from(place[1] as u32) | u64::from(place[2] as u32) << 32;
        let machine = Machine::from_ids(&places().map(node).collect::<Vec<_>>());
        let hosts = places().map(|place| address::host_of(&place[ADDRESS..]));
        let mut notes: Vec<String> = split_hosts(&machine, hosts).into_iter().collect();
        let addresses = places().map(|place| (&place[ADDRESS..], place[3]));
        let machine = address::add(machine, addresses, &mut notes);
        let machine = domain::add(machine, places().map(|place| &place[4..ADDRESS]));
        let of_world = Self::order_of_world(places().map(|place| place[3]))
            .map(|order| machine.select(order.iter().map(|rank| *rank as usize)));
        Some(Self { machine, of_world, notes })
    }

    /// For each rank in `MPI_COMM_WORLD` the rank here; `None` if not all of its processes are here.
    fn order_of_world(ranks: impl ExactSizeIterator<Item = c_int>) -> Option<Vec<u32>> {
        const NO_RANK: u32 = u32::MAX;
        if !is_active() || HostComm::world().size().ok()? as usize != ranks.len() {
            return None;
        }
        let mut order = vec![NO_RANK; ranks.len()];
        for (here, rank) in (0..).zip(ranks) {
            *order.get_mut(usize::try_from(rank).ok()?)? = here;
        }
        order.iter().all(|here| *here != NO_RANK).then_some(order)
    }
}

/// The warning that the MPI reports a node for each process although several run on hosts of one name, and thus on one
/// machine.
fn split_hosts(machine: &Machine, hosts: impl Iterator<Item = String>) -> Option<String> {
    let names: HashSet<String> = hosts.collect();
    let processes = machine.ranks();
    let is_split = machine.node_sizes().len() == processes && names.len() < processes;
    (is_split && !names.contains("")).then(|| {
        format!(
            "the MPI reports each of {processes} processes on a separate node, but their names are those of {}: \
             processes of one host share no memory, and ranks cannot be placed. Slurm's --mpi=pmi2 with \
             --distribution=arbitrary causes this with MPICH",
            if names.len() == 1 { "one host".to_owned() } else { format!("{} hosts", names.len()) }
        )
    })
}

/// Broadcasts the layouts of rank 0, of the communicator and of `MPI_COMM_WORLD`. Collective.
fn share(comm: &HostComm, found: Option<&GatheredLayout>) -> Result<[Option<Runs>; 2]> {
    let of_comm = found.map(|found| Runs::from(&found.machine));
    let of_world = found.and_then(|found| found.of_world.as_ref()).map(Runs::from);
    let length = |runs: &Option<Runs>| runs.as_ref().map_or(0, |runs| runs.words().len() as u32);
    // An order that is the communicator's own need not be sent twice.
    let same = of_world.is_some() && of_world == of_comm;
    let lengths = [length(&of_comm), if same { 0 } else { length(&of_world) }, u32::from(same)];
    let [of_comm_words, of_world_words, same] = broadcast(comm, lengths.to_vec())?[..] else {
        unreachable!("as many words as were given")
    };
    let total = (of_comm_words + of_world_words) as usize;
    let mut words = vec![0; total];
    let both = of_comm.iter().chain(of_world.iter().filter(|_| same == 0));
    words.iter_mut().zip(both.flat_map(|runs| runs.words())).for_each(|(to, from)| *to = *from);
    let words = broadcast(comm, words)?;
    let (of_comm, of_world) = words.split_at(of_comm_words as usize);
    let of_comm = Runs::from_words(of_comm.into());
    let of_world = if same != 0 { of_comm.clone() } else { Runs::from_words(of_world.into()) };
    Ok([of_comm, of_world])
}

/// Broadcasts the words of rank 0; every process knows their number. Collective.
fn broadcast(comm: &HostComm, words: Vec<u32>) -> Result<Vec<u32>> {
    if words.is_empty() {
        return Ok(words);
    }
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    comm.broadcast(0, &mut bytes)?;
    let word = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
    Ok(bytes.chunks_exact(4).map(word).collect())
}

/// Reads `CARTOGRAPH_LAYOUT` for `MPI_COMM_WORLD`. A fault in it is reported once, by rank 0 of the first communicator
/// that needs it.
fn written(world: &HostComm, comm: &HostComm) -> Result<Option<Machine>> {
    static SAID: Once = Once::new();
    match Settings::get().written_layout(world.size()? as usize) {
        None => Ok(None),
        Some(Ok(machine)) => Ok(Some(machine)),
        Some(Err(complaint)) => {
            if comm.rank()? == 0 {
                SAID.call_once(|| eprint_line!("{complaint}"));
            }
            Ok(None)
        }
    }
}

/// The cached layout of a communicator.
fn cached(comm: &HostComm) -> Result<Option<Arc<Runs>>> {
    if let Some(place) = place(comm) {
        return Ok(place.get().cloned());
    }
    let Some(value) = LAYOUT.get(comm.0)? else { return Ok(None) };
    let value = value.cast_const().cast::<Runs>();
    // SAFETY: a value of our key comes from `keep`. The attribute holds its own share and is never replaced: it ends
    // with the communicator, which is the caller's for the time of the call.
    let runs = unsafe {
        Arc::increment_strong_count(value);
        Arc::from_raw(value)
    };
    // Hosts differ in the attributes that they copy to communicators of other groups.
    Ok((runs.ranks() == comm.size()? as usize).then_some(runs))
}

/// Caches a layout if none is cached. Without the cache, a later call finds the same layout again. Only for
/// constructors: a program may call any other function while the host iterates over the communicator's attributes.
fn keep(comm: &HostComm, runs: Arc<Runs>) {
    if !is_active() {
        return;
    }
    if let Some(place) = place(comm) {
        place.get_or_init(|| runs);
    } else {
        let value = Arc::into_raw(runs);
        if !matches!(LAYOUT.put_if_absent(comm.0, value.cast_mut().cast()), Ok(true)) {
            // SAFETY: the host has not taken the value, so we still own this share.
            drop(unsafe { Arc::from_raw(value) });
        }
    }
}

/// True if there is an `MPI_COMM_WORLD`.
pub(super) fn is_active() -> bool {
    // SAFETY: asks the host for its state, which is allowed at any time.
    unsafe { sys::cg_is_active() != 0 }
}

/// The most steps that the host may take to find the ranks of one communicator in another, about a second: Open MPI
/// compares all pairs. For more, it is faster to ask the processes themselves.
const MOST_STEPS: i64 = 1 << 30;

/// The rank in `MPI_COMM_WORLD` of every process of a communicator, or `None` if a process is not in it or the host
/// does not know.
pub(super) fn ranks_in_world(comm: &HostComm) -> Result<Option<Vec<c_int>>> {
    let size = comm.size()?;
    if i64::from(size) * i64::from(HostComm::world().size()?) > MOST_STEPS {
        return Ok(None);
    }
    let mut ranks = vec![0; 2 * size as usize];
    // SAFETY: room for twice as many ranks as the communicator has.
    match unsafe { sys::cg_ranks_in_world(comm.0, size, ranks.as_mut_ptr()) } {
        sys::CG_ABSENT => return Ok(None),
        code => check(code)?,
    }
    ranks.truncate(size as usize);
    Ok(ranks.iter().all(|rank| *rank >= 0).then_some(ranks))
}
