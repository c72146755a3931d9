! The persistent neighborhood collectives with `use mpi_f08`.
program persistent_f08
    use mpi_f08
    implicit none
    type(MPI_Comm) :: ring, graph
    type(MPI_Request) :: request
    type(MPI_Datatype) :: types(2)
    include 'persistent.inc'
end program persistent_f08
