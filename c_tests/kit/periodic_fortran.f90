! Blocks pair by direction in periodic dimensions of one or two processes (MPI 5.0, 8.7), with Fortran names, and
! MPI_Cart_get returns valid LOGICAL values. mpiexec -n 2 ./periodic_fortran
program periodic_fortran
    use mpi
    implicit none
    integer :: ring, rank, ranks, behind, front, ierror, request
    integer :: sent(2), got(2), expected(2), dims(1), coords(1), points = 0
    logical :: periods(1)
    call MPI_Init(ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, ierror)
    call MPI_Comm_rank(ring, rank, ierror)
    call MPI_Cart_shift(ring, 0, 1, behind, front, ierror)
    sent = [10 * rank, 10 * rank + 1]
    expected = [10 * behind + 1, 10 * front]
    got = -1
    call MPI_Neighbor_alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, ierror)
    call tap(all(got == expected), 'MPI_Neighbor_alltoall')
    got = -1
    call MPI_Ineighbor_alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call tap(all(got == expected), 'MPI_Ineighbor_alltoall')
    call MPI_Cart_get(ring, 1, dims, periods, coords, ierror)
    call tap(periods(1) .eqv. .true., 'MPI_Cart_get: a period is .true.')
    call tap(dims(1) == ranks .and. coords(1) == rank, 'MPI_Cart_get: sizes and coordinates')
    if (rank == 0) print '(a, i0)', '1..', points
    call MPI_Finalize(ierror)
contains
    subroutine tap(holds, text)
        logical, intent(in) :: holds
        character(*), intent(in) :: text
        logical :: all_hold
        integer :: code
        call MPI_Allreduce(holds, all_hold, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, code)
        points = points + 1
        if (rank == 0 .and. all_hold) print '(a, i0, 2a)', 'ok ', points, ' - ', text
        if (rank == 0 .and. .not. all_hold) print '(a, i0, 2a)', 'not ok ', points, ' - ', text
    end subroutine
end program
