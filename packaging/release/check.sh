#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: builds a release for Open MPI twice, without a network and without this machine's
# crates, in directories with other names and lengths. All installed files must be equal, byte for byte, and name no
# directory of this machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
tarball=$1 work=$3 host=openmpi
# Rust itself may be below the home directory, which is hidden from the builds.
export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
alone=(unshare -n)
[ "$(id -u)" = 0 ] || alone=(unshare -rn)
! "${alone[@]}" bash -c 'exec 3<>/dev/tcp/127.0.0.1/9' 2>/dev/null || fail "there is a network where none should be"

one=$work/one two=$work/a/longer/path/to/the/other
# Each build installs into its directory stage.
for build in "$one" "$two"; do
    rm -rf "$build"
    mkdir -p "$build/home"
    unpacked "$tarball" "$build/source"
    quietly "$build/log" env HOME="$build/home" CARGO_HOME="$build/cargo" CARGO_INCREMENTAL=0 "${alone[@]}" \
        make -s -C "$build/source" --no-print-directory install HOST="$host" PREFIX=/usr DESTDIR="$build/stage"
done
diff -r --no-dereference "$one/stage" "$two/stage" || fail "two builds differ"
nameless "$work" "$one/stage" "$two/stage"
cd "$one/stage/usr"
for file in bin/cartograph lib/libcartograph.so.0 lib/cartograph/"$host"/*; do
    [ -L "$file" ] || sha256sum "$file"
done
echo "$(find . -type f | wc -l) files, the same in both builds; no network, no path of this machine"
