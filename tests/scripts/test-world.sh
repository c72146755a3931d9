#!/usr/bin/env bash
# test-world.sh HOST: programs of c_tests and fortran, and mpi4py's own tests, answer alike with MPI_COMM_WORLD in other orders as
# on the bare host. Long: `make world` runs it.
. "$(dirname "$0")/checks.sh"
fc=$(scripts/host.sh "$host" fc)
cxx=$(scripts/host.sh "$host" cxx)
world=$lib/libcartograph_world.so
# As the tests of the list are run: processes that wait leave the processors to others.
for entry in $(scripts/host.sh "$host" tests); do
    case $entry in
    *=*) export "${entry?}" ;;
    *) cc -shared -fPIC -o "$work/yield.so" "$entry" -ldl && YIELD=$work/yield.so ;;
    esac
done
yield=${YIELD:+:$YIELD}

# order FILE RANK...: a profile for processes on one node.
order() {
    local file=$1
    shift
    printf '{}\n{"new_ranks":[%s],"node_of_rank":[%s]}\n' "$(IFS=, && echo "$*")" "$(for _; do echo 0; done | paste -sd,)" >"$file"
}
order "$work/reversed" 0 3 2 1
order "$work/random" 0 2 3 1
order "$work/three" 0 2 1

# alike NAME ORDER: what the program prints, but for what a host does not write, and what MPICH writes past the last weight.
alike() {
    $launch 4 env "CARTOGRAPH_WORLD=$work/$2" "LD_PRELOAD=$world$yield" "$work/$1" >"$work/out" 2>"$work/err"
    local undefined="unweighted at most|weighted at most 6 and 6"
    diff <(grep -vE "$undefined" "$work/$1.bare") <(grep -vE "$undefined" "$work/out")
}
for source in c_tests/topology/{cart,graph,dist_graph,poisson}.c c_tests/neighbor/neighbor_host.c c_tests/errors/tolerated.c \
    c_tests/topology/cxx_bindings.cpp fortran/topology/{mpif_h.f,mpi_module.f90,mpi_f08.f90,poisson.f90}; do
    name=$(basename "$source")
    case $source in
    *.c) compile=$cc ;;
    *.cpp) case $host in mpich | openmpi) compile=$cxx ;; *) continue ;; esac ;;
    *) [ -n "$fc" ] || continue && compile="$fc -J $work" ;;
    esac
    $compile -O1 -w -pthread -o "$work/$name" "$top/$source" -lm
    bare() { $launch 4 env "LD_PRELOAD=${YIELD:-}" "$work/$name" >"$work/$name.bare"; }
    check "$name on the bare host" bare
    for order in reversed random; do check "$name, $order" alike "$name" "$order"; done
done

# All of mpi4py's tests but those of children, and of windows, in which MPICH 4.0.2 loses what is put on one machine.
case $host in
openmpi*) family=openmpi ;;
mpich*) family=mpich ;;
# Its wheel has none for the standard ABI.
*) verdict "test-world, $host" && exit ;;
esac
mkdir -p build/hosts
flock build/hosts/mpi4py.lock scripts/setup.sh mpi4py
mpi4py=$top/build/hosts/mpi4py
echo 'int MPI_Finalize(void); int main(void) { return MPI_Finalize(); }' >"$work/program.c"
$cc -o "$work/program" "$work/program.c"
libmpi=$(ldd "$work/program" | awk '$1 ~ /^libmpi(ch)?\.so/ { print $3; exit }')
# Debian has MPICH's under a name of its own.
mkdir "$work/lib"
case $libmpi in */libmpich.so.*) ln -s "$libmpi" "$work/lib/libmpi.so.12" ;; esac
# python WHAT SETTING...: rank R prints to $work/WHAT.R.
python() {
    local what=$1
    shift
    timeout -k 5 1200 $(scripts/host.sh "$host" exec) 3 env "MPI4PY_MPIABI=$family" "MPI4PY_LIBMPI=$libmpi" "LD_LIBRARY_PATH=$work/lib:$(dirname "$libmpi")" \
        "$@" sh -c '
        out=$1.${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
        shift
        exec "$@" >"$out" 2>&1' sh "$work/$what" "$mpi4py/bin/python" "$mpi4py"/source-*/test/main.py -v \
        -x test_spawn -x test_dynproc -x test_util_pool -x test_util_sync -x test_rma -x test_rma_nb </dev/null || true
}
passed_in() {
    for rank in 0 1 2; do
        sed -nE 's/^(test[A-Za-z0-9_]+ \([A-Za-z0-9_.]+\))( .*)?\.\.\. ok$/\1/p' "$work/$1.$rank" | sort -u
    done | sort | uniq -c | awk '$1 == 3 { $1 = ""; print }'
}
python bare "LD_PRELOAD=${YIELD:-}"
python ordered "LD_PRELOAD=$world$yield" "CARTOGRAPH_WORLD=$work/three"
evidence=("$work/ordered.0")
check "mpi4py's tests pass on the bare host" test "$(passed_in bare | wc -l)" -gt 400
check "they pass in another order" diff <(passed_in bare) <(passed_in bare | grep -xFf <(passed_in ordered))
echo "mpi4py: $(passed_in ordered | wc -l) tests passed in another order"
verdict "test-world, $host"
