#!/usr/bin/env bash
# test-report.sh HOST: a report is there however the job ends, says what there was, and is written where it may be.
. "$(dirname "$0")/checks.sh"
lib=$lib/libcartograph.so
tool=$top/build/bin/cartograph
program=$work/reported
$cc -g -O1 -Wall -o "$program" c_tests/reorder/reported.c
evidence=("$work/out" "$work/err")
# Nobody needs the core dumps of programs that are meant to abort.
ulimit -c 0

# run REPORT WAY [COUNT]: on four processes, from the directory $work/here.
mkdir "$work/here"
run() {
    local report=$1
    shift
    # After mpiexec, so that the launcher itself is left alone.
    (cd "$work/here" && $launch 4 env "CARTOGRAPH_REPORT=$report" "LD_PRELOAD=$lib:${YIELD:-}" "$program" "$@") \
        >"$work/out" 2>"$work/err"
}
fails() { ! "$@"; }
# tells FILE COUNT: the grid of all and COUNT (a pattern) of the upper half.
tells() {
    "$tool" show "$1" >"$work/shown" || return
    local times=""
    [ "$2" = 1 ] || times=", $2 times"
    grep -q '^Cartograph .*: 4 processes on one node of 4, ' "$work/shown" \
        && grep -q '^MPI_Cart_create: grid 4, periodic, 4 of 4 processes' "$work/shown" \
        && grep -qE "^MPI_Cart_create$times: grid 2, periodic, 2 of 2 processes" "$work/shown" \
        && [ "$(grep -c '^MPI_Cart_create' "$work/shown")" = 2 ]
}
is_json() { python3 -c 'import json, sys; [json.load(open(name)) for name in sys.argv[1:]]' "$@"; }

for way in end abort crash; do
    file=$work/$way.json
    ends=(run)
    [ $way = end ] || ends=(fails run)
    check "$way: ends so" "${ends[@]}" "$file" $way
    check "$way: two processes have written JSON" is_json "$file" "$file.2"
    check "$way: what was made is told" tells "$file" 1
    check "$way: nothing else is left" [ "$(cd "$work" && ls $way.json*)" = "$way.json
$way.json.2" ]
done
check "a thousand of a kind" run "$work/many.json" end 1000
check "are counted" tells "$work/many.json" 1000
check "a thousand and an abort" fails run "$work/more.json" abort 1000
# Some processes are ended as by MPI_Finalize.
check "are counted up to a power of two at least" tells "$work/more.json" "(512|1000)"
# Of a program that makes nothing rank 0 says so, by its host's library and by the one for every MPI, which loads that
# when the process ends.
for lib in "$lib" "$top/build/lib/libcartograph.so"; do
    rm -f "$work/none.json"
    check "nothing is made" run "$work/none.json" none
    check "is told in a file" is_json "$work/none.json"
    check "of rank 0" [ "$(cd "$work" && ls none*)" = none.json -a ! -s "$work/err" ]
    "$tool" show "$work/none.json" >"$work/shown"
    check "how many processes there were" grep -q '^Cartograph .*: 4 processes, ' "$work/shown"
    check "and what to do" grep -q '^rank 0 has created no topology; .*cartograph exec --record' "$work/shown"
    check "again" run "$work/none.json" none
    check "not a word more" [ ! -s "$work/err" ]
    echo '{}' >"$work/none.json"
    check "what another wrote" run "$work/none.json" none
    check "stays" [ "$(cat "$work/none.json")" = '{}' ]
    check "and it is told on stderr" [ "$(grep -cE '^(Cartograph .*: 4 processes|rank 0 has created no)' "$work/err")" = 2 ]
    check "on stderr" run 1 none
    check "once" [ "$(grep -cE '^(Cartograph .*: 4 processes|rank 0 has created no)' "$work/err")" = 2 -a "$(wc -l <"$work/err")" = 2 ]
    # Children that it forks are not it, nor programs without MPI.
    check "children" run 1 children
    check "say nothing" [ "$(grep -c 'has created no' "$work/err")" = 1 ]
done
lib=$top/build/$host/lib/libcartograph.so

# As text: on stderr, and in a file.
check "on stderr" run 1 end 3
lines() { [ "$(grep -cE "$1" "$2")" = "$3" ] || { cat "$2" && return 1; }; }
check "a head of each process that tells" lines '^Cartograph [0-9.]+( on rank 2)?: 4 processes on one node of 4, ' "$work/err" 2
check "each topology once" lines '^MPI_Cart_create: grid' "$work/err" 2
check "and its number at the end" lines '^MPI_Cart_create, 3 times in all: grid 2, periodic, 2 of 2 processes; ' "$work/err" 1
check "on stderr, and an abort" fails run 1 abort
check "each topology is there" lines '^MPI_Cart_create: grid' "$work/err" 2
echo "what was there" >"$work/text"
check "in a file" run "$work/text" end 3
check "of rank 0" lines '^(Cartograph .*: 4 processes|MPI_Cart_create: grid 4,|  ranks kept)' "$work/text" 3
check "and nothing else" [ "$(wc -l <"$work/text")" -le 4 ]
own="^  nonblocking and persistent neighborhood collectives are the MPI's own"
check "nowhere where neighbors are different processes" lines "$own" "$work/text" 0
check "where a process is a neighbor twice" lines "$own\$" "$work/text.2" 1
check "of rank 2" lines '^(Cartograph .* on rank 2: |MPI_Cart_create: grid 2,|MPI_Cart_create, 3 times in all: )' "$work/text.2" 3

# A launcher of another MPI makes each process a job of its own; what it tells them is told here.
foreign=OMPI_COMM_WORLD_SIZE
case $host in openmpi*) foreign=PMI_SIZE ;; esac
foreign() {
    $launch 1 env $foreign=4 CARTOGRAPH_REPORT=1 "LD_PRELOAD=$lib:${YIELD:-}" "$program" >"$work/out" 2>"$work/err"
}
check "each process a job of its own" foreign
check "said once" lines "warning: MPI_COMM_WORLD has one process, but .* started 4 .$foreign.: start" "$work/err" 1

# Where it is written.
check "a relative name" run here.json moves
check "is meant where the program started" tells "$work/here/here.json" 1
echo untouched >"$work/target"
for name in link.json link.text; do
    ln -s "$work/target" "$work/$name"
    check "$name: runs" run "$work/$name" end
    check "$name: is not followed" [ "$(cat "$work/target")" = untouched -a -L "$work/$name" ]
    check "$name: is said once" lines "$name cannot be written: it is a symbolic link" "$work/err" 1
    check "$name: comes on stderr" lines '^MPI_Cart_create: grid 4' "$work/err" 1
done
mkfifo "$work/pipe" "$work/pipe.json"
for name in pipe pipe.json /nowhere/x.json /nowhere/x; do
    check "$name: runs" run "$(cd "$work" && realpath -m "$name")" end
    check "$name: is said once of rank 0" lines "$name cannot be written: " "$work/err" 1
    check "$name: comes on stderr" lines '^MPI_Cart_create: grid 4' "$work/err" 1
done

# SECURITY.md: no network but the program's MPI, and nothing is written that was not named.
networks() {
    ! nm -D --undefined-only "$1" | grep -wE 'socket|connect|bind|listen|accept4?|getaddrinfo|sendto|sendmsg'
}
for one in "$lib" "$(dirname "$lib")/libcartograph_record.so" build/lib/libcartograph.so.0; do
    check "${one##*/} knows no network" networks "$(realpath "$one")"
done
writes_nothing() {
    mkdir "$work/empty"
    (cd "$work/empty" && HOME=$work/empty $launch 4 env "LD_PRELOAD=$lib:${YIELD:-}" "$program" end) &&
        [ -z "$(ls -A "$work/empty")" ]
}
check "a run leaves nothing behind" writes_nothing

# A program that runs with more rights than whoever starts it: nobody's, started by daemon. Open MPI's processes
# must be able to write where its launcher, which is root's, keeps the job's files, and these are not.
as_daemon() { (cd "$work/open" && "$@") >"$work/out" 2>"$work/err"; }
if [[ $host = openmpi* ]]; then
    :
elif [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 711 "$work"
    mkdir -m 777 "$work/open"
    cp "$lib" "$work/open/libcartograph.so.0"
    ln -s libcartograph.so.0 "$work/open/libcartograph.so"
    chmod 755 "$work/open/libcartograph.so.0"
    $(scripts/host.sh "$host" cc) -g -O1 -Wall -o "$work/open/plain" c_tests/reorder/reported.c \
        -Wl,--no-as-needed -L "$work/open" -lcartograph "-Wl,-rpath,$work/open"
    cp "$work/open/plain" "$work/open/setuid"
    chown nobody "$work/open/setuid"
    chmod 4755 "$work/open/setuid"
    for kind in plain setuid; do
        check "$kind: runs" as_daemon $launch 1 env "CARTOGRAPH_REPORT=$work/open/$kind.json" \
            CARTOGRAPH_REORDER=wrong setpriv --reuid daemon --regid daemon --clear-groups "$work/open/$kind"
    done
    check "plain: reports" test -s "$work/open/plain.json"
    check "setuid: does not" test ! -e "$work/open/setuid.json" -a ! -s "$work/err"
else
    echo "test-report: no test of a setuid program: that takes root and setpriv"
fi

verdict "test-report, $host"
