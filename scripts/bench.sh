#!/usr/bin/env bash
# bench.sh HOST: what the host takes and what Cartograph takes, side by side in one run, in time,
# instructions and memory. Tables on stdout; what they are made of in build/HOST/bench.
# Two busy cores make single figures noisy; read the ratios.
#
# PROCESSES, PARTS and RUNS in the environment choose how many processes, what is measured, and how often
# a program is started; PATTERNS and SIZES, which neighborhoods (of 2d, 3d, torus6, dist26) and bytes of a block.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
host=${1:?usage: bench.sh HOST}
know() { "$top/scripts/host.sh" "$host" "$1"; }
cc=$(know cc) fc=$(know fc)
read -ra launch <<<"$(know exec)"
out=$top/build/$host/programs results=$top/build/$host/bench
library=$top/build/$host/lib/libcartograph.so
lines=$results/lines.tsv
mkdir -p "$out" "$results"
: >"$lines"

# build NAME: a program of c_tests/bench.
build() { $cc -O2 -w -o "$out/$1" "$top/c_tests/bench/$1.c" -ldl; }

# preloaded PROCESSES SECONDS PROGRAM ARGUMENTS...: a program under Cartograph.
preloaded() {
    local processes=$1 seconds=$2 program=$3
    shift 3
    timeout -k 5 "$seconds" "${launch[@]}" "$processes" env LD_PRELOAD="$library" "$out/$program" "$@"
}

queries() {
    build bench_queries
    preloaded 1 300 bench_queries time >>"$lines"
    [ -z "$fc" ] && return
    "$top/scripts/bench-fortran.sh" "$host"
    timeout -k 5 300 "${launch[@]}" 1 env CARTOGRAPH_LIBRARY="$library" "$out/bench_fortran" >>"$lines"
}

instructions() { "$top/scripts/bench-count.sh" "$host" >>"$lines"; }

dims() {
    local n
    build bench_queries
    # A number at a time: MPICH ends with SIGFPE on the last, and Open MPI takes seconds for some.
    for n in mean 96 720720 1048576 1102701600 2147483647; do
        preloaded 1 60 bench_queries dims $n >>"$lines" 2>"$results/dims.log" ||
            echo "bench.sh: the host cannot do MPI_Dims_create of $n, or not in a minute" >&2
    done
}

creation() {
    local processes
    build bench_create
    for processes in ${PROCESSES:-2 4 8 16}; do
        preloaded "$processes" 300 bench_create time >>"$lines"
    done
}

memory() {
    build bench_create
    preloaded 1 60 bench_create memory >>"$lines"
}

load() {
    build bench_load
    local size report=$results/report.txt
    size=$(stat -L -c %s "$library")
    printf 'size\t%s\t0\t1\tbytes\t%s\t%s\n' "libcartograph.so" "$size" "$size" >>"$lines"
    LAUNCH="timeout -k 5 60 ${launch[*]} 2" \
        "$out/bench_load" "${RUNS:-21}" 2 "$library" >>"$lines"
    LAUNCH="timeout -k 5 60 ${launch[*]} 2" \
        "$out/bench_load" "${RUNS:-21}" 2 "$library" "$report" >>"$lines"
}

neighbor() {
    local processes
    build bench_neighbor
    for processes in ${PROCESSES:-2 4 8}; do
        preloaded "$processes" 900 bench_neighbor >>"$lines"
    done
}

# Cartograph's own part of a nonblocking collective, whatever the host does, by either way; prints its own table.
neighbor_size() {
    local way
    $cc -O2 -w -fPIC -shared -o "$out/libbench_neighbor_stub.so" "$top/c_tests/bench/bench_neighbor_stub.c" -ldl
    $cc -O2 -w -o "$out/bench_neighbor_size" "$top/c_tests/bench/bench_neighbor_size.c" \
        -L "$out" -lbench_neighbor_stub "-Wl,-rpath,$out"
    printf '\n| host | processes | way | known layout, us | new layout, us | new, two blocks to a process, us'
    printf ' | bytes a layout | bytes a communicator |\n|---|---:|---|---:|---:|---:|---:|---:|\n'
    for way in alltoall graph; do
        # What the allocator keeps for the next time counts as in use.
        GLIBC_TUNABLES=glibc.malloc.tcache_count=0 CARTOGRAPH_NEIGHBOR=$way preloaded 1 120 bench_neighbor_size |
            awk -v host="$host" -v way="$way" '{ print "| " host " | " $1 " | " way " | " $2 " | " $3 " | " $4 " | " $5 " | " $6 " |" }'
    done
}

# Instructions of nonblocking and persistent collectives by either way, and beside the host; prints its own tables.
neighbor_count() { "$top/scripts/bench-neighbor-count.sh" "$host"; }

# Several blocks to one process as messages of their own and as one, by the host alone; prints its own table.
neighbor_merge() {
    local processes
    build bench_neighbor_merge
    printf '\n| host | processes | blocks | bytes | single, us | merged, us | made for the call, us |\n'
    printf '|---|---:|---:|---:|---:|---:|---:|\n'
    for processes in ${PROCESSES:-2 4}; do
        timeout -k 5 300 "${launch[@]}" "$processes" "$out/bench_neighbor_merge" |
            awk -v host="$host" '{ print "| " host " | " $1 " | " $2 " | " $3 " | " $5 " | " $7 " | " $9 " |" }'
    done
}

# What the recorder adds to a message; prints its own table.
recorder() {
    local recorder=${library%/*}/libcartograph_record.so
    [ -e "$recorder" ] || return 0
    build bench_record
    # Where a recording is nothing is recorded.
    rm -rf "$results/traffic"
    timeout -k 5 120 "${launch[@]}" 1 "$out/bench_record" >"$results/alone.tsv"
    timeout -k 5 120 "${launch[@]}" 1 env CARTOGRAPH_RECORD="$results/traffic" LD_PRELOAD="$recorder" \
        "$out/bench_record" >"$results/recorded.tsv"
    printf '\n| host | a message on | alone, ns | recorded, ns | the recorder, ns |\n|---|---|---|---|---|\n'
    paste "$results/alone.tsv" "$results/recorded.tsv" | awk -F '\t' -v host="$host" '
        { printf "| %s | %s | %d | %d | %d |\n", host, $1, $2, $4, $4 - $2 }'
}

own=
for part in ${PARTS:-queries instructions dims creation memory load neighbor recorder}; do
    case $part in
    queries | instructions | dims | creation | memory | load | neighbor_count | neighbor_size | neighbor_merge | recorder) $part ;;
    neighbor) neighbor && own=neighbor_size ;;
    *) echo "bench.sh: there is no part '$part'" >&2 && exit 2 ;;
    esac
done
"$top/scripts/bench-tables.sh" "$host"
$own
