! The neighborhood collectives with `use mpi_f08`.
program neighbor_f08
    use mpi_f08
    implicit none
    type(MPI_Comm) :: ring, graph
    type(MPI_Request) :: request
    type(MPI_Datatype) :: types(2)
    include 'neighbor.inc'
end program neighbor_f08
