#!/usr/bin/env bash
# rebuild.sh TARBALL HOST WORK: builds a release twice, without a network and without the crates that this machine has,
# in directories of other names and lengths. Everything that is installed must come out the same, byte for byte, and
# name no directory of this machine.
set -euo pipefail
export LC_ALL=C
tarball=$(realpath "$1") host=$2
mkdir -p "$3"
work=$(cd "$3" && pwd)
# Rust itself may be below the home directory, which the builds do not have.
export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
own_home=$HOME
alone=(unshare -n)
[ "$(id -u)" = 0 ] || alone=(unshare -rn)
if "${alone[@]}" bash -c 'exec 3<>/dev/tcp/127.0.0.1/9' 2>/dev/null; then
    echo "rebuild.sh: there is a network where none should be" >&2 && exit 1
fi

# built DIRECTORY: builds there, and installs into DIRECTORY/stage.
built() {
    rm -rf "$1"
    mkdir -p "$1/home" "$1/source"
    tar -xf "$tarball" -C "$1/source" --strip-components=1
    HOME=$1/home CARGO_HOME=$1/cargo CARGO_INCREMENTAL=0 "${alone[@]}" \
        make -s -C "$1/source" --no-print-directory install HOST="$host" PREFIX=/usr DESTDIR="$1/stage" >"$1/log" 2>&1 || {
        tail -n 30 "$1/log" >&2
        echo "rebuild.sh: the release does not build in $1" >&2
        exit 1
    }
}
one=$work/one two=$work/a/longer/path/to/the/other
built "$one"
built "$two"

diff -r --no-dereference "$one/stage" "$two/stage" || { echo "rebuild.sh: two builds differ" >&2 && exit 1; }
if grep -rlF -e "$work" -e "$own_home/" -e "$RUSTUP_HOME" "$one/stage" "$two/stage"; then
    echo "rebuild.sh: these name directories of this machine" >&2 && exit 1
fi
cd "$one/stage/usr"
for file in bin/cartograph lib/libcartograph.so.0 lib/cartograph/"$host"/*; do
    [ -L "$file" ] || sha256sum "$file"
done
echo "$(find . -type f | wc -l) files, the same in both builds; no network, no path of this machine"
