//! Communicators whose neighbors the host knows: what lets it run nonblocking neighborhood
//! collectives in O(degree).
//!
//! The host's own distributed graph carries them. The program never sees it: what it asks about the
//! topology is answered by Cartograph. Each process occurs once in the lists, which is where hosts
//! are right.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use super::sys::{self, MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request};
use super::{HostComm, Result, errors::check};

type CreateAdjacent = unsafe extern "C" fn(
    MPI_Comm,
    c_int,
    *const c_int,
    *const c_int,
    c_int,
    *const c_int,
    *const c_int,
    MPI_Info,
    c_int,
    *mut MPI_Comm,
) -> c_int;

type IneighborAlltoallw = unsafe extern "C" fn(
    *const c_void,
    *const c_int,
    *const MPI_Aint,
    *const MPI_Datatype,
    *mut c_void,
    *const c_int,
    *const MPI_Aint,
    *const MPI_Datatype,
    MPI_Comm,
    *mut MPI_Request,
) -> c_int;

type NeighborAlltoallwInit = unsafe extern "C" fn(
    *const c_void,
    *const c_int,
    *const MPI_Aint,
    *const MPI_Datatype,
    *mut c_void,
    *const c_int,
    *const MPI_Aint,
    *const MPI_Datatype,
    MPI_Comm,
    MPI_Info,
    *mut MPI_Request,
) -> c_int;

/// The host's own functions, which ours hide.
pub(super) struct Functions {
    dist_graph_create_adjacent: CreateAdjacent,
    pub(super) ineighbor_alltoallw: IneighborAlltoallw,
    /// Some hosts have no persistent collectives.
    pub(super) neighbor_alltoallw_init: Option<NeighborAlltoallwInit>,
}

/// The host's functions, or `None` if it has none of the kind, or `CARTOGRAPH_NEIGHBORHOOD=off`
/// forbids their use.
pub(super) fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    FUNCTIONS
        .get_or_init(|| {
            if std::env::var_os("CARTOGRAPH_NEIGHBORHOOD").is_some_and(|value| value == "off") {
                return None;
            }
            let create = hidden(c"PMPI_Dist_graph_create_adjacent")?;
            let now = hidden(c"PMPI_Ineighbor_alltoallw")?;
            let later = hidden(c"PMPI_Neighbor_alltoallw_init");
            // SAFETY: the standard's functions of these names have these types, as the prototypes in
            // the host's header, with which our own are compared, say.
            Some(unsafe {
                Functions {
                    dist_graph_create_adjacent: std::mem::transmute::<*mut c_void, CreateAdjacent>(
                        create,
                    ),
                    ineighbor_alltoallw: std::mem::transmute::<*mut c_void, IneighborAlltoallw>(
                        now,
                    ),
                    neighbor_alltoallw_init: later.map(|function| {
                        std::mem::transmute::<*mut c_void, NeighborAlltoallwInit>(function)
                    }),
                }
            })
        })
        .as_ref()
}

/// A function of the host whose name we export ourselves: the next one after ours in the loader's order.
fn hidden(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a name; the loader may be asked at any time.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// A communicator of the same processes with the same ranks, of which the host knows the neighbors;
/// `None` if the host knows no such communicators. Collective.
pub(super) fn create(
    comm: &HostComm,
    sources: &[c_int],
    destinations: &[c_int],
) -> Result<Option<HostComm>> {
    let Some(functions) = functions() else { return Ok(None) };
    // SAFETY: constants of the host.
    let (mut made, unweighted, no_info) =
        unsafe { (sys::cg_comm_null, sys::cg_unweighted(), sys::cg_info_null) };
    // SAFETY: arrays with as many ranks of the communicator as said, and a place for the handle.
    check(unsafe {
        (functions.dist_graph_create_adjacent)(
            comm.0,
            sources.len() as c_int,
            sources.as_ptr(),
            unweighted,
            destinations.len() as c_int,
            destinations.as_ptr(),
            unweighted,
            no_info,
            0,
            &raw mut made,
        )
    })?;
    Ok(Some(HostComm(made)))
}
