#!/usr/bin/env bash
# test-coupled.sh HOST: jobs in which the library cannot count on anybody: two programs in one job, preloaded on
# both or on one; a process that starts by PMPI_Init. Nothing of ours may meet what they send.
. "$(dirname "$0")/checks.sh"
lib=$lib/libcartograph.so
evidence=("$work/out")

c=$work/coupled
$cc -g -O1 -Wall -o "$c" c_tests/reorder/coupled.c
# A program in Fortran that no wrapper of a C name would see, or the same in C where there is no compiler.
other=("$c" 2)
fc=$(scripts/host.sh "$host" fc)
if [ -n "$fc" ]; then
    $fc -g -O1 -Wall -o "$work/coupled.f08" fortran/reorder/coupled.f90
    other=("$work/coupled.f08")
fi

# job PART...: the parts of a job, each a number of processes, a program and its arguments, of which none fails.
# All of them check something.
job() {
    local command="$launch" part between=
    for part in "$@"; do
        command+="$between $part"
        between=" : -n"
    done
    $command >"$work/out" 2>&1 || return
    [ "$(grep -cE 'program (1: 6|2: [56]) passed, 0 failed$' "$work/out")" = "$processes" ]
}
with="env LD_PRELOAD=$lib:${YIELD:-}"
without="env LD_PRELOAD=${YIELD:-}"
for settings in "" CARTOGRAPH_LAYOUT=2x2 "CARTOGRAPH_REPORT=$work/report.json" CARTOGRAPH_REORDER=off; do
    processes=4
    check "preloaded on both, $settings" job "2 $with $settings $c 1" "2 $with $settings ${other[*]}"
    check "on both, the other first, $settings" job "2 $with $settings ${other[*]}" "2 $with $settings $c 1"
    check "preloaded on one, $settings" job "2 $with $settings $c 1" "2 $without ${other[*]}"
    check "preloaded on the other, $settings" job "2 $without $c 1" "2 $with $settings ${other[*]}"
    check "on one of it, the first, $settings" job "2 $without ${other[*]}" "2 $with $settings $c 1"
    processes=3
    check "PMPI_Init on one rank, $settings" job "2 $with $settings $c 1" "1 $with $settings $c 1 pmpi"
    check "PMPI_Init on the first, $settings" job "1 $with $settings $c 1 pmpi" "2 $with $settings $c 1"
done

verdict "test-coupled, $host"
