#!/bin/sh
# rustc.sh RUSTC ARGUMENT...: cargo's call of the compiler (.cargo/config.toml). Source paths in messages of a panic
# begin with the name of the crate, not with a path of this machine.
if [ -n "${CARGO_MANIFEST_DIR:-}" ]; then
    set -- "$@" "--remap-path-prefix=$CARGO_MANIFEST_DIR=$CARGO_PKG_NAME-$CARGO_PKG_VERSION"
fi
if [ -n "${OUT_DIR:-}" ]; then
    set -- "$@" "--remap-path-prefix=$OUT_DIR=$CARGO_PKG_NAME-$CARGO_PKG_VERSION/out"
fi
# Paths of the standard library, if its source is installed.
if [ -n "${RUSTUP_TOOLCHAIN:-}" ]; then
    sources=${RUSTUP_HOME:-$HOME/.rustup}/toolchains/$RUSTUP_TOOLCHAIN/lib/rustlib/src/rust
    set -- "$@" "--remap-path-prefix=$sources=rust"
fi
exec "$@"
