//! Cartesian grids: `MPI_Cart_*` and `MPI_Cartdim_get`.

use std::ffi::c_int;

use super::pointers::{
    CachedTopology, CheckedResult, answer, as_kind, clear_on, flags, input, length, out, output,
};
use crate::engine::Comm;
use crate::engine::arguments::{CartArguments, Function};
use crate::engine::create;
use crate::host::advisor::{HostAdvisor, weights};
use crate::host::attributes::{self, TopologyAttribute};
use crate::host::call_settings::call_settings;
use crate::host::create::Call;
use crate::host::sys::{self, MPI_Comm};
use crate::host::{HostComm, Result, comm, map};
use crate::mapping::{Grid, last_plan};
use crate::topology::{Cart, as_cart};

export! {
    /// Creates a communicator with a Cartesian grid. MPI 4.1, 8.5.1. Collective.
    fn MPI_Cart_create(
        comm_old: MPI_Comm,
        ndims: c_int,
        dims: *const c_int,
        periods: *const c_int,
        reorder: c_int,
        comm_cart: *mut MPI_Comm,
    ) = cart_create, raising on Some(comm_old);

    /// Creates communicators of lower-dimensional parts of a grid. MPI 4.1, 8.5.8. Collective.
    fn MPI_Cart_sub(comm: MPI_Comm, remain_dims: *const c_int, newcomm: *mut MPI_Comm)
        = cart_sub, raising on Some(comm);

    /// The rank that the caller would have in a reordered grid. MPI 4.1, 8.5.9. Local.
    fn MPI_Cart_map(
        comm: MPI_Comm,
        ndims: c_int,
        dims: *const c_int,
        periods: *const c_int,
        newrank: *mut c_int,
    ) = cart_map, raising on Some(comm);
}

query! {
    /// The number of dimensions of the grid. MPI 4.1, 8.5.5. Local.
    fn MPI_Cartdim_get(comm: MPI_Comm, ndims: *mut c_int) = cartdim_get, ByTopology;

    /// The grid and the caller's coordinates, as many as `maxdims`. MPI 4.1, 8.5.5. Local.
    fn MPI_Cart_get(
        comm: MPI_Comm,
        maxdims: c_int,
        dims: *mut c_int,
        periods: *mut c_int,
        coords: *mut c_int,
    ) = cart_get, ByTopology;

    /// The rank at `coords`. MPI 4.1, 8.5.5. Local.
    fn MPI_Cart_rank(comm: MPI_Comm, coords: *const c_int, rank: *mut c_int)
        = cart_rank, ByTopology;

    /// The coordinates of `rank`, up to `maxdims` of them. MPI 4.1, 8.5.5. Local.
    fn MPI_Cart_coords(comm: MPI_Comm, rank: c_int, maxdims: c_int, coords: *mut c_int)
        = cart_coords, ByTopology;

    /// The ranks to receive from and to send to in a shift. MPI 4.1, 8.5.7. Local.
    fn MPI_Cart_shift(
        comm: MPI_Comm,
        direction: c_int,
        disp: c_int,
        rank_source: *mut c_int,
        rank_dest: *mut c_int,
    ) = cart_shift, ByTopology;
}

/// The body of `MPI_Cart_create`, in C and Fortran.
///
/// # Safety
///
/// The standard's: arrays of `ndims` ints, and a handle that can be written.
pub(crate) unsafe fn cart_create(
    comm_old: MPI_Comm,
    ndims: c_int,
    dims: *const c_int,
    periods: *const c_int,
    reorder: c_int,
    comm_cart: *mut MPI_Comm,
) -> Result {
    // SAFETY: the caller's place for the result.
    unsafe { clear_on(sys::CG_FAMILY_ABI, comm_cart) };
    let comm = comm::intra(comm_old)?;
    // SAFETY: the caller's arrays. A fault here must reach the agreement, not return early.
    let arguments = unsafe {
        length("ndims", ndims).and_then(|ndims| {
            out("comm_cart", comm_cart)?;
            Ok((input("dims", dims, ndims)?, flags("periods", periods, ndims)?))
        })
    };
    let arguments = arguments.as_ref().map_err(Clone::clone).map(|(dims, periods)| CartArguments {
        dims,
        periods,
        reorder: reorder != 0,
    });
    if arguments.is_ok() {
        // SAFETY: the caller's place for the result, of a grid that may still be too large.
        unsafe { clear_on(sys::CG_FAMILY_MPICH, comm_cart) };
    }
    let call = Call::new(Function::CartCreate, &comm, comm_cart);
    let settings = call_settings(Function::CartCreate);
    call.publish(create::cart_create(&comm, &HostAdvisor(&comm), settings, arguments)?)
}

/// The body of `MPI_Cart_sub`, in C and Fortran.
///
/// # Safety
///
/// The standard's: an int for each dimension of the grid, and a handle that can be written.
pub(crate) unsafe fn cart_sub(
    comm: MPI_Comm,
    remain_dims: *const c_int,
    newcomm: *mut MPI_Comm,
) -> Result {
    // SAFETY: the caller's place for the result.
    unsafe { clear_on(sys::CG_FAMILY_ABI, newcomm) };
    // SAFETY: the communicator is the caller's for the time of the call. All its processes have
    // the same topology, so all return here or none.
    let found = unsafe { attributes::attached(comm) };
    let grid = answer(comm, found, |found| as_kind(found, as_cart))?;
    // SAFETY: the caller's array.
    let arguments = unsafe {
        out("newcomm", newcomm).and_then(|_| flags("remain_dims", remain_dims, grid.ndims()))
    };
    let arguments = arguments.as_ref().map_err(Clone::clone).map(|remain| (grid, &remain[..]));
    let comm = HostComm(comm);
    let call = Call::new(Function::CartSub, &comm, newcomm);
    call.publish(create::cart_sub(&comm, &HostAdvisor(&comm), arguments)?)
}

/// The body of `MPI_Cartdim_get`, in C and Fortran.
///
/// # Safety
///
/// The standard's: `ndims` can be written.
#[inline(always)]
pub(crate) unsafe fn cartdim_get(found: CachedTopology, ndims: *mut c_int) -> CheckedResult {
    let grid = as_kind(found, as_cart)?;
    // SAFETY: the caller's place for the result.
    *unsafe { out("ndims", ndims)? } = grid.ndims() as c_int;
    Ok(())
}

/// The body of `MPI_Cart_get`, in C and Fortran.
///
/// # Safety
///
/// The standard's: arrays with room for `maxdims` ints.
#[inline(always)]
pub(crate) unsafe fn cart_get(
    found: CachedTopology,
    maxdims: c_int,
    dims: *mut c_int,
    periods: *mut c_int,
    coords: *mut c_int,
) -> CheckedResult<usize> {
    let grid = as_kind(found, as_cart)?;
    let room = length("maxdims", maxdims)?.min(grid.ndims());
    // SAFETY: the caller's arrays have room for these.
    let (dims, periods, coords) = unsafe {
        (
            output("dims", dims, room)?,
            output("periods", periods, room)?,
            output("coords", coords, room)?,
        )
    };
    let places = dims.iter_mut().zip(periods).zip(coords);
    for (dimension, ((size, period), coordinate)) in grid.dimensions().iter().zip(places) {
        *size = dimension.size;
        *period = c_int::from(dimension.periodic);
        *coordinate = dimension.own();
    }
    Ok(room)
}

/// The body of `MPI_Cart_rank`, in C and Fortran.
///
/// # Safety
///
/// The standard's: a coordinate for each dimension of the grid, and `rank` can be written.
#[inline(always)]
pub(crate) unsafe fn cart_rank(
    found: CachedTopology,
    coords: *const c_int,
    rank: *mut c_int,
) -> CheckedResult {
    let grid = as_kind(found, as_cart)?;
    // SAFETY: the caller's array.
    let found = grid.rank(unsafe { input("coords", coords, grid.ndims())? })?;
    // SAFETY: the caller's place for the result.
    *unsafe { out("rank", rank)? } = found;
    Ok(())
}

/// The body of `MPI_Cart_coords`, in C and Fortran.
///
/// # Safety
///
/// The standard's: an array with room for `maxdims` ints.
#[inline(always)]
pub(crate) unsafe fn cart_coords(
    found: CachedTopology,
    rank: c_int,
    maxdims: c_int,
    coords: *mut c_int,
) -> CheckedResult {
    let grid = as_kind(found, as_cart)?;
    if let Some(attached) = found.filter(|attached| attached.watch.is_set()) {
        // SAFETY: as the caller promises.
        return unsafe { watched_coords(attached, rank, maxdims, coords) };
    }
    // SAFETY: as the caller promises.
    unsafe { coords_of(grid, rank, maxdims, coords) }
}

/// [`cart_coords`] on a process that watches. A function of its own, so that others keep nothing for it in registers.
#[cold]
#[inline(never)]
unsafe fn watched_coords(
    attached: &TopologyAttribute,
    rank: c_int,
    maxdims: c_int,
    coords: *mut c_int,
) -> CheckedResult {
    attached.watch.notice(rank);
    // SAFETY: as the caller promises.
    unsafe { coords_of(as_kind(Some(attached), as_cart)?, rank, maxdims, coords) }
}

#[inline(always)]
unsafe fn coords_of(grid: &Cart, rank: c_int, maxdims: c_int, coords: *mut c_int) -> CheckedResult {
    let room = length("maxdims", maxdims)?.min(grid.ndims());
    // SAFETY: the caller's array has room for all of them.
    grid.coords(rank, unsafe { output("coords", coords, room)? })?;
    Ok(())
}

/// The body of `MPI_Cart_shift`, in C and Fortran.
///
/// # Safety
///
/// The standard's: both results can be written.
#[inline(always)]
pub(crate) unsafe fn cart_shift(
    found: CachedTopology,
    direction: c_int,
    disp: c_int,
    rank_source: *mut c_int,
    rank_dest: *mut c_int,
) -> CheckedResult {
    let grid = as_kind(found, as_cart)?;
    let (source, dest) = grid.shift(grid.own_rank(), direction, disp)?;
    let or_proc_null = |rank: Option<i32>| rank.unwrap_or(sys::CG_PROC_NULL);
    // SAFETY: the caller's places for the results.
    let places = unsafe { (out("rank_source", rank_source)?, out("rank_dest", rank_dest)?) };
    *places.0 = or_proc_null(source);
    *places.1 = or_proc_null(dest);
    Ok(())
}

/// The body of `MPI_Cart_map`, in C and Fortran.
///
/// # Safety
///
/// The standard's: arrays of `ndims` ints, and `newrank` can be written.
pub(crate) unsafe fn cart_map(
    comm: MPI_Comm,
    ndims: c_int,
    dims: *const c_int,
    periods: *const c_int,
    newrank: *mut c_int,
) -> Result {
    let comm = comm::intra(comm)?;
    let ndims = length("ndims", ndims)?;
    // SAFETY: the caller's arrays.
    let (dims, periods) =
        unsafe { (input("dims", dims, ndims)?, flags("periods", periods, ndims)?) };
    let grid = Cart::new(dims, &periods, comm.size()?)?;
    let weights = weights::weights(&comm, dims);
    let grid_of = (grid.size(), Some(dims));
    let found = map::new_rank(&comm, Function::CartCreate, grid_of, |machine, options| {
        last_plan::plan_grid(&Grid::of_cart(&grid, weights.as_deref()), machine, options)
    })?;
    // SAFETY: the caller's place for the result.
    *unsafe { out("newrank", newrank)? } = found;
    Ok(())
}
