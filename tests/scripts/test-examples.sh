#!/usr/bin/env bash
# test-examples.sh HOST: the programs of examples in C and Fortran, with the library and with processes moved at random.
# Python's is run by test-mpi4py.sh.
. "$(dirname "$0")/checks.sh"
fortran=$(scripts/host.sh "$host" fc)
$cc -Wall -Wextra -Werror -o "$work/c" examples/halo.c
[ -z "$fortran" ] || $fortran -o "$work/f90" examples/halo.f90
right() { "$@" </dev/null | grep -xF "a grid of 2 x 2, 0 wrong"; }
for program in c f90; do
    [ -e "$work/$program" ] || continue
    for setting in CARTOGRAPH_REORDER=on CARTOGRAPH_REORDER=scramble:1 CARTOGRAPH_REORDER=scramble0:2; do
        check "halo.$program, $setting" right $launch 4 env \
            "LD_PRELOAD=$lib/libcartograph.so${YIELD:+:$YIELD}" $setting "$work/$program"
    done
done
verdict "test-examples, $host"
