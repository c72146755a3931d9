#!/usr/bin/env bash
# old-glibc.sh HOST: links the archive of a host's library against glibc 2.17, of 2012, the oldest that Rust supports, and says
# what it needs: nothing newer. It takes Zig's linker, a Python package, which knows the names of every glibc.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
host=$1
venv=$top/build/zig
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The host's library, whose own needs are its own.
read -ra cc <<<"$("$top/scripts/host.sh" "$host" cc) $(for option in -showme:link -link_info; do
    "$("$top/scripts/host.sh" "$host" cc)" $option 2>/dev/null && break; done | tr ' ' '\n' | grep '^-[lL]' | tr '\n' ' ')"
"$venv/bin/python" -m ziglang cc -target x86_64-linux-gnu.2.17 -shared -o "$work/lib.so" -Wl,--allow-shlib-undefined \
    -Wl,--whole-archive "$top/build/$host/lib/libcartograph.a" -Wl,--no-whole-archive "${cc[@]:1}" -lunwind -ldl -lpthread -lm
needed=$(nm -D --with-symbol-versions "$work/lib.so" | sed -n 's/.*@\(GLIBC_[0-9.]*\)$/\1/p' | sort -Vu)
echo "$host: of glibc it needs" $needed
[ "$(printf '%s\n' GLIBC_2.17 "$needed" | sort -V | tail -n 1)" = GLIBC_2.17 ]
