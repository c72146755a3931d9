! Neighborhood collectives of `use mpi_f08` with arrays whose elements are not contiguous. If the host accepts such
! arrays in nonblocking calls (MPI_SUBARRAYS_SUPPORTED), also nonblocking and persistent collectives, whose datatypes
! the host's module frees before they start.
program sections
    use mpi_f08
    implicit none
    type(MPI_Comm) :: ring
    type(MPI_Request) :: request
    integer :: rank, nprocs, left, right, passed, failed, sums(2), way
    integer, asynchronous :: sent(3, 4), got(3, 4)

    call MPI_Init()
    call MPI_Comm_size(MPI_COMM_WORLD, nprocs)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [nprocs], [.true.], .false., ring)
    call MPI_Comm_rank(ring, rank)
    left = modulo(rank - 1, nprocs)
    right = modulo(rank + 1, nprocs)
    passed = 0
    failed = 0
    do way = 0, merge(2, 0, MPI_SUBARRAYS_SUPPORTED)
        ! One row of a matrix; each neighbor gets the whole row.
        call start
        select case (way)
        case (0)
            call MPI_Neighbor_allgather(sent(2, :), 4, MPI_INTEGER, got, 4, MPI_INTEGER, ring)
        case (1)
            call MPI_Ineighbor_allgather(sent(2, :), 4, MPI_INTEGER, got, 4, MPI_INTEGER, ring, request)
        case (2)
            call MPI_Neighbor_allgather_init(sent(2, :), 4, MPI_INTEGER, got, 4, MPI_INTEGER, ring, MPI_INFO_NULL, request)
        end select
        call finish
        call check(all(reshape(got, [12]) == [block(left), block(right), -1, -1, -1, -1]))

        ! One element of the row for each neighbor.
        call start
        select case (way)
        case (0)
            call MPI_Neighbor_alltoall(sent(2, :), 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring)
        case (1)
            call MPI_Ineighbor_alltoall(sent(2, :), 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, request)
        case (2)
            call MPI_Neighbor_alltoall_init(sent(2, :), 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, MPI_INFO_NULL, request)
        end select
        call finish
        ! The result is the host module's: the blocks of a section are not always as far apart as its elements.
        if (rank == 0) write (*, '(a,1x,i0,a,2(1x,i0))') 'alltoall of a row', way, ':', got(1:2, 1)
    end do
    call MPI_Reduce([passed, failed], sums, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0) write (*, '(i0,a,i0,a)') sums(1), ' passed, ', sums(2), ' failed'
    call MPI_Comm_free(ring)
    call MPI_Finalize()
    if (failed > 0) stop 1

contains

    pure function block(of)
        integer, intent(in) :: of
        integer :: block(4), column
        block = [(10 * of + column, column = 1, 4)]
    end function block

    subroutine start
        sent = -2
        sent(2, :) = block(rank)
        got = -1
    end subroutine start

    subroutine finish
        if (way == 2) call MPI_Start(request)
        if (way > 0) call MPI_Wait(request, MPI_STATUS_IGNORE)
        if (way == 2) call MPI_Request_free(request)
    end subroutine finish

    subroutine check(holds)
        logical, intent(in) :: holds
        passed = passed + merge(1, 0, holds)
        failed = failed + merge(0, 1, holds)
        if (.not. holds) write (*, *) 'rank', rank, 'way', way, 'got', got
    end subroutine check
end program sections
