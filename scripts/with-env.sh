#!/usr/bin/env bash
# with-env.sh HOST COMMAND...: runs a command with what cargo needs to bind the host.
set -euo pipefail
env=$("$(dirname "$0")/host.sh" "$1" env)
shift
if [ -n "$env" ]; then
    while IFS= read -r -d $'\t' entry; do export "${entry?}"; done <<<"$env"$'\t'
fi
exec "$@"
