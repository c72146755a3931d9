#!/usr/bin/env bash
# test-fatal.sh HOST: wrong calls under the default error handler, and where MPI is not active. They
# must end the program, with Cartograph's words for the fault in what the host prints.
. "$(dirname "$0")/checks.sh"
lib=$lib/libcartograph.so
program=$work/errors_fatal
# mini has nothing of the chapter that a program could be linked with.
link=()
[ "$host" != mini ] || link=(-L "$(dirname "$lib")" -lcartograph)
$cc -g -O1 -Wall -o "$program" c_tests/errors/errors_fatal.c "${link[@]}"
launch=$(scripts/host.sh "$host" exec)
evidence=("$work/out" "$work/err")
# Nobody needs the core dumps of programs that are meant to abort.
ulimit -c 0

says() { grep -qF -- "$1" "$work/err"; }
prints() { grep -qF -- "$1" "$work/out"; }
is_silent() { ! grep -q survived "$work/out"; }
# Neither success nor 124, by which timeout says that it had to end the program.
ended_itself() { [ "$status" != 0 ] && [ "$status" != 124 ]; }

# fatal WAY PROCESSES WORDS...: 0 processes is without a launcher.
fatal() {
    local way=$1 processes=$2 command=()
    shift 2
    # After mpiexec, so that the launcher itself is left alone.
    [ "$processes" = 0 ] || command=($launch "$processes")
    command+=(env "LD_PRELOAD=$lib${YIELD:+:$YIELD}" "$program" "$way")
    # Open MPI's launcher loses its own message about an abort in one of four runs or so, of bare
    # programs too, and says so: then it is asked again.
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        status=0
        # In a shell of its own, whose remark on an abort goes where the rest goes.
        (timeout -k 5 60 "${command[@]}" || exit $?) >"$work/out" 2>"$work/err" || status=$?
        grep -q 'ORTE_ERROR_LOG: .*/show_help.c' "$work/err" || break
    done
    check "$way: ends with an error (got $status)" ended_itself
    check "$way: does not go on" is_silent
    for words in "$@"; do
        check "$way: stderr has '$words'" says "$words"
    done
}

fatal local 2 'MPI_Cart_rank' 'coordinate 5 of dimension 1 is outside 0 to 0 and the dimension is not periodic'
fatal collective 2 'MPI_Cart_create' 'on rank 1: dims make a grid of 3 processes, but comm has only 2'
fatal null 2 'MPI_Cart_rank' 'comm is MPI_COMM_NULL'
fatal nowhere 2 'MPI_Dims_create' 'dims[0] is -3'
# SMPI's programs do not run without it.
if [ "$host" != smpi ]; then
    fatal before 0 'cartograph: MPI_Dims_create: nnodes is 0' 'MPI is not active'
    check 'before: a right call is answered' prints '3 x 2'
fi
fatal after 1 'cartograph: MPI_Dims_create: nnodes is 0' 'MPI is not active'
check 'after: a right call is answered' prints '3 x 2'

verdict "test-fatal, $host"
