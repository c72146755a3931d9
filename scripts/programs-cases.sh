# programs-cases.sh: the public programs that scripts/programs.sh measures: their arguments, and what they print.

# A case a line: its title, the rate of the links, whether its grids or graphs may be moved, processes and those of each
# node, the program and its arguments. The inputs are in lab/programs.
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

# A case whose best placement is known, which is always here.
control() { echo "Halo exchange 4x4|50mbit|moves|16 4|halo -n 40 65536 65536"; }

# Puts the inputs into the directory. LAMMPS's are a liquid in a periodic box and a plate of crystal with free edges, both of
# which it divides into 4 x 4; CloverLeaf's a square with the densest state in a corner; those of NPB the grids of class W, with
# fewer iterations.
inputs() { cp "$top"/lab/programs/* .; }

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
    # From its source, of 0.5-4, with the package float: 0.5-5 needs a newer R than that of Debian 12.
    Rscript -e 'quit(status = !requireNamespace("pbdMPI", quietly = TRUE))' >/dev/null 2>&1 && echo "pbdMPI||Rscript ring.R"
    echo "Boost.MPI||boost-topologies"
    echo "dolfinx||/usr/bin/python3 fem.py"
}

# Makes what is compiled.
compiled_inputs() {
    if [ -e /usr/include/boost/mpi.hpp ]; then
        mkdir -p "$top/build/programs"
        mpicxx.openmpi -O1 -w -o "$top/build/programs/boost-topologies" boost-topologies.cpp -lboost_mpi -lboost_serialization
    fi
    [ -n "$(where gmx_mpi)" ] || return 0
    local gmx=(mpiexec.openmpi --allow-run-as-root -n 1 gmx_mpi -quiet)
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
    halo) awk '/ exchanges take / { print $4 }' said ;;
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
    halo) grep 'a grid of' said ;;
    esac
}
