#!/usr/bin/env bash
# seed.sh DIR: copies to DIR/release crates that cargo compiled for another host and that do not depend on the host:
# the pure layers, and crates from crates.io except mpi-sys. Each host has its own directory because cargo does not
# notice that mpi-sys binds another MPI.
set -euo pipefail
shopt -s extglob
to=$1
# Hosts without variables in the environment first, since variables change bindgen.
for from in "$(dirname "$to")"/{mpich,openmpi,mpich5,openmpi5,*}; do
    [ "$from" != "$to" ] && [ -e "$from/lib/libcartograph.a" ] && [ -e "$from/release/.cargo-lock" ] || continue
    # Another make may be building there: then cargo has locked the file.
    exec 9<"$from/release/.cargo-lock"
    flock --shared --nonblock 9 || continue
    mkdir -p "$to/release"/{build,deps,.fingerprint}
    # With their times, by which cargo detects changes; fingerprints last, since they tell cargo that the rest is
    # complete.
    cp -au --reflink=auto -t "$to/release/deps" \
        "$from"/release/deps/!(*mpi_sys*|*cartograph-*|*cartograph.*|*cartograph_record*)
    for part in build .fingerprint; do
        cp -au --reflink=auto -t "$to/release/$part" \
            "$from/release/$part"/!(mpi-sys-*|mpi-cartograph-*|cartograph-record-*)
    done
    exit 0
done
