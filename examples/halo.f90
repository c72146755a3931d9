! Each process of a grid sends its rank to its four neighbors.
!
!     mpifort -o halo examples/halo.f90
!     mpiexec -n 4 cartograph exec --report ./halo
program halo
    use mpi
    implicit none
    integer :: dims(2) = 0, size, rank, grid, got(4), before, after, dimension, wrong, all_wrong, error
    logical :: periods(2) = .true.
    call MPI_Init(error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    call MPI_Dims_create(size, 2, dims, error)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .true., grid, error)
    call MPI_Comm_rank(grid, rank, error)
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, grid, error)
    wrong = 0
    do dimension = 0, 1
        call MPI_Cart_shift(grid, dimension, 1, before, after, error)
        if (got(2 * dimension + 1) /= before .or. got(2 * dimension + 2) /= after) wrong = wrong + 1
    end do
    call MPI_Reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, grid, error)
    if (rank == 0) print '(a, i0, a, i0, a, i0, a)', 'a grid of ', dims(1), ' x ', dims(2), ', ', all_wrong, ' wrong'
    call MPI_Comm_free(grid, error)
    call MPI_Finalize(error)
end program halo
