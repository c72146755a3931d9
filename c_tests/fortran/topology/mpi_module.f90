! All functions with `use mpi`.
include '../check.inc'

program mpi_module
    use checks
    use mpi
    implicit none
    integer :: grid, part, graph
    call begin
    call all_calls
    call finish
contains
    include 'calls.inc'
end program
