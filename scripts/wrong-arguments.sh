#!/usr/bin/env bash
# wrong-arguments.sh [COLUMN...]: makes every wrong call of c_tests/errors/errors.c, each in a run of its own
# on four processes, under Cartograph and on each host alone, and writes what came of them to
# docs/wrong-arguments.md. It takes about half an hour, because each launch of some hosts takes
# seconds and many of the calls hang on some host.
#
# Columns are cartograph, mpich, openmpi, mpich5 and openmpi5. With some of them as arguments only
# these are made anew; of the others only the cases that were not there before.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
# abi is mpich5's code under another binary interface.
columns=(cartograph mpich openmpi mpich5 openmpi5)
processes=4 seconds=10
page=docs/wrong-arguments.md
# A file a column, with the lines "case, tab, outcome".
kept=$top/build/wrong-arguments
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ulimit -c 0

# The host that a column is about; Cartograph does the same on all.
host_of() { [ "$1" = cartograph ] && echo mpich || echo "$1"; }
launch() { timeout -k 2 "$seconds" $(scripts/host.sh "$1" exec) "$2" "${@:3}"; }

# outcome COLUMN CASE: what came of it, in one line. Of what Cartograph accepts also what comes of it where
# everything is checked, if that is something else.
outcome() {
    local accepted checked
    if [ "$1" != cartograph ]; then
        outcome_of "$@"
        return
    fi
    accepted=$(outcome_of "$@")
    checked=$accepted
    [ "$accepted" != success ] || checked=$(outcome_of "$@" CARTOGRAPH_CHECK=all)
    [ "$checked" = "$accepted" ] && echo "$accepted" || echo "$accepted; checked: $checked"
}

# outcome_of COLUMN CASE [SETTING]: what came of it with a setting, in one line.
outcome_of() {
    local host status=0 said env=() out=$work/out.$1
    host=$(host_of "$1")
    # After mpiexec, so that the launcher itself is left alone.
    [ "$1" != cartograph ] || env=(env "LD_PRELOAD=$top/build/$host/lib/libcartograph.so" "${@:3}")
    launch "$host" "$processes" "${env[@]}" "$kept/errors.$host" "$2" >"$out" 2>/dev/null </dev/null ||
        status=$?
    # Launchers add lines of their own, and of several ranks that crash each says so.
    said=$(grep -m 1 -E '^(success|MPI_ERR_|error class|different errors|crash)' "$out" || true)
    if [ "$status" = 124 ] || [ "$status" = 137 ]; then
        echo "${said:+$said, then }hang"
    elif [ -z "$said" ]; then
        echo "abort"
    elif [ "$status" != 0 ] && [[ $said != crash* ]]; then
        echo "$said, then abort"
    else
        echo "$said"
    fi
}

# make_column COLUMN: an outcome for every case that has none.
make_column() {
    local case line
    touch "$kept/$1"
    while IFS= read -r case; do
        line=$(grep -F -m 1 "$case"$'\t' "$kept/$1" || true)
        [ "${line%%$'\t'*}" = "$case" ] || line=$case$'\t'$(outcome "$1" "$case")
        echo "$line"
    done <"$work/cases" >"$work/$1"
    mv "$work/$1" "$kept/$1"
}

mkdir -p docs "$kept"
for column in "${columns[@]:1}"; do
    $(scripts/host.sh "$column" cc) -g -O1 -Wall -pthread -o "$kept/errors.$column" c_tests/errors/errors.c
done
launch mpich "$processes" "$kept/errors.mpich" list >"$work/cases"
anew=("$@")
[ $# -gt 0 ] || anew=("${columns[@]}")
for column in "${anew[@]}"; do rm -f "$kept/$column"; done
# Two at a time keep even a small machine from taking slow calls for hanging ones.
for column in "${columns[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    make_column "$column" &
done
wait

cells() {
    local IFS='|'
    echo "|$*|" | sed 's/|/ | /g; s/^ //; s/ $//'
}
# fatal COLUMN...: how many calls make one of them at least hang, crash or abort.
fatal() {
    (cd "$kept" && awk -F '\t' '$2 ~ /hang|crash|abort/ { print $1 }' "$@") | sort -u | grep -cFxf "$work/cases" || true
}
names=(call Cartograph) dashes=(--- ---)
for column in "${columns[@]:1}"; do
    version=$(launch "$column" 1 "$kept/errors.$column" version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
    names+=("$column ($version)") dashes+=(---)
done
{
    cat <<END
# Wrong arguments

Of $(wc -l <"$work/cases") calls $(fatal "${columns[@]:1}") make one of the hosts at least hang, crash or abort; under Cartograph it is $(fatal cartograph).

What comes of wrong calls on $processes processes, under Cartograph and on each host alone. A name is the
error class that the call returned on all ranks, *success* a call that was accepted. *hang* is a rank
that had not returned after $seconds seconds, *abort* a host that ended the program although errors were to
be returned. "On one rank" is a call that is wrong on the last rank only; n is the number of processes.
A few calls, marked as right, are here because some host fails in them.

What every host runs with sensible answers, runs under Cartograph as well, although the standard forbids it:
a program that does so is none the worse. Where the table has *checked*, CARTOGRAPH_CHECK makes an error of it;
its words, with commas between them, are

- \`edges\`: each edge of MPI_Dist_graph_create_adjacent is given at both ends, with one weight;
- \`weights\`: MPI_UNWEIGHTED is for all ranks or for none;
- \`arguments\`: periods, index and edges are the same on all ranks, and the reorder of adjacent graphs;
- \`all\`: all of these.

Where ranks differ in the variable, rank 0's counts. The report says which were broken. With differing
periods, index or edges nobody is moved; each process has what it passed.

What every host accepts and Cartograph does not is without a sensible answer: grids of which ranks have
different ideas of the dimensions, graphs of different numbers of nodes, different constructors on one
communicator, edges to nodes that are not there (also in MPI_Graph_map), and negative dims in MPI_Cart_map.

Under Cartograph every error reaches every rank that made the call, through the error handler of the
communicator, with a text that names the function, the argument and the numbers, as in "MPI_Cart_create:
on rank 3: dims[0] is 1, but 4 on rank 0; it must be the same on all ranks". The tests check it for all
of these calls.

\`scripts/wrong-arguments.sh\` writes this page; the calls are those of \`c_tests/errors/errors.c\`.

END
    cells "${names[@]}"
    cells "${dashes[@]}"
    while IFS= read -r case; do
        row=("$case")
        for column in "${columns[@]}"; do
            row+=("$(awk -F '\t' -v "case=$case" '$1 == case { print $2 }' "$kept/$column")")
        done
        cells "${row[@]}"
    done <"$work/cases"
} >"$work/page"
mv "$work/page" "$page"
