#!/usr/bin/env bash
# bench-neighbor-count.sh HOST: instructions of nonblocking and persistent neighborhood collectives on PROCESSES, of
# rank 0 under valgrind's callgrind; two tables. First of two neighbors by an all-to-all of the host and by its
# neighborhood collectives, with bytes that the communicator takes; then Cartograph's beside the host's own.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
host=${1:?usage: bench-neighbor-count.sh HOST}
out=$top/build/$host/programs lib=$top/build/$host/lib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
read -ra launch <<<"$("$top/scripts/host.sh" "$host" exec)"
read -ra tests <<<"$("$top/scripts/host.sh" "$host" tests)"
# The settings for processes that share processors: all but the library to preload.
settings=()
for setting in "${tests[@]}"; do [[ $setting != *=* ]] || settings+=("$setting"); done

# Linked: a preloaded library would be loaded into valgrind's launcher as well.
for program in bench_neighbor_count bench_neighbor_beside; do
    "$("$top/scripts/host.sh" "$host" cc)" -O2 -w -o "$out/$program" "$top/c_tests/bench/$program.c" \
        -Wl,--no-as-needed -L "$lib" -lcartograph "-Wl,-rpath,$lib" -ldl
done

# counted PROCESSES PROGRAM SETTING...: runs a program, its rank 0 under callgrind, which writes to $work/out*.
counted() {
    local processes=$1 program=$out/$2
    shift 2
    local with=(env "${settings[@]}" "$@") others=()
    ((processes == 1)) || others=(: -n $((processes - 1)) "${with[@]}" "$program")
    rm -f "$work"/out*
    timeout -k 5 300 "${launch[@]}" 1 "${with[@]}" valgrind --quiet --tool=callgrind --collect-atstart=no \
        "--callgrind-out-file=$work/out" "$program" "${others[@]}" >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
}

# count WAY PROCESSES: instructions a call.
count() {
    counted "$2" bench_neighbor_count "CARTOGRAPH_NEIGHBOR=$1"
    awk '/^(summary|totals):/ { printf "%.0f", $2 / 100; exit }' "$work/out"
}

# memory WAY PROCESSES: bytes a communicator.
memory() {
    timeout -k 5 300 "${launch[@]}" "$2" env "${settings[@]}" "CARTOGRAPH_NEIGHBOR=$1" "$out/bench_neighbor_count" memory
}

# beside WAY PROCESSES: rows of what each call takes, of the host, of Cartograph, and of Cartograph without what the
# host does for it.
beside() {
    local dump
    counted "$2" bench_neighbor_beside "CARTOGRAPH_NEIGHBOR=$1"
    for dump in $(printf '%s\n' "$work"/out.* | sort -V); do
        sed -nE 's/^desc: Trigger: Client Request: //p' "$dump" | tr '\n' '\t'
        callgrind_annotate --threshold=100 "$dump" | awk '
            { gsub(/,/, "", $1) }
            /PROGRAM TOTALS/ { all = $1 }
            /\[.*libcartograph[^]]*\]$/ { own += $1 }
            END { print all "\t" own + 0 }'
    done | awk -F'\t' -v start="| $host | $2 | $1 | " '
        NF < 5 { next }
        $2 == "host" { alone = $4 / $3; next }
        { printf "%s%s | %.0f | %.0f | %.0f |\n", start, $1, alone, $4 / $3, $5 / $3 }'
}

printf '\n| host | processes | all-to-all | the host'"'"'s own | all-to-all, bytes | the host'"'"'s own, bytes |\n'
printf '|---|---:|---:|---:|---:|---:|\n'
for processes in ${PROCESSES:-2 4 8 16}; do
    echo "| $host | $processes | $(count alltoall "$processes") | $(count graph "$processes") |" \
        "$(memory alltoall "$processes") | $(memory graph "$processes") |"
done
printf '\n| host | processes | way | call | the host | Cartograph | its own part |\n|---|---:|---|---|---:|---:|---:|\n'
for processes in ${PROCESSES:-2 4}; do
    for way in alltoall graph; do beside $way "$processes"; done
done
