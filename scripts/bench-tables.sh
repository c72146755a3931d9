#!/usr/bin/env bash
# bench-tables.sh [--keep] HOST...: tables of what bench.sh has measured with these hosts, side by side, on stdout; with
# --keep also in bench/results.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
arguments=()
for host in "$@"; do
    case $host in --keep) arguments+=("$host") ;; *) arguments+=("$top/build/$host/bench") ;; esac
done
CARGO_TARGET_DIR=$top/build/pure cargo run -q --manifest-path "$top/Cargo.toml" --profile tool --no-default-features \
    -p cartograph-bench --bin bench -- "${arguments[@]}"
