#!/usr/bin/env bash
# ci.sh JOB [DIRECTORY]: a job of .github/workflows, on a Debian machine with Rust, as root. `test` runs the checks that
# a change must pass before it lands, `release` writes the files of a release to the directory.
set -euo pipefail
cd "$(dirname "$0")/.."
# Nothing is compiled twice here.
export CARGO_INCREMENTAL=0
case ${1:-test} in
test) exec make test ;;
msrv)
    scripts/setup.sh mpich
    version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    rustup toolchain install "$version" --profile minimal
    export RUSTUP_TOOLCHAIN=$version
    make tool preload
    make lib HOST=mpich
    ;;
aarch64) exec packaging/try.sh aarch64 ;;
deny)
    cargo install --locked cargo-deny
    exec packaging/try.sh crates deny
    ;;
docs)
    cargo install --locked mdbook
    make lab-book
    ;;
release)
    scripts/setup.sh mpich openmpi mpich5 openmpi5
    scripts/release.sh "$2"
    make dist wheel DIRECTORY="$2"
    ;;
*) echo "ci.sh: no job '$1'" >&2 && exit 2 ;;
esac
