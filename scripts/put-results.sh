#!/usr/bin/env bash
# put-results.sh FILE TABLE COMMAND: puts the table on stdin into lab/results/FILE.json: lines of cells with bars
# between them, the names of the columns first. COMMAND is what measures it.
set -euo pipefail
cd "$(dirname "$0")/.."
CARGO_TARGET_DIR=build/pure cargo build -q --profile tool --no-default-features -p cartograph-lab --bin results
# Alone, the program is built for those that have no cargo: nodes of their own.
[ $# = 0 ] || exec build/pure/tool/results put "$@"
