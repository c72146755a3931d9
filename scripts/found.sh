#!/usr/bin/env bash
# found.sh HOST...: what `make lib` takes for each MPI that is here: HOST=name for those of the hosts whose
# compiler wrapper is found, and MPICC=path for the mpicc on the PATH if it is none of theirs.
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
