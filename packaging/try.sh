#!/usr/bin/env bash
# try.sh [PART...]: the steps of `make packages`. Builds a release of the commit that is checked out, and checks these
# parts of it, by default all: crates and deny, the checks of cargo and cargo-deny; release, which is built twice
# without a network and must be reproducible; and each recipe, which is built from the release and used as far as this
# machine can. Prints the result of each, and fails if one is wrong.
#
# try.sh static: only checks that take a second: the recipes can be filled in, and are well-formed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tools.sh"
parts=(crates deny release dist aarch64 wheel debian container easybuild conda)

# well_formed RECIPES: checks that no placeholder is left, and that each file has the format of its name.
well_formed() {
    local file
    if grep -rnE '@[A-Z0-9]+@' "$1"; then fail "something was not filled in"; fi
    while read -r file; do
        case $(head -n 1 "$file") in '#!'*sh) bash -n "$file" ;; esac
        case $file in
        *.eb) python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$file" ;;
        esac
    done < <(find "$1" -type f)
}

if [ "${1:-}" = static ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    version=$("$top/scripts/version.sh")
    mkdir "$work/cartograph-$version"
    cp "$top/Cargo.toml" "$work/cartograph-$version"
    tar -C "$work" -czf "$work/cartograph-$version.tar.gz" "cartograph-$version"
    "$here/recipes.sh" "$work/cartograph-$version.tar.gz" "$work/recipes"
    well_formed "$work/recipes"
    echo "packages: the recipes are well-formed"
    exit
fi

[ $# = 0 ] || parts=("$@")
work=$top/build/packages
mkdir -p "$work"
"$top/scripts/release.sh" "$work"
# The release is the same, whoever makes it.
(umask 077 && "$top/scripts/release.sh" "$work/again" >"$work/again.log")
cmp "$work"/again/cartograph-*.sha256 "$work"/cartograph-*.sha256
tarball=$(ls -t "$work"/cartograph-*.tar.gz | head -n 1)
rm -rf "$work/recipes"
"$here/recipes.sh" "$tarball" "$work/recipes"
well_formed "$work/recipes"

verdicts=() code=0
# tried NAME COMMAND...: prints the last line of the output as the result, if there is one.
tried() {
    local name=$1 start=$SECONDS
    shift
    echo "== $name"
    mkdir -p "$work/$name"
    if "$@" 2>&1 | tee "$work/$name/said"; then
        verdicts+=("$name: $(grep '^part: ' "$work/$name/said" | tail -n 1 | sed 's/^part/in part/' || true), $((SECONDS - start)) s")
    else
        verdicts+=("$name: WRONG")
        code=1
    fi
}
# The published crates: the command is built from the files that cargo would upload, and cargo prints no warning.
crates() {
    quietly "$work/crates/log" env -C "$top" CARGO_TARGET_DIR="$top/build/pure" \
        cargo package -p cartograph-shim -p cartograph-traffic -p cartograph-core -p cartograph-jobs -p cartograph-cli -p mpi-cartograph --no-default-features
    if grep '^warning' "$work/crates/log" | grep -v 'File system loop'; then fail "cargo package warns"; fi
}
# Licences, sources, crates in two versions, and known vulnerabilities.
deny() {
    command -v cargo-deny >/dev/null || { echo "part: there is no cargo-deny here (cargo install --locked cargo-deny)" && return; }
    quietly "$work/deny/log" env -C "$top" cargo-deny check --config .cargo/deny.toml licenses bans sources
    env -C "$top" cargo-deny check --config .cargo/deny.toml advisories >"$work/deny/advisories" 2>&1 && return
    grep -q 'failed to fetch advisory database' "$work/deny/advisories" || { cat "$work/deny/advisories" && fail "known faults"; }
    echo "part: without known faults, whose database cannot be reached"
}
for part in "${parts[@]}"; do
    case $part in
    crates | deny) tried "$part" "$part" ;;
    *) tried "$part" "$here/$part/check.sh" "$tarball" "$work/recipes" "$work/$part" ;;
    esac
done
echo
printf '%s\n' "${verdicts[@]}" | sed 's/: , /: as a whole, /'
exit $code
