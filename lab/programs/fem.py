import numpy
import ufl
import dolfinx.fem.petsc
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc

grid = mesh.create_unit_square(MPI.COMM_WORLD, 24, 24)
space = fem.FunctionSpace(grid, ("Lagrange", 1))
edge = mesh.locate_entities_boundary(grid, 1, lambda x: numpy.isclose(x[0], 0) | numpy.isclose(x[0], 1))
zero = fem.dirichletbc(PETSc.ScalarType(0), fem.locate_dofs_topological(space, 1, edge), space)
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
x = ufl.SpatialCoordinate(grid)
problem = fem.petsc.LinearProblem(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, x[1] * v * ufl.dx, bcs=[zero],
                                  petsc_options={"ksp_type": "cg", "pc_type": "jacobi", "ksp_rtol": 1e-10})
norm = problem.solve().vector.norm()
PETSc.Sys.Print(f"norm {norm:.6e}")
