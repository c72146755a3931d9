#!/usr/bin/env bash
# test-reorder.sh HOST: with reorder = 1 the order of every new communicator is exactly what
# `cartograph plan` says for the same grid or graph and nodes, whether the nodes come from
# CARTOGRAPH_LAYOUT or from the host; and the report tells the same figures.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
host=$1
cd "$top"
lib=$top/build/$host/lib/libcartograph.so
tool=$top/build/bin/cartograph
. "$top/scripts/checks.sh"
program=$work/reorder
$(scripts/host.sh "$host" cc) -g -O1 -Wall -o "$program" c_tests/reorder.c
launch=$(scripts/host.sh "$host" exec)
evidence=("$work/out" "$work/err")

# run PROCESSES SETTING...: the orders that the program prints, in $work/orders.
run() {
    local processes=$1
    shift
    # After mpiexec, so that the launcher itself is left alone.
    timeout -k 5 120 $launch "$processes" env "$@" "LD_PRELOAD=$lib${YIELD:+:$YIELD}" "$program" >"$work/out" 2>"$work/err" || {
        tail -n 20 "$work/out" "$work/err"
        return 1
    }
    # Each order is printed by the process that became rank 0.
    sed -n 's/^rank [0-9]* order //p' "$work/out" >"$work/orders"
}
# The graph of c_tests/reorder.c in the form of METIS, whose graphs have every edge twice: given only
# where the program's own graph is symmetric, which ring and chords of an even number of nodes are.
planned() { "$tool" plan --json "$@" | sed -E 's/.*"old_rank":\[([0-9,]*)\].*/\1/; s/,/ /g'; }

# agrees NODE_SIZES [moves]: every grid that the program made is as planned, and one at least was moved.
agrees() {
    local sizes=$1 kind what order rest moved=0
    while read -r kind what rest; do
        [ "$kind" = cart ] || continue
        order=${rest#*: }
        check "$what ${rest%%:*} on $sizes: $order" \
            [ "$order" = "$(planned --dims "$what" --periodic "${rest%%:*}" --node-sizes "$sizes")" ]
        [ "$order" = "$(seq -s ' ' 0 $(($(wc -w <<<"$order") - 1)))" ] || moved=$((moved + 1))
    # Those of the communicator that is not the world begin with "part", and have other nodes.
    done <"$work/orders"
    check "on $sizes: $moved moved" [ "$moved" -gt 0 -o "${2:-}" != moves ]
}

check "4x2 by CARTOGRAPH_LAYOUT" run 8 CARTOGRAPH_LAYOUT=4x2
agrees 4*2
check "uneven by CARTOGRAPH_LAYOUT" run 12 CARTOGRAPH_LAYOUT=5,4,3
agrees 5,4,3 moves

# The figures of the report are those of the plan.
report=$work/report.json
check "with a report" run 8 CARTOGRAPH_LAYOUT=4x2 "CARTOGRAPH_REPORT=$report"
check "it is a report" "$tool" show "$report" >"$work/shown"
figures() { grep -oE '"before":\{[^}]*\},"after":\{[^}]*\}' <<<"$1" | head -n 1; }
of_report=$(grep -oE '"dims":\[4,2\],"periodic":\[true,false\]\}.{0,400}' "$report" | head -n 1)
of_plan=$("$tool" plan --json --dims 4x2 --periodic 10 --node-sizes 4*2)
check "4x2 costs as planned" [ "$(figures "$of_report")" = "$(figures "$of_plan")" ]
check "and there are figures" [ -n "$(figures "$of_plan")" ]

# Nobody moves where that is not wanted, or where there is one node.
stays() { grep -q ': 0 1 2 3 4 5 6 7$' "$work/orders" && ! grep -v '^part' "$work/orders" | grep -qvE ': 0 1 2 3 4( 5( 6( 7)?)?)?$'; }
check "off" run 8 CARTOGRAPH_LAYOUT=4x2 CARTOGRAPH_REORDER=off
check "off keeps ranks" stays
check "one node" run 8 CARTOGRAPH_LAYOUT=1x8
check "one node keeps ranks" stays

# A mistake is said once, and does no harm.
check "a layout for other processes" run 4 CARTOGRAPH_LAYOUT=2x4
check "is said" [ "$(grep -c "CARTOGRAPH_LAYOUT: the layout '2x4' has 8 places, but there are 4 processes" "$work/err")" = 1 ]
check "a word for CARTOGRAPH_REORDER that is none" run 4 CARTOGRAPH_LAYOUT=2x2 CARTOGRAPH_REORDER=maybe
check "is said" [ "$(grep -c "CARTOGRAPH_REORDER is 'maybe'" "$work/err")" = 1 ]

# Nodes that the host itself sees.
case $host in
mpich | mpich5 | abi)
    launch="${launch% -n} -launcher fork -hosts a:3,b:3,c:2 -n"
    check "the host's own nodes" run 8
    agrees 3,3,2 moves ;;
esac

verdict "test-reorder, $host"
