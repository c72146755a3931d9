#!/usr/bin/env bash
# test-spawn.sh HOST: children of MPI_Comm_spawn have the library where it is preloaded into the launcher, as docs/using.md
# says, whose environment they get. Not where the host alone does not start any here.
. "$(dirname "$0")/checks.sh"
$cc -O1 -Wall -Wextra -o "$work/spawn" c_tests/lifetime/spawn.c
launch="${launch/120/30} 2"
yield=${YIELD:+:$YIELD}
# prints EXPECTED COMMAND...: what the four say, in any order.
prints() {
    local expected=$1
    shift
    "$@" >"$work/out" 2>"$work/said" || return
    diff <(printf "$expected\n" | sort) <(sort "$work/out")
}
evidence=("$work/out" "$work/said")
if ! LD_PRELOAD=${YIELD:-} prints 'parent: the host\nparent: the host\nchild: the host\nchild: the host\na grid of 4' \
    $launch "$work/spawn"; then
    echo "ignored: $host alone starts no children here"
    exit
fi
for library in "$lib/libcartograph.so" "$top/build/lib/libcartograph.so"; do
    LD_PRELOAD=$library$yield check "parents and children make a grid, ${library#"$top/"}" \
        prints 'parent: Cartograph\nparent: Cartograph\nchild: Cartograph\nchild: Cartograph\na grid of 4' $launch "$work/spawn"
done
verdict "test-spawn, $host"
