! The value that MPI_CART_CREATE leaves in the handle of the new communicator if the grid is too large: the same as the
! host's.
program failed_handle
    use mpi
    implicit none
    integer :: comm, ranks, rank, code, ignored
    call mpi_init(ignored)
    call mpi_comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ignored)
    call mpi_comm_size(MPI_COMM_WORLD, ranks, ignored)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, ignored)
    comm = MPI_COMM_SELF
    call mpi_cart_create(MPI_COMM_WORLD, 1, (/ ranks + 1 /), (/ .false. /), .false., comm, code)
    if (rank == 0) then
        if (comm == MPI_COMM_NULL) then
            print '(a)', 'null'
        else if (comm == MPI_COMM_SELF) then
            print '(a)', 'as it was'
        end if
        print '(i0,a,i0,a)', merge(1, 0, code /= MPI_SUCCESS), ' passed, ', merge(0, 1, code /= MPI_SUCCESS), ' failed'
    end if
    call mpi_finalize(ignored)
end program
