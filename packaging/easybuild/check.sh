#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: EasyBuild has all dependencies of the easyconfig, and builds the release with it, using
# this machine's compilers, Open MPI, Rust and libclang, since a whole toolchain takes a day to build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
tarball=$1 recipe=$(ls "$2"/easybuild/*.eb) work=$3
get modulecmd:environment-modules mpicc.openmpi:openmpi-bin pkg-config:pkg-config
python "$top/build/packages/easybuild-python" easybuild==5.4.1 pycodestyle
rm -rf "$work/eb"
# Debian installs Environment Modules where EasyBuild does not look.
mkdir -p "$work/modules/libexec" "$work/bin"
ln -sf /usr/lib/"$(uname -m)"-linux-gnu/modulecmd.tcl "$work/modules/libexec"
ln -sf "$(command -v mpicc.openmpi)" "$work/bin/mpicc"
export MODULESHOME=$work/modules PATH=$work/bin:$top/build/packages/easybuild-python/bin:$PATH
eb=(eb --allow-use-as-root-and-accept-consequences --modules-tool=EnvironmentModules --allow-modules-tool-mismatch
    --module-syntax=Tcl --prefix="$work/eb" --sourcepath="$(dirname "$tarball")")
quietly "$work/style" "${eb[@]}" --check-style "$recipe"
quietly "$work/needs" "${eb[@]}" --dry-run --robot -- "$recipe"
if ! grep -q 'module: OpenMPI/' "$work/needs" || ! grep -q 'module: Cartograph/' "$work/needs"; then
    cat "$work/needs" >&2
    fail "the easyconfig is not resolved"
fi
export EBROOTLLVM
EBROOTLLVM=$(dirname "$(dirname "$("$top/scripts/libclang.sh")")")
here_built=$work/Cartograph-system.eb
sed 's/^toolchain = .*/toolchain = SYSTEM/' "$recipe" >"$here_built"
quietly "$work/log" env "${lightly[@]}" "${eb[@]}" --rebuild --check-ebroot-env-vars=ignore --filter-deps=binutils,Rust,LLVM,pkgconf "$here_built"
prefix=$(echo "$work"/eb/software/Cartograph/*)
"$here/../use.sh" "$prefix" system-system mpicc.openmpi mpiexec.openmpi -n
echo "part: not with the toolchain gompi, its Rust and its LLVM"
