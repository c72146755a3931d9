#!/usr/bin/env bash
# finish-lib.sh DIR: makes the shipped files in DIR/lib from cargo's DIR/release or DIR/TARGET/release.
#
# The archive of rustc contains the standard library and exposes all symbols. This script makes it one object that
# defines the exported names only, with weak MPI_ names: a profiling tool that is linked with it may define them
# again.
set -euo pipefail
from=$1/${CARGO_BUILD_TARGET:+$CARGO_BUILD_TARGET/}release lib=$1/lib
mkdir -p "$lib"
# Replaced only if it changed, so that nothing that depends on it is rebuilt.
install -C -m 755 "$from/libcartograph.so" "$lib/libcartograph.so.0"
ln -sf libcartograph.so.0 "$lib/libcartograph.so"
if [ -e "$from/libcartograph_record.so" ]; then install -C -m 755 "$from/libcartograph_record.so" "$lib"; fi

if [ "$lib/libcartograph.a" -nt "$from/libcartograph.a" ]; then exit 0; fi
work=$(mktemp -d "$1/archive.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Compilers with renamed binutils, like conda's, name them in variables; compilers for another kind of machine prefix
# its name.
for tool in nm ld objcopy ar; do
    variable=${tool^^}
    theirs=${CARGO_BUILD_TARGET:-}-$tool
    theirs=${theirs/-unknown/}
    if [ -n "${CARGO_BUILD_TARGET:-}" ] && command -v "$theirs" >/dev/null; then
        eval "$tool() { $theirs \"\$@\"; }"
    elif ! command -v $tool >/dev/null; then
        eval "$tool() { \"\$$variable\" \"\$@\"; }"
    fi
done
nm -D --defined-only --format=posix "$lib/libcartograph.so" | cut -d' ' -f1 >"$work/all"
# Strong: names that tools call. Weak: names that tools define.
grep -E '^(MPIX?_|mpix?_)' "$work/all" >"$work/weak"
ld -r --gc-sections $(sed 's/^/-u /' "$work/all") -o "$work/whole.o" "$from/libcartograph.a"
# Names of functions that libc may lack remain after --gc-sections; --strip-unneeded drops them, since a shared
# library that includes the archive would need them.
# Without the last two options objcopy leaves sections that binutils' LLVM plugin rejects.
objcopy --keep-global-symbols="$work/all" --weaken-symbols="$work/weak" --strip-unneeded \
    -R .llvmbc -R .llvmcmd "$work/whole.o" "$work/cartograph.o"
rm -f "$lib/libcartograph.a"
ar rcs "$lib/libcartograph.a" "$work/cartograph.o"
