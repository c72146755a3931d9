#!/usr/bin/env bash
# bench-tables.sh RESULTS HOST...: tables of what bench.sh has measured with these hosts, side by side, on
# stdout; they, JSON and pictures in RESULTS.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
results=${1:?usage: bench-tables.sh RESULTS HOST...}
shift
directories=()
for host in "$@"; do directories+=("$top/build/$host/bench"); done
CARGO_TARGET_DIR=$top/build/pure cargo run -q --manifest-path "$top/Cargo.toml" --profile tool --no-default-features \
    -p cartograph-bench --bin bench -- "$results" "${directories[@]}"
