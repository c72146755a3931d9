#!/usr/bin/env bash
# bench-count.sh HOST: instructions that a local query takes, of the host and of Cartograph, counted by
# valgrind's callgrind: the same on every run. Lines as those of c_tests/bench/bench.h.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
host=${1:?usage: bench-count.sh HOST}
out=$top/build/$host/programs lib=$top/build/$host/lib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
# Linked: a preloaded library would be loaded into valgrind's launcher as well.
"$("$top/scripts/host.sh" "$host" cc)" -O2 -w -o "$out/bench_queries.linked" "$top/c_tests/bench/bench_queries.c" \
    -Wl,--no-as-needed -L "$lib" -lcartograph "-Wl,-rpath,$lib" -ldl
read -ra launch <<<"$("$top/scripts/host.sh" "$host" exec)"

# count PART COMMAND...: runs a program under callgrind and prints a line for each case.
count() {
    local part=$1 dump
    shift
    rm -f "$work"/out*
    if ! timeout -k 5 300 "${launch[@]}" 1 valgrind --quiet --tool=callgrind \
        "--callgrind-out-file=$work/out" "$@" count >"$work/log" 2>&1; then
        cat "$work/log" >&2
        exit 1
    fi
    # Each dump says what caused it, "name side calls", and ends with its total.
    for dump in $(printf "%s\n" "$work"/out.* | sort -V); do
        sed -nE 's/^desc: Trigger: Client Request: //p; s/^(summary|totals): //p' "$dump" | head -n 2 | tr '\n' '\t'
        echo
    done | awk -F'\t' -v part="$part" '
        NF < 4 { next }
        $1 == "nothing" { loop = $4 / $3; next }
        { if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 }; total[$1, $2] = $4 / $3 }
        END {
            for (i = 1; i <= n; i++)
                printf "%s\t%s\t0\t1\tinstructions\t%.0f\t%.0f\n", part, order[i],
                    total[order[i], "host"] - loop, total[order[i], "ours"] - loop
        }'
}

count count "$out/bench_queries.linked"
if [ -n "$("$top/scripts/host.sh" "$host" fc)" ]; then
    "$top/scripts/bench-fortran.sh" "$host"
    export CARTOGRAPH_LIBRARY=$lib/libcartograph.so
    count count_fortran "$out/bench_fortran"
fi
