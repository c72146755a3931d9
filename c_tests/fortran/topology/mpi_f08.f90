! All functions with `use mpi_f08`, with and without ierror.
include '../check.inc'

program f08
    use checks
    use mpi_f08
    implicit none
    type(MPI_Comm) :: grid, part, graph
    call begin
    call all_calls
    call without_ierror
    call finish
contains
    include 'calls.inc'

    ! ierror is optional here. Each call uses the result of the previous one.
    subroutine without_ierror
        integer :: dims(1), coords(1), index(ranks), edges(ranks), ends(ranks), found(ranks)
        integer :: n, m, i, source(1), dest(1)
        logical :: periods(1), weighted
        dims = 0
        call MPI_Dims_create(ranks, 1, dims)
        call check(dims(1) == ranks, 'MPI_Dims_create without ierror')
        call MPI_Cart_map(MPI_COMM_WORLD, 1, dims, [.true.], n)
        call check_places(n, ranks, 'MPI_Cart_map without ierror')
        call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, [.true.], .false., grid)
        call MPI_Topo_test(grid, n)
        call check(n == MPI_CART, 'MPI_Topo_test without ierror')
        call MPI_Cartdim_get(grid, n)
        call check(n == 1, 'MPI_Cartdim_get without ierror')
        call MPI_Cart_get(grid, 1, dims, periods, coords)
        call check(coords(1) == me .and. is(periods(1), .true.), 'MPI_Cart_get without ierror')
        call MPI_Cart_coords(grid, ranks - 1, 1, coords)
        call check(coords(1) == ranks - 1, 'MPI_Cart_coords without ierror')
        call MPI_Cart_rank(grid, coords, n)
        call check(n == ranks - 1, 'MPI_Cart_rank without ierror')
        call MPI_Cart_shift(grid, 0, 1, n, m)
        call check(m == modulo(me + 1, ranks), 'MPI_Cart_shift without ierror')
        call MPI_Cart_sub(grid, [.true.], part)
        call MPI_Cartdim_get(part, n)
        call check(n == 1, 'MPI_Cart_sub without ierror')

        ends = [(i, i = 1, ranks)]
        edges = modulo(ends, ranks)
        call MPI_Graph_map(MPI_COMM_WORLD, ranks, ends, edges, n)
        call check_places(n, ranks, 'MPI_Graph_map without ierror')
        call MPI_Graph_create(MPI_COMM_WORLD, ranks, ends, edges, .false., graph)
        call MPI_Graphdims_get(graph, n, m)
        call check(n == ranks .and. m == ranks, 'MPI_Graphdims_get without ierror')
        call MPI_Graph_get(graph, ranks, ranks, index, found)
        call check(all(index == ends) .and. all(found == edges), 'MPI_Graph_get without ierror')
        call MPI_Graph_neighbors_count(graph, 0, n)
        call check(n == 1, 'MPI_Graph_neighbors_count without ierror')
        call MPI_Graph_neighbors(graph, me, 1, dest)
        call check(dest(1) == edges(me + 1), 'MPI_Graph_neighbors without ierror')
        call MPI_Comm_free(graph)

        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [me], MPI_UNWEIGHTED, 1, [me], &
            MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph)
        call MPI_Dist_graph_neighbors_count(graph, n, m, weighted)
        call check(n == 1 .and. m == 1 .and. is(weighted, .false.), 'count without ierror')
        call MPI_Comm_free(graph)
        call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [me], [1], dest, MPI_UNWEIGHTED, &
            MPI_INFO_NULL, .false., graph)
        call MPI_Dist_graph_neighbors(graph, 1, source, MPI_UNWEIGHTED, 1, found, MPI_UNWEIGHTED)
        call check(found(1) == dest(1), 'MPI_Dist_graph_neighbors without ierror')
        call check(source(1) == modulo(me - 1, ranks), 'a source without ierror')
        call MPI_Comm_free(graph)
        call MPI_Comm_free(part)
        call MPI_Comm_free(grid)
    end subroutine
end program
