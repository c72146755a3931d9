//! Nonblocking and persistent neighborhood collectives by the host's own, O(degree) in time and memory.
//!
//! The communicator of a topology is then one of the host's distributed graphs. Its edges are those along which blocks
//! really go, sorted by pairing: hosts match the k-th edge between two processes with the k-th, and so that is
//! right also where a process is a neighbor twice. It has more than one process: with one, MPICH's messages of a
//! process to itself can meet the program's receives.
//!
//! All processes must do so or none, which is agreed on where the communicator is made. Each looks whether its
//! host has the functions and whether they are right.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock};
use std::{iter, mem};

use super::argument_lifetime::ArgumentGuard;
use super::ends::{End, Ends};
use super::types::{Described, Temporary};
use super::{Block, Neighborhood, Regular, Side, Start, both_regular, persistent};
use crate::host::comm::HostComm;
use crate::host::errors::check;
use crate::host::sys::{self, MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Request, cg_graph_count};
use crate::host::{Error, Result};
use crate::topology::{Direction, Topology};

/// The number of edges to `MPI_PROC_NULL` that come before the `degree` edges of a process. [`ArgumentGuard`] needs one
/// edge.
fn proc_null_edges(degree: usize) -> usize {
    (sys::CG_PROC_NULL_EDGES as usize).max(usize::from(sys::CG_KEEPS_ARRAYS != 0 && degree == 0))
}

/// True if a block may have no more elements than an int can count.
const COUNTS_ARE_INTS: bool = size_of::<cg_graph_count>() == size_of::<c_int>();

/// The functions of the host.
struct HostFunctions(sys::cg_graph_functions);

// SAFETY: addresses of functions, which may be called by any thread.
unsafe impl Send for HostFunctions {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for HostFunctions {}

impl HostFunctions {
    /// The functions of the loaded host, if it has them all.
    fn get() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<HostFunctions>> = OnceLock::new();
        let find = || {
            // SAFETY: all fields may be null.
            let mut functions: sys::cg_graph_functions = unsafe { mem::zeroed() };
            // SAFETY: a place for the result.
            let are_all = unsafe { sys::cg_find_graph_functions(&raw mut functions) } != 0;
            are_all.then_some(Self(functions))
        };
        FOUND.get_or_init(find).as_ref()
    }

    /// Returns whether the functions are correct. Tested once per process, while other threads wait: Open MPI 4 loads its
    /// topology component at the first call, without a lock. Local: waits for no other process.
    fn is_right(&self) -> bool {
        static KNOWN: OnceLock<bool> = OnceLock::new();
        // SAFETY: MPI is active, and the functions are the host's.
        *KNOWN.get_or_init(|| unsafe { sys::cg_graph_functions_are_right(&raw const self.0) } != 0)
    }
}

/// Returns whether the host has the functions and they are correct. Local. False in a program that uses only sessions,
/// which has no `MPI_COMM_SELF` to test them on.
pub(super) fn is_right() -> bool {
    // SAFETY: asks the host for its state, which is allowed at any time.
    let may_try = || unsafe { sys::cg_is_active() } != 0;
    HostFunctions::get().is_some_and(|host| may_try() && host.is_right())
}

/// Declares the neighbors on a new communicator to the host, which replaces it; all processes
/// [want](super::route::wanted) it. Collective. Returns the one that it was, if the host knows them now: it may have no
/// room for another communicator, on any process or on none.
pub(in crate::host) fn declare(
    comm: &mut HostComm,
    topology: &Topology,
    rank: i32,
) -> Option<HostComm> {
    let host = HostFunctions::get()?;
    let ends = Ends::new(topology, rank);
    let [sources, destinations] = [Direction::Receive, Direction::Send].map(|direction| {
        let ranks = ends.of(direction, true).iter().map(|end| end.rank);
        let null_edges = proc_null_edges(ranks.len());
        iter::repeat_n(sys::CG_PROC_NULL, null_edges).chain(ranks).collect::<Vec<c_int>>()
    });
    // SAFETY: a constant of the host.
    let mut made = unsafe { sys::cg_comm_null };
    // SAFETY: a communicator that no other code has seen, lists of the given lengths, and a place for the handle.
    let code = unsafe {
        sys::cg_create_graph(
            &raw const host.0,
            comm.0,
            sources.len() as c_int,
            sources.as_ptr(),
            destinations.len() as c_int,
            destinations.as_ptr(),
            &raw mut made,
        )
    };
    (code == sys::CG_SUCCESS).then(|| mem::replace(comm, HostComm(made)))
}

/// Returns whether a communicator has a graph of the host. Local.
pub(super) fn is_known(comm: MPI_Comm) -> bool {
    // SAFETY: a communicator that is in use.
    HostFunctions::get()
        .is_some_and(|host| unsafe { sys::cg_has_graph(&raw const host.0, comm) } != 0)
}

/// The arguments of one side, an entry an edge of the host's.
#[derive(Default)]
struct Arrays {
    counts: Vec<cg_graph_count>,
    displs: Vec<MPI_Aint>,
    datatypes: Vec<MPI_Datatype>,
}

impl Arrays {
    /// Room for some entries.
    fn clear(&mut self, room: usize) {
        self.counts.clear();
        self.displs.clear();
        self.datatypes.clear();
        self.counts.reserve(room);
        self.displs.reserve(room);
        self.datatypes.reserve(room);
    }

    /// Entries for the edges to `MPI_PROC_NULL`, and for those of the process.
    fn fill(
        &mut self,
        (null_edges, ends): (usize, &[End]),
        block: impl Fn(usize) -> Block,
        temporary: &mut Temporary,
    ) -> Result {
        // SAFETY: a constant of the host.
        let byte = unsafe { sys::cg_byte };
        self.clear(null_edges + ends.len());
        for byte in iter::repeat_n(byte, null_edges) {
            self.push(0, 0, byte);
        }
        for end in ends {
            let mut block = block(end.number);
            // A null buffer with MPI_DATATYPE_NULL is allowed for zero blocks.
            if block.count == 0 {
                block = Block { offset: 0, datatype: byte, ..block };
            }
            if COUNTS_ARE_INTS {
                let Described { offset, count, datatype } = temporary.describe(block)?;
                self.push(cg_graph_count::from(count), offset, datatype);
            } else {
                self.push(block.count as cg_graph_count, block.offset, block.datatype);
            }
        }
        Ok(())
    }

    fn push(&mut self, count: cg_graph_count, offset: isize, datatype: MPI_Datatype) {
        self.counts.push(count);
        self.displs.push(offset as MPI_Aint);
        self.datatypes.push(datatype);
    }

    /// Returns whether some datatype is not a named one.
    fn any_derived(&self) -> bool {
        let mut runs = self.datatypes.chunk_by(|one, other| one == other);
        // SAFETY: asks the host about datatypes of the program, or of ours.
        runs.any(|run| unsafe { sys::cg_type_is_derived(run[0]) } != 0)
    }

    /// Takes copies of the datatypes that are not named ones.
    fn hold(&mut self, temporary: &mut Temporary) -> Result {
        for (datatype, count) in self.datatypes.iter_mut().zip(&self.counts) {
            // SAFETY: asks the host about a datatype of the program, or of ours.
            if *count != 0 && unsafe { sys::cg_type_is_derived(*datatype) } != 0 {
                *datatype = temporary.copy(*datatype)?;
            }
        }
        Ok(())
    }
}

/// The arguments of a communicator's last call, for the next: as they are if that is alike, or to be filled again.
#[derive(Default)]
pub(super) struct ArgumentPool(Mutex<Option<Box<Arguments>>>);

impl ArgumentPool {
    fn take(&self) -> Box<Arguments> {
        self.0.try_lock().ok().and_then(|mut arguments| arguments.take()).unwrap_or_default()
    }

    /// The host is done with them.
    fn put(&self, arguments: Box<Arguments>) {
        // Datatypes that were made for one call end with it.
        if arguments.temporary.is_empty()
            && let Ok(mut spare) = self.0.try_lock()
        {
            *spare = Some(arguments);
        }
    }
}

/// The arguments of both sides.
#[derive(Default)]
struct Arguments {
    send: Arrays,
    receive: Arrays,
    /// The blocks, where both sides are regular.
    regular: Option<[Regular; 2]>,
    /// The datatypes in them that were made for them.
    temporary: Temporary,
}

// SAFETY: the host's handles, which any thread of the process may use under MPI's rules.
unsafe impl Send for Arguments {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for Arguments {}

/// Makes the request of a collective on a communicator to which the host [knows](is_known) the neighbors.
/// Collective; waits for no other process.
pub(super) fn start(
    of: &Neighborhood<'_>,
    send: &Side<impl Fn(usize) -> Block>,
    receive: &Side<impl Fn(usize) -> Block>,
    start: Start,
) -> Result<MPI_Request> {
    let host = HostFunctions::get().ok_or(Error::Absent("MPI_Ineighbor_alltoallw"))?;
    let ((send_base, send_distance), (receive_base, receive_distance)) =
        (send.base(1), receive.base(2));
    let mut arguments = of.cache.pool.take();
    let regular = both_regular((send, send_distance), (receive, receive_distance));
    let known = regular.is_some() && arguments.regular == regular;
    if !known {
        arguments.fill(
            of,
            |number| (send.block)(number).moved(send_distance),
            |number| (receive.block)(number).moved(receive_distance),
        )?;
        arguments.regular = regular;
    }
    let call = NeighborCall { host, comm: of.comm, send: send_base, receive: receive_base, start };
    // SAFETY: asks the host which it is.
    let host_keeps = unsafe { sys::cg_requests_keep_datatypes() } != 0;
    if !host_keeps && matches!(start, Start::Later(_)) {
        arguments.hold()?;
        let request = call.make(&arguments, arguments.datatypes())?;
        persistent::keep(request, Arc::<Arguments>::from(arguments));
        return Ok(request);
    }
    // Arguments with derived datatypes are not put back where the host does not keep these.
    if host_keeps || known || !arguments.any_derived() {
        let made = call.make(&arguments, arguments.datatypes());
        of.cache.pool.put(arguments);
        return made;
    }
    let datatypes = arguments.datatypes().map(<[MPI_Datatype]>::to_vec);
    let arguments = Arc::<Arguments>::from(arguments);
    let last = datatypes[1].len().saturating_sub(1);
    let kept = ArgumentGuard::new(of.comm, datatypes, last, Arc::clone(&arguments) as Arc<_>)?;
    let made = call.make(&arguments, kept.datatypes());
    kept.release();
    made
}

impl Arguments {
    fn fill(
        &mut self,
        of: &Neighborhood<'_>,
        send: impl Fn(usize) -> Block,
        receive: impl Fn(usize) -> Block,
    ) -> Result {
        let edges = |direction| {
            let ends = of.ends.of(direction, true);
            (proc_null_edges(ends.len()), ends)
        };
        let temporary = &mut self.temporary;
        self.send.fill(edges(Direction::Send), send, temporary)?;
        self.receive.fill(edges(Direction::Receive), receive, temporary)
    }

    /// Takes copies of the datatypes that are not named ones.
    fn hold(&mut self) -> Result {
        self.send.hold(&mut self.temporary)?;
        self.receive.hold(&mut self.temporary)
    }

    /// Returns whether some datatype is not a named one.
    fn any_derived(&self) -> bool {
        self.send.any_derived() || self.receive.any_derived()
    }

    /// The datatypes of the sends and of the receives.
    fn datatypes(&self) -> [&[MPI_Datatype]; 2] {
        [&self.send.datatypes, &self.receive.datatypes]
    }
}

/// The arguments that change from call to call.
struct NeighborCall {
    host: &'static HostFunctions,
    comm: MPI_Comm,
    send: *mut c_void,
    receive: *mut c_void,
    start: Start,
}

impl NeighborCall {
    fn make(&self, arguments: &Arguments, datatypes: [&[MPI_Datatype]; 2]) -> Result<MPI_Request> {
        // SAFETY: a constant of the host.
        let mut request = unsafe { sys::cg_request_null };
        macro_rules! call {
            ($function:path $(, $info:expr)?) => {
                // SAFETY: arrays with an entry for each neighbor; the program vouches for its buffers.
                unsafe {
                    $function(
                        &raw const self.host.0,
                        self.send,
                        arguments.send.counts.as_ptr(),
                        arguments.send.displs.as_ptr(),
                        datatypes[0].as_ptr(),
                        self.receive,
                        arguments.receive.counts.as_ptr(),
                        arguments.receive.displs.as_ptr(),
                        datatypes[1].as_ptr(),
                        self.comm,
                        $($info,)?
                        &raw mut request,
                    )
                }
            };
        }
        check(match self.start {
            Start::Now => call!(sys::cg_ineighbor_alltoallw),
            Start::Later(info) => call!(sys::cg_neighbor_alltoallw_init, info),
        })?;
        Ok(request)
    }
}
