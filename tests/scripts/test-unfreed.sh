#!/usr/bin/env bash
# test-unfreed.sh HOST: a program that does not free its topologies ends as on the bare host, which finds nothing of the
# library's left.
. "$(dirname "$0")/checks.sh"
$cc -g -O1 -Wall -o "$work/unfreed" c_tests/neighbor/neighbor_unfreed.c
for processes in 1 2 4; do
    for way in "" CARTOGRAPH_NEIGHBOR=alltoall CARTOGRAPH_NEIGHBOR=graph; do
        check "$processes processes, $way: runs" bash -c \
            "$launch $processes env $way LD_PRELOAD=$lib/libcartograph.so $work/unfreed >$work/out 2>&1"
        check "$processes processes, $way: nothing is left" [ "$(grep -ci leaked "$work/out")" = 0 ]
    done
done
verdict "test-unfreed, $host"
