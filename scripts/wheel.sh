#!/usr/bin/env bash
# wheel.sh TREE DIRECTORY | --tools: gets what builds it, or the wheel of mpi-cartograph in DIRECTORY, of what `make dist` or `make install` has put into
# TREE. One of `make dist` is for all Linux with glibc 2.17 or newer, any other for machines like this one.
set -euo pipefail
umask 022
top=$(cd "$(dirname "$0")/.." && pwd)
tools=$top/build/hosts/wheel
[ -x "$tools/bin/hatchling" ] || {
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check hatchling==1.27.0
}
[ "${1:-}" != --tools ] || exit 0
[ $# = 2 ] || { echo "usage: wheel.sh TREE DIRECTORY" >&2 && exit 2; }
CARTOGRAPH_TREE=$(cd "$1" && pwd)
mkdir -p "$2"
to=$(cd "$2" && pwd)
machine=$(uname -m)
CARTOGRAPH_PLATFORM=linux_$machine
if [ "$CARTOGRAPH_TREE" = "$top/build/dist/tree" ]; then
    CARTOGRAPH_PLATFORM=manylinux_2_17_$machine.manylinux2014_$machine
fi
export CARTOGRAPH_TREE CARTOGRAPH_PLATFORM SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1577836800}
cd "$top/python"
"$tools/bin/hatchling" build --target wheel --directory "$to" >/dev/null
ls "$to"/mpi_cartograph-*-"$CARTOGRAPH_PLATFORM".whl
