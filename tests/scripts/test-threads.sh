#!/usr/bin/env bash
# test-threads.sh HOST: the library under ThreadSanitizer, with the programs that call it from several threads
# at once. It and Rust's standard library are compiled anew, with each access to memory reported: the
# standard library's locks and counters would be taken for races otherwise. The host is as it is, so only
# races that have the library in one of their stacks count.
set -euo pipefail
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
host=$1
cd "$top"
. "$top/tests/scripts/checks.sh"
cc=$(scripts/host.sh "$host" cc)
launch="timeout -k 5 300 $(scripts/host.sh "$host" exec)"
sysroot=$(rustc --print sysroot)
target=$(rustc -vV | sed -n 's/^host: //p')
if [ ! -e "$sysroot/lib/rustlib/src/rust/library/Cargo.lock" ] && ! rustup component add rust-src >"$work/why" 2>&1; then
    echo "ignored: there are no sources of Rust's standard library (rustup component add rust-src)"
    exit
fi
runtime=$(ls "$sysroot/lib/rustlib/$target/lib/"librustc-*_rt.tsan.a)

# The sanitizer is no part of the stable language yet; what is shipped is compiled without this. What runs at build
# time is there from the host's own library.
out=$top/build/threads
if [ ! -e "$out" ]; then
    mkdir -p "$out/release"
    for part in .fingerprint build deps; do cp -a --reflink=auto "build/$host/release/$part" "$out/release"; done
fi
RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$out MPICC=$cc RUSTFLAGS=-Zsanitizer=thread \
    CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=0 \
    scripts/with-env.sh "$host" cargo rustc --quiet --release --lib --crate-type cdylib \
    -Zbuild-std=std,panic_abort -Zbuild-std-features= --target "$target"
lib=$out/$target/release
ln -sf libcartograph.so "$lib/libcartograph.so.0"

# The reports, from one line of equal signs to the next, that name the library.
cat >"$work/races.awk" <<'AWK'
/^=+$/ { if (report ~ /libcartograph\.so/) { printf "%s", report; found = 1 } report = ""; next }
{ report = report $0 "\n" }
END { exit found }
AWK

# clean PROGRAM PROCESSES: it succeeds, and there is no race.
clean() {
    local program=$1 processes=$2 name code=0
    name=$(basename "$program" .c)
    $cc -g -O1 -w -pthread -o "$work/$name" "$program" -Wl,--no-as-needed -L "$lib" -lcartograph \
        "-Wl,-rpath,$lib" -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive -Wl,--export-dynamic -lm -ldl -lrt \
        -lstdc++ || return
    TSAN_OPTIONS=exitcode=0 $launch "$processes" "$work/$name" >"$work/out" 2>"$work/races" || code=$?
    [ "$code" = 0 ] && tail -n 1 "$work/out" | grep -q '^[1-9][0-9]* passed, 0 failed$' || {
        tail -n 40 "$work/out" "$work/races"
        return 1
    }
    awk -f "$work/races.awk" "$work/races"
}
for program in lifetime/threads lifetime/handles neighbor/neighbor_threads; do
    for processes in 1 2; do
        check "no race: $program.c, $processes processes" clean "c_tests/$program.c" "$processes"
    done
done
verdict "test-threads, $host"
