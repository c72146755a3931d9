#!/usr/bin/env bash
# test-try.sh HOST: cartograph try finds out which of the programs of c_tests/try stand being moved, and why the others do
# not: as LAMMPS, PETSc and CP2K.
. "$(dirname "$0")/checks.sh"
launch="$(scripts/host.sh "$host" exec) 6"
for program in right old_communicator old_data not_asked table two; do
    $cc -g -O1 -w -o "$work/$program" "$top/c_tests/try/$program.c"
done
evidence=("$work/out" "$work/err")

# tries CODE PROGRAM [wrong] OPTION...: what try says is in $work/out and $work/err.
tries() {
    local code=0 wrong=
    if [ "${3:-}" = wrong ]; then wrong=wrong && set -- "$1" "$2" "${@:4}"; fi
    timeout -k 5 300 env ${YIELD:+LD_PRELOAD="$YIELD"} "$top/build/bin/cartograph" try --host "$host" "${@:3}" -- $launch "$work/$2" $wrong \
        >"$work/out" 2>"$work/err" || code=$?
    test "$code" = "$1"
}
says() { grep -qF "$1" "$work/out" || grep -qF "$1" "$work/err"; }

check "a right program stands being moved" tries 0 right
check "it was moved" says "moved by MPI_Cart_create 1"
check "what is right for it is said" says "CARTOGRAPH_REORDER=all is right for it"
check "a table of times, of which rows come and go, is no difference" tries 0 table
check "it says what it leaves aside" says "which rows a table has"
check "what is wrong beside such a table is found" tries 1 table wrong
check "and named" says "sum "
check "one like LAMMPS does not" tries 1 old_communicator --seconds 8 --runs 10
check "by grids" says "It is right where MPI_Cart_create moves nobody. Run it with CARTOGRAPH_REORDER=off"
check "one like PETSc does not" tries 1 old_data --runs 10
check "its answers are wrong" says "it prints something else"
check "without distributed graphs it does" says "With CARTOGRAPH_REORDER=on, which moves nobody by distributed graphs"
check "one with a grid and a graph does not" tries 1 two --runs 10
check "by its graph alone" says "It is right where MPI_Graph_create moves nobody"
check "one like CP2K stands what it asked for" tries 0 not_asked
check "nobody was moved" says "no process was moved"
check "and no more" tries 1 not_asked --always --runs 10
check "it says what the program says" says "Got different MPI process grid"
check "and what is right for it" says "With CARTOGRAPH_REORDER=all, which moves nobody where the program passes reorder = 0, it is right; nobody is"

verdict "test-try, $host"
