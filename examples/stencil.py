# A grid whose ranks may be reordered: mpiexec -n 4 cartograph exec python3 stencil.py
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
# The launcher has bound this process, so its device follows from MPI_COMM_WORLD.
device = world.Split_type(MPI.COMM_TYPE_SHARED).rank

dims = MPI.Compute_dims(world.size, 2)
grid = world.Create_cart(dims, periods=[False, True], reorder=True)
x, y = grid.Get_coords(grid.rank)  # the only rank from here on

# Data depends on coordinates, not on a rank from before.
cell = array("i", 4 * [x * dims[1] + y])
halo = array("i", 4 * [-1])
grid.Neighbor_alltoall(cell, halo)

wrong = 0
for got, (dx, dy) in zip(halo, [(-1, 0), (1, 0), (0, -1), (0, 1)]):
    near = (x + dx) * dims[1] + (y + dy) % dims[1]
    wrong += got != (near if 0 <= x + dx < dims[0] else -1)
all_wrong = grid.reduce(wrong)
if grid.rank == 0:  # this process also writes files
    print(f"a grid of {dims[0]} x {dims[1]}, {all_wrong} wrong")
