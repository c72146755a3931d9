# programs-cases.sh: the public programs that scripts/programs.sh measures: their arguments and inputs, and what they print.

# A case a line: its title, the rate of the links, whether its grids or graphs may be moved, processes and those of each
# node, the program and its arguments. The inputs are those of inputs below.
cases() {
    local halo="-ghost 1_1_1 -vars 3 -cycles 8 -comm disable mock -comm enable mpi -exec disable mpi_type"
    echo "Comb 4x4x1, 64x1024x32|20mbit|moves|16 4|comb 64_1024_32 -divide 4_4_1 $halo"
    echo "Comb 4x4x1, 1024x64x32|20mbit|moves|16 4|comb 1024_64_32 -divide 4_4_1 $halo"
    echo "Comb 4x4x1, 256x256x32|200mbit|moves|16 4|comb 256_256_32 -divide 4_4_1 $halo"
    echo "SNAP 4x4|200mbit|moves|16 4|gsnap snap.in snap.out"
    echo "sw4lite 4x4|200mbit|moves|16 4|sw4lite sw4lite.in"
    echo "CloverLeaf|200mbit|stays|16 4|clover_leaf"
    echo "TeaLeaf|200mbit|moves|16 4|tea_leaf"
    echo "NPB LU|200mbit|stays|16 4|lu.W.16"
    echo "NPB BT|200mbit|stays|16 4|bt.W.16"
    echo "HPCG|200mbit|stays|16 4|xhpcg --nx=16 --ny=16 --nz=16 --rt=0"
    echo "LAMMPS, a plate|200mbit|stays|16 4|lmp -in plate.in -var map cart"
    echo "LAMMPS, a liquid|200mbit|stays|16 4|lmp -in liquid.in"
    echo "miniMD 1x4x4|200mbit|stays|16 4|miniMD -i miniMD.in -n 40 -nx 6 -ny 20 -nz 36"
    echo "miniGhost 4x4x1|200mbit|stays|16 4|miniGhost --npx 4 --npy 4 --npz 1 --nx 40 --ny 40 --nz 80 --num_vars 5 --num_tsteps 10 --percent_sum 20"
    echo "LULESH|200mbit|stays|8 2|lulesh2.0 -s 12 -i 60"
    echo "PETSc ex45, -sf_type neighbor|20mbit|stays|16 4|ex45 -sf_type neighbor -da_grid_x 64 -da_grid_y 64 -da_grid_z 16 -da_processors_x 4 -da_processors_y 4 -da_processors_z 1 -pc_type jacobi -ksp_monitor -ksp_max_it 100 -log_view"
}

# Writes the inputs into the directory.
inputs() {
    cat >snap.in <<'END'
&invar
  npey=4 npez=4 ichunk=4 nthreads=1 nnested=1
  ndimen=3 nx=16 lx=1.6 ny=64 ly=6.4 nz=64 lz=6.4
  nmom=2 nang=16 ng=2 epsi=1.0E-4 iitm=3 oitm=2
  timedep=0 tf=1.0 nsteps=1 mat_opt=1 src_opt=1 scatp=0
  it_det=1 fluxp=0 fixup=1 soloutp=0 kplane=0 popout=0
  swp_typ=0 angcpy=1 multiswp=0
/
END
    cat >sw4lite.in <<'END'
grid h=50 nx=97 ny=97 nz=65
time steps=6
fileio path=results
block vp=4000 vs=2000 rho=2600
supergrid gp=10
source x=2400 y=2400 z=1000 mxy=1e18 t0=0.1 freq=20 type=Gaussian
rec x=1200 y=3600 depth=0 file=station usgsformat=1 sacformat=0
END
    # Liquid in a periodic box, or a plate of crystal with free edges; LAMMPS divides both into 4 x 4.
    cat >liquid.in <<'END'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 20 0 36
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 20
run 40
END
    sed -e '1i boundary s s p' -e "1i processors * * * map \${map}" -e 's/^region.*/region box block 0 40 0 40 0 5/' \
        -e 's/create 1.44/create 0.1/' liquid.in >plate.in
    # A square of 480 cells a side; the densest state in a corner.
    cat >clover.in <<'END'
*clover
state 1 density=0.2 energy=1.0
state 2 density=1.0 energy=2.5 geometry=rectangle xmin=0.0 xmax=5.0 ymin=0.0 ymax=2.0
x_cells=480
y_cells=480
xmin=0.0
ymin=0.0
xmax=10.0
ymax=10.0
initial_timestep=0.04
max_timestep=0.04
end_step=20
test_problem 0
*endclover
END
    cat >tea.in <<'END'
*tea
state 1 density=100.0 energy=0.0001
state 2 density=0.1 energy=25.0 geometry=rectangle xmin=0.0 xmax=1.0 ymin=1.0 ymax=2.0
state 3 density=0.1 energy=0.1 geometry=rectangle xmin=1.0 xmax=6.0 ymin=1.0 ymax=2.0
x_cells=250
y_cells=250
xmin=0.0
ymin=0.0
xmax=10.0
ymax=10.0
initial_timestep=0.004
end_step=2
max_iters=200
use_cg
eps 1.0e-15
test_problem 0
*endtea
END
    # The grids of class W, with fewer iterations.
    printf '%s\n' c c '0 1' c c 100 c c 1.5e-3 c c 1.2 c c '1.0e-8 1.0e-8 1.0e-8 1.0e-8 1.0e-8' c c '33 33 33' >inputlu.data
    printf '%s\n' 80 0.8e-3 '24 24 24' >inputbt.data
    printf '%s\n' '' '' 'lj units' 'none data file' 'lj force' '1.0 1.0 epsilon, sigma' '20 20 20 size' '100 steps' \
        '0.005 step' '1.44 temperature' '0.8442 density' '20 steps to new neighbors' '2.5 0.30 cutoff, skin' \
        '20 steps to thermodynamics' >miniMD.in
}

# The runs of `cartograph try`: a title, words of lines and files that are not compared, and a program of eight processes.
tried() {
    local halo="-ghost 1_1_1 -vars 2 -cycles 4 -comm disable mock -comm enable mpi -exec disable mpi_type"
    # It says where its first process is.
    echo "Comb|Cart coords|comb 32_32_32 -divide 4_2_1 $halo"
    echo "SNAP||gsnap small.in small.out"
    echo "sw4lite||sw4lite sw4lite.in"
    echo "LAMMPS, map cart||lmp -in plate.in -var map cart"
    echo "LAMMPS, map cart/reorder||lmp -in plate.in -var map cart/reorder"
    echo "miniMD||miniMD -i miniMD.in -n 20 -s 10"
    echo "miniGhost||miniGhost --npx 4 --npy 2 --npz 1 --nx 10 --ny 10 --nz 10 --num_tsteps 5"
    # Debian's: abinit, gromacs, python3-petsc4py, r-cran-rmpi, libboost-mpi-dev and python3-dolfinx.
    echo "ABINIT|wall,cpu,time,Renaming,atoms.abo0,.nc|abinit atoms.abi"
    echo "GROMACS, -ddorder cartesian|out.cpt,out.log,out.edr|gmx_mpi -quiet mdrun -s water.tpr -ddorder cartesian -dd 4 2 1 -reprod -pin off -ntomp 1 -noconfout -deffnm out"
    echo "petsc4py||/usr/bin/python3 grid.py -ksp_type cg"
    echo "petsc4py, -sf_type neighbor||/usr/bin/python3 grid.py -ksp_type cg -sf_type neighbor"
    echo "Rmpi||Rscript grid.R"
    echo "Boost.MPI||boost-topologies"
    echo "dolfinx||/usr/bin/python3 fem.py"
}

# Writes the inputs of those that have no others.
small_inputs() {
    sed -e 's/npey=4/npey=2/' -e 's/n\([yz]\)=64/n\1=16/g' snap.in >small.in
    printf '%s\n' 'acell 3*8 natom 2 ntypat 1 znucl 1 typat 1 1' 'xcart -0.7 0 0 0.7 0 0' 'ecut 6 kptopt 0 nkpt 1 kpt 0 0 0' \
        'nband 8 nstep 3 toldfe 1e-8 paral_kgb 1 npband 4 npfft 2 bandpp 1' 'pp_dirpath "/usr/share/abinit/psp"' \
        'pseudos "01h.pspgth"' >atoms.abi
    cat >grid.py <<'END'
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
END
    cat >grid.R <<'END'
suppressMessages(library(Rmpi, warn.conflicts = FALSE))
invisible(mpi.comm.dup(0, 1))
invisible(mpi.cart.create(1, c(4, 2), c(1, 0), 1, 3))
rank <- mpi.comm.rank(3)
near <- mpi.cart.shift(3, 1, 1)
sum <- mpi.allreduce(as.double(rank * mpi.cart.coords(3, rank, 2)[1] + near[1] * near[2]), 2, "sum", 1)
if (mpi.comm.rank(1) == 0) cat("sum", sum, "\n")
invisible(mpi.comm.free(3))
invisible(mpi.finalize())
END
    cat >fem.py <<'END'
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
END
    cat >boost-topologies.cpp <<'END'
#include <boost/graph/adjacency_list.hpp>
#include <boost/mpi.hpp>
#include <boost/mpi/cartesian_communicator.hpp>
#include <boost/mpi/graph_communicator.hpp>
#include <iostream>

namespace mpi = boost::mpi;

// The sum over all processes of what the neighbors' ranks come to by their places.
static int sum(const mpi::communicator &over, const std::vector<int> &neighbors)
{
    std::vector<int> found(neighbors.size());
    std::vector<mpi::request> requests;
    int place = 1, own = 0;
    for (std::size_t i = 0; i < neighbors.size(); i++) {
        requests.push_back(over.irecv(neighbors[i], 0, found[i]));
        requests.push_back(over.isend(neighbors[i], 0, over.rank()));
    }
    mpi::wait_all(requests.begin(), requests.end());
    for (int rank : found) own += place++ * rank * (over.rank() + 1);
    return mpi::all_reduce(over, own, std::plus<int>());
}

int main()
{
    mpi::environment environment;
    mpi::communicator world;
    mpi::cartesian_communicator grid(world, mpi::cartesian_topology({{4, true}, {2, false}}), true);
    auto shift = grid.shifted_ranks(0, 1);
    int around = sum(grid, {shift.first, shift.second});

    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> ring(world.size());
    for (int rank = 0; rank < world.size(); rank++) {
        add_edge(rank, (rank + 3) % world.size(), ring);
        add_edge((rank + 3) % world.size(), rank, ring);
    }
    mpi::graph_communicator graph(world, ring, true);
    std::vector<int> neighbors;
    auto ends = adjacent_vertices(graph.rank(), graph);
    for (auto at = ends.first; at != ends.second; ++at) neighbors.push_back(*at);
    std::sort(neighbors.begin(), neighbors.end());
    int along = sum(graph, neighbors);
    if (world.rank() == 0) std::cout << "grid " << around << ", graph " << along << " of " << num_edges(graph) << " edges\n";
}
END
    if [ -e /usr/include/boost/mpi.hpp ]; then
        mkdir -p "$top/build/programs"
        mpicxx.openmpi -O1 -w -o "$top/build/programs/boost-topologies" boost-topologies.cpp -lboost_mpi -lboost_serialization
    fi
    [ -n "$(where gmx_mpi)" ] || return 0
    local gmx=(mpiexec.openmpi --allow-run-as-root -n 1 gmx_mpi -quiet)
    printf '%s\n' 'integrator = md' 'nsteps = 40' 'nstlist = 10' 'coulombtype = Reaction-Field' 'rcoulomb = 0.9' 'rvdw = 0.9' \
        'gen-vel = yes' 'gen-seed = 1' >water.mdp
    printf '%s\n' '#include "oplsaa.ff/forcefield.itp"' '#include "oplsaa.ff/spc.itp"' '[ system ]' water '[ molecules ]' >water.top
    {
        "${gmx[@]}" solvate -cs spc216.gro -box 3 3 3 -o water.gro
        echo "SOL $(grep -c OW water.gro)" >>water.top
        "${gmx[@]}" grompp -f water.mdp -c water.gro -p water.top -o water.tpr -maxwarn 5
    } >water.said 2>&1
}

# seconds PROGRAM: how long the part took that the program times itself.
seconds() {
    case $1 in
    comb) awk '/^bench-comm/ { for (i = 1; i < NF; i++) if ($i == "max") print $(i + 1) }' Comb_00_summary ;;
    # Not the time of the sweeps, which is that of rank 0 and leaves out those that it need not wait for.
    gsnap) awk '/^ *Solve / { print $NF + 0 }' snap.out ;;
    sw4lite) awk '/Execution time, solver phase/ { print $(NF - 1) }' said ;;
    lmp) awk '/^Loop time of/ { print $4 }' said ;;
    clover_leaf | tea_leaf) awk '/Wall clock/ { time = $NF } END { print time }' said ;;
    lu.W.16 | bt.W.16) awk '/Time in seconds/ { print $NF }' said ;;
    xhpcg) awk -F = '/Benchmark Time Summary::Total/ { print $2 }' HPCG-Benchmark*.txt ;;
    lulesh2.0) awk '/^Elapsed time/ { print $(NF - 1) }' said ;;
    miniMD) awk '/ PERF_SUMMARY / { print $5 }' said ;;
    miniGhost) awk '/^ *Total_time:/ { print $NF + 0 }' results.yaml ;;
    ex45) awk '/^KSPSolve / { print $4 + 0 }' said ;;
    esac
}

# answers PROGRAM: what it found out. Comb compares each cell with what it should be itself, and aborts.
answers() {
    case $1 in
    comb) grep 'Starting test' Comb_00_summary ;;
    gsnap) grep Dfmx snap.out ;;
    sw4lite) grep -v '^#' results/station.txt ;;
    lmp) awk '/^Loop/ { on = 0 } on { print } /^Step/ { on = 1 }' said ;;
    clover_leaf) grep 'step:' clover.out ;;
    tea_leaf) grep -E 'Conduction error|step:' tea.out ;;
    lu.W.16 | bt.W.16) awk '/[0-9.]+E[-+][0-9]+/ && !/Time/' said ;;
    xhpcg) grep -E 'Scaled Residual::|Departure' HPCG-Benchmark*.txt ;;
    lulesh2.0) grep -E 'Final Origin Energy' said ;;
    miniMD) awk '/^[0-9]+ [-+.e0-9]+ [-+.e0-9]+ [-+.e0-9]+ / && NF == 5 { print $1, $2, $3, $4 }' said ;;
    miniGhost) grep 'error' said ;;
    ex45) grep -i 'residual norm' said ;;
    esac
}
