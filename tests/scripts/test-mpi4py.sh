#!/usr/bin/env bash
# test-mpi4py.sh HOST: mpi4py's own tests of communicators, groups, topologies and neighborhood collectives, as
# its authors wrote them, on three processes. Every test that passes on the bare host passes under Cartograph.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
host=$1
cd "$top"
. "$top/tests/scripts/checks.sh"
# Of several hosts that are tested at once one gets it.
mkdir -p build/hosts
flock build/hosts/mpi4py.lock scripts/setup.sh mpi4py
mpi4py=$top/build/hosts/mpi4py
launch=$(scripts/host.sh "$host" exec)
lib=$top/build/$host/lib/libcartograph.so

# The MPI library that a program of this host loads: mpi4py's wheel is for all of its family.
echo 'int MPI_Finalize(void); int main(void) { return MPI_Finalize(); }' >"$work/program.c"
$(scripts/host.sh "$host" cc) -o "$work/program" "$work/program.c"
libmpi=$(ldd "$work/program" | awk '$1 ~ /^libmpi(ch)?\.so/ { print $3; exit }')
case $host in
openmpi*) family=openmpi ;;
*) family=mpich ;;
esac
# Debian has MPICH's under a name of its own.
mkdir "$work/lib"
[ "$family" = openmpi ] || ln -s "$libmpi" "$work/lib/libmpi.so.12"

# run WHAT [SETTING...]: all tests; rank R prints to $work/WHAT.R.
run() {
    local what=$1
    shift
    timeout -k 5 400 $launch 3 env "MPI4PY_MPIABI=$family" "MPI4PY_LIBMPI=$libmpi" \
        "LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@" sh -c '
        out=$1.${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
        shift
        exec "$@" >"$out" 2>&1' sh "$work/$what" "$mpi4py/bin/python" "$mpi4py"/source-*/test/main.py -v \
        -i 'test_comm$' -i test_comm_topo -i test_group -i _ngh_ </dev/null
}
# Names of the tests that passed on all ranks, of a run.
passed_in() {
    for rank in 0 1 2; do
        sed -nE 's/^(test[A-Za-z0-9_]+ \([A-Za-z0-9_.]+\))( .*)?\.\.\. ok$/\1/p' "$work/$1.$rank" | sort -u
    done | sort | uniq -c | awk '$1 == 3 { $1 = ""; print }'
}

evidence=("$work"/ours.{0,1,2})
if run ours "LD_PRELOAD=$lib${YIELD:+:$YIELD}" >"$work/why" 2>&1; then
    check "some tests passed" test "$(passed_in ours | wc -l)" -gt 40
    passed=$(passed_in ours | wc -l)
else
    # Then it matters what the host does by itself.
    run bare ${YIELD:+"LD_PRELOAD=$YIELD"} >"$work/why" 2>&1 || true
    evidence+=("$work/bare.0")
    check "some tests pass on the bare host" test "$(passed_in bare | wc -l)" -gt 40
    while IFS= read -r test; do
        check "$test passes as on the bare host" grep -qxF -- "$test" <(passed_in ours)
    done < <(passed_in bare)
fi
# The library for every MPI finds the one that Python loads late, and there mpi4py finds all functions by name, those
# with large counts and persistent ones too, which Open MPI lacks.
evidence=("$work"/forwarded.{0,1,2})
check "with the library for every MPI" run forwarded "LD_PRELOAD=$top/build/lib/libcartograph.so${YIELD:+:$YIELD}"
check "some tests passed with it" test "$(passed_in forwarded | wc -l)" -gt 40
example() {
    timeout -k 5 60 $launch 4 env "MPI4PY_MPIABI=$family" "MPI4PY_LIBMPI=$libmpi" CARTOGRAPH_REORDER=scramble:1 \
        "LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        "LD_PRELOAD=$top/build/lib/libcartograph.so${YIELD:+:$YIELD}" "$mpi4py/bin/python" examples/halo.py </dev/null |
        grep -xF "a grid of 2 x 2, 0 wrong"
}
check "examples/halo.py" example
verdict "test-mpi4py, $host"
