#!/usr/bin/env bash
# cluster.sh: measures neighbor exchanges on four nodes of four processes, row-major and placed by
# Cartograph: tables of lab/results/cluster.json. The nodes are those of scripts/nodes.sh. Needs root, and the library
# built for openmpi.
#
# RATE, BYTES, EXCHANGES and REPETITIONS in the environment change what is measured. With SECTION=switches only the table
# of two switches is measured; with SECTION=combining, small blocks in one message, for lab/results/combining.json.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
library=$top/build/openmpi/lib/libcartograph.so
programs=$top/build/openmpi/cluster
degree=3
rate=${RATE:-200mbit} thin=${THIN:-50mbit} bytes=${BYTES:-65536} exchanges=${EXCHANGES:-40} repetitions=${REPETITIONS:-3}
results=$top/build/pure/tool/results
. "$top/scripts/nodes.sh"

# A case a line: its name, options of mpiexec, program and arguments.
cases() {
    local grid="halo $bytes $exchanges" collective="halo -n $bytes $exchanges"
    echo "4 x 4||$grid 4 4"
    echo "4 x 4 by MPI_Neighbor_alltoall||$collective 4 4"
    echo "4 x 2 x 2||$grid 4 2 2"
    echo "4 x 4, ranks round-robin|--map-by node|$grid 4 4"
    echo "sparse graph||sparse $bytes $exchanges $degree 1"
}
# The ways that each is run in, one after the other: Open MPI alone, Cartograph that moves no process, and
# Cartograph.
ways="alone off cartograph"
# All faces of the grids are alike. Where nobody says so, grids this small are left alone.
weights="1,1;1,1,1"

outside() {
    needs mpicc.openmpi
    [ -e "$library" ] || refuse "there is no $library; make lib HOST=openmpi builds it"
    # MPI_UNWEIGHTED is a small number that the compiler takes for the address of an empty array.
    local program
    mkdir -p "$programs"
    for program in cluster/halo cluster/sparse simulate/neighbors; do
        mpicc.openmpi -O2 -Wall -Wno-stringop-overread -Wno-stringop-overflow \
            -o "$programs/${program#*/}" c_tests/$program.c
    done
    scripts/put-results.sh
    in_namespaces "$0" inside
}

# measure CASE WAY OPTIONS PROGRAM ARGUMENTS: adds to results the case, the way, the median time of an
# exchange in ms, and the bytes of an exchange on all wires and from the node that sends most.
measure() {
    local case=$1 way=$2 options=$3 environment=(env) said time
    case $way in
    off) environment+=("LD_PRELOAD=$library" CARTOGRAPH_REORDER=off) ;;
    cartograph)
        environment+=("LD_PRELOAD=$library" CARTOGRAPH_REORDER=all "CARTOGRAPH_WEIGHTS=$weights"
            CARTOGRAPH_REPORT=/dev/shm/report.json) ;;
    esac
    rm -f /dev/shm/report.json
    sent >/dev/shm/before
    said=$("${launch[@]}" $options "${environment[@]}" "$programs/$4" "${@:5}") ||
        refuse "$case ($way) failed: $said"
    sent >/dev/shm/after
    time=$(sed -n 's/^median \([0-9.]*\) ms, .*, 0 words wrong$/\1/p' <<<"$said")
    [ -n "$time" ] || refuse "$case ($way) printed '$said'"
    result "$case" "$way" "$time" "$exchanges" >>/dev/shm/results
    echo "$case, $way: $time ms" >&2
    if [ "$way" = cartograph ]; then
        edges "$case" </dev/shm/report.json >>/dev/shm/edges
    fi
}

# Of a report with one topology: the case, the edges between nodes and those of the busiest node, before and
# after.
edges() {
    local pair='{"inter_node_edges":\([0-9.]*\),"max_node_edges":\([0-9.]*\)}'
    sed -n "s/.*\"before\":$pair,\"after\":$pair.*/$1|\1|\2|\3|\4/p"
}

# Two switches: what crosses the thin link between them. Each process is told by Slurm's variables where its node is.
switches() {
    local way before said
    split_switch "$thin" n1 n2
    cat >/dev/shm/each <<'END'
#!/bin/sh
case $(hostname) in n1 | n2) switch=s1 ;; *) switch=s0 ;; esac
export SLURM_TOPOLOGY_ADDR=$switch.$(hostname) SLURM_TOPOLOGY_ADDR_PATTERN=switch.node
exec "$@"
END
    chmod +x /dev/shm/each
    local -A environment=(
        [alone]="env" [nodes]="env LD_PRELOAD=$library CARTOGRAPH_WEIGHTS=$weights CARTOGRAPH_LAYOUT=${nodes}x$ppn"
        [levels]="env LD_PRELOAD=$library CARTOGRAPH_WEIGHTS=$weights CARTOGRAPH_REPORT=/dev/shm/levels.txt"
    )
    local -A bytes_of time_of
    for way in alone nodes levels; do
        before=$(crossed)
        said=$("${launch[@]}" /dev/shm/each ${environment[$way]} "$programs/halo" "$bytes" "$exchanges" 4 4) ||
            refuse "two switches ($way) failed: $said"
        bytes_of[$way]=$((($(crossed) - before) / exchanges))
        time_of[$way]=$(sed -n 's/^median \([0-9.]*\) ms, .*, 0 words wrong$/\1/p' <<<"$said")
        echo "two switches, $way: ${bytes_of[$way]} bytes, ${time_of[$way]} ms" >&2
    done
    $results put cluster "Two switches" "make lab-cluster${SECTION:+ SECTION=$SECTION}" <<END
of an exchange | Open MPI | nodes | levels
MB on the thin link, an exchange | $(awk "BEGIN { printf \"%.2f | %.2f | %.2f\", ${bytes_of[alone]} / 1e6, ${bytes_of[nodes]} / 1e6, ${bytes_of[levels]} / 1e6 }")
ms | ${time_of[alone]} | ${time_of[nodes]} | ${time_of[levels]}
END
}

# Small blocks by neighborhood collectives, on the links and for the patterns that are named.
exchange_small() {
    local links=$1 repetition pattern way
    shift
    local -A environment=(
        [alone]="env" [off]="env LD_PRELOAD=$library"
        [on]="env LD_PRELOAD=$library CARTOGRAPH_COMBINE=on"
    )
    for ((repetition = 0; repetition < repetitions; repetition++)); do
        for pattern in "$@"; do
            for way in $small_ways; do
                "${launch[@]}" ${environment[$way]} "$programs/neighbors" $pattern "$small_exchanges" 4 2 2 \
                    $small_bytes >/dev/shm/said || refuse "$pattern ($way) failed"
                grep -q '^0 wrong$' /dev/shm/said || refuse "$pattern ($way) is wrong: $(cat /dev/shm/said)"
                awk -v links="$links" -v pattern=$pattern -v way=$way \
                    'NF == 2 && $2 != "wrong" { print links "|" pattern "|" $1 "|" way "|" $2 }' /dev/shm/said |
                    tee -a /dev/shm/combined >&2
            done
        done
    done
}

# All patterns on some links.
small() {
    local small_bytes="8 64 256 512 1024"
    exchange_small "$1" box faces sparse
    small_bytes="64 1024 2048 4096"
    exchange_small "$1" box-same sparse-same
}

# Small blocks: alone, and without and with combining.
combining() {
    local i small_exchanges=${EXCHANGES:-60} small_ways="alone off on"
    : >/dev/shm/combined
    small "${rate/mbit/ Mbit\/s}"
    for ((i = 0; i < nodes; i++)); do tc -n n$i qdisc del dev eth0 root; done
    small "no limit"
    $results make combining "make lab-cluster SECTION=combining" /dev/shm/combined
}

inside() {
    local repetition case options command way began=$SECONDS
    make_nodes
    case ${SECTION:-} in
    combining | switches) $SECTION && return ;;
    esac
    for ((repetition = 0; repetition < repetitions; repetition++)); do
        while IFS='|' read -r case options command; do
            for way in $ways; do
                measure "$case" $way "$options" $command </dev/null
            done
        done < <(cases)
    done
    $results make cluster "make lab-cluster" /dev/shm/results /dev/shm/edges
    switches
    echo "it took $((SECONDS - began)) seconds" >&2
}

if [ "${1:-}" = inside ]; then
    inside
else
    outside
fi
