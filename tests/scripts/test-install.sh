#!/usr/bin/env bash
# test-install.sh HOST: `make install` puts its files where it says, programs are built and run with what pkg-config
# and CMake tell of them, in a prefix of its own, staged for a package by DESTDIR, and moved elsewhere; and `make
# uninstall` leaves no file and no directory of its own.
. "$(dirname "$0")/checks.sh"
launch="$launch 2"
unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
version=$("$top/scripts/version.sh")

(cd "$top" && find docs -type f | sed 's|^|share/doc/cartograph/|' && cat <<END) | sort >"$work/files"
bin/cartograph
include/cartograph.h
lib/cartograph/$host/libcartograph.a
lib/cartograph/$host/libcartograph.so
lib/cartograph/$host/libcartograph.so.0
lib/cartograph/$host/libcartograph_record.so
lib/cartograph/$host/libcartograph_world.so
lib/cartograph/record-3.so
lib/cartograph/record-4.so
lib/cartograph/record-4c.so
lib/cartograph/world-3.so
lib/cartograph/world-4.so
lib/cartograph/world-4c.so
lib/cmake/Cartograph/CartographConfig.cmake
lib/cmake/Cartograph/CartographConfigVersion.cmake
lib/libcartograph.so
lib/libcartograph.so.0
lib/pkgconfig/cartograph-$host.pc
share/bash-completion/completions/cartograph
share/doc/cartograph/CHANGELOG.md
share/doc/cartograph/LICENSE-APACHE
share/doc/cartograph/LICENSE-MIT
share/doc/cartograph/README.md
share/fish/vendor_completions.d/cartograph.fish
share/man/man1/cartograph-dims.1
share/man/man1/cartograph-exec.1
share/man/man1/cartograph-info.1
share/man/man1/cartograph-plan.1
share/man/man1/cartograph-show.1
share/man/man1/cartograph-site.1
share/man/man1/cartograph-try.1
share/man/man1/cartograph-tune.1
share/man/man1/cartograph.1
share/modulefiles/cartograph/$version
share/modulefiles/cartograph/$version.lua
share/zsh/site-functions/_cartograph
END
installs() { make -C "$top" --no-print-directory install HOST="$host" COMMAND=unwind "$@"; }
files() { diff "$work/files" <(cd "$1" && find . ! -type d | sed 's|^\./||' | sort); }
# The installed tree works wherever it was staged from.
unmarked() { ! grep -rlF "${@:2}" "$1"; }
version() {
    test "$(pkg-config --modversion "cartograph-$host")" = "$version"
}
# builds PROGRAM FLAG...: with Cartograph's own header in front.
builds() {
    local program=$1
    shift
    $cc -O1 -w -include cartograph.h -I "$include" -o "$program" "$top/c_tests/tool/tool_calls.c" "$@"
}
# The program checks answers that only Cartograph gives.
runs() { $launch "$@" | grep -q ' 0 failed$'; }
# loads PREFIX PROGRAM: the library is found where it was installed.
loads() {
    local found
    found=$(env LD_TRACE_LOADED_OBJECTS=1 "$2" | sed -nE 's/.*libcartograph.so.0 => ([^ ]*) .*/\1/p')
    echo "$found" && [ "$(realpath "$found")" = "$1/lib/cartograph/$host/libcartograph.so.0" ]
}

# A prefix of its own: the program finds the library by itself.
own=$(realpath "$work")/own
include=$own/include
check "make install PREFIX=" installs PREFIX="$own"
check "its files" files "$own"
export PKG_CONFIG_LIBDIR=$own/lib/pkgconfig
check "pkg-config knows the version" version
check "a program is linked" builds "$work/linked" $(pkg-config --libs "cartograph-$host") -lm
check "it loads the installed library" loads "$own" "$work/linked"
mv "$own/lib/pkgconfig" "$work/pkgconfig"
check "it loads it where there is no lib/pkgconfig" loads "$own" "$work/linked"
mv "$work/pkgconfig" "$own/lib/pkgconfig"
for module in "$own/share/modulefiles/cartograph/$version"{,.lua}; do
    check "the module tells of programs of 32 bits" grep -q '32 bits: the loader says' "$module"
done
check "it runs" runs "$work/linked"
alone=$(pkg-config --variable=archive "cartograph-$host")
# The archive's own -l options.
private=$(pkg-config --static --libs "cartograph-$host" | grep -oE -- '-l(m|dl|pthread)\b')
check "a program is linked with the archive" builds "$work/static" "$alone" $private
check "it runs as well" runs "$work/static"
check "a program is linked with the MPI alone" builds "$work/bare" -lm
check "it runs with the library for every MPI preloaded" runs env "LD_PRELOAD=$own/lib/libcartograph.so" "$work/bare"
check "the command finds the library" runs "$own/bin/cartograph" exec "$work/bare"

# The help and completions from the command's own definition.
manual() { grep -q '^\.TH' "$1" && grep -qF "$2" "$1"; }
# The answer of bash to a tab.
completes() {
    bash -c 'source "$1" && COMP_WORDS=(cartograph pl) COMP_CWORD=1 && _cartograph cartograph pl cartograph &&
        [ "${COMPREPLY[*]}" = plan ]' bash "$own/share/bash-completion/completions/cartograph"
}
check "the manual names the commands" manual "$own/share/man/man1/cartograph.1" 'cartograph\-plan(1)'
check "the manual names the variables" manual "$own/share/man/man1/cartograph.1" CARTOGRAPH_REORDER
check "the manual of a part names its options" manual "$own/share/man/man1/cartograph-plan.1" '\-\-nodes'
check "bash completes" completes

# Of libraries packaging/try.sh finds out, which builds them anew.
check "no text names the building machine" unmarked "$own" -I -e "$top" -e "$HOME"

# Elsewhere.
moved=$(realpath "$work")/moved
mv "$own" "$moved"
include=$moved/include
export PKG_CONFIG_LIBDIR=$moved/lib/pkgconfig
check "a program is linked with what was moved" builds "$work/after" $(pkg-config --cflags --libs "cartograph-$host") -lm
check "it loads what was moved" loads "$moved" "$work/after"

# CMake, which asks an MPI's wrapper: Open MPI stands for all.
if [ "$host" = openmpi ]; then
    mkdir "$work/cmake"
    cat >"$work/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(uses_cartograph C)
find_package(Cartograph 0.1 REQUIRED COMPONENTS openmpi)
find_package(Cartograph 99 QUIET)
if(Cartograph_FOUND)
  message(FATAL_ERROR "this is no version 99")
endif()
find_package(Cartograph QUIET COMPONENTS nompi)
if(Cartograph_FOUND)
  message(FATAL_ERROR "there is no host nompi")
endif()
find_package(Cartograph REQUIRED)
add_executable(shared $top/c_tests/tool/tool_calls.c)
target_link_libraries(shared Cartograph::cartograph m)
add_executable(archived $top/c_tests/tool/tool_calls.c)
target_link_libraries(archived Cartograph::openmpi_static)
END
    configures() {
        cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$moved" &&
            cmake --build "$work/cmake/build"
    }
    check "CMake builds with it" configures
    check "it loads the library" loads "$moved" "$work/cmake/build/shared"
    check "it runs" runs "$work/cmake/build/shared"
    check "with the archive as well" runs "$work/cmake/build/archived"
fi

# Staged: nothing knows of the stage, and a view of it links.
stage=$work/stage
include=$stage/usr/include
check "make install PREFIX=/usr DESTDIR=" installs PREFIX=/usr DESTDIR="$stage"
check "its files in the stage" files "$stage/usr"
check "no file names the stage" unmarked "$stage" -e "$stage"
export PKG_CONFIG_LIBDIR=$stage/usr/lib/pkgconfig
check "a program is linked in the stage" builds "$work/staged" $(pkg-config --libs "cartograph-$host") -lm
check "it runs in the stage" runs "$work/staged"
mkdir -p "$stage/usr/share/zsh/site-functions"
check "make uninstall" make -C "$top" --no-print-directory uninstall PREFIX=/usr DESTDIR="$stage"
check "it leaves no file" test -z "$(find "$stage/usr" ! -type d)"
check "nor a directory of its own" test -z "$(find "$stage/usr" -iname '*cartograph*')"
check "directories that others use stay" test -d "$stage/usr/share/zsh/site-functions"

verdict "test-install, $host"
