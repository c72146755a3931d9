//! Nonblocking and persistent neighborhood collectives through the host's own, O(degree) in time and memory.
//!
//! The communicator of a topology is then one of the host's distributed graphs. Its edges are those along which blocks
//! are really sent, sorted by pairing: hosts match the k-th edges between two processes, so that is right even if a
//! process is a neighbor twice. It has more than one process: with one, MPICH's messages of a process to itself can
//! match the program's receives.
//!
//! All processes must do so or none; they agree on that when the communicator is created. Each checks whether its host
//! has the functions and whether they are correct.

use std::ffi::c_int;
use std::sync::{Arc, OnceLock};
use std::{iter, mem};

use super::argument_lifetime::ArgumentGuard;
use super::blocks::{Block, Side, Start, both_regular};
use super::cache::Neighborhood;
use super::call::Call;
use super::ends::Ends;
use super::neighbor_args::{Arguments, proc_null_edges};
use super::persistent;
use crate::host::comm::{HostComm, made_by_all};
use crate::host::constants;
use crate::host::errors::check;
use crate::host::sys::{self, MPI_Comm, MPI_Datatype, MPI_Request};
use crate::host::{Error, Result};
use crate::topology::{Direction, Topology};

/// The functions of the host.
struct HostFunctions(sys::cg_graph_functions);

// SAFETY: addresses of functions, which any thread may call.
unsafe impl Send for HostFunctions {}
// SAFETY: addresses of functions, which any thread may call; nothing in it changes.
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

    /// Returns whether the functions are correct. Tested once per process, while other threads wait: Open MPI 4 loads
    /// its topology component at the first call, without a lock. Local: waits for no other process.
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
/// [want](super::route::wanted) it. Collective. Returns the old communicator if the host knows the neighbors now: it
/// may have no room for another communicator, which is the same on all processes.
///
/// # Errors
///
/// The host's error on this process alone.
pub(in crate::host) fn declare(
    comm: &mut HostComm,
    topology: &Topology,
    rank: i32,
) -> Result<Option<HostComm>> {
    let Some(host) = HostFunctions::get() else { return Ok(None) };
    let ends = Ends::new(topology, rank);
    let [sources, destinations] = [Direction::Receive, Direction::Send].map(|direction| {
        let ranks = ends.of(direction, true).iter().map(|end| end.rank);
        let null_edges = proc_null_edges(ranks.len());
        iter::repeat_n(sys::CG_PROC_NULL, null_edges).chain(ranks).collect::<Vec<c_int>>()
    });
    let mut made = constants::comm_null();
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
    Ok(made_by_all(code)?.then(|| mem::replace(comm, HostComm(made))))
}

/// True if a communicator has a graph of the host. Local.
pub(super) fn is_known(comm: MPI_Comm) -> bool {
    // SAFETY: a communicator that is in use.
    HostFunctions::get()
        .is_some_and(|host| unsafe { sys::cg_has_graph(&raw const host.0, comm) } != 0)
}

/// Creates the request of a collective on a communicator whose neighbors the host [knows](is_known). Collective; waits
/// for no other process.
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
            of.ends,
            |number| (send.block)(number).moved(send_distance),
            |number| (receive.block)(number).moved(receive_distance),
        )?;
        arguments.regular = regular;
    }
    let call = Call { comm: of.comm, send: send_base, receive: receive_base, start };
    // SAFETY: asks the host which it is.
    let host_keeps = unsafe { sys::cg_requests_keep_datatypes() } != 0;
    if !host_keeps && matches!(start, Start::Later(_)) {
        arguments.hold()?;
        let request = make(host, &call, &arguments, arguments.datatypes())?;
        persistent::keep(request, Arc::<Arguments>::from(arguments));
        return Ok(request);
    }
    // Arguments with derived datatypes are not reused if the host does not hold these.
    if host_keeps || known || !arguments.any_derived() {
        let made = make(host, &call, &arguments, arguments.datatypes());
        of.cache.pool.put(arguments);
        return made;
    }
    let datatypes = arguments.datatypes().map(<[MPI_Datatype]>::to_vec);
    let arguments = Arc::<Arguments>::from(arguments);
    let last = datatypes[1].len().saturating_sub(1);
    let kept = ArgumentGuard::new(of.comm, datatypes, last, Arc::clone(&arguments) as Arc<_>)?;
    let made = make(host, &call, &arguments, kept.datatypes());
    kept.release();
    made
}

fn make(
    host: &HostFunctions,
    call: &Call,
    arguments: &Arguments,
    types: [&[MPI_Datatype]; 2],
) -> Result<MPI_Request> {
    let host = &raw const host.0;
    let mut request = constants::request_null();
    check(match call.start {
        Start::Now => {
            call!(sys::cg_ineighbor_alltoallw, [host], call, arguments, types, [], request)
        }
        Start::Later(info) => {
            call!(sys::cg_neighbor_alltoallw_init, [host], call, arguments, types, [info], request)
        }
    })?;
    Ok(request)
}
