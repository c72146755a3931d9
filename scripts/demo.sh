#!/usr/bin/env bash
# demo.sh HOST: the Poisson solver of the MPI-1.1 chapter, in C and in Fortran, without and under Cartograph: its
# results, and the libraries whose functions the loader chose. Fails unless the results are equal to the last bit and
# the whole chapter comes from Cartograph. Open MPI also runs three jobs that learn.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
host=${1:?usage: demo.sh HOST}
processes=8
library=$top/build/$host/lib/libcartograph.so
out=$top/build/$host/demo
read -ra launch <<<"$("$top/scripts/host.sh" "$host" exec)"
mkdir -p "$out"
failed=0

# Three jobs by cartograph run, each on four of eight nodes with two processes and slow links. The nodes are
# namespaces of this machine, which the kernel removes when this process ends.
learns() {
    local i job rate=1mbit words
    mount -t tmpfs none /dev/shm && mount -t tmpfs none /run && mount -t sysfs none /sys
    export TMPDIR=/dev/shm CARTOGRAPH_STORE=/dev/shm/store
    ip link add switch type bridge && ip address add 10.77.0.254/24 dev switch && ip link set switch up && ip link set lo up
    cp /etc/hosts /dev/shm/hosts
    for ((i = 0; i < 8; i++)); do
        ip netns add n$i && ip link add link$i type veth peer name eth0 netns n$i && ip link set link$i master switch up
        ip -n n$i address add 10.77.0.$((i + 1))/24 dev eth0 && ip -n n$i link set eth0 up && ip -n n$i link set lo up
        tc -n n$i qdisc add dev eth0 root tbf rate $rate burst 16kb limit 16mb
        echo "10.77.0.$((i + 1)) n$i" >>/dev/shm/hosts
    done
    mount --bind /dev/shm/hosts /etc/hosts
    # mpiexec starts its daemons with this script like with ssh: options, the node, a command.
    printf '%s\n' '#!/bin/bash' 'while [[ $1 == -* ]]; do shift; done' 'node=$1' 'shift' \
        'exec ip netns exec "$node" unshare --uts bash -c "hostname $node; $*"' >/dev/shm/agent
    chmod +x /dev/shm/agent
    words=("${launch[@]}")
    unset 'words[-1]'
    words+=(--mca plm_rsh_agent /dev/shm/agent --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include 10.77.0.0/24
        --mca btl_tcp_if_include 10.77.0.0/24 --map-by node)
    printf '\ncartograph run: c_tests/topology/poisson.c in three jobs, ranks round-robin over nodes with links of %s\n\n' $rate
    for job in n0,n1,n2,n3 n4,n5,n6,n7 n0,n2,n4,n6; do
        printf '  on %s\n' $job
        timeout -k 5 60 "$top/build/bin/cartograph" run "${words[@]}" --host "${job//,/:2,}:2" -n $processes \
            "$out/poisson_c" >/dev/shm/out 2>/dev/shm/err || { cat /dev/shm/err && failed=1; }
        sed -n 's|^cartograph: |    |p' /dev/shm/err
        cmp -s "$out/c.alone.out" /dev/shm/out || { printf '  THE RESULTS DIFFER.\n' && failed=1; }
    done
    printf '\n' && "$top/build/bin/cartograph" known | sed 's/^/  /'
}
if [ "${2:-}" = jobs ]; then
    learns
    exit $failed
fi

# Starts a program; keeps its output in NAME.out and the output of the loader in NAME.loader.PID.
run() { # NAME PRELOADED PROGRAM
    rm -f "$out/$1.loader".*
    if ! timeout -k 5 60 "${launch[@]}" $processes env LD_PRELOAD="$2" LD_DEBUG=bindings \
        LD_DEBUG_OUTPUT="$out/$1.loader" "$3" >"$out/$1.out" 2>"$out/$1.err"; then
        cat "$out/$1.out" "$out/$1.err" >&2
        echo "demo.sh: $3 failed" >&2
        exit 1
    fi
}

# The functions of the chapter that the program called in all processes, with the libraries that define them:
# "MPI_Cart_create libmpich.so.12".
bindings() { # NAME PROGRAM
    sed -n "s|.*binding file $2 \[0\] to \([^ ]*\) \[0\]: normal symbol \`\([^']*\)'.*|\2 \1|p" \
        "$out/$1.loader".* | sed 's| .*/| |' |
        awk 'NR == FNR { chapter[tolower($1)] = 1; next }
             { plain = tolower($1); sub(/_+$/, "", plain); sub(/^p/, "", plain) }
             plain in chapter' "$top/include/exports.txt" - | sort -u
}

show() { # LANGUAGE WRAPPER SOURCE
    local name program
    name=$(basename "$3") program=$out/${name%.*}_$1
    (cd "$out" && "$2" -g -O1 -o "$program" "$top/$3" -lm)
    run "$1.alone" "" "$program"
    run "$1.cartograph" "$library" "$program"

    printf '\n%s, %d processes on %s\n\n' "$3" $processes "$host"
    printf '  alone\n' && sed 's/^/    /' "$out/$1.alone.out"
    printf '  under Cartograph\n' && sed 's/^/    /' "$out/$1.cartograph.out"
    if [ -s "$out/$1.alone.out" ] && cmp -s "$out/$1.alone.out" "$out/$1.cartograph.out"; then
        printf '  The results are the same to the last bit.\n\n'
    else
        printf '  THE RESULTS DIFFER.\n\n'
        failed=1
    fi

    bindings "$1.alone" "$program" >"$out/$1.alone.bindings"
    bindings "$1.cartograph" "$program" >"$out/$1.cartograph.bindings"
    printf '  %-18s %-24s %s\n' "the loader's word" alone "under Cartograph"
    join "$out/$1.alone.bindings" "$out/$1.cartograph.bindings" |
        awk '{ printf "  %-18s <- %-21s <- %s\n", $1, $2, $3 }'
    # Both runs must call equally many functions, from the host only, or from Cartograph only.
    if [ ! -s "$out/$1.cartograph.bindings" ] || grep -q libcartograph "$out/$1.alone.bindings" ||
        grep -qv libcartograph "$out/$1.cartograph.bindings" ||
        ! cmp -s <(cut -d' ' -f1 "$out/$1.alone.bindings") \
            <(cut -d' ' -f1 "$out/$1.cartograph.bindings"); then
        printf '  NOT ALL CALLS WENT WHERE THEY SHOULD.\n'
        failed=1
    fi
}

show c "$("$top/scripts/host.sh" "$host" cc)" c_tests/topology/poisson.c
fortran=$("$top/scripts/host.sh" "$host" fc)
if [ -n "$fortran" ]; then
    show fortran "$fortran" c_tests/fortran/topology/poisson.f90
else
    printf '\n%s has no Fortran compiler wrapper.\n' "$host"
fi

# reorder = 1: the program with its processes distributed round-robin over three nodes, and Cartograph's report: by default
# ranks are kept, on request they are reordered.
nodes=$top/c_tests/reorder/three_nodes.layout
printf '\nc_tests/topology/poisson.c with reorder = 1, ranks round-robin over three nodes: %s\n\n' "$(cat "$nodes")"
reordered() { # the expected line of the report, the result, and the settings
    local pattern=$1 result=$2
    shift 2
    if ! timeout -k 5 60 "${launch[@]}" $processes env CARTOGRAPH_LAYOUT=$nodes CARTOGRAPH_REPORT=1 "$@" \
        LD_PRELOAD="$library" "$out/poisson_c" >"$out/reordered.out" 2>"$out/reordered.err"; then
        cat "$out/reordered.out" "$out/reordered.err" >&2
        echo "demo.sh: the program failed on several nodes ($*)" >&2
        exit 1
    fi
    sed 's/^/    /' "$out/reordered.err"
    if cmp -s "$out/c.alone.out" "$out/reordered.out" && grep -q "$pattern" "$out/reordered.err"; then
        printf '  %s; the results are the same to the last bit.\n' "$result"
    else
        printf '  THE RESULTS DIFFER, OR THE REPORT IS NOT AS EXPECTED.\n'
        failed=1
    fi
}
reordered 'ranks kept: the program is not known' 'By default ranks are kept, since the program may not follow'
printf '\nOn request, CARTOGRAPH_REORDER=on, as cartograph exec does after cartograph try has passed:\n\n'
reordered 'ranks reordered by .*' 'Processes were moved' CARTOGRAPH_REORDER=on

# The C program in a job script.
if [ "$host" != openmpi ]; then
    # Debian's MPICH 4 prints its results on such nodes and hangs in MPI_Finalize: openucx/ucx issue 8738.
    printf '\nmake demo HOST=openmpi also shows jobs that learn (cartograph run).\n'
elif unshare --net --mount --pid --fork true 2>/dev/null; then
    # Processes started here end with this script.
    setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$host" jobs || failed=1
else
    printf '\nAs root, where namespaces are allowed, it also shows jobs that learn (cartograph run), on made-up nodes.\n'
fi

printf '\nA larger grid, before it is run: cartograph plan --dims 16x12 --nodes 16 --ppn 12\n\n'
"$top/build/bin/cartograph" plan --dims 16x12 --nodes 16 --ppn 12
exit $failed
