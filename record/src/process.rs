//! The start and the end of a process, of communicators and of windows, and the grids of a process: MPI 4.1, 11.2,
//! 7.4.3, 12.2.5, 8.5.

use std::ffi::{CStr, c_char, c_int};
use std::sync::{Once, OnceLock};

use cartograph_shim::next::{self, Next};
use cartograph_shim::say;
use cartograph_traffic::{Address, Grid, Process, SCHEMA, Work, host_name};

use crate::outermost;
use crate::part;
use crate::peers::Peers;
use crate::sys::{self, MPI_Comm, MPI_Win};
use crate::{limits, tally, ticks};

/// The number of characters of the program and its arguments that are recorded in each part.
const MOST_PROGRAM: usize = 500;

/// The rank of this process, and the number of processes.
static JOB: OnceLock<(u32, u32)> = OnceLock::new();

/// Starts recording, once MPI has started. The host's functions may call each other, and tools may call ours.
fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let Some(process) = own() else { return };
        let (rank, size) = (process.rank, process.size);
        if part::open(process) {
            if part::is_clock() {
                return;
            }
            tally::begin(rank, size);
            let _ = JOB.set((rank, size));
            // SAFETY: a function that stays: the library is linked with -z nodelete.
            unsafe { sys::cr_find_next_by(Some(next::find_next)) };
            ticks::start();
            // SAFETY: a function that stays: the library is linked with -z nodelete.
            unsafe { libc::atexit(at_exit) };
            // SAFETY: MPI has started.
            if unsafe { sys::cr_has_threads() } != 0 {
                outermost::have_threads();
            }
            outermost::switch(true);
        }
    });
}

/// The rank of this process, and its job. `None` for spawned processes, whose MPI_COMM_WORLD is not the job's.
fn own() -> Option<Process> {
    let mut version = [0 as c_char; sys::CR_VERSION_ROOM as usize];
    // SAFETY: as much room as is asked for; allowed at any time.
    if unsafe { sys::cr_version(version.as_mut_ptr()) } == 0 {
        say!(
            "this libcartograph_record.so was built for another MPI than the program runs \
             on; use cartograph exec --record, which picks the right one"
        );
        std::process::abort();
    }
    let mut name = [0 as c_char; sys::CR_NAME_ROOM as usize];
    let (mut rank, mut size) = (0, 0);
    // SAFETY: places for the results, of the required size.
    if unsafe { sys::cr_start(&raw mut rank, &raw mut size, name.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: the arrays were zero, and the host has written strings with room for a zero after them.
    let text =
        |array: &[c_char]| unsafe { CStr::from_ptr(array.as_ptr()) }.to_string_lossy().into_owned();
    // If a recording must be small, only one process writes data that is the same for all.
    let writes = |text: String| if limits::are_set() && rank != 0 { String::new() } else { text };
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let version = text(&version);
    let mpi = version.lines().next().unwrap_or_default().split(", ").next().unwrap_or_default();
    Some(Process {
        schema: SCHEMA,
        rank: rank.try_into().ok()?,
        size: size.try_into().ok()?,
        host: host_name(&text(&name)),
        address: address(),
        program: writes(arguments.join(" ").chars().take(MOST_PROGRAM).collect()),
        mpi: writes(mpi.split_whitespace().collect::<Vec<_>>().join(" ")),
        part: 0,
        complete: false,
        nanoseconds: 0,
        cost: 0,
        stopped: false,
        work: Work::default(),
        pattern: None,
        device: None,
        lines: 0,
    })
}

/// The address of the node in the network, from Slurm.
fn address() -> Option<Address> {
    let [path, pattern] =
        ["SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN"].map(|name| std::env::var(name).ok());
    Some(Address { path: path?, pattern: pattern? })
}

/// Writes the remaining counts of a program that ends without `MPI_Finalize`.
extern "C" fn at_exit() {
    if outermost::is_on() || limits::has_stopped() {
        tally::finish(false);
    }
}

macro_rules! wrap_start {
    ($($name:ident ($($arg:ident: $ty:ty),*);)*) => { $(
        const _: () = {
            type Function = unsafe extern "C" fn($($ty),*) -> c_int;

            unsafe fn call(next: &Next, $($arg: $ty),*) -> c_int {
                part::look();
                // SAFETY: every function of this name is of this type: it is what mpi.h declares.
                let next: Function = unsafe { std::mem::transmute(next.get()) };
                // SAFETY: the caller keeps the standard's contract for this call.
                let code = unsafe { next($($arg),*) };
                // SAFETY: asks for the state of MPI.
                if code == sys::CR_SUCCESS && unsafe { sys::cr_is_active() } != 0 {
                    start();
                }
                code
            }
            cartograph_shim::names! { $name ($($arg: $ty),*) -> c_int, call }
        };
    )* };
}

wrap_start! {
    MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char);
    MPI_Init_thread(argc: *mut c_int, argv: *mut *mut *mut c_char, required: c_int, provided: *mut c_int);
}

const _: () = {
    unsafe fn call(next: &Next) -> c_int {
        if outermost::is_on() || limits::has_stopped() || part::is_clock() {
            outermost::switch(false);
            tally::finish(true);
        }
        // SAFETY: every MPI_Finalize is of this type.
        let next: unsafe extern "C" fn() -> c_int = unsafe { std::mem::transmute(next.get()) };
        // SAFETY: the caller keeps the standard's contract for this call.
        unsafe { next() }
    }
    cartograph_shim::names! { MPI_Finalize () -> c_int, call }
};

const _: () = {
    unsafe fn call(next: &Next, comm: MPI_Comm, code: c_int) -> c_int {
        at_exit();
        // SAFETY: every MPI_Abort is of this type.
        let next: unsafe extern "C" fn(MPI_Comm, c_int) -> c_int =
            unsafe { std::mem::transmute(next.get()) };
        // SAFETY: the caller keeps the standard's contract for this call.
        unsafe { next(comm, code) }
    }
    cartograph_shim::names! { MPI_Abort (comm: MPI_Comm, code: c_int) -> c_int, call }
};

/// Wraps functions that free a handle. Its table is released before another communicator can get the handle, and once
/// more afterwards, since a program may have used it in attribute callbacks.
macro_rules! wrap_free {
    ($($name:ident ($handle:ident: $ty:ty), $peers:path;)*) => { $(
        const _: () = {
            type Function = unsafe extern "C" fn(*mut $ty) -> c_int;

            unsafe fn call(next: &Next, place: *mut $ty) -> c_int {
                // SAFETY: the caller's place, or null, which the host rejects.
                let peers = unsafe { place.as_ref() }.map(|handle| $peers(*handle));
                let forget = || {
                    if outermost::is_on() {
                        peers.into_iter().for_each(tally::gone);
                    }
                };
                forget();
                // SAFETY: every function of this name is of this type: it is what mpi.h declares.
                let next: Function = unsafe { std::mem::transmute(next.get()) };
                // SAFETY: the caller keeps the standard's contract for this call.
                let code = unsafe { next(place) };
                forget();
                code
            }
            cartograph_shim::names! { $name ($handle: *mut $ty) -> c_int, call }
        };
    )* };
}

wrap_free! {
    MPI_Comm_free(comm: MPI_Comm), Peers::Comm;
    MPI_Comm_disconnect(comm: MPI_Comm), Peers::Comm;
    MPI_Win_free(win: MPI_Win), Peers::Win;
}

wrap! { Call
    [MPI_Cart_create] []
    (
        comm_old: MPI_Comm, ndims: c_int, dims: *const c_int, periods: *const c_int, reorder: c_int,
        comm_cart: *mut MPI_Comm
    ) => grid("MPI_Cart_create", *comm_cart, reorder != 0);
    [MPI_Cart_sub] []
    (comm: MPI_Comm, remain_dims: *const c_int, newcomm: *mut MPI_Comm)
        => grid("MPI_Cart_sub", *newcomm, false);
    [MPI_Dims_create] [] (nnodes: c_int, ndims: c_int, dims: *mut c_int) => {
        let count = if dims.is_null() { 0 } else { ndims.max(0) as usize };
        // A null pointer is allowed without dims.
        let dims = if count == 0 { &[][..] } else { std::slice::from_raw_parts(dims, count) };
        dims_of_job(nnodes, dims)
    };
}

/// Records dims for all processes: a program that gets them from MPI gets those for another number of processes, too.
fn dims_of_job(nnodes: c_int, dims: &[c_int]) {
    let job = JOB.get().filter(|(_, size)| u32::try_from(nnodes) == Ok(*size));
    let Some((rank, _)) = job.filter(|_| !dims.is_empty()) else { return };
    tally::grid(Grid {
        function: "MPI_Dims_create".into(),
        dims: dims.iter().map(|side| *side as u32).collect(),
        periodic: vec![false; dims.len()],
        reorder: false,
        rank: *rank,
        first: 0,
    });
}

/// Records a grid, if the process has a rank in it.
fn grid(function: &str, comm: MPI_Comm, reorder: bool) {
    // SAFETY: compares handles.
    if unsafe { sys::cr_is_null(comm) } != 0 {
        return;
    }
    // SAFETY: a communicator that was just made.
    let count = unsafe { sys::cr_dimensions(comm) };
    let Ok(dimensions) = usize::try_from(count) else { return };
    let (mut dims, mut periodic, mut rank) = (vec![0; dimensions], vec![0; dimensions], 0);
    // SAFETY: as above, and room for all dimensions.
    let found = unsafe {
        sys::cr_grid(comm, count, dims.as_mut_ptr(), periodic.as_mut_ptr(), &raw mut rank)
    };
    let first = Peers::Comm(comm).in_world(&[0])[0];
    if let (true, Some(first), Ok(rank)) = (found != 0, first, u32::try_from(rank)) {
        let dims = dims.iter().map(|side| *side as u32).collect();
        let periodic = periodic.iter().map(|periodic: &c_int| *periodic != 0).collect();
        tally::grid(Grid { function: function.into(), dims, periodic, reorder, rank, first });
    }
}
