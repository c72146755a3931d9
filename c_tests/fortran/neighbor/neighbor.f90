! The neighborhood collectives with `use mpi`.
program neighbor
    use mpi
    implicit none
    integer :: ring, graph, request, types(2)
    include 'neighbor.inc'
end program neighbor
