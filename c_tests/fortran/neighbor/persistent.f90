! The persistent neighborhood collectives with `use mpi`.
program persistent
    use mpi
    implicit none
    integer :: ring, graph, request, types(2)
    include 'persistent.inc'
end program persistent
