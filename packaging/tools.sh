# tools.sh: functions for the checks of recipes, which source it.
export LC_ALL=C TZ=UTC DEBIAN_FRONTEND=noninteractive
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Most checks test the steps of a recipe, not the speed of its libraries: these settings compile in a third of the time.
# The check of the release and that of Debian compile like users do.
lightly=(CARGO_INCREMENTAL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1
    CARGO_PROFILE_TOOL_OPT_LEVEL=0)

fail() {
    echo "packages: $*" >&2
    exit 1
}
# get PROGRAM:PACKAGE...: installs Debian's packages of missing programs.
get() { "$top/scripts/setup.sh" "$@" >/dev/null; }
# python DIRECTORY PACKAGE...: creates a virtual environment with packages from PyPI.
python() {
    [ -e "$1/bin/pip" ] || python3 -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}
# quietly LOG COMMAND...: prints the last lines of the output if the command fails.
quietly() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; fail "failed: $*"; }
}
# unpacked TARBALL DIRECTORY: unpacks the source there, replacing earlier contents.
unpacked() {
    rm -rf "$2"
    mkdir -p "$2"
    tar -xf "$1" -C "$2" --strip-components=1
}
# nameless WORK DIRECTORY...: checks that no file there names a directory of this machine.
nameless() {
    ! grep -rlF -e "$1" -e "$top" -e "$HOME/" -e "${RUSTUP_HOME:-$HOME/.rustup}" "${@:2}" || fail "these name directories of this machine"
}
# debian_root DIRECTORY [SUITE]: creates a new minimal Debian there, by default of this machine's version; it is
# downloaded once.
debian_root() {
    local suite=${2:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
    local kept=$top/build/packages/$suite.tar
    if [ ! -e "$kept" ]; then
        mkdir -p "$top/build/packages"
        rm -rf "$kept.d"
        quietly "$kept.log" debootstrap --variant=minbase "$suite" "$kept.d"
        tar -C "$kept.d" -cf "$kept.new" .
        rm -rf "$kept.d"
        mv "$kept.new" "$kept"
    fi
    rm -rf "$1"
    mkdir -p "$1"
    tar -xf "$kept" -C "$1"
    cp /etc/resolv.conf "$1/etc/resolv.conf"
    # MPICH looks up its own host name.
    echo "127.0.0.1 localhost $(uname -n)" >"$1/etc/hosts"
    # This machine's package sources.
    apt-config dump | grep -E '^Acquire::(Check|http|https)' >"$1/etc/apt/apt.conf.d/99here" || true
}
# within ROOT COMMAND...: runs the command there, and unmounts all file systems afterwards.
within() {
    local root=$1
    shift
    unshare -m -p -f bash -c '
        root=$1
        shift
        mount --make-rprivate /
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs tmpfs "$root/dev/shm"
        exec chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"' within "$root" "$@"
}
