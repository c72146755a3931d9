! Reports whether Cartograph or the host answers, by the text of an error; for a compiler that adds no underscore to
! names.
program plain_names
    implicit none
    include 'mpif.h'
    integer :: grid, rank, code, length, ignored
    character(MPI_MAX_ERROR_STRING) :: text
    call mpi_init(ignored)
    call mpi_comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ignored)
    call mpi_cart_create(MPI_COMM_SELF, 1, (/ 1 /), (/ .false. /), .false., grid, ignored)
    call mpi_cart_rank(grid, (/ 7 /), rank, code)
    call mpi_error_string(code, text, length, ignored)
    if (index(text(:length), 'outside') > 0) then
        print '(1x,a)', 'Cartograph'
    else
        print *, text(:length)
    end if
    call mpi_comm_free(grid, ignored)
    call mpi_finalize(ignored)
end program
