#!/usr/bin/env bash
# bench.sh HOST: times the host's functions and Cartograph's in turn, in one run, and prints a table of
# the least times and their ratios. Few busy cores make single figures noisy; read the ratios.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
host=${1:?usage: bench.sh HOST}
out=$top/build/$host/programs
mkdir -p "$out"
"$("$top/scripts/host.sh" "$host" cc)" -O2 -o "$out/bench_neighbor" "$top/c_tests/bench_neighbor.c" -ldl
read -ra launch <<<"$("$top/scripts/host.sh" "$host" exec)"
printf '| host | processes | topology | way | bytes a block | host, us | Cartograph, us | host / Cartograph |\n'
printf '|---|---|---|---|---|---|---|---|\n'
for processes in ${PROCESSES:-2 4 8}; do
    timeout -k 5 600 "${launch[@]}" "$processes" env \
        LD_PRELOAD="$top/build/$host/lib/libcartograph.so" "$out/bench_neighbor" |
        awk -v host="$host" '{ printf "| %s |", host; for (i = 1; i <= NF; i++) printf " %s |", $i; print "" }'
done
