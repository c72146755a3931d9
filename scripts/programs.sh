#!/usr/bin/env bash
# programs.sh [DIRECTORY] [try|jobs]: measures public programs on the nodes of scripts/nodes.sh: as they are, under Cartograph, and
# as `cartograph tune` has found; and writes the tables of lab/results/programs.json. LAMMPS and PETSc's example are Debian's;
# the others you have built with Debian's Open MPI and put into DIRECTORY. scripts/programs-cases.sh says which they are; one
# that is not there is left out.
# With try, asks `cartograph try` on this machine whether they may be moved, and writes that table. With jobs, starts each as
# jobs by `cartograph run` beside as many without, in turn, and writes that table.
#
# RATE, REPETITIONS (of jobs JOBS, 6) and ONLY (words of the titles of cases, with |) in the environment change what is measured; PATIENCE, after
# how many seconds a run has failed. Needs root, the command, and the library built for openmpi; make programs builds both.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cartograph=$top/build/bin/cartograph results=$top/build/pure/tool/results
repetitions=${REPETITIONS:-5} only=${ONLY:-.} rate=200mbit
. "$top/scripts/nodes.sh"
. "$top/scripts/programs-cases.sh"
patience=${PATIENCE:-120}
export OMP_NUM_THREADS=1 LC_ALL=C

# Where a program is, if it is anywhere.
where() { PATH=$programs:$top/build/programs:$top/build/openmpi/lib:$PATH command -v "$1" || true; }

# Compiles PETSc's example, of which Debian has the source.
compile() {
    local source
    source=$(ls /usr/share/petsc/*/share/petsc/examples/src/ksp/ksp/tutorials/ex45.c 2>/dev/null | tail -n 1)
    [ -n "$source" ] && [ -z "$(where ex45)" ] || return 0
    mkdir -p "$top/build/programs"
    mpicc.openmpi -O2 -w -o "$top/build/programs/ex45" "$source" $(pkg-config --cflags --libs PETSc) -lm
}

# line OPTIONS...: the launcher's command line into the array command, for $count processes, $each of a node.
line() { command=("${launch[@]::${#launch[@]}-4}" "$@" --host "${slots//:$ppn/:$each}" -n "$count"); }

# run WAY DIRECTORY PROGRAM ARGUMENTS: runs it in the directory, by WAY, and leaves there what it said.
run() {
    local way=$1 at=$2 program options=() under=() by=()
    program=$(where "$3")
    case $way in
    learns) by=(env CARTOGRAPH_STORE="$at.store" "$cartograph" run) ;;
    recorded) under=("$cartograph" exec --record "$at.traffic") ;;
    default) under=("$cartograph" exec) ;;
    turn) options=(--map-by node) ;;
    turn-default) options=(--map-by node) under=("$cartograph" exec) ;;
    bytes) options=(--rankfile "$at.ranks") ;;
    tuned)
        if [ -e "$at.tuned.ranks" ]; then
            options=(--rankfile "$at.tuned.ranks")
        else
            under=("$cartograph" exec --profile "$at.tuned.json")
        fi
        ;;
    esac
    rm -rf "$at"
    mkdir "$at"
    cd "$at"
    inputs
    line "${options[@]}"
    "${by[@]}" "${command[@]}" "${under[@]}" "$program" "${@:4}" >said 2>&1 </dev/null
}

# measure TITLE WAY NUMBER PROGRAM ARGUMENTS: adds to results the case, the way, the seconds and the bytes on all wires
# and from the node that sends most; a run that fails or says something else than the first adds "fails" or "differs".
measure() {
    local title=$1 way=$2 at=/dev/shm/case$3 time
    sent >/dev/shm/before
    if ! run "$way" "$at" "${@:4}"; then
        echo "$title|$way|fails" >>/dev/shm/results
        echo "$title, $way: fails" >&2
        tail -n 5 "$at/said" >&2
        return
    fi
    sent >/dev/shm/after
    time=$(seconds "$4")
    answers "$4" >"$at.found"
    [ -n "$time" ] && [ -s "$at.found" ] || refuse "$title ($way) printed: $(tail -n 20 "$at/said")"
    [ -e "$at.expected" ] || cp "$at.found" "$at.expected"
    if ! cmp -s "$at.expected" "$at.found"; then
        echo "$title|$way|differs" >>/dev/shm/results
        diff "$at.expected" "$at.found" | head -n 5 >&2
    fi
    result "$title" "$way" "$time" | tee -a /dev/shm/results >&2
}

# learn TITLE NUMBER PROGRAM ARGUMENTS: records a run, predicts the times of placements, and makes a rank file by bytes.
learn() {
    local at=/dev/shm/case$2 file
    run recorded "$at" "${@:3}" || refuse "$1 (recorded) failed: $(tail -n 20 "$at/said")"
    "$cartograph" plan --traffic "$at.traffic" --json >"$at.predicted"
    # Without the calls bytes decide.
    mkdir "$at.bytes"
    for file in "$at.traffic"/*; do
        awk '/^{"window"/ { next }
            { lines[++n] = $0 }
            /^{"process"/ { head = n; next }
            NF { count[head]++ }
            END {
                for (i = 1; i <= n; i++) {
                    if (lines[i] ~ /^{"process"/)
                        sub(/"lines":[0-9]+/, "\"lines\":" count[i] + 0, lines[i])
                    print lines[i]
                }
            }' "$file" >"$at.bytes/${file##*/}"
    done
    "$cartograph" plan --traffic "$at.bytes" --objective max --rankfile openmpi "$at.ranks" >/dev/null
    # A slot is a core, of which this machine has fewer than processes; they are left to the system. Plain nproc tells
    # OMP_NUM_THREADS.
    sed -i "s/slot=.*/slot=0-$(($(nproc --all) - 1))/" "$at.ranks"
}

# tune TITLE NUMBER PROGRAM ARGUMENTS: lets Cartograph find the fastest placement, as a user would.
tune() {
    local at=/dev/shm/case$2 ignored=() clock=()
    rm -rf "$at"
    mkdir "$at"
    cd "$at"
    inputs
    line
    case $3 in
    # Where its first process is.
    comb) ignored=(--ignore "Cart coords") ;;
    # PETSc's log of times.
    ex45)
        ignored=(--ignore " 1.0 " --ignore Flops/sec --ignore "Main Stage" --ignore "Average time" --ignore "Time (sec)")
        clock=(--time "KSPSolve +[0-9]+ +[0-9.]+ +([^ ]+)")
        ;;
    esac
    CARTOGRAPH_STORE=$at.store "$cartograph" tune --seconds "$patience" --profile "$at.tuned.json" "${clock[@]}" "${ignored[@]}" -- \
        "${command[@]}" -- "$(where "$3")" "${@:4}" >"$at.said" 2>&1 </dev/null || echo "$1: tune fails" >&2
    sed "s/^/$1: /" "$at.said" >&2
    awk -v title="$1" '/: [0-9.]+x faster than|^no (placement is predicted|significant speedup|variant is faster)|^cartograph:/ {
        sub(/ (to beat|than) the default.*/, ""); sub(/^no significant speedup.*/, "no significant speedup"); said = $0 }
        END { print title "|found|" said }' "$at.said" >>/dev/shm/notes
}

inside() {
    local repetition number=0 title links moves size program arguments way ways began=$SECONDS
    make_nodes
    : >/dev/shm/results
    : >/dev/shm/notes
    # One program after the other, so that its runs are near each other in time.
    while IFS='|' read -r title links moves size arguments; do
        program=${arguments%% *}
        number=$((number + 1))
        [ -n "$(where "$program")" ] && grep -qE -e "$only" <<<"$title" || continue
        read -r count each <<<"$size"
        limit "${RATE:-$links}"
        echo "$title|links|${RATE:-$links}" >>/dev/shm/notes
        learn "$title" $number $arguments
        # The predicted speed, relative to the order of the launcher; "by bytes" is that of the fewest bytes.
        sed 's/{"order"/\n&/g' /dev/shm/case$number.predicted | awk -F '"seconds":|,"busiest":|}' -v title="$title" '
            !/^{"order"/ { next }
            !now { now = $2 }
            $1 ~ /"round-robin"/ { turn = $2 }
            !least || $3 < least { least = $3; bytes = $2 }
            END { printf "%s|predicted round-robin|%.2f\n%s|predicted by bytes|%.2f\n", title, now / (turn ? turn : now), title, now / (bytes ? bytes : now) }
        ' >>/dev/shm/notes
        tune "$title" $number $arguments
        ways="alone default turn bytes"
        [ "$moves" = stays ] || ways+=" turn-default"
        [ ! -e /dev/shm/case$number.tuned.json ] || ways+=" tuned"
        for ((repetition = 0; repetition < repetitions; repetition++)); do
            for way in $ways; do measure "$title" $way $number $arguments; done
        done
    done < <(cases)
    [ -s /dev/shm/results ] || refuse "none of the programs is here; scripts/programs-cases.sh says which they are"
    "$results" make programs "make lab-programs" /dev/shm/results /dev/shm/notes
    echo "it took $((SECONDS - began)) seconds" >&2
}

# Jobs that learn and others, in turn: each is the first of a pair by turns.
inside_jobs() {
    local job number=0 title links moves size program arguments way began=$SECONDS started
    make_nodes
    : >/dev/shm/results
    : >/dev/shm/notes
    while IFS='|' read -r title links moves size arguments; do
        program=${arguments%% *}
        number=$((number + 1))
        [ -n "$(where "$program")" ] && grep -qE -e "$only" <<<"$title" || continue
        read -r count each <<<"$size"
        limit "${RATE:-$links}"
        echo "$title|links|${RATE:-$links}" >>/dev/shm/notes
        for ((job = 0; job < ${JOBS:-6}; job++)); do
            way=$([ $((job % 2)) = 0 ] && echo "alone learns" || echo "learns alone")
            for way in $way; do
                started=$EPOCHREALTIME
                measure "$title" "$way" $number $arguments
                echo "$title|$way launched|$(awk "BEGIN { print $EPOCHREALTIME - $started }")" >>/dev/shm/results
                grep '^cartograph: ' "/dev/shm/case$number/said" >&2 || true
            done
        done
    done < <(control && cases)
    "$results" make jobs "make lab-jobs" /dev/shm/results /dev/shm/notes
    echo "it took $((SECONDS - began)) seconds" >&2
}

# Asks it, and writes a line of a table for each.
try_all() {
    local title ignored arguments program code line words word ignore
    cd "$work/run"
    inputs
    compiled_inputs
    echo "program, 8 processes | exit code | what it says in the end" >../table
    while IFS='|' read -r title ignored arguments; do
        program=${arguments%% *}
        [ -n "$(where "$program")" ] && grep -qE -e "$only" <<<"$title" || continue
        code=0 ignore=()
        IFS=, read -ra words <<<"$ignored"
        for word in "${words[@]}"; do ignore+=(--ignore "$word"); done
        CARTOGRAPH_STORE=$work/store "$cartograph" try "${ignore[@]}" -- mpiexec.openmpi --allow-run-as-root --oversubscribe \
            --mca mpi_yield_when_idle 1 -n 8 -- "$(where "$program")" ${arguments#"$program"} >../said 2>&1 </dev/null || code=$?
        while read -r line; do echo "$title: $line"; done <../said >&2
        echo "| $title | $code | $(tail -n 1 ../said | sed 's/^cartograph: //; s/|/\\|/g') |" >>../table
    done < <(tried)
    cat ../table
    # Of some programs, a table of their own: the others' is of another day.
    [ "$only" = . ] && only= || only=" of $only"
    "$results" put programs "What cartograph try said$only" "make lab-programs" <../table
}

# Without a directory, those that are installed.
programs=$(cd "${1:-/var/empty}" 2>/dev/null && pwd) || programs=/nowhere
[[ ${2:-} == inside* ]] || "$top/scripts/put-results.sh"
case ${2:-} in
inside*) $2 ;;
jobs) needs && compile && in_namespaces "$0" "$programs" inside_jobs ;;
try)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/run"
    try_all
    ;;
*) needs && compile && in_namespaces "$0" "$programs" inside ;;
esac
