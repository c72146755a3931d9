//! `MPI_CART_*` and `MPI_CARTDIM_GET`.

use super::pointers::{Fint, Logical, comm_from, new_comm, to_logicals};
use crate::abi::{cart, pointers::CachedTopology};

fortran! {
    fn mpi_cart_create | MPI_Cart_create(
        comm_old: *const Fint, ndims: *const Fint, dims: *const Fint, periods: *const Logical,
        reorder: *const Logical, comm_cart: *mut Fint,
    ) raising on Some(comm_from(comm_old)); {
        new_comm(comm_cart, |made| {
            cart::cart_create(comm_from(comm_old), *ndims, dims, periods, *reorder, made)
        })
    }

    fn mpi_cart_sub | MPI_Cart_sub(
        comm: *const Fint, remain_dims: *const Logical, newcomm: *mut Fint,
    ) raising on Some(comm_from(comm)); {
        new_comm(newcomm, |made| cart::cart_sub(comm_from(comm), remain_dims, made))
    }

    fn mpi_cart_map | MPI_Cart_map(
        comm: *const Fint, ndims: *const Fint, dims: *const Fint, periods: *const Logical,
        newrank: *mut Fint,
    ) raising on Some(comm_from(comm)); {
        cart::cart_map(comm_from(comm), *ndims, dims, periods, newrank)
    }
}

fortran_query! {
    fn mpi_cartdim_get | MPI_Cartdim_get(comm: *const Fint, ndims: *mut Fint) ByTopology; |found: CachedTopology| {
        cart::cartdim_get(found, ndims)
    }

    fn mpi_cart_get | MPI_Cart_get(
        comm: *const Fint, maxdims: *const Fint, dims: *mut Fint, periods: *mut Logical,
        coords: *mut Fint,
    ) ByTopology; |found: CachedTopology| {
        let written = cart::cart_get(found, *maxdims, dims, periods, coords)?;
        to_logicals(periods, written);
        Ok(())
    }

    fn mpi_cart_rank | MPI_Cart_rank(
        comm: *const Fint, coords: *const Fint, rank: *mut Fint,
    ) ByTopology; |found: CachedTopology| {
        cart::cart_rank(found, coords, rank)
    }

    fn mpi_cart_coords | MPI_Cart_coords(
        comm: *const Fint, rank: *const Fint, maxdims: *const Fint, coords: *mut Fint,
    ) ByTopology; |found: CachedTopology| {
        cart::cart_coords(found, *rank, *maxdims, coords)
    }

    fn mpi_cart_shift | MPI_Cart_shift(
        comm: *const Fint, direction: *const Fint, disp: *const Fint, rank_source: *mut Fint,
        rank_dest: *mut Fint,
    ) ByTopology; |found: CachedTopology| {
        cart::cart_shift(found, *direction, *disp, rank_source, rank_dest)
    }
}
