#!/usr/bin/env bash
# bench-neighbor-count.sh HOST: instructions that it takes to start a nonblocking neighborhood collective of two
# neighbors, and bytes that its communicator takes, by an all-to-all of the host and by its neighborhood
# collectives, on PROCESSES; rows of a table.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
host=${1:?usage: bench-neighbor-count.sh HOST}
out=$top/build/$host/programs lib=$top/build/$host/lib program=$top/build/$host/programs/bench_neighbor_count
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
# Linked: a preloaded library would be loaded into valgrind's launcher as well.
"$("$top/scripts/host.sh" "$host" cc)" -O2 -w -o "$program" "$top/c_tests/bench/bench_neighbor_count.c" \
    -Wl,--no-as-needed -L "$lib" -lcartograph "-Wl,-rpath,$lib"
read -ra launch <<<"$("$top/scripts/host.sh" "$host" exec)"
read -ra tests <<<"$("$top/scripts/host.sh" "$host" tests)"
# The settings for processes that share processors: all but the library to preload.
settings=()
for setting in "${tests[@]}"; do [[ $setting != *=* ]] || settings+=("$setting"); done

# count WAY PROCESSES: instructions a call.
count() {
    local counted=(env "${settings[@]}" "CARTOGRAPH_NEIGHBOR=$1")
    timeout -k 5 300 "${launch[@]}" 1 "${counted[@]}" valgrind --quiet --tool=callgrind --collect-atstart=no \
        "--callgrind-out-file=$work/out" "$program" : -n $(($2 - 1)) "${counted[@]}" "$program" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2 && exit 1; }
    awk '/^(summary|totals):/ { printf "%.0f", $2 / 100; exit }' "$work/out"
}

# memory WAY PROCESSES: bytes a communicator.
memory() {
    timeout -k 5 300 "${launch[@]}" "$2" env "${settings[@]}" "CARTOGRAPH_NEIGHBOR=$1" "$program" memory
}

for processes in ${PROCESSES:-2 4 8 16}; do
    echo "| $host | $processes | $(count alltoall "$processes") | $(count graph "$processes") |" \
        "$(memory alltoall "$processes") | $(memory graph "$processes") |"
done
