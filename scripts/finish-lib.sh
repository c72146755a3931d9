#!/usr/bin/env bash
# finish-lib.sh DIR: from cargo's DIR/release, or DIR/TARGET/release, to what is shipped, in DIR/lib.
#
# The archive that rustc writes holds the standard library and gives all symbols away. Here it
# becomes one object that defines the exported names only, the MPI_ names weakly: a profiling tool
# that is linked with it may define them again.
set -euo pipefail
from=$1/${CARGO_BUILD_TARGET:+$CARGO_BUILD_TARGET/}release lib=$1/lib
mkdir -p "$lib"
# Only replaced where it changed, so that nothing that depends on it is made again.
install -C -m 755 "$from/libcartograph.so" "$lib/libcartograph.so.0"
ln -sf libcartograph.so.0 "$lib/libcartograph.so"
for more in record world; do
    if [ -e "$from/libcartograph_$more.so" ]; then install -C -m 755 "$from/libcartograph_$more.so" "$lib"; fi
done

if [ "$lib/libcartograph.a" -nt "$from/libcartograph.a" ]; then exit 0; fi
work=$(mktemp -d "$1/archive.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Compilers that come with binutils under names of their own, as conda's do, tell them by variables; those of
# another kind of machine have its name before theirs.
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
# Strong: what tools call. Weak: what tools define.
grep -E '^(MPIX?_|mpix?_)' "$work/all" >"$work/weak"
ld -r --gc-sections $(sed 's/^/-u /' "$work/all") -o "$work/whole.o" "$from/libcartograph.a"
# Names of functions that libc may lack stay behind from what --gc-sections took away: --strip-unneeded
# drops them, or a shared library that takes the archive in would ask for them.
# Without the last two objcopy leaves sections that binutils' LLVM plugin chokes on.
objcopy --keep-global-symbols="$work/all" --weaken-symbols="$work/weak" --strip-unneeded \
    -R .llvmbc -R .llvmcmd "$work/whole.o" "$work/cartograph.o"
rm -f "$lib/libcartograph.a"
ar rcs "$lib/libcartograph.a" "$work/cartograph.o"
