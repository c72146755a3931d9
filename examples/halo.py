"""Each process of a grid sends its rank to its four neighbors.

    mpiexec -n 4 cartograph exec --report python3 examples/halo.py
"""
from mpi4py import MPI

world = MPI.COMM_WORLD
dims = MPI.Compute_dims(world.size, 2)
grid = world.Create_cart(dims, periods=[True, True], reorder=True)
got = grid.neighbor_allgather(grid.rank)
wrong = sum(got[2 * d:2 * d + 2] != list(grid.Shift(d, 1)) for d in range(2))
all_wrong = grid.reduce(wrong)
if grid.rank == 0:
    print(f"a grid of {dims[0]} x {dims[1]}, {all_wrong} wrong")
