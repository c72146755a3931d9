! The persistent neighborhood collectives with `mpif.h`.
program persistent_mpif
    implicit none
    include 'mpif.h'
    integer :: ring, graph, request, types(2)
    include 'persistent.inc'
end program persistent_mpif
