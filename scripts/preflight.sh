#!/usr/bin/env bash
# preflight.sh [MPICC]: reports in one line, before anything is compiled, a missing requirement for which cargo would
# fail after minutes and with many lines. With MPICC it also checks the requirements for the MPI of this wrapper.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
fail() {
    echo "cartograph: $*" >&2
    exit 1
}

wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$top/Cargo.toml" | head -n 1)
command -v cargo >/dev/null || fail "there is no Rust here: install Rust $wanted or newer with cargo (https://rustup.rs)"
found=$(rustc --version) || fail "cargo is here, but no rustc that runs: install Rust $wanted or newer (https://rustup.rs)"
found=$(cut -d' ' -f2 <<<"$found")
[ "$(printf '%s\n' "$wanted" "${found%%-*}" | sort -V | head -n 1)" = "$wanted" ] ||
    fail "this is Rust $found, and $wanted or newer is needed: rustup update, or https://rustup.rs"
[ $# -gt 0 ] || exit 0

mpicc=$1
# Conda's compilers have other names, in these variables.
command -v cc >/dev/null || command -v "${CC:-cc}" >/dev/null || fail "there is no C compiler: install gcc"
command -v objcopy >/dev/null || command -v "${OBJCOPY:-objcopy}" >/dev/null || fail "there is no objcopy: install binutils"
command -v "$mpicc" >/dev/null ||
    fail "there is no compiler wrapper '$mpicc': install an MPI with its development files (on Debian libopenmpi-dev or libmpich-dev), or say where it is with MPICC=path/to/mpicc"
"$mpicc" -show >/dev/null 2>&1 ||
    fail "'$mpicc' is not the compiler wrapper of an MPI, as it does not know -show: say MPICC=path/to/mpicc"
echo '#include <mpi.h>' | "$mpicc" -E -x c - >/dev/null 2>&1 ||
    fail "'$mpicc' does not find mpi.h: install the development files of its MPI"
[ -n "$("$top/scripts/libclang.sh")" ] ||
    fail "there is no libclang, by which mpi.h is read: install it (on Debian libclang-dev, on Fedora clang-devel), or say where it is with LIBCLANG_PATH=directory"
