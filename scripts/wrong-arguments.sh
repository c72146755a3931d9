#!/usr/bin/env bash
# wrong-arguments.sh [COLUMN...]: makes every wrong call of c_tests/errors/errors.c, each in a run of its own
# on four processes, under Cartograph and on each host alone, and writes what came of them to
# bench/results/wrong-arguments.json. It takes about half an hour, because each launch of some hosts takes
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

mkdir -p "$kept"
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

# cells WORD...: a line of a table.
cells() {
    local IFS='|'
    echo "$*"
}
# count WORDS FILE...: how many of the calls make one of them end in one of the words.
count() {
    (cd "$kept" && awk -F '\t' -v words="$1" '$2 ~ words { print $1 }' "${@:2}") | sort -u | grep -cFxf "$work/cases" || true
}
names=(Cartograph)
for column in "${columns[@]:1}"; do
    version=$(launch "$column" 1 "$kept/errors.$column" version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
    names+=("$column ($version)")
done
put() { scripts/put-results.sh wrong-arguments "$1" scripts/wrong-arguments.sh; }
{
    cells call "${names[@]}"
    while IFS= read -r case; do
        row=("$case")
        for column in "${columns[@]}"; do
            row+=("$(awk -F '\t' -v "case=$case" '$1 == case { print $2 }' "$kept/$column")")
        done
        cells "${row[@]}"
    done <"$work/cases"
} | put Calls
{
    cells "of $(wc -l <"$work/cases") calls" "${names[@]}" "any MPI"
    for words in hang crash abort "hang|crash|abort"; do
        row=("${words//|/, }")
        for column in "${columns[@]}"; do row+=("$(count "$words" "$column")"); done
        cells "${row[@]}" "$(count "$words" "${columns[@]:1}")"
    done
} | put Summary
