#!/usr/bin/env bash
# wheel.sh TREE DIRECTORY | --source DIRECTORY | --tools: writes the wheel of mpi-cartograph in DIRECTORY, from the
# TREE of `make dist` or `make install`; or its source distribution, from the commit that is checked out; or installs
# the tools for it. A wheel of `make dist` runs on all Linux systems with glibc 2.17 or newer, any other wheel on
# machines like this one.
set -euo pipefail
umask 022
top=$(cd "$(dirname "$0")/.." && pwd)
tools=$top/build/hosts/wheel
[ -x "$tools/bin/hatchling" ] || {
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check hatchling==1.27.0
}
[ "${1:-}" != --tools ] || exit 0
[ $# = 2 ] || { echo "usage: wheel.sh TREE|--source DIRECTORY" >&2 && exit 2; }
mkdir -p "$2"
to=$(cd "$2" && pwd)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1577836800}
if [ "$1" = --source ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    "$top/scripts/release.sh" "$work" >/dev/null
    tar -C "$work" -xzf "$work"/cartograph-*.tar.gz
    rm "$work"/cartograph-*.{tar.gz,cdx.json,sha256}
    export CARTOGRAPH_SOURCE
    CARTOGRAPH_SOURCE=$(ls -d "$work"/cartograph-*)
    cd "$top/packaging/python"
    "$tools/bin/hatchling" build --target sdist --directory "$to" >/dev/null
    ls "$to"/mpi_cartograph-*.tar.gz
    exit
fi
CARTOGRAPH_TREE=$(cd "$1" && pwd)
machine=${CARGO_BUILD_TARGET:-$(uname -m)}
machine=${machine%%-*}
CARTOGRAPH_PLATFORM=linux_$machine
case $CARTOGRAPH_TREE in
"$top"/build/dist*/tree) CARTOGRAPH_PLATFORM=manylinux_2_17_$machine.manylinux2014_$machine ;;
esac
export CARTOGRAPH_TREE CARTOGRAPH_PLATFORM
cd "$top/packaging/python"
"$tools/bin/hatchling" build --target wheel --directory "$to" >/dev/null
ls "$to"/mpi_cartograph-*-"$CARTOGRAPH_PLATFORM".whl
