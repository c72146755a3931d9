! The neighborhood collectives by `use mpi`, on a periodic ring: what comes from the left is what the left
! neighbor sent to the right, also where both neighbors are one process.
program neighbor
    use mpi
    implicit none
    integer :: ring, request, types(2)
    integer :: rank, nprocs, left, right, failed, all_failed, ierr, round
    ! Read and written while a request is under way.
    integer, asynchronous :: sent(4), got(6), counts(2), displs(2)
    integer, asynchronous :: swapped(2)
    integer(kind=MPI_ADDRESS_KIND), asynchronous :: bytes(2), swapped_bytes(2)
    logical :: periods(1)

    call MPI_Init(ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
    periods(1) = .true.
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [nprocs], periods, .false., ring, ierr)
    call MPI_Comm_rank(ring, rank, ierr)
    left = modulo(rank - 1, nprocs)
    right = modulo(rank + 1, nprocs)
    failed = 0
    counts = 2
    displs = [4, 0]
    bytes = [16, 0]
    swapped = [2, 0]
    swapped_bytes = [8, 0]
    types = MPI_INTEGER
    do round = 0, 1
        call start('allgather')
        if (round == 0) then
            call MPI_Neighbor_allgather(sent, 2, MPI_INTEGER, got, 2, MPI_INTEGER, ring, ierr)
        else
            call MPI_Ineighbor_allgather(sent, 2, MPI_INTEGER, got, 2, MPI_INTEGER, ring, request, ierr)
        end if
        call check('allgather', [block(left, 1), block(right, 1), -1, -1])

        call start('allgatherv')
        if (round == 0) then
            call MPI_Neighbor_allgatherv(sent, 2, MPI_INTEGER, got, counts, displs, MPI_INTEGER, ring, ierr)
        else
            call MPI_Ineighbor_allgatherv(sent, 2, MPI_INTEGER, got, counts, displs, MPI_INTEGER, ring, request, ierr)
        end if
        call check('allgatherv', [block(right, 1), -1, -1, block(left, 1)])

        call start('alltoall')
        if (round == 0) then
            call MPI_Neighbor_alltoall(sent, 2, MPI_INTEGER, got, 2, MPI_INTEGER, ring, ierr)
        else
            call MPI_Ineighbor_alltoall(sent, 2, MPI_INTEGER, got, 2, MPI_INTEGER, ring, request, ierr)
        end if
        call check('alltoall', [block(left, 3), block(right, 1), -1, -1])

        ! The first block sent is the second of the buffer.
        call start('alltoallv')
        if (round == 0) then
            call MPI_Neighbor_alltoallv(sent, counts, swapped, MPI_INTEGER, got, counts, displs, MPI_INTEGER, ring, ierr)
        else
            call MPI_Ineighbor_alltoallv(sent, counts, swapped, MPI_INTEGER, got, counts, displs, MPI_INTEGER, ring, &
                                         request, ierr)
        end if
        call check('alltoallv', [block(right, 3), -1, -1, block(left, 1)])

        call start('alltoallw')
        if (round == 0) then
            call MPI_Neighbor_alltoallw(sent, counts, swapped_bytes, types, got, counts, &
                                        bytes, types, ring, ierr)
        else
            call MPI_Ineighbor_alltoallw(sent, counts, swapped_bytes, types, got, counts, &
                                         bytes, types, ring, request, ierr)
        end if
        call check('alltoallw', [block(right, 3), -1, -1, block(left, 1)])
    end do
    call MPI_Comm_free(ring, ierr)
    call MPI_Allreduce(failed, all_failed, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(i0, a)', all_failed, ' failed'
    call MPI_Finalize(ierr)
    if (all_failed /= 0) stop 1

contains

    ! Both elements of a block, by its sender and the place of the first in the sender's buffer.
    function block(sender, first)
        integer, intent(in) :: sender, first
        integer :: block(2)
        block = 100 * sender + [first, first + 1]
    end function block

    subroutine start(what)
        character(len=*), intent(in) :: what
        if (ierr /= MPI_SUCCESS) print *, 'before ', what, ': ', ierr
        sent = 100 * rank + [1, 2, 3, 4]
        got = -1
        ierr = -1
    end subroutine start

    subroutine check(what, expected)
        character(len=*), intent(in) :: what
        integer, intent(in) :: expected(6)
        logical :: good
        good = ierr == MPI_SUCCESS
        if (round == 1) call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        good = good .and. ierr == MPI_SUCCESS .and. all(got == expected)
        if (.not. good) then
            failed = failed + 1
            print '(a, i0, a, 6i6, a, 6i6)', what // ' on ', rank, ': ', got, ' expected', expected
        end if
    end subroutine check
end program neighbor
