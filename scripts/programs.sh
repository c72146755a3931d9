#!/usr/bin/env bash
# programs.sh DIRECTORY [try]: measures public programs, which you have built with Debian's Open MPI and put into
# DIRECTORY, on the nodes of scripts/nodes.sh: as they are, under Cartograph, and with what a recorded run taught; and
# writes the tables of bench/results/programs.json. Which programs these are is in docs/gains.md; one that is not there is
# left out.
# With try, asks `cartograph try` on this machine whether they may be moved, and writes the other table.
#
# RATE, REPETITIONS and ONLY (words of the titles of cases, with |) in the environment change what is measured;
# PATIENCE, after how many seconds a run has failed. Needs root, the command, and the
# library built for openmpi; make programs builds both.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cartograph=$top/build/bin/cartograph results=$top/build/pure/tool/results
rate=${RATE:-20mbit} repetitions=${REPETITIONS:-5} only=${ONLY:-.}
. "$top/scripts/nodes.sh"
patience=${PATIENCE:-120}
export OMP_NUM_THREADS=1 LC_ALL=C

# A case a line: its title, whether its grids or graphs may be moved, the program and its arguments. The inputs are
# those of inputs below.
cases() {
    local halo="-ghost 1_1_1 -vars 3 -cycles 8 -comm disable mock -comm enable mpi -exec disable mpi_type"
    echo "Comb 4x4x1, 128x128x128|moves|comb 128_128_128 -divide 4_4_1 $halo"
    echo "Comb 4x4x1, 1024x64x32|moves|comb 1024_64_32 -divide 4_4_1 $halo"
    echo "Comb 4x4x1, 64x1024x32|moves|comb 64_1024_32 -divide 4_4_1 $halo"
    echo "SNAP 4x4|moves|gsnap snap.in snap.out"
    echo "sw4lite 4x4|moves|sw4lite sw4lite.in"
    echo "LAMMPS, a liquid|stays|lmp -in liquid.in"
    echo "LAMMPS, a plate|stays|lmp -in plate.in -var map cart"
    echo "LAMMPS, a plate, map cart/reorder|stays|lmp -in plate.in -var map cart/reorder"
    echo "miniMD 1x4x4|stays|miniMD -i miniMD.in -n 40 -nx 6 -ny 20 -nz 36"
    echo "miniGhost 4x4x1|stays|miniGhost --npx 4 --npy 4 --npz 1 --nx 40 --ny 40 --nz 80 --num_vars 5 --num_tsteps 10 --percent_sum 20"
    echo "PETSc ex45, -sf_type neighbor|stays|ex45 -sf_type neighbor -da_grid_x 64 -da_grid_y 64 -da_grid_z 16 -da_processors_x 4 -da_processors_y 4 -da_processors_z 1 -pc_type jacobi -ksp_monitor -ksp_max_it 100 -log_view"
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
    printf '%s\n' '' '' 'lj units' 'none data file' 'lj force' '1.0 1.0 epsilon, sigma' '20 20 20 size' '100 steps' \
        '0.005 step' '1.44 temperature' '0.8442 density' '20 steps to new neighbors' '2.5 0.30 cutoff, skin' \
        '20 steps to thermodynamics' >miniMD.in
}

# seconds PROGRAM: how long the part took that the program times itself.
seconds() {
    case $1 in
    comb) awk '/^bench-comm/ { for (i = 1; i < NF; i++) if ($i == "max") print $(i + 1) }' Comb_00_summary ;;
    # Not the time of the sweeps, which is that of rank 0 and leaves out those that it need not wait for.
    gsnap) awk '/^ *Solve / { print $NF + 0 }' snap.out ;;
    sw4lite) awk '/Execution time, solver phase/ { print $(NF - 1) }' said ;;
    lmp) awk '/^Loop time of/ { print $4 }' said ;;
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
    miniMD) awk '/^[0-9]+ [-+.e0-9]+ [-+.e0-9]+ [-+.e0-9]+ / && NF == 5 { print $1, $2, $3, $4 }' said ;;
    miniGhost) grep 'error' said ;;
    ex45) grep -i 'residual norm' said ;;
    esac
}

# run WAY DIRECTORY PROGRAM ARGUMENTS: runs it in the directory, by WAY, and leaves there what it said.
run() {
    local way=$1 at=$2 program=$programs/$3 options=() under=()
    case $way in
    recorded) under=("$cartograph" exec --record "$at.traffic") ;;
    default) under=("$cartograph" exec) ;;
    learned) under=("$cartograph" exec --traffic "$at.traffic") ;;
    ranks) options=(--rankfile "$at.ranks") ;;
    esac
    rm -rf "$at"
    mkdir "$at"
    cd "$at"
    inputs
    "${launch[@]}" "${options[@]}" "${under[@]}" "$program" "${@:4}" >said 2>&1 </dev/null
}

# measure TITLE WAY NUMBER PROGRAM ARGUMENTS: adds to results the case, the way, the seconds and the bytes on all wires
# and from the node that sends most; a run that fails or says something else than the first adds "fails" or "differs".
measure() {
    local title=$1 way=$2 at=/dev/shm/case$3 time
    sent >/dev/shm/before
    if ! run "$way" "$at" "${@:4}"; then
        echo "$title|$way|fails" >>/dev/shm/results
        echo "$title, $way: fails" >&2
        tail -n 5 "$at/said" >&2
        return
    fi
    sent >/dev/shm/after
    time=$(seconds "$4")
    answers "$4" >"$at.found"
    [ -n "$time" ] && [ -s "$at.found" ] || refuse "$title ($way) printed: $(tail -n 20 "$at/said")"
    [ -e "$at.expected" ] || cp "$at.found" "$at.expected"
    if ! cmp -s "$at.expected" "$at.found"; then
        echo "$title|$way|differs" >>/dev/shm/results
        diff "$at.expected" "$at.found" | head -n 5 >&2
    fi
    result "$title" "$way" "$time" | tee -a /dev/shm/results >&2
}

# learn TITLE NUMBER PROGRAM ARGUMENTS: records a run, and makes a rank file of it.
learn() {
    local at=/dev/shm/case$2
    run recorded "$at" "${@:3}" || refuse "$1 (recorded) failed: $(tail -n 20 "$at/said")"
    "$cartograph" plan --traffic "$at.traffic" --rankfile openmpi "$at.ranks" >"$at.plan"
    # A slot is a core, of which this machine has fewer than processes; they are left to the system.
    sed -i "s/slot=.*/slot=0-$(($(nproc) - 1))/" "$at.ranks"
}

inside() {
    local repetition number title moves program arguments way began=$SECONDS
    make_nodes
    : >/dev/shm/results
    for ((repetition = 0; repetition < repetitions; repetition++)); do
        number=0
        while IFS='|' read -r title moves arguments; do
            program=${arguments%% *}
            number=$((number + 1))
            [ -x "$programs/$program" ] && grep -qE -e "$only" <<<"$title" || continue
            [ $repetition != 0 ] || learn "$title" $number $arguments
            for way in alone default $([ "$moves" = stays ] || echo learned) ranks; do
                measure "$title" $way $number $arguments
            done
        done < <(cases)
    done
    [ -s /dev/shm/results ] || refuse "none of the programs is in $programs; docs/gains.md says which they are"
    "$results" make programs "make programs" /dev/shm/results
    echo "it took $((SECONDS - began)) seconds" >&2
}

# The runs of `cartograph try`: a title, and a program with its arguments for eight processes.
tried() {
    local halo="-ghost 1_1_1 -vars 2 -cycles 4 -comm disable mock -comm enable mpi -exec disable mpi_type"
    echo "Comb|comb 32_32_32 -divide 4_2_1 $halo"
    echo "SNAP|gsnap small.in small.out"
    echo "sw4lite|sw4lite sw4lite.in"
    echo "LAMMPS, map cart|lmp -in plate.in -var map cart"
    echo "LAMMPS, map cart/reorder|lmp -in plate.in -var map cart/reorder"
    echo "miniMD|miniMD -i miniMD.in -n 20 -s 10"
    echo "miniGhost|miniGhost --npx 4 --npy 2 --npz 1 --nx 10 --ny 10 --nz 10 --num_tsteps 5"
    echo "PETSc ex45, -sf_type neighbor|ex45 -sf_type neighbor -da_grid_x 16 -da_grid_y 16 -da_grid_z 16 -pc_type jacobi -ksp_monitor"
}

# Asks it, and writes a line of a table for each.
try_all() {
    local title arguments program code line
    cd "$work"
    inputs
    sed -e 's/npey=4/npey=2/' -e 's/n\([yz]\)=64/n\1=16/g' snap.in >small.in
    echo "program, 8 processes | exit code | what it says in the end" >table
    while IFS='|' read -r title arguments; do
        program=${arguments%% *}
        [ -x "$programs/$program" ] && grep -qE -e "$only" <<<"$title" || continue
        code=0
        # Comb says where its first process is.
        "$cartograph" try --ignore "Cart coords" -- mpiexec.openmpi --allow-run-as-root --oversubscribe \
            --mca mpi_yield_when_idle 1 -n 8 "$programs/$program" ${arguments#* } >said 2>&1 </dev/null || code=$?
        while read -r line; do echo "$title: $line"; done <said >&2
        echo "| $title | $code | $(tail -n 1 said | sed 's/^cartograph: //; s/|/\\|/g') |" >>table
    done < <(tried)
    cat table
    "$results" put programs "What cartograph try said" "make programs" <table
}

programs=$(cd "${1:?a directory}" && pwd)
[ "${2:-}" = inside ] || "$top/scripts/put-results.sh"
case ${2:-} in
inside) inside ;;
try)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    try_all
    ;;
*) needs && in_namespaces "$0" "$programs" inside ;;
esac
