! The other program of c_tests/reorder/coupled.c, which describes both. Its number is 2.
program coupled
    use mpi_f08
    implicit none
    integer :: rank, ranks, value, total, own, own_size, from, to, got, kind
    integer :: dims(2) = 0, passed = 0, failed = 0
    logical :: periods(2) = [.true., .false.]
    type(MPI_Comm) :: part, grid

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)

    value = merge(77, 0, rank == 0)
    call MPI_Bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(value == 77, 'the first broadcast')
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(total == ranks * (ranks - 1) / 2, 'the sum of ranks')

    call MPI_Comm_split(MPI_COMM_WORLD, 2, rank, part)
    call MPI_Comm_size(part, own_size)
    call MPI_Dims_create(own_size, 2, dims)
    call MPI_Cart_create(part, 2, dims, periods, .true., grid)
    call MPI_Topo_test(grid, kind)
    call check(kind == MPI_CART, 'the kind of the grid')
    call MPI_Comm_rank(grid, own)
    call MPI_Cart_shift(grid, 0, 1, from, to)
    got = -1
    call MPI_Sendrecv(own, 1, MPI_INTEGER, to, 3, got, 1, MPI_INTEGER, from, 3, grid, MPI_STATUS_IGNORE)
    call check(got == from, 'what comes from the neighbor')
    call MPI_Comm_free(grid)
    call MPI_Comm_free(part)

    value = merge(78, 0, rank == ranks - 1)
    call MPI_Bcast(value, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD)
    call check(value == 78, 'the last broadcast')
    call MPI_Finalize()
    print '(a, i0, a, i0, a)', 'program 2: ', passed, ' passed, ', failed, ' failed'
    if (failed /= 0) stop 1

contains

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds) then
            passed = passed + 1
        else
            failed = failed + 1
            print '(2a)', 'failed: ', what
        end if
    end subroutine check
end program coupled
