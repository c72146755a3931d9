#!/usr/bin/env bash
# release.sh DIRECTORY: writes the release of the commit that is checked out: cartograph-VERSION.tar.gz, which
# contains all crates and builds offline, its bill of materials (CycloneDX), and the checksums of both. The same
# commit gives the same files, byte for byte.
set -euo pipefail
export LC_ALL=C TZ=UTC
# The archive stores the modes of files.
umask 022
top=$(cd "$(dirname "$0")/.." && pwd)
[ $# = 1 ] || { echo "usage: release.sh DIRECTORY" >&2 && exit 2; }
mkdir -p "$1"
to=$(cd "$1" && pwd)
cd "$top"
[ -z "$(git status --porcelain)" ] || { echo "release.sh: commit first: a release is a commit" >&2 && exit 1; }
version=$(scripts/version.sh)
name=cartograph-$version
for manifest in {cli,core,preload,record,shim,traffic}/Cargo.toml packaging/python/pyproject.toml; do
    grep -q "^version = \"$version\"" "$manifest" || { echo "release.sh: $manifest is not at $version" >&2 && exit 1; }
done
grep -q "VERSION \"$version\"" include/cartograph.h || { echo "release.sh: include/cartograph.h is not at $version" >&2 && exit 1; }
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive --prefix="$name/" HEAD | tar -x -C "$work"
cd "$work/$name"
# The configuration to use the vendored crates, added below the existing one. cargo does not print it with --quiet.
cargo vendor --locked --versioned-dirs vendor >"$work/sources" 2>"$work/log" || { cat "$work/log" >&2 && exit 1; }
grep -q '^replace-with' "$work/sources" || { echo "release.sh: cargo vendor does not say how its crates are used" >&2 && exit 1; }
echo >>.cargo/config.toml
cat "$work/sources" >>.cargo/config.toml
scripts/sbom.py >"$to/$name.cdx.json"
cd "$work"
tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -c "$name" |
    gzip -n9 >"$to/$name.tar.gz"
cd "$to"
sha256sum "$name.tar.gz" "$name.cdx.json" >"$name.sha256"
cat "$name.sha256"
