#!/usr/bin/env bash
# test-domains.sh HOST: below the node. The library looks up which package each process is bound to, and places
# neighbors in the same one. It is shown a machine with two packages of one CPU each (c_tests/reorder/machine.c); ranks
# are dealt to them in turn.
. "$(dirname "$0")/checks.sh"
lib=$lib/libcartograph.so
program=$work/reorder
$cc -g -O1 -Wall -o "$program" c_tests/reorder/reorder.c
gcc -g -O1 -Wall -shared -fPIC -o "$work/machine.so" c_tests/reorder/machine.c -ldl
evidence=("$work/out" "$work/err")

for cpu in 0 1; do
    mkdir -p "$work/machine/cpu/cpu$cpu/topology"
    echo "$cpu" >"$work/machine/cpu/cpu$cpu/topology/package_cpus_list"
done

# run BINDING: 8 processes, each bound to the CPUs that BINDING gives for its rank.
run() {
    $launch 8 env TEST_MACHINE="$work/machine" CARTOGRAPH_REPORT=1 \
        "LD_PRELOAD=$work/machine.so:$lib${YIELD:+:$YIELD}" sh -c "exec taskset -c $1 $program" >"$work/out" 2>"$work/err"
    order=$(sed -n 's/^rank [0-9]* order cart 4x2 00: //p' "$work/out")
}
# Edges of a 4x2 grid that join two packages, where the package of an old rank is its parity.
crossing() {
    awk '{ for (i = 0; i < 8; i++) p[i] = $(i + 1) % 2
           for (i = 0; i < 8; i += 2) n += p[i] != p[i + 1]
           for (i = 0; i < 6; i++) n += p[i] != p[i + 2]
           print n }' <<<"$1"
}

check "ranks dealt to two packages" run '$((PMI_RANK % 2))'
check "cross two edges of four: $order" [ "$(crossing "$order")" = 2 ]
check "the program's checks" grep -q ' 0 failed$' "$work/out"
check "the report tells of them" grep -q 'between 2 packages 8 -> 4 (-50 %), at least 4' "$work/err"
check "no rank bound" run 0,1
check "stays: $order" [ "$order" = '0 1 2 3 4 5 6 7' ]
check "and there is nothing to tell" bash -c '! grep -q packages "$1"' . "$work/err"

verdict "test-domains, $host"
