#!/usr/bin/env bash
# simulate-combining.sh: small blocks of neighborhood collectives on four simulated nodes of four processes, without
# and with combining; prints the table of docs/combining.md. Needs the library built for smpi. SMPI has no distributed graphs of
# its own to compare with.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/smpi-nodes.sh"
library=$top/build/smpi/lib/libcartograph.so
work=$top/build/smpi/simulate
[ -e "$library" ] || { echo "There is no $library: make lib HOST=smpi" >&2; exit 1; }
mkdir -p "$work"
smpicc -O2 -o "$work/neighbors" "$top/c_tests/simulate/neighbors.c"
print_platform 4 4 >"$work/four.xml"
print_hosts 4 4 >"$work/four.hosts"
# Each message takes half a microsecond of its sender and of its receiver.
overhead=(--cfg=smpi/ois:0:5e-7:0 --cfg=smpi/or:0:5e-7:0)
for pattern in box faces sparse; do
    for way in off on always; do
        timeout 300 smpirun -no-privatize -np 16 -platform "$work/four.xml" -hostfile "$work/four.hosts" \
            --cfg=smpi/simulate-computation:no --log=root.thres:warning "${overhead[@]}" \
            -wrapper "env LD_PRELOAD=$library CARTOGRAPH_COMBINE=$way" "$work/neighbors" $pattern 2 4 2 2 8 64 256 |
            awk -v pattern=$pattern -v way=$way '$2 != "wrong" { print pattern, $1, way, $2 } $2 == "wrong" && $1 { exit 1 }'
    done
done | awk '
    { row = $1 SUBSEP $2; if (!(row in seen)) { seen[row] = 1; order[++rows] = row } time[row, $3] = $4 }
    END {
        name["box"] = "26"; name["faces"] = "6"; name["sparse"] = "6, sparse"
        print "| neighbors | bytes | off | on | always | off / on |\n|---|---:|---:|---:|---:|---:|"
        for (i = 1; i <= rows; i++) {
            split(order[i], key, SUBSEP); off = time[order[i], "off"]; on = time[order[i], "on"]
            printf "| %s | %s | %.1f | %.1f | %.1f | %.2f |\n", name[key[1]], key[2], off, on, time[order[i], "always"], off / on
        }
    }'
