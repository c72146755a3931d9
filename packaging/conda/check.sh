#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: the recipe is read as conda-build reads it, and its build script run in a prefix of
# its own with the variables that conda-build sets; the compilers, Rust and the MPI are this machine's.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
tarball=$1 recipe=$2/conda work=$3
get mpicc.openmpi:openmpi-bin pkg-config:pkg-config
python "$top/build/packages/conda-python" jinja2==3.1.6 pyyaml==6.0.3
"$top/build/packages/conda-python/bin/python" - "$recipe" "$tarball" <<'END'
import hashlib, re, sys
import jinja2, yaml
recipe, tarball = sys.argv[1:]
variants = yaml.safe_load(open(f"{recipe}/conda_build_config.yaml"))
for mpi in variants["mpi"]:
    tools = {"compiler": lambda language: f"{language}-compiler", "stdlib": lambda language: f"{language}-stdlib"}
    text = jinja2.Template(open(f"{recipe}/meta.yaml").read(), undefined=jinja2.StrictUndefined).render(
        mpi=mpi, PKG_HASH="0", PKG_BUILDNUM="0", **tools)
    # A line with a selector counts only where that is true; this is Linux.
    text = "\n".join(line for line in text.splitlines() if not line.endswith("# [not linux]"))
    meta = yaml.safe_load(text)
    known = {"package", "source", "build", "requirements", "test", "about", "extra"}
    assert set(meta) <= known and {"name", "version"} == set(meta["package"]), meta
    assert set(meta["requirements"]) == {"build", "host", "run"}, meta
    assert {"rust-compiler", "c-compiler", "libclang"} <= set(meta["requirements"]["build"]), meta
    assert meta["source"]["sha256"] == hashlib.sha256(open(tarball, "rb").read()).hexdigest(), meta
    assert mpi in meta["requirements"]["host"] and mpi in meta["requirements"]["run"], meta
END
rm -rf "$work/source" "$work/prefix" "$work/bin" "$work/tools"
mkdir -p "$work/source" "$work/prefix/bin" "$work/bin" "$work/tools"
tar -xf "$tarball" -C "$work/source" --strip-components=1
# conda's compilers and binutils have names of their own, and tell them by variables; there are no others.
IFS=: read -ra places <<<"$PATH"
for ((i = ${#places[@]}; i-- > 0; )); do
    [ ! -d "${places[i]}" ] || find "${places[i]}" -maxdepth 1 \( -type f -o -type l \) -exec ln -sf -t "$work/bin" {} +
done
for tool in gcc objcopy ld ar nm; do
    ln -s "$(command -v $tool)" "$work/tools/x86_64-conda-linux-gnu-$tool"
    rm -f "$work/bin/$tool"
done
rm -f "$work/bin/cc"
tool=$work/tools/x86_64-conda-linux-gnu
# Its Open MPI calls its own compiler.
printf '#!/bin/sh\nexec env OMPI_CC=%s mpicc.openmpi "$@"\n' "$tool-gcc" >"$work/prefix/bin/mpicc"
chmod +x "$work/prefix/bin/mpicc"
libclang=$(dirname "$("$top/scripts/libclang.sh")")
(cd "$work/source" && quietly "$work/log" env -i HOME="$HOME" PATH="$work/prefix/bin:$work/bin" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" \
    PREFIX="$work/prefix" BUILD_PREFIX="${libclang%/lib}" SRC_DIR="$work/source" mpi=openmpi "${lightly[@]}" \
    COMPILER_PATH=/usr/bin CC="$tool-gcc" OBJCOPY="$tool-objcopy" LD="$tool-ld" AR="$tool-ar" NM="$tool-nm" \
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER="$tool-gcc" bash "$recipe/build.sh")
"$here/../use.sh" "$work/prefix" conda-openmpi "$work/prefix/bin/mpicc" mpiexec.openmpi -n
rm -rf "$work/bin"
echo "part: conda-build and its compilers are not to be had here"
