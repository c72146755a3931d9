! Calls every function of the chapter three times from Fortran; the case `tool` compiles it with -DMODULE=0 (include
! 'mpif.h'), 1 (use mpi) and 2 (use mpi_f08), and checks which calls a C tool sees.
#if MODULE == 2
#define COMM type(MPI_Comm)
#else
#define COMM integer
#endif
program tool_fortran
#if MODULE == 1
    use mpi
#elif MODULE == 2
    use mpi_f08
#endif
    implicit none
#if MODULE == 0
    include 'mpif.h'
#endif
    COMM :: grid, part, ring, adjacent, scattered
    integer :: rank, size, next, previous, found, source, dest, count, degrees(1), one(1), other(1)
    integer :: dims(2), coords(2), weights(2), i, call = 0, ierror, failed = 0
    integer, allocatable :: index(:), edges(:)
    logical :: periods(2), weighted

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    next = mod(rank + 1, size)
    previous = mod(rank + size - 1, size)
    allocate (index(size), edges(size))
    index = [(i, i=1, size)]
    edges = [(mod(i, size), i=1, size)]
    weights = 5
    degrees = 1

    ! A result of Cartograph only: Open MPI 4 returns 12 x 6, and MPICH divides by zero.
    dims = 0
    call MPI_Dims_create(72, 2, dims, ierror)
    call check(dims(1) == 9 .and. dims(2) == 8)
    dims = 0
    call MPI_Dims_create(2147483647, 2, dims, ierror)
    call check(dims(1) == 2147483647 .and. dims(2) == 1)
    dims = 0
    call MPI_Dims_create(size, 2, dims, ierror)
    call check(dims(1) * dims(2) == size)

    do call = 1, 3
        dims = [size, 1]
        periods = [.true., .false.]
        call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierror)
        call MPI_Topo_test(grid, found, ierror)
        call check(found == MPI_CART)
        call MPI_Cartdim_get(grid, found, ierror)
        call check(found == 2)
        call MPI_Cart_get(grid, 2, dims, periods, coords, ierror)
        call check(dims(1) == size .and. periods(1) .and. .not. periods(2) .and. coords(1) == rank)
        call MPI_Cart_rank(grid, coords, found, ierror)
        call check(found == rank)
        call MPI_Cart_coords(grid, next, 2, coords, ierror)
        call check(coords(1) == next)
        call MPI_Cart_shift(grid, 0, 1, source, dest, ierror)
        call check(source == previous .and. dest == next)
        call MPI_Cart_map(grid, 2, dims, periods, found, ierror)
        call check(found == rank)
        call MPI_Cart_sub(grid, [.false., .true.], part, ierror)
        call MPI_Comm_free(part, ierror)
        call MPI_Comm_free(grid, ierror)

        call MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, .false., ring, ierror)
        call MPI_Graphdims_get(ring, found, count, ierror)
        call check(found == size .and. count == size)
        call MPI_Graph_get(ring, size, size, index, edges, ierror)
        call check(edges(size) == 0)
        call MPI_Graph_neighbors_count(ring, rank, count, ierror)
        call check(count == 1)
        call MPI_Graph_neighbors(ring, rank, 1, one, ierror)
        call check(one(1) == next)
        call MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, found, ierror)
        call check(found == rank)
        call MPI_Comm_free(ring, ierror)

        one = previous
        other = next
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, one, weights, 1, other, weights, &
            MPI_INFO_NULL, .false., adjacent, ierror)
        call MPI_Dist_graph_neighbors_count(adjacent, source, dest, weighted, ierror)
        call check(source == 1 .and. dest == 1 .and. weighted)
        call MPI_Comm_free(adjacent, ierror)
        one = rank
        call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, one, degrees, other, weights, MPI_INFO_NULL, &
            .false., scattered, ierror)
        call MPI_Dist_graph_neighbors(scattered, 1, one, weights(1:1), 1, other, weights(2:2), ierror)
        call check(one(1) == previous .and. other(1) == next .and. all(weights == 5))
        call MPI_Comm_free(scattered, ierror)
    end do

    call MPI_Finalize(ierror)
    if (failed > 0) error stop 1

contains
    subroutine check(holds)
        logical, intent(in) :: holds
        if (holds) return
        failed = failed + 1
        print '(a, i0, a, i0, a)', 'rank ', rank, ': a wrong answer in round ', call, ' of Fortran'
    end subroutine
end program
