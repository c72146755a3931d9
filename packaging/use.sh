#!/usr/bin/env bash
# use.sh PREFIX NAME MPICC LAUNCHER...: builds a program without any knowledge of Cartograph with an MPI's wrapper, and
# runs it with the files installed below PREFIX: with the library for every MPI preloaded, under `cartograph exec`, and,
# if files for compilers are installed, linked with the library for NAME with the output of pkg-config. LAUNCHER ends
# with its option for the number of processes. All recipes are tested in this way. If eztrace supports this MPI, it
# traces the program too.
#
# use.sh program FILE: only builds the program, with Open MPI's wrapper.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# For containers and chroots: root, and few processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
unset LD_PRELOAD PKG_CONFIG_PATH

cat >"$work/program.c" <<'END'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int dims[2] = { 0, 0 }, periods[2] = { 0, 0 }, size, rank, neighbors, sum = 0;
    int up, down, left, right;
    MPI_Comm grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    neighbors = (up >= 0) + (down >= 0) + (left >= 0) + (right >= 0);
    MPI_Reduce(&neighbors, &sum, 1, MPI_INT, MPI_SUM, 0, grid);
    if (rank == 0)
        printf("%d x %d, %d neighbors\n", dims[0], dims[1], sum);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
END
if [ "$1" = program ]; then
    mpicc.openmpi -o "$2" "$work/program.c"
    exit
fi
prefix=$1 name=$2 mpicc=$3
launch=("${@:4}" 4)
"$mpicc" -o "$work/bare" "$work/program.c"
PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
export PKG_CONFIG_LIBDIR

# runs WAY COMMAND...: checks that the result is right, and that the report shows that Cartograph computed it.
runs() {
    local way=$1
    shift
    CARTOGRAPH_REPORT=1 timeout -k 5 120 "${launch[@]}" "$@" >"$work/out" 2>"$work/err" &&
        grep -qx '2 x 2, 8 neighbors' "$work/out" && grep -q '^MPI_Cart_create: grid 2 x 2' "$work/err" || {
        echo "use.sh: $way on $name: failed" >&2
        cat "$work/out" "$work/err" >&2
        exit 1
    }
    echo "$way on $name: as it should be"
}
runs preloaded env "LD_PRELOAD=$prefix/lib/libcartograph.so.0" "$work/bare"
runs 'cartograph exec' "$prefix/bin/cartograph" exec "$work/bare"
mpi=$(ldd "$work/bare" | grep -om1 'libmpi[a-z]*\.so\.[0-9]*')
halo=$("$prefix/bin/cartograph" info | sed -n "s/^ *halo exchange for $mpi: //p" | head -n 1)
timeout -k 5 120 "${launch[@]}" "$halo" -n 3 64 64 >"$work/out" 2>&1 && grep -qx 'a grid of 2 x 2, 0 wrong' "$work/out" || {
    echo "use.sh: the halo exchange '$halo' on $name: failed" >&2
    cat "$work/out" >&2
    exit 1
}
# Whichever command starts the other, the tracer comes first: after Cartograph, it would end programs for communicators
# whose creation it has not seen.
traced() {
    rm -rf "$work/bare_trace"
    runs "$1" "${@:2}"
    [ "$(otf2-print "$work/bare_trace/eztrace_log.otf2" 2>/dev/null | grep -c '^ENTER .*"MPI_Cart_create"')" = 4 ] || {
        echo "use.sh: $1 on $name: not all calls are in the trace" >&2
        exit 1
    }
}
if [ -e "/usr/lib/$(uname -m)-linux-gnu/libeztrace-$name.so" ]; then
    cd "$work"
    traced 'cartograph exec eztrace' "$prefix/bin/cartograph" exec eztrace -t "$name" "$work/bare"
    traced 'eztrace cartograph exec' eztrace -t "$name" "$prefix/bin/cartograph" exec "$work/bare"
fi
[ -e "$PKG_CONFIG_LIBDIR/cartograph-$name.pc" ] || exit 0
# Not found by its path, so that its run path is what finds the library.
"$mpicc" -o "$work/linked" "$work/program.c" $(pkg-config --libs "cartograph-$name")
runs linked "$work/linked"
