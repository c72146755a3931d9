#!/usr/bin/env bash
# test-intel.sh intel: Intel MPI's library of the standard ABI runs programs that are built for abi, with the
# library for every MPI preloaded; c_tests/testlist has those that are built for MPICH.
. "$(dirname "$0")/checks.sh"
cc=$(scripts/host.sh abi cc)
path=$(scripts/host.sh "$host" path)

# runs PROCESSES PROGRAM [ARGUMENT...]: the program checks itself, and its MPI is Intel's.
runs() {
    local processes=$1 program=${2##*/} source=$2
    shift 2
    $cc -g -O1 -w -pthread -o "$work/$program" "$top/c_tests/$source.c" -lm
    LD_LIBRARY_PATH=$path ldd "$work/$program" | grep -F "=> $path/libmpi_abi.so" || return 1
    $launch "$processes" env "LD_PRELOAD=$top/build/lib/libcartograph.so" "$work/$program" "$@" | tee "$work/out"
    grep -q '^[1-9][0-9]* passed, 0 failed$' "$work/out"
}
check "grids" runs 4 topology/cart ours
check "graphs" runs 4 topology/graph ours
check "distributed graphs" runs 4 topology/dist_graph ours
check "neighborhood collectives" runs 3 neighbor/neighbor
check "wrong arguments" runs 2 errors/errors
# Errors of many kinds: their codes are classes then, for which Intel's own call of the handler ends the job.
# Its pairing is in the order of lists everywhere, which such a program gets back.
as_alone() {
    $cc -g -O1 -w -o "$work/pairs_itself" "$top/c_tests/neighbor/pairs_itself.c"
    $launch 2 "$work/pairs_itself" >"$work/alone"
    $launch 2 env "LD_PRELOAD=$top/build/lib/libcartograph.so" "$work/pairs_itself" >"$work/with"
    diff "$work/alone" "$work/with"
    $launch 2 env CARTOGRAPH_PAIRING=standard "LD_PRELOAD=$top/build/lib/libcartograph.so" "$work/pairs_itself" >"$work/with"
    ! cmp -s "$work/alone" "$work/with"
}
check "a program that mends it" as_alone
check "the examples of the documents" runs 4 topology/seeds ours

verdict "test-intel"
