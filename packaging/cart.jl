# cart.jl LIBRARY KIND: a grid made by functions that are all looked up in one library, as MPI.jl does it.
import Libdl

const lib = ARGS[1]
const library = Libdl.dlopen(lib, Libdl.RTLD_LAZY | Libdl.RTLD_GLOBAL)
const is_openmpi = ARGS[2] == "openmpi"
const Comm = is_openmpi ? Ptr{Cvoid} : Cint
const world = is_openmpi ? Libdl.dlsym(library, :ompi_mpi_comm_world) : reinterpret(Cint, 0x44000000)

ccall((:MPI_Init, lib), Cint, (Ptr{Cvoid}, Ptr{Cvoid}), C_NULL, C_NULL)
size, rank, dims, grid = Ref{Cint}(), Ref{Cint}(), Cint[0, 0], Ref{Comm}()
ccall((:MPI_Comm_size, lib), Cint, (Comm, Ptr{Cint}), world, size)
ccall((:MPI_Dims_create, lib), Cint, (Cint, Cint, Ptr{Cint}), size[], 2, dims)
ccall((:MPI_Cart_create, lib), Cint, (Comm, Cint, Ptr{Cint}, Ptr{Cint}, Cint, Ptr{Comm}), world, 2, dims, Cint[1, 1], 1, grid)
ccall((:MPI_Comm_rank, lib), Cint, (Comm, Ptr{Cint}), grid[], rank)
coords = Cint[-1, -1]
ccall((:MPI_Cart_coords, lib), Cint, (Comm, Cint, Cint, Ptr{Cint}), grid[], rank[], 2, coords)
rank[] == dims[2] * coords[1] + coords[2] || exit(1)
rank[] == size[] - 1 && println("the last of $(dims[1]) x $(dims[2]) is at $coords")
ccall((:MPI_Finalize, lib), Cint, ())
