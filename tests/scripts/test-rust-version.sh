#!/usr/bin/env bash
# test-rust-version.sh: that Cartograph needs no newer Rust than Cargo.toml says, as far as a newer Rust can tell: no crate
# that is compiled says that it needs a newer one, and clippy, which knows since when each function of the standard
# library is there, refuses newer ones. What else is new in the language shows only when that Rust compiles it.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/scripts/checks.sh"
cd "$top"
said=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

same() { for manifest in {cli,core,lab,preload,record,traffic,world}/Cargo.toml; do grep -qx "rust-version = \"$said\"" $manifest; done; }
# Name, version and Rust of each crate that is built for this machine, and of none that a newer Rust is for.
crates() {
    cargo metadata --locked --format-version 1 --filter-platform "$(rustc -vV | sed -n 's/^host: //p')" >"$work/metadata"
    tr '{' '\n' <"$work/metadata" | sed -nE 's/.*"rust_version":"([0-9.]+)".*/\1/p' | sort -uV >"$work/versions"
    [ -s "$work/versions" ] && newest=$(tail -n 1 "$work/versions") && echo "the newest that a crate needs: $newest" &&
        [ "$(printf '%s\n' "$newest" "$said" | sort -V | tail -n 1)" = "$said" ]
}
# refused SOURCE: what clippy says of a crate that names the same Rust as ours. 1.91 has brought this function.
refused() {
    ! CARGO_PKG_RUST_VERSION=$1 clippy-driver --edition 2024 --crate-type lib --emit metadata -D warnings -o "$work/out" - 2>"$work/refusal" <<'END' &&
pub fn newer(path: &std::path::Path) -> Option<&std::ffi::OsStr> {
    path.file_prefix()
}
END
        grep -q "current MSRV .* is \`$1" "$work/refusal"
}
# accepted: what was there is no error, so that it is for this that the other is one.
accepted() {
    CARGO_PKG_RUST_VERSION=1.91 clippy-driver --edition 2024 --crate-type lib --emit metadata -D warnings -o "$work/out" - <<'END'
pub fn newer(path: &std::path::Path) -> Option<&std::ffi::OsStr> {
    path.file_prefix()
}
END
}
# Nobody tells clippy otherwise.
unhindered() {
    ! grep -rnE 'incompatible_msrv|clippy::msrv' --include='*.rs' --include='*.toml' Cargo.toml src cli core lab preload record traffic world &&
        [ ! -e clippy.toml ] && [ ! -e .clippy.toml ]
}
check "all crates of ours say the same" same
check "no crate needs a newer Rust" crates
check "clippy refuses what is newer" refused "$said"
check "it does so because of the version" accepted
check "nothing turns it off" unhindered
verdict "test-rust-version, $said"
