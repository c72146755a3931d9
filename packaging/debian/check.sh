#!/usr/bin/env bash
# check.sh TARBALL RECIPES WORK: builds the Debian source package from the release, checks that lintian finds no fault,
# and installs its packages into a separate Debian, where programs are built and run with them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools.sh"
tarball=$1 recipe=$2/debian work=$3
get dpkg-buildpackage:dpkg-dev dh:debhelper lintian:lintian fakeroot:fakeroot debootstrap:debootstrap \
    mpicc.openmpi:openmpi-bin mpicc.mpich:mpich gfortran:gfortran
name=$(basename "$tarball" .tar.gz)
source=$work/$name
rm -f "$work"/*.deb "$work"/*.changes
unpacked "$tarball" "$source"
cp -a "$recipe" "$source/debian"
cp "$tarball" "$work/${name/-/_}.orig.tar.gz"
export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
# Rust is not Debian's here: bookworm's version is too old.
missing=$(cd "$source" && dpkg-checkbuilddeps 2>&1) || true
if grep -vE '^dpkg-checkbuilddeps: error: Unmet build dependencies:( (cargo|rustc) \(>= 1.88\))*$' <<<"$missing" | grep .; then
    fail "more is missing than Debian's Rust"
fi
(cd "$source" && quietly "$work/log" dpkg-buildpackage -d -us -uc)
echo "built: $(cd "$work" && ls ./*.deb | xargs)"
# An upload to Debian closes a bug that requests the package; this build does not.
lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$work"/*.changes || fail "lintian is not content"

# A Debian without anything from this machine.
root=$work/root
debian_root "$root"
mkdir -p "$root/packages" "$root/work/packaging" "$root/work/debian"
cp "$work"/*.deb "$root/packages"
cp "$here/../use.sh" "$root/work/packaging"
cp -a "$recipe/tests" "$root/work/debian"
installs() { quietly "$work/installed" within "$root" bash -c "apt-get update -q && apt-get install -y -q --no-install-recommends $*"; }
# The command and the library for one MPI work without the other MPI's, for each MPI.
for mpi in mpich openmpi; do
    installs /packages/cartograph_*.deb /packages/libcartograph0_*.deb "/packages/cartograph-${mpi}_*.deb" gcc libc6-dev "lib$mpi-dev" \
        "$([ $mpi = mpich ] && echo mpich || echo openmpi-bin)"
    within "$root" bash -c "cd /work && packaging/use.sh /usr $mpi mpicc.$mpi mpiexec.$mpi -n"
    quietly "$work/purged" within "$root" bash -c 'apt-get purge -y -q "cartograph*" libcartograph0 && apt-get autoremove -y -q'
done
installs '/packages/*.deb gcc libc6-dev libmpich-dev libopenmpi-dev mpich openmpi-bin pkg-config'
within "$root" bash -c 'cd /work && debian/tests/use'
within "$root" test -e /usr/share/man/man1/cartograph.1.gz
quietly "$work/purged" within "$root" apt-get purge -y -q cartograph libcartograph0 cartograph-openmpi cartograph-mpich libcartograph-dev
left=$(cd "$root" && find usr etc -name '*cartograph*' ! -path 'usr/share/doc/*')
[ -z "$left" ] || fail "left behind: $left"
rm -rf "$root"
