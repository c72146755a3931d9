#!/usr/bin/env bash
# A directory name for a compiler wrapper that is none of the known hosts': its path, readable and unique.
set -euo pipefail
path=$(command -v "$1" || echo "$1")
printf 'mpicc-%s\n' "$(readlink -f "$path" | cksum | cut -d' ' -f1)"
