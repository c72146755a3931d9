#!/usr/bin/env bash
# test-setup.sh HOST: what is missing on a machine to build is said in one sentence, before anything is compiled.
set -euo pipefail
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
built=$work/build passed=0 failed=0

# check WHAT COMMAND...: counts whether the command succeeds.
check() {
    if "${@:2}" >"$work/why" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1"
        cat "$work/why"
    fi
}

# refuses PATTERN PATH ARGUMENT...: make lib fails with one line that matches, and has built nothing.
refuses() {
    local pattern=$1 path=$2
    shift 2
    ! PATH=$path make -C "$top" --no-print-directory -s lib BUILD="$built" "$@" 2>"$work/said" >"$work/out" || return 1
    grep -v '^make' "$work/said" >"$work/lines" || true
    cat "$work/said" "$work/out"
    [ "$(wc -l <"$work/lines")" = 1 ] && grep -q "$pattern" "$work/lines" && [ ! -e "$built" ] && [ ! -s "$work/out" ]
}
# program NAME LINE...: a program in a directory of its own, to come before all others.
program() {
    mkdir -p "$work/$1"
    printf '%s\n' '#!/bin/sh' "${@:3}" >"$work/$1/$2"
    chmod +x "$work/$1/$2"
}
check "a compiler that is no wrapper" refuses "'gcc' is not the compiler wrapper of an MPI" "$PATH" MPICC=gcc
check "a wrapper that is not there" refuses "there is no compiler wrapper '/no/mpicc'" "$PATH" MPICC=/no/mpicc
program mpicc mpicc 'case $1 in -show) echo gcc;; *) exec gcc -nostdinc "$@";; esac'
check "an MPI without its header" refuses 'does not find mpi.h' "$PATH" MPICC="$work/mpicc/mpicc"
program old rustc 'echo "rustc 1.70.0 (90c541806 2023-05-31)"'
check "a Rust that is too old" refuses 'this is Rust 1.70.0, and 1.88 or newer is needed' "$work/old:$PATH" MPICC=mpicc.openmpi
program broken rustc 'exit 1'
check "a Rust that does not run" refuses 'no rustc that runs' "$work/broken:$PATH" MPICC=mpicc.openmpi
# All that is in the PATH but cargo.
mkdir "$work/most"
IFS=: read -ra places <<<"$PATH"
for ((i = ${#places[@]}; i-- > 0; )); do
    [ ! -d "${places[i]}" ] || find "${places[i]}" -maxdepth 1 \( -type f -o -type l \) -exec ln -sf -t "$work/most" {} +
done
cp -a "$work/most" "$work/nompi"
rm -f "$work"/nompi/mpicc*
check "no MPI" refuses "there is no compiler wrapper 'mpicc': install an MPI" "$work/nompi"
rm "$work/most/cargo"
check "no Rust" refuses 'there is no Rust here: install Rust 1.88' "$work/most" MPICC=gcc
program other mpicc 'exec mpicc.openmpi "$@"'
check "no libclang" refuses 'there is no libclang' "$PATH" MPICC="$work/other/mpicc" LIBCLANG_PATH=/no
mkdir "$work/cpp"
touch "$work/cpp/libclang-cpp.so.14" "$work/cpp/libclang-cpp.so"
check "no libclang but libclang-cpp" refuses 'there is no libclang' "$PATH" MPICC="$work/other/mpicc" LIBCLANG_PATH="$work/cpp"
check "a host that is not known" refuses "there is no host 'nompi'" "$PATH" HOST=nompi
check "a name that is taken" refuses 'NAME=mpich is one of the hosts' "$PATH" MPICC=gcc NAME=mpich
echo "test-setup: $passed passed, $failed failed"
[ "$failed" = 0 ]
