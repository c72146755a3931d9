#!/usr/bin/env bash
# seed.sh DIR: brings to DIR/release what cargo has compiled since for another host and what does not depend on the host: the
# pure layers, and what comes from crates.io but for mpi-sys. Each host has its own directory because cargo does not see that
# mpi-sys binds another MPI.
set -euo pipefail
shopt -s extglob
to=$1
# First those that need nothing in their environment: bindgen is another where that is another.
for from in "$(dirname "$to")"/{mpich,openmpi,mpich5,openmpi5,*}; do
    [ "$from" != "$to" ] && [ -e "$from/lib/libcartograph.a" ] && [ -e "$from/release/.cargo-lock" ] || continue
    # Another make may be building there: cargo has the file locked then.
    exec 9<"$from/release/.cargo-lock"
    flock --shared --nonblock 9 || continue
    mkdir -p "$to/release"/{build,deps,.fingerprint}
    # With their times, by which cargo knows what is fresh; and fingerprints last, which say that the rest is there.
    cp -au --reflink=auto -t "$to/release/deps" \
        "$from"/release/deps/!(*mpi_sys*|*cartograph-*|*cartograph.*|*cartograph_record*|*cartograph_world*)
    for part in build .fingerprint; do
        cp -au --reflink=auto -t "$to/release/$part" \
            "$from/release/$part"/!(mpi-sys-*|mpi-cartograph-*|cartograph-record-*|cartograph-world-*)
    done
    exit 0
done
