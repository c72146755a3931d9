#!/usr/bin/env bash
# test-hostile.sh: Cartograph over a mini that is hostile (c_tests/mini/hostile.c). Each call into it fails once, all
# messages wait for their receivers, messages come in other orders, and communicators, keys and memory run out.
#
# When a call has failed, a program goes on as if nothing had been: monitor.c makes the call of the chapter again, where all
# processes have had an error, and then the program's own checks hold, and nothing is left at the end. Where not all have,
# or a communicator is spoilt, the run ends with 77. All else is a fault. Of programs with more calls than $most each n-th
# fails, and the first is another one in each number of processes.
. "$(dirname "$0")/checks.sh"
# lifetime.c makes edges that do not match, and wants the error.
export CARTOGRAPH_CHECK=edges
mini=$top/build/mini
launch="timeout -k 5 30 $mini/host/bin/mpiexec -n"
most=40
ulimit -c 0

cc -O1 -shared -fPIC -Wall -o "$work/monitor.so" c_tests/mini/monitor.c
for program in mini/required mini/neighbor lifetime/lifetime lifetime/handles topology/poisson errors/errors_repeated \
    errors/failed_handle kit/grids_differ tool/tool_calls; do
    c_tests/mini/mpicc -g -O1 -Wall -pthread -o "$work/${program#*/}" "c_tests/$program.c" \
        -Wl,--no-as-needed "-L$mini/lib" -lcartograph "-Wl,-rpath,$mini/lib" -lm
done

# run PROCESSES SETTINGS PROGRAM ARGUMENTS...: settings are words, or "-".
run() {
    local processes=$1 settings=$2
    shift 2
    [ "$settings" != - ] || settings=
    # shellcheck disable=SC2086
    $launch "$processes" env LD_PRELOAD="$work/monitor.so" $settings "$work/$1" "${@:2}"
}
# As run, with a call that fails. The program passes, or was told of an error that it could do nothing about.
passes_or_is_told() {
    local code=0
    run "$@" || code=$?
    [ $code = 0 ] || [ $code = 77 ]
}
runs=0
# each_call PROCESSES SETTINGS PROGRAM ARGUMENTS...
each_call() {
    local processes=$1 settings=$2 calls step call
    [ "$settings" != - ] || settings=
    check "counted: $*" run "$processes" "$settings MINI_FAIL=0" "${@:3}"
    calls=$(sed -n 's/^mini: \([0-9]*\) calls$/\1/p' "$work/why" | sort -n | tail -n 1)
    check "the number of calls: $*" test "$calls" -gt 0
    step=$((calls / most > 1 ? calls / most : 1))
    for ((call = 1 + processes % step; call <= calls; call += step)); do
        runs=$((runs + 1))
        check "call $call fails: $*" passes_or_is_told "$processes" "$settings MINI_FAIL=$call" "${@:3}"
    done
}

combined='CARTOGRAPH_LAYOUT=2x2 CARTOGRAPH_COMBINE=on'
moved='CARTOGRAPH_LAYOUT=2,1,1 CARTOGRAPH_REORDER=always'
for processes in 1 2 3; do
    each_call $processes - required
    each_call $processes - lifetime 3
    each_call $processes - handles
    each_call $processes - tool_calls
done
# With more, not all processes are in each call, and none can be made again.
each_call 1 - neighbor
each_call 4 - poisson
each_call 4 - grids_differ
each_call 2 - failed_handle
each_call 2 - errors_repeated
each_call 4 "$moved" required
each_call 4 "$combined" required
# Local calls that fail on one process alone: the others wait for nothing that does not come.
for rank in 0 2; do
    each_call 3 "MINI_RANK_FAILS=$rank" required
    each_call 4 "MINI_RANK_FAILS=$rank $combined" required
    each_call 4 "MINI_RANK_FAILS=$rank $moved" required
done

# The standard lets each send wait for its receiver, and orders only what one process sends to another.
for setting in MINI_EAGER=0 MINI_ORDER=1 MINI_ORDER=2 'MINI_EAGER=0 MINI_ORDER=3'; do
    for processes in 1 2 5; do
        check "$setting: $processes processes" run $processes "$setting" required
        check "$setting: $processes processes" run $processes "$setting" neighbor
        check "$setting: $processes processes" run $processes "$setting" handles
    done
    check "$setting: combined" run 4 "$setting $combined" required
    check "$setting: moved" run 4 "$setting $moved" required
    check "$setting: poisson" run 6 "$setting" poisson
    check "$setting: lifetime" run 3 "$setting" lifetime 3
    check "$setting: tool_calls" run 3 "$setting" tool_calls
    check "$setting: errors_repeated" run 2 "$setting" errors_repeated
    check "$setting: grids_differ" run 4 "$setting" grids_differ
    check "$setting: failed_handle" run 2 "$setting" failed_handle
done

# What runs out comes back as an error of class MPI_ERR_NO_MEM, which ends this program, or is not needed.
none() {
    local code=0
    run "$@" || code=$?
    [ $code = 0 ] || [ $code = 39 ] || [ $code = 55 ]
}
for processes in 1 3; do
    for n in 2 3 4 5 6 7; do
        check "$n communicators" none $processes "MINI_CONTEXTS=$n" required
        check "$n keys" none $processes "MINI_KEYVALS=$((n - 2))" required
        check "${n}00 bytes" none $processes "MINI_MEMORY=${n}00" required
    done
done

echo "test-hostile: a call failed in $runs runs"
verdict "test-hostile"
