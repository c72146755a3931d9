#!/usr/bin/env bash
# setup.sh [HOST|FILE:PACKAGE|mpi4py]...: installs missing packages to build for these hosts, Debian's package of a
# missing program or file (a pattern), and the packages for mpi4py's own tests. Debian's packages need root; without
# root or apt the script only prints the missing packages.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)

mpi4py=4.1.2
debian=()
pypi=()
# Existing programs are used, wherever they came from.
need() { command -v "$1" >/dev/null || compgen -G "$1" >/dev/null || debian+=("$2"); }

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
    case $host in
    *:*)
        need "${host%%:*}" "${host#*:}"
        continue ;;
    mpi4py)
        [ -e "$top/build/hosts/mpi4py/source-$mpi4py" ] && [ -e "$(echo "$top"/build/hosts/mpi4py/lib/python3*/site-packages/numpy)" ] || pypi+=("mpi4py==$mpi4py")
        continue ;;
    esac
    read -r from packages <<<"$("$top/scripts/host.sh" "$host" missing)"
    case ${from:-} in
    debian) debian+=($packages) ;;
    pypi) pypi+=($packages) ;;
    esac
done
if [ ${#pypi[@]} -gt 0 ]; then
    need python3 python3
    python3 -c 'import ensurepip' 2>/dev/null || debian+=(python3-venv)
fi

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
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$package"
    # Only the source distribution has the tests.
    if [ "${package%%==*}" = mpi4py ]; then
        # A requirement of our own package.
        "$venv/bin/pip" install --quiet --disable-pip-version-check numpy
        "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary mpi4py -d "$venv" "$package"
        rm -rf "$venv/mpi4py-$mpi4py" "$venv/source-$mpi4py"
        tar -xf "$venv/mpi4py-$mpi4py.tar.gz" -C "$venv"
        mv -T "$venv/mpi4py-$mpi4py" "$venv/source-$mpi4py"
    fi
done
