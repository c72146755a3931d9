#!/usr/bin/env bash
# glibc.sh NEWEST DIRECTORY: checks that all programs and libraries below a directory run with the glibc NEWEST, name no
# directory of the build machine, and need no MPI library by name, except those whose purpose is to show one.
set -euo pipefail
export LC_ALL=C
newest=$1 files=0 code=0
wrong() { echo "$1: $2" >&2; code=1; }
while read -r file; do
    readelf -h "$file" >/dev/null 2>&1 || continue
    files=$((files + 1))
    needs=$(readelf -VW "$file" | grep -oE 'Name: GLIBC_[0-9.]+' | cut -d_ -f2 | sort -V | tail -n 1 || true)
    [ "$(printf '%s\n' "$newest" "${needs:-0}" | sort -V | tail -n 1)" = "$newest" ] || wrong "$file" "needs glibc $needs"
    # A symbol without a version must belong to the MPI, or be optional.
    strange=$(readelf --dyn-syms -W "$file" | awk '$7 == "UND" && $5 == "GLOBAL" && $8 != "" && $8 !~ /@/ { print $8 }' |
        grep -vE '^(P?MPIX?_|ompi_|OMPI_)' || true)
    [ -z "$strange" ] || wrong "$file" "takes $strange from nowhere"
    dynamic=$(readelf -dW "$file")
    ! grep -qE 'R(UN)?PATH' <<<"$dynamic" || wrong "$file" "has a path of the machine that built it"
    sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' <<<"$dynamic" | while read -r name; do
        case $name in
        libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | libgcc_s.so.1 | ld-linux-*.so.*) ;;
        \$ORIGIN/../*) [ -e "$(dirname "$file")/../${name#\$ORIGIN/../}" ] || echo "$name" ;;
        "$(basename "$(dirname "$file")" | sed 's/^for-//')") ;;
        *) echo "$name" ;;
        esac
    done >"${TMPDIR:-/tmp}/needed.$$"
    [ ! -s "${TMPDIR:-/tmp}/needed.$$" ] || wrong "$file" "needs $(xargs <"${TMPDIR:-/tmp}/needed.$$")"
    rm -f "${TMPDIR:-/tmp}/needed.$$"
done < <(find "$2" -type f)
[ "$files" -gt 0 ] || { echo "glibc.sh: nothing in $2" >&2; exit 1; }
[ $code != 0 ] || echo "$files programs and libraries run with glibc $newest and name no MPI"
exit $code
