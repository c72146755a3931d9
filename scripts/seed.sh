#!/usr/bin/env bash
# seed.sh DIR: fills DIR/release, if it does not exist, with what cargo has compiled for another host and what
# does not depend on the host: the pure layers, and what comes from crates.io but for mpi-sys. Each host has
# its own directory because cargo does not see that mpi-sys binds another MPI.
set -euo pipefail
to=$1
if [ -e "$to/release" ]; then exit 0; fi
# First those that need nothing in their environment: bindgen is another where that is another.
for from in "$(dirname "$to")"/{mpich,openmpi,mpich5,openmpi5,*}; do
    # What is finished: another make may be building.
    [ -e "$from/lib/libcartograph.a" ] && [ -d "$from/release/.fingerprint" ] || continue
    mkdir -p "$to"
    work=$(mktemp -d "$to/seed.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    # With their times, by which cargo knows what is fresh.
    for part in .fingerprint build deps; do cp -a --reflink=auto "$from/release/$part" "$work"; done
    cd "$work"
    rm -rf {.fingerprint,build}/{mpi-sys,mpi-cartograph,cartograph-record,cartograph-world}-* deps/*{mpi_sys,cartograph-,cartograph.,cartograph_record,cartograph_world}*
    cd - >/dev/null
    mv "$work" "$to/release"
    chmod 755 "$to/release"
    exit 0
done
