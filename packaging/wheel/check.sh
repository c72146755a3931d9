#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: the wheel of `make wheel`, of this checkout, in fresh environments as a user has them,
# each with an MPI and mpi4py of PyPI; and the source of `make sdist` in one of them, where it is built.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
work=$3
quietly "$work/log" make -C "$top" wheel DIRECTORY="$work"
wheel=$(ls "$work"/mpi_cartograph-*-manylinux*.whl)
"$here/../venvs.sh" "$wheel" "$work"
quietly "$work/log" make -C "$top" sdist DIRECTORY="$work"
"$here/../venvs.sh" "$(ls "$work"/mpi_cartograph-*.tar.gz)" "$work" mpich==5.0.2
# The examples, as in a notebook of Jupyter.
venv=$work/jupyter
rm -rf "$venv"
python "$venv" "$wheel" nbclient ipykernel
"$venv/bin/python" "$top/python/tests/test_examples.py" 2>&1 | tee "$work/examples"
! grep -q skipped "$work/examples" || fail "Jupyter has executed nothing"
