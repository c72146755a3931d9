#!/usr/bin/env bash
# symbols.sh HOST: the names that Cartograph exports and those that it needs, compared with include/exports.txt, with
# what the host's mpi.h declares, its libraries export, and docs/design/host-functions.md lists. Prints what differs.
set -euo pipefail
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
host=$1
lib=$top/build/$host/lib
cc=$("$top/scripts/host.sh" "$host" cc)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

passed=0 failed=0
# same WHAT EXPECTED FOUND: compares two files with a name on each line.
same() {
    if diff <(sort -u "$2") <(sort -u "$3") >"$work/diff"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1 ('<' should be and is not, '>' is and should not be)"
        grep '^[<>]' "$work/diff"
    fi
}

# What the host's header declares of the chapter must be listed. All that is listed is exported, whether
# it is declared or not: programs find functions by name.
echo '#include <mpi.h>' | $cc -E -P -x c - | grep -oE '\bMPI_[A-Za-z_]+ *\(' | tr -d ' (' |
    grep -E '^MPI_(Cart|Graph|Dist_graph|Dims|Topo|I?neighbor|Neighbor)(_|dim)' | sort -u >"$work/declared"
grep -E '^MPIX?_' "$top/include/exports.txt" | sort >"$work/listed"
comm -12 "$work/declared" "$work/listed" >"$work/both"
same "exports.txt has what mpi.h declares of the chapter" "$work/declared" "$work/both"

# Each function by all of its names: weak where a tool may define them again, strong where it calls.
while read -r name; do
    lower=${name,,}
    case $name in
    # Fortran has large counts in mpi_f08 only, whose procedures call the C names.
    *_c) echo "$name" >>"$work/weak" && echo "P$name" >>"$work/strong" && continue ;;
    esac
    printf '%s\n' "$name" "${lower}_" "${lower}__" >>"$work/weak"
    printf '%s\n' "P$name" "p${lower}_" "p${lower}__" >>"$work/strong"
done <"$work/listed"
sort -u "$work/weak" "$work/strong" >"$work/all"
nm -D --defined-only --format=posix "$lib/libcartograph.so" | cut -d' ' -f1 >"$work/exported"
same "the shared library exports these names and no others" "$work/all" "$work/exported"

# Whatever the host's libraries export of the chapter would be called past this library. Not so what calls the C names:
# the procedures of mpi_f08, those that Open MPI's have below them, and Fortran's names without an underscore.
echo 'int main(void) { return 0; }' >"$work/empty.c"
echo 'end' >"$work/empty.f90"
fc=$("$top/scripts/host.sh" "$host" fc)
$cc -Wl,--no-as-needed -o "$work/empty-c" "$work/empty.c"
${fc:-true} -Wl,--no-as-needed -o "$work/empty-fortran" "$work/empty.f90"
chapter='(cart|cartdim|graph|graphdims|dist_graph|dims|topo|i?neighbor)_'
{ ldd "$work/empty-c" && { [ -z "$fc" ] || ldd "$work/empty-fortran"; }; } | awk '$2 == "=>" { print $3 }' | sort -u |
    xargs -n 1 nm -D --defined-only --format=posix | sed 's/[ @].*//' |
    grep -iE "^p?mpix?_$chapter" | grep -viE '_f(08(ts)?(_large)?)?_?$' |
    grep -E '^P?MPIX?_[A-Z][a-z]|_$' | sort -u >"$work/hosts" || true
# mini is an MPI without the chapter.
[ "$host" = mini ] || [ -s "$work/hosts" ] || { echo "FAILED: no library of the host has a name of the chapter" && exit 1; }
comm -12 "$work/hosts" "$work/exported" >"$work/both"
same "the library exports what the host's libraries export of the chapter" "$work/hosts" "$work/both"

nm -g --defined-only --format=posix "$lib/libcartograph.a" | awk 'NF > 1' >"$work/archive"
awk '$2 == "W" { print $1 }' "$work/archive" >"$work/archive.weak"
awk '$2 != "W" { print $1 }' "$work/archive" >"$work/archive.strong"
same "the archive's weak names are the MPI_ names" "$work/weak" "$work/archive.weak"
same "the archive's strong names are the PMPI_ names" "$work/strong" "$work/archive.strong"

# listed HEADING: the names in backquotes below a heading of that page that hold for this host; a name
# followed by hosts in parentheses holds for these only.
listed() {
    awk -v heading="### $1" '/^#/ { inside = ($0 == heading); next } inside' "$top/docs/design/host-functions.md" |
        sed -nE 's/^- `(P?MPIX?_[A-Za-z0-9_]+)`( \(([a-z0-9, ]*)\))?.*/\1 \3/p' | tr -d ',' |
        awk -v host="$host" '{ holds = NF == 1; for (i = 2; i <= NF; i++) if ($i == host) holds = 1 }
                             holds { print $1 }' | sort -u
}
# MPI's own names; what lies inside of a host is not for others to offer.
needed() {
    nm -D --undefined-only "$lib/libcartograph.so" |
        awk -v kind="$1" '$1 == kind && $2 ~ /^P?MPIX?_/ { print $2 }' | sed 's/@.*//' | sort -u
}
if [ -e "$top/docs/design/host-functions.md" ]; then
    listed Required >"$work/required"
    listed "Used if there" >"$work/optional"
    listed "Constants of the host" >"$work/constants"
else
    echo "FAILED: there is no docs/design/host-functions.md that says what a host must offer"
    failed=$((failed + 1))
    : | tee "$work/required" "$work/optional" >"$work/constants"
fi
needed U | comm -23 - "$work/constants" >"$work/needed"
needed w | comm -23 - "$work/constants" >"$work/used"
{ needed U && needed w; } | sort -u | comm -12 - "$work/constants" >"$work/data"
same "what the library cannot load without is under Required" "$work/required" "$work/needed"
same "what it does without is under Used if there" "$work/optional" "$work/used"
same "constants are under Constants of the host" "$work/constants" "$work/data"

echo "$passed passed, $failed failed"
test "$failed" = 0
