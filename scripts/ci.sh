#!/usr/bin/env bash
# What must pass before a change lands: the README's test command, which sets up the machine itself.
set -euo pipefail
cd "$(dirname "$0")/.."
# Nothing is compiled twice here.
export CARGO_INCREMENTAL=0
exec make test
