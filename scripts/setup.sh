#!/usr/bin/env bash
# Gets what is missing on this machine to build for the hosts named as arguments, and nothing else; "tests" among
# them is what all tests need, "cluster" what scripts/cluster.sh does, "programs" what scripts/programs.sh does, "slurm" what scripts/slurm.sh does, "mpi4py" what mpi4py's own tests do.
# Debian's packages need root; without it, or without apt, what is missing is said instead.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)

mpi4py=4.1.2
debian=()
pypi=()
# A program that is there is not asked for, wherever it came from.
need() { command -v "$1" >/dev/null || debian+=("$2"); }

if ! command -v cargo >/dev/null; then
    echo "Missing: Rust with cargo. Install it (https://rustup.rs) and run this again." >&2
    exit 1
fi
need cc gcc
if [ $# -gt 0 ]; then
    need objcopy binutils
    # bindgen loads libclang when it runs.
    [ -n "$("$top/scripts/libclang.sh")" ] || debian+=(libclang-dev)
fi
for host in "$@"; do
    if [ "$host" = tests ]; then
        need timeout coreutils
        need pkg-config pkg-config
        need valgrind valgrind
        need cmake cmake
        continue
    fi
    if [ "$host" = cluster ]; then
        [ "$(id -u)" = 0 ] || { echo "Root is needed to make network namespaces." >&2; exit 1; }
        need ip iproute2
        need tc iproute2
        continue
    fi
    if [ "$host" = programs ]; then
        need lmp lammps
        ls /usr/share/petsc/*/share/petsc/examples/src/ksp/ksp/tutorials/ex45.c >/dev/null 2>&1 ||
            debian+=(pkg-config libpetsc-real-dev libpetsc3.18-dev-examples)
        continue
    fi
    if [ "$host" = slurm ]; then
        [ "$(id -u)" = 0 ] || { echo "Root is needed to start Slurm in namespaces." >&2; exit 1; }
        need ip iproute2
        need munged munge
        need srun slurm-client
        need slurmctld slurmctld
        need slurmd slurmd
        [ -e /usr/include/slurm/spank.h ] || debian+=(libslurm-dev)
        continue
    fi
    if [ "$host" = mpi4py ]; then
        [ -e "$top/build/hosts/mpi4py/source-$mpi4py" ] && [ -e "$(echo "$top"/build/hosts/mpi4py/lib/python3*/site-packages/numpy)" ] || { need python3 python3 && pypi+=("mpi4py==$mpi4py"); }
        continue
    fi
    read -r from packages <<<"$("$top/scripts/host.sh" "$host" missing)"
    case ${from:-} in
    debian) debian+=($packages) ;;
    pypi)
        need python3 python3
        pypi+=($packages)
        ;;
    esac
done

if [ ${#debian[@]} -gt 0 ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "Missing: ${debian[*]}" >&2
        echo "Install them (on Debian, as root: apt-get install ${debian[*]}) and run this again." >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    apt-get install -y -q --no-install-recommends "${debian[@]}"
fi

for package in $(printf '%s\n' "${pypi[@]:-}" | sort -u); do
    venv=$top/build/hosts/${package%%==*}
    if ! python3 -m venv "$venv"; then
        if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
            echo "Missing: Python's venv (on Debian, as root: apt-get install python3-venv). Install it and run this again." >&2
            exit 1
        fi
        DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3-venv
        python3 -m venv "$venv"
    fi
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$package"
    # Its tests are in its source distribution only.
    if [ "${package%%==*}" = mpi4py ]; then
        # Which our own package needs beside it.
        "$venv/bin/pip" install --quiet --disable-pip-version-check numpy
        "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary mpi4py -d "$venv" "$package"
        rm -rf "$venv/mpi4py-$mpi4py" "$venv/source-$mpi4py"
        tar -xf "$venv/mpi4py-$mpi4py.tar.gz" -C "$venv"
        mv -T "$venv/mpi4py-$mpi4py" "$venv/source-$mpi4py"
    fi
done
