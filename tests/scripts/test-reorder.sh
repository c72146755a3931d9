#!/usr/bin/env bash
# test-reorder.sh HOST: with reorder = 1 the order of every new communicator is exactly what
# `cartograph plan` says for the same grid or graph and nodes, whether the nodes come from
# CARTOGRAPH_LAYOUT or from the host; and the report tells the same figures.
. "$(dirname "$0")/checks.sh"
lib=$lib/libcartograph.so
tool=$top/build/bin/cartograph
program=$work/reorder
$cc -g -O1 -Wall -o "$program" c_tests/reorder/reorder.c
evidence=("$work/out" "$work/err")

# run PROCESSES SETTING...: the orders that the program prints, in $work/orders.
run() {
    local processes=$1
    shift
    # After mpiexec, so that the launcher itself is left alone.
    $launch "$processes" env "$@" "LD_PRELOAD=$lib${YIELD:+:$YIELD}" "$program" >"$work/out" 2>"$work/err" || {
        tail -n 20 "$work/out" "$work/err"
        return 1
    }
    # Each order is printed by the process that became rank 0.
    sed -n 's/^rank [0-9]* order //p' "$work/out" >"$work/orders"
}
# The graph of c_tests/reorder/reorder.c in the form of METIS, whose graphs have every edge twice: given only
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
of_report=$(grep -oE '"dims":\[4,2\],"periodic":\[true,false\][^}]*\}.{0,400}' "$report" | head -n 1)
of_plan=$("$tool" plan --json --dims 4x2 --periodic 10 --node-sizes 4*2)
check "4x2 costs as planned" [ "$(figures "$of_report")" = "$(figures "$of_plan")" ]
check "and there are figures" [ -n "$(figures "$of_plan")" ]

# Nobody moves where that is not wanted, or where there is one node.
stays() { grep -q ': 0 1 2 3 4 5 6 7$' "$work/orders" && ! grep -v '^part' "$work/orders" | grep -qvE ': 0 1 2 3 4( 5( 6( 7)?)?)?$'; }
check "off" run 8 CARTOGRAPH_LAYOUT=4x2 CARTOGRAPH_REORDER=off
check "off keeps ranks" stays
check "one node" run 8 CARTOGRAPH_LAYOUT=1x8
check "one node keeps ranks" stays

# A mistake is said once, and does no harm. One in a layout is said by rank 0 of a communicator on which it is
# needed: in this program by those of MPI_COMM_WORLD and of the same backwards.
check "a layout for other processes" run 4 CARTOGRAPH_LAYOUT=2x4
check "is said" [ "$(grep -c "CARTOGRAPH_LAYOUT: the layout '2x4' has 8 places, but there are 4 processes" "$work/err")" = 2 ]
check "a layout that is no text" run 4 CARTOGRAPH_LAYOUT=$'\xff'
check "is said" [ "$(grep -c "CARTOGRAPH_LAYOUT is not text in UTF-8" "$work/err")" = 1 ]
check "a layout that is no file" run 4 CARTOGRAPH_LAYOUT=4xfour
check "is said" [ "$(grep -c "CARTOGRAPH_LAYOUT: '4xfour' is neither NODESxRANKS" "$work/err")" = 2 ]
check "a word for CARTOGRAPH_REORDER that is none" run 4 CARTOGRAPH_LAYOUT=2x2 CARTOGRAPH_REORDER=maybe
check "is said" [ "$(grep -c "CARTOGRAPH_REORDER is 'maybe'" "$work/err")" = 1 ]

# Who is moved: what is said of it, and ranks that do not agree.
policy=$work/policy
$(scripts/host.sh "$host" cc) -g -O1 -Wall -o "$policy" c_tests/reorder/policy.c
dealt=CARTOGRAPH_LAYOUT=c_tests/reorder/dealt.layout
# way PROCESSES WAY EXPECTED SETTING...: runs one way of c_tests/reorder/policy.c.
way() {
    local processes=$1 how=$2 expected=$3
    shift 3
    $launch "$processes" env "$@" "LD_PRELOAD=$lib" "$policy" "$how" "$expected" >"$work/out" 2>"$work/err" </dev/null
}
forced='processes were moved though the program passed reorder = 0, as CARTOGRAPH_REORDER=always says'
check "moved against its will" way 8 minimd wrong "$dealt" CARTOGRAPH_REORDER=always
check "one line says so" [ "$(grep -c "cartograph: MPI_Cart_create: $forced" "$work/err")" = 1 ]
check "moved as it asked" way 8 careful moves "$dealt" CARTOGRAPH_REORDER=always
check "nothing is said" [ "$(grep -c cartograph "$work/err")" = 0 ]
check "nothing gained against its will" way 8 minimd stays CARTOGRAPH_LAYOUT=1x8 CARTOGRAPH_REORDER=always
check "nothing is said of what is not done" [ "$(grep -c cartograph "$work/err")" = 0 ]
# reason FUNCTION REASON: the report says why ranks were kept.
reason() { grep -A 1 "^$1: " "$work/err" | grep -qF "ranks kept: $2"; }
check "LAMMPS, with a report" way 8 lammps stays "$dealt" CARTOGRAPH_REPORT=1
check "is told why" reason MPI_Cart_create \
    "LAMMPS uses ranks of the grid on the old communicator; CARTOGRAPH_REORDER=always moves it all the same"
check "PETSc, with a report" way 8 petsc stays "$dealt" CARTOGRAPH_REPORT=1
check "is told why" reason MPI_Dist_graph_create_adjacent \
    "distributed graphs need CARTOGRAPH_REORDER=all, or cartograph_reorder = true in the info"
check "refused, with a report" way 8 petsc-refused stays "$dealt" CARTOGRAPH_REPORT=1 CARTOGRAPH_REORDER=all
check "is told why" reason MPI_Dist_graph_create_adjacent "cartograph_reorder = false in the info"
check "at random, with a report" way 6 careful moves CARTOGRAPH_REORDER=scramble:9 CARTOGRAPH_REPORT=1
check "is told" grep -q '^  ranks reordered by scramble; ' "$work/err"
for word in scramble scramble:x scramble:1:cart_sub on,off ON; do
    check "'$word' is none" way 8 careful stays "$dealt" "CARTOGRAPH_REORDER=$word"
    check "is said" [ "$(grep -cF "CARTOGRAPH_REORDER is '$word', but off, on, all, always and scramble[0]:SEED[:CONSTRUCTOR+...] are known; taken as off" "$work/err")" = 1 ]
done
# Weights of grids: told in the report, and said once where they are none.
check "weighted, with a report" way 8 careful moves CARTOGRAPH_LAYOUT=4x2 CARTOGRAPH_WEIGHTS=16,1 CARTOGRAPH_REPORT=1
check "is told" grep -q '; between nodes 256 -> 136 (-47 %), at least .*; weighted 16,1$' "$work/err"
check "not weighted, with a report" way 8 careful stays CARTOGRAPH_LAYOUT=4x2 CARTOGRAPH_REPORT=1
check "is told" grep -q '; between nodes 16, at least .*; weights assumed equal$' "$work/err"
# weights TEXT WORDS: a mistake in them is said once, and the program runs as without.
weights() {
    check "weights $1" way 8 careful stays CARTOGRAPH_LAYOUT=4x2 "CARTOGRAPH_WEIGHTS=$1"
    check "is said" [ "$(grep -c "^cartograph: CARTOGRAPH_WEIGHTS.* $2" "$work/err")" = 1 ]
}
for text in 16,-1 inf,1 nan,1 16,x 16,,1 1e99,1; do weights "$text" "but weights are whole numbers from 0 to 2147483648; "; done
weights 0,0 "has no weight above 0; "
weights 4x2:16 "has 1 weights for 2 dimensions; "
weights 16,1,1 "there are no weights for a grid of 2 dimensions; "
weights 4y2:16,1 "which is not a grid such as 8x8:1,4; "
# odd RANK WORD OTHERS WAY EXPECTED: one rank's environment differs; the most cautious word counts.
odd() {
    $launch 8 env "$dealt" "LD_PRELOAD=$lib" sh -c '
        word=$1; [ "${PMI_RANK-${OMPI_COMM_WORLD_RANK-}}" != "$0" ] || word=$2
        shift 2; CARTOGRAPH_REORDER=$word exec "$@"' "$1" "$3" "$2" "$policy" "$4" "$5" >"$work/out" 2>"$work/err" </dev/null
}
for rank in 0 3; do
    check "off on $rank" odd $rank off all careful stays
    check "on on $rank, a graph" odd $rank on all petsc stays
    check "all on $rank, a graph" odd $rank all always petsc wrong
    check "on on $rank, reorder = 0" odd $rank on always minimd stays
    check "on on $rank, a known program" odd $rank on always lammps stays
done
check "scrambled by rank 0" odd 0 scramble:4 all petsc wrong
check "not scrambled where another says on" odd 3 on scramble:4 petsc stays

# Nodes that the host itself sees.
case $host in
mpich | mpich5 | abi)
    launch="${launch% -n} -launcher fork -hosts a:3,b:3,c:2 -n"
    check "the host's own nodes" run 8
    agrees 3,3,2 moves ;;
esac

verdict "test-reorder, $host"
