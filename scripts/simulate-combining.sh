#!/usr/bin/env bash
# simulate-combining.sh: small blocks of neighborhood collectives on simulated nodes, without and with combining; prints
# the tables of docs/combining.md. Needs the library built for smpi. SMPI has no distributed graphs of its own to compare
# with.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/smpi-nodes.sh"
library=$top/build/smpi/lib/libcartograph.so
work=$top/build/smpi/simulate
[ -e "$library" ] || { echo "There is no $library: make lib HOST=smpi" >&2; exit 1; }
mkdir -p "$work"
smpicc -O2 -o "$work/neighbors" "$top/c_tests/simulate/neighbors.c"
# Each message takes half a microsecond of its sender and of its receiver; of the barrier before an exchange all return
# at about the same time.
overhead=(--cfg=smpi/ois:0:5e-7:0 --cfg=smpi/or:0:5e-7:0 --cfg=smpi/barrier:ompi_bruck)

# exchange PATTERN NODES CORES X Y Z WAY: a line for each number of bytes, with the time in microseconds.
exchange() {
    local pattern=$1 nodes=$2 cores=$3 x=$4 y=$5 z=$6 way=$7
    print_platform "$nodes" "$cores" >"$work/nodes.xml"
    print_hosts "$nodes" "$cores" >"$work/nodes.hosts"
    timeout 300 smpirun -no-privatize -np $((x * y * z)) -platform "$work/nodes.xml" -hostfile "$work/nodes.hosts" \
        --cfg=smpi/simulate-computation:no --log=root.thres:warning "${overhead[@]}" \
        -wrapper "env LD_PRELOAD=$library CARTOGRAPH_COMBINE=$way" "$work/neighbors" "$pattern" 2 "$x" "$y" "$z" 8 64 256 |
        awk '$2 != "wrong" { print } $2 == "wrong" && $1 { exit 1 }'
}

for pattern in box faces sparse; do
    for way in off on always; do
        exchange $pattern 4 4 4 2 2 $way | sed "s/^/$pattern $way /"
    done
done | awk '
    { row = $1 SUBSEP $3; if (!(row in seen)) { seen[row] = 1; order[++rows] = row } time[row, $2] = $4 }
    END {
        name["box"] = "26"; name["faces"] = "6"; name["sparse"] = "6, sparse"
        print "| neighbors | bytes | off | on | always | off / on |\n|---|---:|---:|---:|---:|---:|"
        for (i = 1; i <= rows; i++) {
            split(order[i], key, SUBSEP); off = time[order[i], "off"]; on = time[order[i], "on"]
            printf "| %s | %s | %.1f | %.1f | %.1f | %.2f |\n", name[key[1]], key[2], off, on, time[order[i], "always"], off / on
        }
    }'
echo
# Pattern, neighbors, nodes, processes on each, and the sides of the torus.
for machine in "box 26 27 1 3 3 3" "box 26 64 1 4 4 4" "edges 18 64 1 4 4 4" "box 8 16 1 4 4 1" "box 26 32 2 4 4 4" \
    "box 26 16 4 4 4 4"; do
    read -r pattern neighbors nodes cores x y z <<<"$machine"
    for way in off nodes dimensions on; do
        exchange $pattern $nodes $cores $x $y $z $way | sed "s/^/$neighbors $x,x,$y,x,$z $cores $way /"
    done
done | awk '
    { row = $1 SUBSEP $2 SUBSEP $3 SUBSEP $5; if (!(row in seen)) { seen[row] = 1; order[++rows] = row } time[row, $4] = $6 }
    END {
        print "| neighbors | torus | processes a node | bytes | off | nodes | dimensions | on | off / on |"
        print "|---|---|---:|---:|---:|---:|---:|---:|---:|"
        for (i = 1; i <= rows; i++) {
            split(order[i], key, SUBSEP); gsub(",", " ", key[2]); sub(" x 1$", "", key[2])
            off = time[order[i], "off"]; on = time[order[i], "on"]
            printf "| %s | %s | %s | %s | %.1f | %.1f | %.1f | %.1f | %.2f |\n", key[1], key[2], key[3], key[4], off,
                   time[order[i], "nodes"], time[order[i], "dimensions"], on, off / on
        }
    }'
