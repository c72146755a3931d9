#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: rattler-build reads the recipe for each of its variants. It is not built: it needs
# conda-forge's compilers and MPIs, which cannot be had from PyPI.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
python "$top/build/packages/conda-python" py-rattler-build==0.73.0
"$top/build/packages/conda-python/bin/python" - "$2/conda" <<'END'
import sys
from pathlib import Path

from rattler_build import Stage0Recipe, VariantConfig

directory = Path(sys.argv[1])
recipe = Stage0Recipe.from_file(directory / "recipe.yaml")
rendered = recipe.render(VariantConfig.from_file(directory / "variants.yaml"))
names = sorted(f"{one.recipe.package.name} {one.recipe.package.version} {one.recipe.build.string}" for one in rendered)
print("\n".join(names))
assert len(names) == 2, names
END
echo "part: read by rattler-build, not built"
