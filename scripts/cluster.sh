#!/usr/bin/env bash
# cluster.sh: measures neighbor exchanges on four nodes of four processes, row-major and placed by
# Cartograph, and writes docs/cluster.md. The nodes are those of scripts/nodes.sh. Needs root, and the library
# built for openmpi.
#
# RATE, BYTES, EXCHANGES and REPETITIONS in the environment change what is measured; PAGE, where it goes.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
library=$top/build/openmpi/lib/libcartograph.so
programs=$top/build/openmpi/cluster
page=${PAGE:-docs/cluster.md}
degree=3
rate=${RATE:-200mbit} bytes=${BYTES:-65536} exchanges=${EXCHANGES:-40} repetitions=${REPETITIONS:-3}
. "$top/scripts/nodes.sh"

# A case a line: its name, options of mpiexec, program and arguments.
cases() {
    local grid="halo $bytes $exchanges" collective="halo -n $bytes $exchanges"
    echo "4 x 4||$grid 4 4"
    echo "4 x 4 by MPI_Neighbor_alltoall||$collective 4 4"
    echo "4 x 2 x 2||$grid 4 2 2"
    echo "4 x 4, ranks dealt round-robin|--map-by node|$grid 4 4"
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
    for program in halo sparse; do
        mpicc.openmpi -O2 -Wall -Wno-stringop-overread -Wno-stringop-overflow \
            -o "$programs/$program" c_tests/cluster/$program.c
    done
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
    paste /dev/shm/before /dev/shm/after | awk -v case="$case" -v way="$way" -v time="$time" \
        -v exchanges="$exchanges" -v OFS='|' '
        { bytes = ($2 - $1) / exchanges; all += bytes; if (bytes > most) most = bytes }
        END { print case, way, time, all, most }' >>/dev/shm/results
    echo "$case, $way: $time ms" >&2
    if [ "$way" = cartograph ]; then
        edges "$case" </dev/shm/report.json >>/dev/shm/edges
    fi
}

# Of a report with one topology: the case, the edges between nodes and those of the worst node, before and
# after.
edges() {
    local pair='{"inter_node_edges":\([0-9.]*\),"max_node_edges":\([0-9.]*\)}'
    sed -n "s/.*\"before\":$pair,\"after\":$pair.*/$1|\1|\2|\3|\4/p"
}

tables() {
    awk -F '|' '
    function median(list,   values, n, i, j, t) {
        n = split(list, values, " ")
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && values[j] + 0 < values[j - 1] + 0; j--) {
                t = values[j]; values[j] = values[j - 1]; values[j - 1] = t
            }
        return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
    }
    FILENAME ~ /edges$/ { edges[$1] = $2 " -> " $4; worst[$1] = $3 " -> " $5; next }
    {
        if (!($1 in seen)) { seen[$1] = 1; order[++cases] = $1 }
        time[$1, $2] = time[$1, $2] " " $3
        all[$1, $2] = all[$1, $2] " " $4
        most[$1, $2] = most[$1, $2] " " $5
    }
    END {
        print "| exchange | Open MPI alone, ms | Cartograph, reorder off, ms | Cartograph, ms | alone / Cartograph | off / Cartograph |"
        print "|---|---|---|---|---|---|"
        for (i = 1; i <= cases; i++) {
            c = order[i]; alone = median(time[c, "alone"]); off = median(time[c, "off"]); ours = median(time[c, "cartograph"])
            printf "| %s | %.1f | %.1f | %.1f | **%.2f** | %.2f |\n", c, alone, off, ours, alone / ours, off / ours
        }
        print ""
        print "| exchange | edges between nodes | of the worst node | alone, MB on the wires | Cartograph, MB | alone, MB of the worst node | Cartograph, MB |"
        print "|---|---|---|---|---|---|---|"
        for (i = 1; i <= cases; i++) {
            c = order[i]
            printf "| %s | %s | %s | %.2f | %.2f | %.2f | %.2f |\n", c, edges[c], worst[c], \
                median(all[c, "alone"]) / 1e6, median(all[c, "cartograph"]) / 1e6, \
                median(most[c, "alone"]) / 1e6, median(most[c, "cartograph"]) / 1e6
        }
    }' /dev/shm/edges /dev/shm/results
}

write_page() {
    local cpu version
    cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
    version=$(mpiexec.openmpi --version | sed -n '1s/.* //p')
    cat <<END
# Exchanges between neighbors on a cluster

What \`reorder = 1\` brings to a program that is not changed: processes exchange $bytes bytes with each of
their neighbors, once with the ranks where the launcher put them, once where Cartograph put them.

END
    cat /dev/shm/tables
    cat <<END

A time is the median over $repetitions runs, of which each is the median of $exchanges exchanges; an exchange
takes as long as on its slowest rank. The ways take turns, so that what else the machine does meets all of
them. Every word received is checked. Bytes are those that the nodes' network interfaces count from
the start of a run to its end, for one exchange; MB is 10^6 bytes, edges are directed.

Open MPI accepts \`reorder = 1\` and moves no process of a grid; "off" is \`CARTOGRAPH_REORDER=off\`. Cartograph is
told that all faces are alike, by \`CARTOGRAPH_WEIGHTS=$weights\`: where nobody says so, it leaves grids on so few nodes as
they are, because they would lose if some faces were much larger ([quality.md](quality.md#weights-that-nobody-knows)).
That the graph's processes may be moved is said by \`CARTOGRAPH_REORDER=all\`.
Processes are dealt to nodes by blocks of $ppn but for the round-robin launch, which is
\`mpiexec --map-by node\`. The graph has the $processes processes at random in a square, each joined to the $degree
nearest, and numbered at random.

Measured $(date -u +%Y-%m-%d) on $nodes nodes of $ppn processes, which are network namespaces of one machine (${cpu:-unknown processor},
$(nproc) processors, Linux $(uname -r), load $(cut -d' ' -f1 /proc/loadavg) at the end) under Open MPI $version. Each node has a link
to one switch, where what it sends is limited to $rate by \`tc\`'s token bucket; within a node Open MPI uses
shared memory. What the few processors add to all times, the more so where they have other work, makes
the ratios smaller: links alone would give that of the worst node's bytes.

\`make cluster\` writes this page; the programs are those of \`c_tests/cluster\`.
END
}

inside() {
    local repetition case options command way began=$SECONDS
    make_nodes
    for ((repetition = 0; repetition < repetitions; repetition++)); do
        while IFS='|' read -r case options command; do
            for way in $ways; do
                measure "$case" $way "$options" $command </dev/null
            done
        done < <(cases)
    done
    tables >/dev/shm/tables
    cat /dev/shm/tables
    write_page >/dev/shm/page
    cp /dev/shm/page "$page"
    echo "$page is written; it took $((SECONDS - began)) seconds" >&2
}

if [ "${1:-}" = inside ]; then
    inside
else
    outside
fi
