#!/usr/bin/env bash
# setup.sh [HOST|FILE:PACKAGE|mpi4py]...: gets what is missing on this machine to build for these hosts, Debian's package of a
# program or of a file (a pattern) that is not there, and what mpi4py's own tests need; and nothing else. Debian's packages need
# root; without it, or without apt, what is missing is said instead.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)

mpi4py=4.1.2
debian=()
pypi=()
# What is there is not asked for, wherever it came from.
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
