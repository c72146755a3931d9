#!/usr/bin/env bash
# simulate-combining.sh: small blocks of neighborhood collectives on simulated nodes, without and with combining:
# a table of lab/results/combining.json. Needs the library built for smpi. SMPI has no distributed graphs of its own to compare
# with.
#
# PATTERNS and MACHINES in the environment choose some of the table.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/smpi-nodes.sh"
library=$top/build/smpi/lib/libcartograph.so
work=$top/build/smpi/simulate
[ -e "$library" ] || { echo "There is no $library: make lib HOST=smpi" >&2; exit 1; }
mkdir -p "$work"
smpicc -O2 -o "$work/neighbors" "$top/c_tests/simulate/neighbors.c"
smpicc -O2 -shared -fPIC -o "$work/count.so" "$top/c_tests/simulate/count.c"
smpicxx -std=c++17 -O2 -shared -fPIC -o "$work/nodes.so" "$top/c_tests/simulate/nodes.cpp"
exchanges=2
# All leave this barrier at once: what an exchange takes does not depend on who came out earlier.
settings=(--cfg=smpi/simulate-computation:no --cfg=smpi/barrier:ompi_recursivedoubling --cfg=smpi/reduce:binomial --log=root.thres:warning)

# exchange ROW PATTERN NODES CORES X Y Z INSIDE BETWEEN WAY BYTES...: lines of the row's words, bytes, the way and
# microseconds; the last has the messages between nodes in an exchange, and the most of them from one node to another.
exchange() {
    local row=$1 pattern=$2 nodes=$3 cores=$4 x=$5 y=$6 z=$7 inside=$8 between=$9 way=${10}
    shift 10
    print_hosts "$nodes" "$cores" >"$work/$nodes.hosts"
    NODES=$nodes CORES=$cores PPN=$cores INSIDE=${inside}e-6 BETWEEN=${between}e-6 timeout 900 \
        smpirun -no-privatize -np $((nodes * cores)) -platform "$work/nodes.so" -hostfile "$work/$nodes.hosts" "${settings[@]}" \
        -wrapper "env LD_PRELOAD=$work/count.so:$library CARTOGRAPH_COMBINE=$way" \
        "$work/neighbors" "$pattern" $exchanges "$x" "$y" "$z" "$@" 2>&1 |
        awk -v all=$((exchanges * $#)) -v row="$row" -v way="$way" -v OFS='|' '
            $2 == "wrong" { if ($1) exit 1; next }
            $1 == "between" { print row, "messages", way, $3 / all, $5 / all; next }
            { print row, $1, way, $2 }'
}

"$top/scripts/put-results.sh"
while read -r machine; do
    read -r nodes cores x y z inside between <<<"$machine"
    for pattern in ${PATTERNS:-box faces sparse}; do
        for way in off on; do
            # shellcheck disable=SC2086 # seven words
            exchange "$nodes x $cores|$inside + $between|$pattern" $pattern $machine $way 8 64 256 1024
        done
    done
done <<<"${MACHINES:-$(for costs in "0.5 0.5" "0.3 1.5"; do echo "4 4 4 2 2 $costs"; echo "64 16 16 8 8 $costs"; done)}" \
    >"$work/simulated.lines"
"$top/build/pure/tool/results" make simulated scripts/simulate-combining.sh "$work/simulated.lines"
