//! Creates W: rank 0 reads the order, and one split checks that all processes use it.

use std::ffi::{OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cartograph_core::profile::order::Order;
use cartograph_shim::{environment, say};

use crate::handle::{self, true_world};
use crate::host::{self, check};
use crate::sys::*;
use crate::variables;
use crate::watch::Watch;

/// The message from rank 0 to a process.
#[repr(C)]
#[derive(Clone, Copy)]
struct Told {
    /// A digest of the order; 0 if there is none.
    digest: c_int,
    new_rank: c_int,
    /// Rank 0's program.
    program: c_int,
}

/// The number of integers in it.
const NUMBERS: c_int = 3;
const _: () = assert!(size_of::<Told>() == NUMBERS as usize * size_of::<c_int>());

/// The world in the order of the profile; `None` if all keep their ranks. Collective.
pub(crate) fn make() -> Option<MPI_Comm> {
    // SAFETY: asks for a text.
    if unsafe { cw_is_built_for() } == 0 {
        say!("libcartograph_world.so was built for another MPI than this program's");
        std::process::abort();
    }
    let all = true_world();
    let (mut rank, mut size) = (0, 0);
    // SAFETY: a handle and places for results.
    unsafe {
        let mut parent = cw_null;
        check(host::PMPI_Comm_get_parent(&raw mut parent), "MPI_Comm_get_parent");
        check(host::PMPI_Comm_rank(all, &raw mut rank), "MPI_Comm_rank");
        check(host::PMPI_Comm_size(all, &raw mut size), "MPI_Comm_size");
        // All spawned processes know that they were spawned: the profile is not for them.
        if size == 1 || parent != cw_null {
            return None;
        }
    }
    let own = file();
    if programs() > 1 {
        if rank == 0 {
            say!("MPMD job; world order unchanged");
        }
        return None;
    }
    let watch = Watch::start(rank);
    let order = if rank == 0 { read(own.as_deref(), size as usize) } else { None };
    if !is_there(order.is_some()) {
        return None;
    }
    watch.heard();
    let told = tell(order, rank, size);
    if told.digest == 0 {
        return None;
    }
    let agrees = own.is_some() && told.program == program();
    let made = split(if agrees { told.digest } else { 0 }, told.new_rank, rank, size)?;
    drop(watch);
    prepare(made);
    variables::rewrite(rank, told.new_rank);
    Some(made)
}

/// The profile's file, if this process was started with one for it.
fn file() -> Option<PathBuf> {
    let path = environment::variable(c"CARTOGRAPH_WORLD")?;
    Some(PathBuf::from(OsStr::from_bytes(path.to_bytes())))
}

/// The order of the profile, on rank 0, which prints the reason if there is none.
fn read(file: Option<&Path>, size: usize) -> Option<Order> {
    let Some(file) = file else {
        say!("rank 0 has no profile for this job; world order unchanged");
        return None;
    };
    let said = |why: &String| {
        say!("the profile {} {why}; world order unchanged", file.display());
    };
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}"));
    text.and_then(|text| Order::parse(&text, size)).inspect_err(said).ok()
}

/// True if rank 0 has an order. Collective.
fn is_there(own: bool) -> bool {
    let mut flag = c_int::from(own);
    // SAFETY: an integer.
    let code = unsafe { host::PMPI_Bcast((&raw mut flag).cast(), 1, cw_int, 0, true_world()) };
    check(code, "MPI_Bcast");
    flag != 0
}

/// Gathers nodes on rank 0, which sends every process its new rank.
fn tell(order: Option<Order>, rank: c_int, size: c_int) -> Told {
    let lowest = lowest_of_node(rank);
    let room = if rank == 0 { size as usize } else { 0 };
    let mut gathered = vec![0; room];
    // SAFETY: an integer of each, and room for all at rank 0.
    unsafe {
        let to = gathered.as_mut_ptr().cast::<c_void>();
        let from = (&raw const lowest).cast();
        check(host::PMPI_Gather(from, 1, cw_int, to, 1, cw_int, 0, true_world()), "MPI_Gather");
    }
    let mut all = Vec::new();
    if let Some(order) = order {
        let is_for = order.is_for(&gathered);
        if !is_for {
            say!("the profile is for ranks on other nodes; world order unchanged");
        }
        let digest = if is_for { digest(&order.new_ranks) } else { 0 };
        let program = program();
        all = order.new_ranks.iter().map(|&new_rank| Told { digest, new_rank, program }).collect();
    }
    let mut own = Told { digest: 0, new_rank: rank, program: 0 };
    // SAFETY: what rank 0 has for each, and room for it.
    unsafe {
        let (from, to) = (all.as_ptr().cast(), (&raw mut own).cast());
        let code = host::PMPI_Scatter(from, NUMBERS, cw_int, to, NUMBERS, cw_int, 0, true_world());
        check(code, "MPI_Scatter");
    }
    own
}

/// The lowest rank on the node of this process.
fn lowest_of_node(rank: c_int) -> c_int {
    let mut lowest = rank;
    // SAFETY: the world, an integer of which the node's first process has the lowest, and a communicator that is freed.
    unsafe {
        let mut node = cw_null;
        let code = host::PMPI_Comm_split_type(
            true_world(),
            CW_TYPE_SHARED as c_int,
            rank,
            cw_info_null,
            &raw mut node,
        );
        check(code, "MPI_Comm_split_type");
        check(host::PMPI_Bcast((&raw mut lowest).cast(), 1, cw_int, 0, node), "MPI_Bcast");
        host::PMPI_Comm_free(&raw mut node);
    }
    lowest
}

/// Splits the world into the processes that agree and the others; the result, if it has all processes.
fn split(color: c_int, new_rank: c_int, rank: c_int, size: c_int) -> Option<MPI_Comm> {
    let mut made = cw_null_comm();
    let mut together = 0;
    // SAFETY: the world, and places for results.
    unsafe {
        check(
            host::PMPI_Comm_split(true_world(), color, new_rank, &raw mut made),
            "MPI_Comm_split",
        );
        check(host::PMPI_Comm_size(made, &raw mut together), "MPI_Comm_size");
        if together == size && color != 0 {
            return Some(made);
        }
        host::PMPI_Comm_free(&raw mut made);
    }
    if rank == 0 {
        let others = size - together;
        say!(
            "{others} of {size} processes were started without the profile, or are another program; world \
             order unchanged"
        );
    }
    None
}

fn cw_null_comm() -> MPI_Comm {
    // SAFETY: a constant of the shim.
    unsafe { cw_null }
}

/// Gives W the properties of MPI_COMM_WORLD, and arranges its end.
fn prepare(made: MPI_Comm) {
    // SAFETY: communicators of the host's, handlers and keys that are given back.
    unsafe {
        let mut handler = core::mem::zeroed();
        if host::PMPI_Comm_get_errhandler(true_world(), &raw mut handler) == CW_SUCCESS as c_int {
            host::PMPI_Comm_set_errhandler(made, handler);
            host::PMPI_Errhandler_free(&raw mut handler);
        }
        host::PMPI_Comm_set_name(made, c"MPI_COMM_WORLD".as_ptr());
        // MPI_Finalize deletes MPI_COMM_SELF's first attribute last: none of the program's follows.
        let mut key = CW_KEYVAL_INVALID as c_int;
        let code = host::PMPI_Comm_create_keyval(
            cw_null_copy,
            Some(finalizes),
            &raw mut key,
            core::ptr::null_mut(),
        );
        if code == CW_SUCCESS as c_int {
            host::PMPI_Comm_set_attr(cw_self, key, core::ptr::null_mut());
            host::PMPI_Comm_free_keyval(&raw mut key);
        }
    }
}

/// Frees W.
unsafe extern "C" fn finalizes(
    _comm: MPI_Comm,
    _key: c_int,
    _value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    handle::end();
    CW_SUCCESS as c_int
}

/// The number of programs of the job, if the launcher sets it, as Open MPI's does.
fn programs() -> u32 {
    let told = std::env::var("OMPI_NUM_APP_CTX").ok();
    told.and_then(|number| number.parse().ok()).unwrap_or(1)
}

/// A hash of this process's program: its file name and its index among those of the job.
fn program() -> c_int {
    let file = std::env::current_exe().unwrap_or_default();
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    let mut place: *mut c_int = core::ptr::null_mut();
    let mut flag = 0;
    // SAFETY: an attribute of the host's, whose value is an address of an integer.
    let number = unsafe {
        let value = (&raw mut place).cast();
        host::PMPI_Comm_get_attr(true_world(), cw_appnum, value, &raw mut flag);
        if flag != 0 && !place.is_null() { *place } else { 0 }
    };
    hash(name.iter().map(|byte| u32::from(*byte)).chain([number as u32]))
}

/// A hash above 0 for an order.
fn digest(new_ranks: &[i32]) -> c_int {
    hash(new_ranks.iter().map(|rank| *rank as u32))
}

/// FNV-1a of integers, as a color that is not 0.
fn hash(words: impl Iterator<Item = u32>) -> c_int {
    let mixed = words.flat_map(u32::to_le_bytes).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    ((mixed >> 33) as c_int).max(1)
}
