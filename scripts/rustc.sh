#!/bin/sh
# rustc.sh RUSTC ARGUMENT...: how cargo calls the compiler here (.cargo/config.toml). Places in the source, which
# messages of a panic tell, are said by crate, not by where this machine keeps it.
if [ -n "${CARGO_MANIFEST_DIR:-}" ]; then
    set -- "$@" "--remap-path-prefix=$CARGO_MANIFEST_DIR=$CARGO_PKG_NAME-$CARGO_PKG_VERSION"
fi
if [ -n "${OUT_DIR:-}" ]; then
    set -- "$@" "--remap-path-prefix=$OUT_DIR=$CARGO_PKG_NAME-$CARGO_PKG_VERSION/out"
fi
# The standard library's, where its source is installed.
if [ -n "${RUSTUP_TOOLCHAIN:-}" ]; then
    sources=${RUSTUP_HOME:-$HOME/.rustup}/toolchains/$RUSTUP_TOOLCHAIN/lib/rustlib/src/rust
    set -- "$@" "--remap-path-prefix=$sources=rust"
fi
exec "$@"
