#!/usr/bin/env bash
# simulate-combining.sh: small blocks of neighborhood collectives on simulated nodes, without and with combining:
# tables of bench/results/combining.json. Needs the library built for smpi. SMPI has no distributed graphs of its own to compare
# with.
#
# PATTERNS and MACHINES in the environment choose some of the first table.
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
put() { "$top/scripts/put-results.sh" combining "$1" scripts/simulate-combining.sh; }
# All leave this barrier at once: what an exchange takes does not depend on who came out earlier.
settings=(--cfg=smpi/simulate-computation:no --cfg=smpi/barrier:ompi_recursivedoubling --cfg=smpi/reduce:binomial --log=root.thres:warning)

# exchange PATTERN NODES CORES X Y Z INSIDE BETWEEN WAY BYTES...: lines of bytes and microseconds; the last one has the
# messages between nodes in an exchange, and the most of them from one node to another.
exchange() {
    local pattern=$1 nodes=$2 cores=$3 x=$4 y=$5 z=$6 inside=$7 between=$8 way=$9
    shift 9
    print_hosts "$nodes" "$cores" >"$work/$nodes.hosts"
    NODES=$nodes CORES=$cores PPN=$cores INSIDE=${inside}e-6 BETWEEN=${between}e-6 timeout 900 \
        smpirun -no-privatize -np $((nodes * cores)) -platform "$work/nodes.so" -hostfile "$work/$nodes.hosts" "${settings[@]}" \
        -wrapper "env LD_PRELOAD=$work/count.so:$library CARTOGRAPH_COMBINE=$way" \
        "$work/neighbors" "$pattern" $exchanges "$x" "$y" "$z" "$@" 2>&1 |
        awk -v all=$((exchanges * $#)) '
            $2 == "wrong" { if ($1) exit 1; next }
            $1 == "between" { print "messages", $3 / all, $5 / all; next }
            { print }'
}

while read -r machine; do
    read -r nodes cores x y z inside between <<<"$machine"
    for pattern in ${PATTERNS:-box faces sparse}; do
        for way in off on; do
            # shellcheck disable=SC2086 # six words
            exchange $pattern $machine $way 8 64 256 1024 | sed "s/^/$nodes,x,$cores $inside,+,$between $pattern $way /"
        done
    done
done <<<"${MACHINES:-$(for costs in "0.5 0.5" "0.3 1.5"; do echo "4 4 4 2 2 $costs"; echo "64 16 16 8 8 $costs"; done)}" | awk '
    $5 == "messages" { sent[$1, $2, $3, $4] = $6; most[$1, $2, $3, $4] = $7; next }
    { row = $1 SUBSEP $2 SUBSEP $3 SUBSEP $5; if (!(row in seen)) { seen[row] = 1; order[++rows] = row } time[row, $4] = $6 }
    END {
        name["box"] = "26"; name["faces"] = "6"; name["sparse"] = "6, sparse"
        print "nodes | a message | neighbors | bytes | off | on | off / on | off: between nodes | on: between nodes"
        for (i = 1; i <= rows; i++) {
            split(order[i], key, SUBSEP); off = time[order[i], "off"]; on = time[order[i], "on"]
            machine = key[1] SUBSEP key[2] SUBSEP key[3]; counts = ""
            for (w = 1; w <= split("off on", ways, " "); w++)
                counts = counts " " sent[machine, ways[w]] " (" most[machine, ways[w]] ") |"
            gsub(",", " ", key[1]); gsub(",", " ", key[2])
            printf "| %s | %s | %s | %s | %.1f | %.1f | %.2f |%s\n", key[1], key[2], name[key[3]], key[4], off, on,
                   off / on, counts
        }
    }' | put "On simulated nodes, us"
# Pattern, neighbors, nodes, processes on each, and the sides of the torus.
for machine in "box 26 27 1 3 3 3" "box 26 64 1 4 4 4" "edges 18 64 1 4 4 4" "box 8 16 1 4 4 1" "box 26 32 2 4 4 4" \
    "box 26 16 4 4 4 4"; do
    read -r pattern neighbors nodes cores x y z <<<"$machine"
    for way in off on; do
        exchange $pattern $nodes $cores $x $y $z 0.5 0.5 $way 8 64 256 1024 | sed "s/^/$neighbors $x,x,$y,x,$z $cores $way /"
    done
done | awk '
    $5 == "messages" { next }
    { row = $1 SUBSEP $2 SUBSEP $3 SUBSEP $5; if (!(row in seen)) { seen[row] = 1; order[++rows] = row } time[row, $4] = $6 }
    END {
        print "neighbors | torus | processes a node | bytes | off | on | off / on"
        for (i = 1; i <= rows; i++) {
            split(order[i], key, SUBSEP); gsub(",", " ", key[2]); sub(" x 1$", "", key[2])
            off = time[order[i], "off"]; on = time[order[i], "on"]
            printf "| %s | %s | %s | %s | %.1f | %.1f | %.2f |\n", key[1], key[2], key[3], key[4], off, on, off / on
        }
    }' | put "Along dimensions, us"
