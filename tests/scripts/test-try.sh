#!/usr/bin/env bash
# test-try.sh HOST: cartograph try finds out which of the programs of c_tests/try stand being moved, and why the others do
# not: as LAMMPS, PETSc and CP2K.
. "$(dirname "$0")/checks.sh"
launch="$(scripts/host.sh "$host" exec) 6"
for program in right old_communicator old_data not_asked table two file; do
    $cc -g -O1 -w -o "$work/$program" "$top/c_tests/try/$program.c"
done
evidence=("$work/out" "$work/err")
mkdir "$work/here"

# tries CODE PROGRAM [wrong] OPTION...: what try says is in $work/out and $work/err.
tries() {
    local code=0 wrong=
    if [ "${3:-}" = wrong ]; then wrong=wrong && set -- "$1" "$2" "${@:4}"; fi
    (cd "$work/here" && timeout -k 5 300 env ${YIELD:+LD_PRELOAD="$YIELD"} "$top/build/bin/cartograph" try --mpi "$host" \
        "${@:3}" $launch "$work/$2" $wrong) >"$work/out" 2>"$work/err" || code=$?
    test "$code" = "$1"
}
says() { grep -qF "$1" "$work/out" || grep -qF "$1" "$work/err"; }

check "a right program stands being moved" tries 0 right
check "it was moved" says "the same; moved by MPI_Cart_create"
check "with rank 0 and without" says "moved at random, rank 0 too ("
check "what was compared is said" says "compared: exit code, stdout, no files, since none below this directory is written"
check "and what was not" says "not compared: stderr, the order of lines"
check "what is right for it is said" says "CARTOGRAPH_REORDER=all is right for it"
check "a table of times, of which rows come and go, is no difference" tries 0 table
check "it says what it leaves aside" says 'the order of lines, and what differs from run to run: "stdout: routine_'
check "what is wrong beside such a table is found" tries 1 table wrong
check "and named" says "sum "
check "one that writes a wrong file does not" tries 1 file --runs 10
check "which is named" says 'result.bin: bytes with the hash'
sum=$(cksum <"$work/here/result.bin")
check "it runs alone" sh -c "cd $work/here && exec $launch $work/file"
check "the right one was left behind" test "$(cksum <"$work/here/result.bin")" = "$sum"
rm "$work/here/result.bin"
check "one like LAMMPS does not" tries 1 old_communicator --seconds 8 --runs 10
check "by grids" says "does not work when processes are moved by MPI_Cart_create: it has not ended after 8 s"
check "in which it is not moved" says "Run it with CARTOGRAPH_REORDER=off"
check "one like PETSc does not" tries 1 old_data --runs 10
check "its answers are wrong" says '" instead of "stdout: '
check "without distributed graphs it does" says "With CARTOGRAPH_REORDER=on, which moves nobody by distributed graphs"
check "one with a grid and a graph does not" tries 1 two --runs 10
check "by its graph alone" says "It is right where MPI_Graph_create moves nobody"
check "one like CP2K stands what it asked for" tries 0 not_asked
check "nobody was moved" says "no process was moved"
check "and no more" tries 1 not_asked --always --runs 10
check "it says what the program says" says "Got different MPI process grid"
check "and what is right for it" says "With CARTOGRAPH_REORDER=all, which moves nobody where the program passes reorder = 0, it is right; nobody is"

# One like SPARC mends the pairing of blocks itself, under another name than those that are known. MPICH 5 is right alone.
if [ "$host" != mpich5 ]; then
    $cc -g -O1 -w -DGradient_vec_dir=exchange -o "$work/pairs_itself" "$top/c_tests/neighbor/pairs_itself.c"
    six=$launch launch="${launch% *} 2"
    check "one like SPARC" tries 0 pairs_itself
    check "what is right for it is found" says "no process moved, CARTOGRAPH_PAIRING=host (off): the same"
    check "and said" says "it needs CARTOGRAPH_PAIRING=host"
    launch=$six
fi

# With one process nobody can be moved.
many=$launch launch=${launch% *}\ 1
check "one process" tries 0 old_data
check "nothing is blamed" says "no process was moved"
launch=$many

# Ctrl-C ends the job, which waits for messages that went to others.
interrupted() {
    (cd "$work/here" && exec env ${YIELD:+LD_PRELOAD="$YIELD"} "$top/build/bin/cartograph" try --mpi "$host" --runs 10 \
        $launch "$work/old_communicator") >"$work/out" 2>"$work/err" &
    local try=$! code=0 count=0
    until says "(off): the same" || [ $((count += 1)) = 600 ]; do sleep 0.1; done
    # By then the next, which hangs, has begun.
    sleep 3
    pgrep -f "$work/old_communicator" >/dev/null || return
    kill -INT $try
    wait $try || code=$?
    [ $code = 130 ] && says "cartograph: interrupted" && ! pgrep -f "$work/old_communicator"
}
check "Ctrl-C ends the job" interrupted

verdict "test-try, $host"
