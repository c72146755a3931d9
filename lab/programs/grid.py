import sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

grid = PETSc.DMDA().create([16, 16, 16], dof=1, stencil_width=1)
matrix = grid.createMatrix()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
faces = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
(x0, x1), (y0, y1), (z0, z1) = grid.getRanges()
for x, y, z in ((x, y, z) for z in range(z0, z1) for y in range(y0, y1) for x in range(x0, x1)):
    row.index = column.index = (x, y, z)
    matrix.setValueStencil(row, column, 6.1)
    for face in faces:
        near = (x + face[0], y + face[1], z + face[2])
        if all(0 <= at < 16 for at in near):
            column.index = near
            matrix.setValueStencil(row, column, -1)
matrix.assemble()
solution, right = matrix.createVecs()
right.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setFromOptions()
solver.solve(right, solution)
PETSc.Sys.Print(f"{solver.its} iterations, norm {solution.norm():.8e}")
