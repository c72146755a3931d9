#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: buildah builds the Dockerfile, in base images made from Debian's packages and this
# machine's Rust, since there is no registry; then a program runs in the resulting image.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
tarball=$1 recipe=$2/container work=$3
get buildah:buildah debootstrap:debootstrap
unpacked "$tarball" "$work/source"
cp "$recipe/Dockerfile" "$work/source/Dockerfile"

build=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run")
# Without a container, and with nothing left behind.
export BUILDAH_ISOLATION=chroot
rm -rf "$work/storage" "$work/run"
# image NAME ROOT VARIABLE=VALUE...
image() {
    local from settings
    from=$("${build[@]}" from scratch)
    quietly "$work/log" "${build[@]}" add "$from" "$2" /
    settings=("${@:3}")
    "${build[@]}" config "${settings[@]/#/--env=}" "$from"
    quietly "$work/log" "${build[@]}" commit --rm "$from" "$1"
}
places=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
debian_root "$work/root"
image docker.io/library/debian:bookworm-slim "$work/root" "PATH=$places"
# Packages in the image in addition to Rust.
within "$work/root" apt-get update -q >/dev/null
within "$work/root" apt-get install -y -q --no-install-recommends gcc libc6-dev >/dev/null
# The place of Rust in that image.
rustup=/usr/local/rustup cargo=/usr/local/cargo
image docker.io/library/rust:1-bookworm "$work/root" "PATH=$cargo/bin:$places" "RUSTUP_HOME=$rustup" "CARGO_HOME=$cargo"
lighter=()
for setting in "${lightly[@]}"; do lighter+=(--env "$setting"); done
quietly "$work/log" "${build[@]}" bud --pull-never "${lighter[@]}" --volume "${RUSTUP_HOME:-$HOME/.rustup}:$rustup:ro" \
    --volume "${CARGO_HOME:-$HOME/.cargo}/bin:$cargo/bin:ro" -t cartograph "$work/source"

# The resulting image has no compiler, so the program is built on this machine.
made=$("${build[@]}" from --pull-never cartograph)
"$here/../use.sh" program "$work/program"
"${build[@]}" copy "$made" "$work/program" /program >/dev/null
"${build[@]}" run "$made" -- sh -c 'OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 CARTOGRAPH_REPORT=1 \
    mpiexec --oversubscribe -n 4 /program 2>&1' | tee "$work/out"
grep -qx '2 x 2, 8 neighbors' "$work/out" && grep -q '^MPI_Cart_create: grid 2 x 2' "$work/out" || fail "the image's program has no Cartograph"
"${build[@]}" run "$made" -- cartograph --version
rm -rf "$work/storage" "$work/run" "$work/root"
echo "part: the images under it are made here"
