#!/usr/bin/env bash
# test-install.sh HOST: `make install` puts its files where it says, and a program is built and runs with
# what pkg-config tells of them: in a prefix of its own, and staged for a package by DESTDIR.
set -euo pipefail
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
host=$1
cc=$("$top/scripts/host.sh" "$host" cc)
launch="timeout -k 5 60 $("$top/scripts/host.sh" "$host" exec) 2"
. "$top/scripts/checks.sh"
unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH


cat >"$work/files" <<END
bin/cartograph
include/cartograph.h
lib/cartograph/$host/libcartograph.a
lib/cartograph/$host/libcartograph.so
lib/cartograph/$host/libcartograph.so.0
lib/cartograph/$host/libcartograph_record.so
lib/libcartograph.so
lib/libcartograph.so.0
lib/pkgconfig/cartograph-$host.pc
END
installs() { make -C "$top" --no-print-directory install HOST="$host" "$@"; }
files() { diff "$work/files" <(cd "$1" && find . ! -type d | sed 's|^\./||' | sort); }
# What is installed works wherever the tree was staged from.
unmarked() { ! grep -rlF -e "$1" "$2"; }
version() {
    test "$(pkg-config --modversion "cartograph-$host")" = "$("$top/scripts/version.sh")"
}
# builds PROGRAM FLAG...: with Cartograph's own header in front.
builds() {
    local program=$1
    shift
    $cc -O1 -w -include cartograph.h -I "$include" -o "$program" "$top/c_tests/tool_calls.c" "$@" -lm
}
# The program checks answers that only Cartograph gives.
runs() { $launch "$@" | grep -q ' 0 failed$'; }
# The library is found where it was installed.
loads() { env "${@:2}" | grep -F "=> $1/lib/cartograph/$host/libcartograph.so.0 "; }

# A prefix of its own: the program finds the library by itself.
own=$work/own
include=$own/include
check "make install PREFIX=" installs PREFIX="$own"
check "its files" files "$own"
export PKG_CONFIG_LIBDIR=$own/lib/pkgconfig
check "pkg-config knows the version" version
check "a program is linked" builds "$work/linked" $(pkg-config --libs "cartograph-$host")
check "it loads the installed library" loads "$own" LD_TRACE_LOADED_OBJECTS=1 "$work/linked"
check "it runs" runs "$work/linked"
check "a program is linked with the archive" builds "$work/static" "$own/lib/cartograph/$host/libcartograph.a"
check "it runs as well" runs "$work/static"
check "a program is linked with the MPI alone" builds "$work/bare"
check "it runs with the library for every MPI preloaded" runs env "LD_PRELOAD=$own/lib/libcartograph.so" "$work/bare"

# Staged: nothing knows of the stage, and a cross build's view of it links.
stage=$work/stage
include=$stage/usr/include
check "make install PREFIX=/usr DESTDIR=" installs PREFIX=/usr DESTDIR="$stage"
check "its files in the stage" files "$stage/usr"
check "no file names the stage" unmarked "$stage" "$stage"
export PKG_CONFIG_LIBDIR=$stage/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$stage
check "pkg-config says where it will be" grep -qx 'prefix=/usr' "$PKG_CONFIG_LIBDIR/cartograph-$host.pc"
check "a program is linked in the stage" builds "$work/staged" $(pkg-config --libs "cartograph-$host")
path=LD_LIBRARY_PATH=$stage/usr/lib/cartograph/$host
check "it runs in the stage" runs env "$path" "$work/staged"

verdict "test-install, $host"
