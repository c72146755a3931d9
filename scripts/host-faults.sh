#!/usr/bin/env bash
# host-faults.sh: runs each program of c_tests/faults on each host alone and under Cartograph, and writes what came
# of it to bench/results/host-faults.json.
set -euo pipefail
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
hosts=(mpich openmpi mpich5 openmpi5)
seconds=10
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ulimit -c 0

# outcome HOST PROGRAM PROCESSES [LIBRARY]: what came of it, in a few words.
outcome() {
    local code=0 wrong
    timeout -k 2 "$seconds" $(scripts/host.sh "$1" exec) "$3" env ${4:+LD_PRELOAD="$4"} "$2" >"$work/out" 2>/dev/null \
        </dev/null || code=$?
    wrong=$(sed -n 's/^[0-9]* passed, \([0-9]*\) failed$/\1/p' "$work/out")
    if [ "$code" = 124 ] || [ "$code" = 137 ]; then
        echo "no end in $seconds s"
    elif [ -z "$wrong" ]; then
        echo crash
    elif [ "$wrong" = 0 ]; then
        echo right
    else
        # Of one function once, whatever rank it was; UCX warns of messages that are left.
        grep -v ' passed, \| UCX ' "$work/out" | sed 's/: got .*//' | sort -u | paste -sd';' | sed 's/;/; /g; s/^/wrong: /'
    fi
}

{
    printf 'program | with Cartograph, on each'
    for host in "${hosts[@]}"; do
        $(scripts/host.sh "$host" cc) -w -pthread -o "$work/errors" c_tests/errors/errors.c
        version=$(timeout 20 $(scripts/host.sh "$host" exec) 1 "$work/errors" version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
        printf ' | %s %s' "$host" "$version"
    done
    echo
    for source in c_tests/faults/*.c; do
        name=$(basename "$source" .c)
        processes=$(grep -oE 'mpiexec -n [0-9]+' "$source" | head -n 1 | grep -oE '[0-9]+')
        alone=() ours=()
        for host in "${hosts[@]}"; do
            $(scripts/host.sh "$host" cc) -O1 -w -o "$work/$name" "$source"
            alone+=("$(outcome "$host" "$work/$name" "$processes")")
            ours+=("$(outcome "$host" "$work/$name" "$processes" "$top/build/$host/lib/libcartograph.so")")
        done
        printf '%s | %s' "$name" "$(printf '%s\n' "${ours[@]}" | sort -u | paste -sd';')"
        printf ' | %s' "${alone[@]}"
        echo
    done
} | scripts/put-results.sh host-faults Programs scripts/host-faults.sh
