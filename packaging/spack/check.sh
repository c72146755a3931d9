#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: the package has Spack's style, and its steps build the release and install it; Spack
# itself is not to be had from a package index, so what it would concretize is this machine's.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
tarball=$1 recipe=$2/spack/spack_repo/cartograph/packages/cartograph/package.py work=$3
get mpicc.openmpi:openmpi-bin pkg-config:pkg-config
python "$top/build/packages/spack-python" black==24.10.0 flake8==7.1.1 isort==5.13.2
style=$top/build/packages/spack-python/bin
# As `spack style` calls them; names come by a star, as in every package of Spack.
quietly "$work/style" "$style/black" --check --line-length 99 --skip-magic-trailing-comma "$recipe"
quietly "$work/style" "$style/isort" --check --profile black --line-length 99 --project spack "$recipe"
quietly "$work/style" "$style/flake8" --max-line-length 99 --extend-ignore F403,F405,E203 "$recipe"
rm -rf "$work/source" "$work/prefix"
mkdir -p "$work/source"
tar -xf "$tarball" -C "$work/source" --strip-components=1
libclang=$(dirname "$("$top/scripts/libclang.sh")")
quietly "$work/log" env PYTHONDONTWRITEBYTECODE=1 "${lightly[@]}" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" \
    python3 "$here/steps.py" "$recipe" "$work/source" "$work/prefix" "$(command -v mpicc.openmpi)" "${libclang%/lib}"
"$here/../use.sh" "$work/prefix" "$(tail -n 1 "$work/log")" mpicc.openmpi mpiexec.openmpi -n
echo "part: not concretized and not built by Spack"
