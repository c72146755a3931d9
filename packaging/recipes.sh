#!/usr/bin/env bash
# recipes.sh TARBALL DIRECTORY [URL]: writes the recipes for one release into DIRECTORY, with its version, its checksum,
# and its URL, by default the file itself.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { echo "usage: recipes.sh TARBALL DIRECTORY [URL]" >&2 && exit 2; }
tarball=$(realpath "$1") to=$2 url=${3:-file://$(realpath "$1")}
name=$(basename "$tarball" .tar.gz)
version=${name#cartograph-}
[ "$name" = "cartograph-$version" ] || { echo "recipes.sh: $1 is not called cartograph-VERSION.tar.gz" >&2 && exit 1; }
sum=$(sha256sum "$tarball" | cut -d' ' -f1)
# The packager, for Debian's tools, which read these variables.
who="${DEBFULLNAME:-The Cartograph authors} <${DEBEMAIL:-packager@example.org}>"
when=$(date -u -R -d "@$(tar --full-time -tvf "$tarball" --occurrence=1 "$name/Cargo.toml" | awk '{print $4 "T" $5 "Z"}' | xargs date -u +%s -d)")

mkdir -p "$to"
cd "$here"
find . -mindepth 2 -type f | while read -r file; do
    case $file in */check.sh) continue ;; esac
    filled=$to/${file//VERSION/$version}
    mkdir -p "$(dirname "$filled")"
    sed -e "s|@VERSION@|$version|g" -e "s|@SHA256@|$sum|g" -e "s|@URL@|$url|g" -e "s|@WHO@|$who|g" -e "s|@WHEN@|$when|g" \
        "$file" >"$filled"
    chmod --reference="$file" "$filled"
done
