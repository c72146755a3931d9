#!/usr/bin/env bash
# bench-fortran.sh HOST: builds the benchmark of the Fortran procedures.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
host=${1:?usage: bench-fortran.sh HOST}
out=$top/build/$host/programs
mkdir -p "$out"
"$("$top/scripts/host.sh" "$host" cc)" -O2 -w -c -o "$out/bench_fortran.o" "$top/c_tests/bench/bench_fortran.c"
"$("$top/scripts/host.sh" "$host" fc)" -O2 -w -J "$out" -o "$out/bench_fortran" "$top/fortran/bench/bench.f90" \
    "$out/bench_fortran.o" -ldl
