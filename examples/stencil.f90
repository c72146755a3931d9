! A grid whose ranks may be reordered: mpifort -o stencil stencil.f90
program stencil
    use mpi
    implicit none
    integer :: size, rank, device, node, grid, at(2), to(2), near, wrong, all_wrong, d, side, error
    integer :: dims(2) = 0, cell(4), halo(4)
    logical :: periods(2) = [.false., .true.]
    call MPI_Init(error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)

    ! The launcher has bound this process, so its device follows from MPI_COMM_WORLD.
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, error)
    call MPI_Comm_rank(node, device, error)

    call MPI_Dims_create(size, 2, dims, error)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .true., grid, error)
    call MPI_Comm_rank(grid, rank, error) ! the only rank from here on
    call MPI_Cart_coords(grid, rank, 2, at, error)

    ! Data depends on coordinates, not on a rank from before.
    cell = at(1) * dims(2) + at(2)
    halo = -1
    call MPI_Neighbor_alltoall(cell, 1, MPI_INTEGER, halo, 1, MPI_INTEGER, grid, error)

    wrong = 0
    do d = 1, 2
        do side = 0, 1
            to = at
            to(d) = to(d) + 2 * side - 1
            to(2) = modulo(to(2), dims(2))
            near = to(1) * dims(2) + to(2)
            if (to(1) < 0 .or. to(1) == dims(1)) near = -1
            if (halo(2 * d - 1 + side) /= near) wrong = wrong + 1
        end do
    end do
    call MPI_Reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, grid, error)
    ! Rank 0 of the grid also writes its files.
    if (rank == 0) print '(a, i0, a, i0, a, i0, a)', 'a grid of ', dims(1), ' x ', dims(2), ', ', all_wrong, ' wrong'
    call MPI_Finalize(error)
end program stencil
