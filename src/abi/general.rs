//! Functions for any topology, and for none: `MPI_Topo_test` and `MPI_Dims_create`.

use std::ffi::c_int;

use super::pointers::{CheckedResult, out, output};
use crate::host::sys::MPI_Comm;
use crate::host::{Result, Settings};
use crate::topology::{Error, dims_create as choose_dims};

export! {
    /// Chooses the dims that are 0 so that all multiply to `nnodes` and are as close to each other
    /// as possible. MPI 4.1, 8.5.2. Local; needs no MPI to be initialized.
    fn MPI_Dims_create(nnodes: c_int, ndims: c_int, dims: *mut c_int) = dims_create, raising on None;
}

query! {
    /// The kind of topology of `comm`: `MPI_CART`, `MPI_GRAPH`, `MPI_DIST_GRAPH` or
    /// `MPI_UNDEFINED`. MPI 4.1, 8.5.5. Local.
    fn MPI_Topo_test(comm: MPI_Comm, status: *mut c_int) = topo_test, ByKind;
}

/// The body of `MPI_Topo_test`, in C and Fortran.
///
/// # Safety
///
/// The standard's: `status` can be written.
#[inline(always)]
pub(crate) unsafe fn topo_test(kind: c_int, status: *mut c_int) -> CheckedResult {
    // SAFETY: as the caller promises.
    *unsafe { out("status", status)? } = kind;
    Ok(())
}

/// The body of `MPI_Dims_create`, in C and Fortran.
///
/// # Safety
///
/// The standard's: `dims` has `ndims` ints.
pub(crate) unsafe fn dims_create(nnodes: c_int, ndims: c_int, dims: *mut c_int) -> Result {
    let ndims = usize::try_from(ndims).map_err(|_| Error::NegativeNdims { ndims })?;
    // SAFETY: the caller's array.
    let dims = unsafe { output("dims", dims, ndims)? };
    let are_free = dims.iter().all(|side| *side == 0);
    choose_dims(nnodes, dims)?;
    if are_free && let Some(shape) = Settings::get().shape(ndims) {
        dims.copy_from_slice(&shape.dims(nnodes, &[])?);
    }
    Ok(())
}
