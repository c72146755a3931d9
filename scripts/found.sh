#!/usr/bin/env bash
# found.sh HOST...: prints the arguments of `make lib` for each MPI on this machine: HOST=name for hosts whose
# compiler wrapper is found, and MPICC=path for the mpicc on the PATH of another MPI.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
known=()
for host in "$@"; do
    cc=$("$top/scripts/host.sh" "$host" cc)
    command -v "$cc" >/dev/null || continue
    echo "HOST=$host"
    # Open MPI's wrappers are one program under many names.
    known+=("$(readlink -f "$(command -v "$cc")")")
done
mpicc=$(command -v mpicc) || exit 0
for other in "${known[@]}"; do
    [ "$(readlink -f "$mpicc")" != "$other" ] || exit 0
done
echo "MPICC=$mpicc"
