#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: runs `make dist` of the release twice, in directories with other names, with another
# umask, time zone and locale, and requires the same file; its contents must run on old and new Debians without Rust,
# with their MPIs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
tarball=$1 work=$3
get debootstrap:debootstrap readelf:binutils
# built DIRECTORY UMASK ZONE LOCALE
built() {
    unpacked "$tarball" "$1"
    mkdir -p "$1/build"
    # These MPIs are this machine's.
    scripts/setup.sh mpich openmpi openmpi5 abi
    ln -sfn "$top/build/hosts" "$1/build/hosts"
    (umask "$2" && quietly "$1.log" env "TZ=$3" "LC_ALL=$4" CARGO_INCREMENTAL=0 make -C "$1" dist)
}
cd "$top"
built "$work/one" 022 UTC C
built "$work/a/longer/path/to/the/other" 077 Asia/Tokyo C.UTF-8
cmp "$work"/one/build/dist/*-linux-*.tar.gz "$work"/a/longer/path/to/the/other/build/dist/*-linux-*.tar.gz ||
    fail "two builds differ"
dist=$(ls "$work"/one/build/dist/cartograph-*-linux-*.tar.gz)
tree=$work/one/build/dist/tree
"$here/../glibc.sh" 2.17 "$tree"
nameless "$work" "$tree"

for suite in bullseye bookworm; do
    root=$work/$suite
    debian_root "$root" "$suite"
    mkdir -p "$root/opt" "$root/packaging"
    tar -xf "$dist" -C "$root/opt"
    cp "$here/../use.sh" "$root/packaging"
    packages=(gcc libc6-dev libmpich-dev libopenmpi-dev mpich openmpi-bin pkg-config environment-modules)
    # Debian 11's eztrace is a different version, which supports only Open MPI.
    [ "$suite" = bullseye ] || packages+=(eztrace otf2-tools)
    quietly "$work/$suite.log" within "$root" bash -c "apt-get update -q && apt-get install -y -q --no-install-recommends ${packages[*]}"
    within "$root" bash -c '
        ! command -v cargo && prefix=$(echo /opt/cartograph-*) && $prefix/bin/cartograph info | head -n 9 &&
        /packaging/use.sh $prefix openmpi mpicc.openmpi mpiexec.openmpi -n &&
        /packaging/use.sh $prefix mpich mpicc.mpich mpiexec.mpich -n &&
        . /usr/share/modules/init/bash && module use $prefix/share/modulefiles && module load cartograph &&
        cartograph --version && [ "$LD_PRELOAD" = $prefix/lib/libcartograph.so ]'
    # Debian 12 has no Julia.
    if [ "$suite" = bullseye ]; then
        quietly "$work/julia.log" within "$root" apt-get install -y -q --no-install-recommends julia
        cp "$here/../cart.jl" "$root/packaging"
        for kind in openmpi:libmpi.so.40 mpich:libmpich.so.12; do
            quietly "$work/julia.log" within "$root" env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
                OMPI_MCA_rmaps_base_oversubscribe=1 CARTOGRAPH_REPORT=1 bash -c "timeout -k 5 300 mpiexec.${kind%:*} -n 4 \
                julia /packaging/cart.jl /opt/cartograph-*/lib/cartograph/${kind%:*}/for-${kind#*:}/libcartograph.so.0 ${kind%:*}"
            grep -qxF 'the last of 2 x 2 is at Int32[1, 1]' "$work/julia.log" &&
                grep -q '^MPI_Cart_create: grid 2 x 2' "$work/julia.log" || { cat "$work/julia.log" && fail "Julia on ${kind%:*}"; }
            echo "Julia on ${kind%:*}: as it should be"
        done
    fi
    rm -rf "$root"
done
