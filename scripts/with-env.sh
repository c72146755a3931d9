#!/usr/bin/env bash
# with-env.sh HOST COMMAND...: runs a command with the variables that cargo needs to bind the host, prepended to their
# old values.
set -euo pipefail
env=$("$(dirname "$0")/host.sh" "$1" env)
shift
if [ -n "$env" ]; then
    while IFS= read -r -d $'\t' entry; do
        name=${entry%%=*}
        export "$entry${!name:+ ${!name}}"
    done <<<"$env"$'\t'
fi
exec "$@"
