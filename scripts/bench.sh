#!/usr/bin/env bash
# bench.sh HOST: times the host's functions and Cartograph's in turn, in one run, and prints a table of
# the least times and their ratios. Few busy cores make single figures noisy; read the ratios.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
host=${1:?usage: bench.sh HOST}
out=$top/build/$host/programs
mkdir -p "$out"
for program in bench_neighbor bench_neighbor_size; do
    "$("$top/scripts/host.sh" "$host" cc)" -O2 -o "$out/$program" "$top/c_tests/$program.c" -ldl
done
read -ra launch <<<"$("$top/scripts/host.sh" "$host" exec)"
printf '| host | processes | topology | way | bytes a block | host, us | Cartograph, us | host / Cartograph |\n'
printf '|---|---|---|---|---|---|---|---|\n'
for processes in ${PROCESSES:-2 4 8}; do
    timeout -k 5 600 "${launch[@]}" "$processes" env \
        LD_PRELOAD="$top/build/$host/lib/libcartograph.so" "$out/bench_neighbor" |
        awk -v host="$host" '{ printf "| %s |", host; for (i = 1; i <= NF; i++) printf " %s |", $i; print "" }'
done

# Cartograph's own part of a nonblocking collective, whatever the host does.
printf '\n| host | processes | known layout, us | new layout, us | new and merged, us | bytes kept a layout |\n'
printf '|---|---|---|---|---|---|\n'
timeout -k 5 120 "${launch[@]}" 1 env LD_PRELOAD="$top/build/$host/lib/libcartograph.so" \
    "$out/bench_neighbor_size" |
    awk -v host="$host" '{ printf "| %s |", host; for (i = 1; i <= NF; i++) printf " %s |", $i; print "" }'
