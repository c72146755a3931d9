#!/usr/bin/env bash
# What conda-build runs in the release's directory.
set -euo pipefail
export CARGO_HOME=$SRC_DIR/.cargo-home CARGO_NET_OFFLINE=true
# libclang, by which mpi.h is read.
export LIBCLANG_PATH=$BUILD_PREFIX/lib
make tool preload
make lib MPICC="$PREFIX/bin/mpicc" NAME="conda-$mpi"
make install MPICC="$PREFIX/bin/mpicc" NAME="conda-$mpi" PREFIX="$PREFIX"
