#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: the wheel of `make wheel`, of this checkout, in fresh environments as a user has them,
# each with an MPI and mpi4py of PyPI; the source of `make sdist` in one of them, where it is built; its types by mypy; its
# examples in Jupyter; and its meshes in JAX.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
work=$3
quietly "$work/log" make -C "$top" wheel DIRECTORY="$work"
wheel=$(ls "$work"/mpi_cartograph-*-manylinux*.whl)
"$here/../venvs.sh" "$wheel" "$work"
quietly "$work/log" make -C "$top" sdist DIRECTORY="$work"
"$here/../venvs.sh" "$(ls "$work"/mpi_cartograph-*.tar.gz)" "$work" mpich==5.0.2
venv=$work/tools
rm -rf "$venv"
python "$venv" "$wheel" nbclient==0.11.0 ipykernel==7.4.0 mypy==2.4.1 jax==0.10.2
# As in a notebook of Jupyter.
"$venv/bin/python" "$top/python/tests/test_examples.py" 2>&1 | tee "$work/examples"
! grep -q skipped "$work/examples" || fail "Jupyter has executed nothing"
"$venv/bin/python" "$top/python/tests/test_jax.py"
(cd "$top/python" && "$venv/bin/mypy")
# The types of what is installed, as programs have them: the first line is right, the second is not.
cat >"$work/typed.py" <<'END'
import cartograph
busiest: int = cartograph.plan((8, 8), nodes=4).after.busiest
order: list[str] = cartograph.mesh((4, 4), ["ring", "all"], [8, 8]).of(range(16))
END
! (cd "$work" && "$venv/bin/mypy" --strict typed.py) >"$work/typed" || fail "mypy knows no types of the wheel"
grep -q '^typed.py:3: error: Incompatible types' "$work/typed" && grep -q '^Found 1 error' "$work/typed" || { cat "$work/typed" && fail "mypy"; }
