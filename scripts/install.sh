#!/usr/bin/env bash
# install.sh HOST|common|uninstall BUILD DESTDIR PREFIX: installs files of BUILD below PREFIX: the library of a host,
# or the common files; or removes everything. Only `make` calls it.
set -euo pipefail
umask 022
top=$(cd "$(dirname "$0")/.." && pwd)
what=$1 build=$2 prefix=$4
to=$3$4
templates=$top/scripts/install
version=$("$top/scripts/version.sh")

case $prefix in
/*) ;;
*) echo "install: PREFIX=$prefix is not an absolute path" >&2 && exit 2 ;;
esac
# file MODE SOURCE DESTINATION: replaces the file at once. A running program that has mapped the old file keeps it.
file() {
    [ -e "$2" ] || { echo "install: there is no $2: run make first, with the same settings" >&2 && exit 1; }
    install -D -p -m "$1" "$2" "$to/$3.new"
    mv -f "$to/$3.new" "$to/$3"
}
# filled TEMPLATE DESTINATION [HOST]
filled() {
    install -d "$(dirname "$to/$2")"
    sed -e "s|@PREFIX@|$prefix|g" -e "s|@HOST@|${3:-}|g" -e "s|@VERSION@|$version|g" "$templates/$1" >"$to/$2"
    chmod 644 "$to/$2"
}

case $what in
common)
    file 755 "$build/bin/cartograph" bin/cartograph
    file 755 "$build/lib/libcartograph.so.0" lib/libcartograph.so.0
    ln -sf libcartograph.so.0 "$to/lib/libcartograph.so"
    for kind in record-{3,4,4c}; do file 755 "$build/lib/cartograph/$kind.so" "lib/cartograph/$kind.so"; done
    file 644 "$top/include/cartograph.h" include/cartograph.h
    file 644 "$templates/CartographConfig.cmake" lib/cmake/Cartograph/CartographConfig.cmake
    filled CartographConfigVersion.cmake.in lib/cmake/Cartograph/CartographConfigVersion.cmake
    # Lmod reads the first file, Environment Modules the second.
    filled module.lua.in "share/modulefiles/cartograph/$version.lua"
    filled module.tcl.in "share/modulefiles/cartograph/$version"
    run=
    [ -z "${CARGO_BUILD_TARGET:-}" ] || run=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$CARGO_BUILD_TARGET")_RUNNER
    ${run:+${!run}} "$build/bin/cartograph" pages "$to"
    for text in README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT; do
        file 644 "$top/$text" "share/doc/cartograph/$text"
    done
    (cd "$top" && find docs -type f) | while read -r text; do file 644 "$top/$text" "share/doc/cartograph/$text"; done
    ;;
uninstall)
    # Shared directories stay, since nobody knows which existed before.
    rm -f "$to"/bin/cartograph "$to"/lib/libcartograph.so{,.0} "$to"/include/cartograph.h \
        "$to"/lib/pkgconfig/cartograph-*.pc "$to"/share/man/man1/cartograph{,-*}.1 \
        "$to"/share/bash-completion/completions/cartograph "$to"/share/zsh/site-functions/_cartograph \
        "$to"/share/fish/vendor_completions.d/cartograph.fish
    rm -rf "$to"/lib/cartograph "$to"/lib/cmake/Cartograph "$to"/share/modulefiles/cartograph "$to"/share/doc/cartograph
    ;;
*)
    host=$what lib=$build/$what/lib
    for library in libcartograph.so.0 libcartograph_record.so; do
        case $host:$library in smpi:*_* | mini:*_*) continue ;; esac
        file 755 "$lib/$library" "lib/cartograph/$host/$library"
    done
    file 644 "$lib/libcartograph.a" "lib/cartograph/$host/libcartograph.a"
    case $host in
    smpi | mini) ;;
    *) file 755 "$lib/halo" "lib/cartograph/$host/halo" ;;
    esac
    ln -sf libcartograph.so.0 "$to/lib/cartograph/$host/libcartograph.so"
    filled cartograph.pc.in "lib/pkgconfig/cartograph-$host.pc" "$host"
    ;;
esac
