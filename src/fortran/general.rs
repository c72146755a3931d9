//! `MPI_TOPO_TEST` and `MPI_DIMS_CREATE`.

use std::ffi::c_int;

use super::pointers::{Fint, comm_from};
use crate::abi::general;

fortran! {
    fn mpi_dims_create | MPI_Dims_create(
        nnodes: *const Fint, ndims: *const Fint, dims: *mut Fint,
    ) raising on None; {
        general::dims_create(*nnodes, *ndims, dims)
    }
}

fortran_query! {
    fn mpi_topo_test | MPI_Topo_test(comm: *const Fint, status: *mut Fint) ByKind; |kind: c_int| {
        general::topo_test(kind, status)
    }
}
