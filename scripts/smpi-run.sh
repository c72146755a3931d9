#!/usr/bin/env bash
# smpi-run.sh RANKS [env LD_PRELOAD=LIBRARY] PROGRAM [ARGUMENTS]: runs a program on simulated nodes with eight ranks
# each, like mpiexec on real nodes.
#
# SMPI loads a copy of the program for each rank, with its own global variables, and each copy finds functions in its
# own libraries first. A preloaded library is found only without these copies; then all ranks share the global
# variables of the program.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
ranks=$1
shift

preload=()
if [ "$1" = env ]; then
    preload=(-wrapper "env $2" -no-privatize)
    shift 2
fi

nodes=$(((ranks + 7) / 8))
work=$top/build/smpi/platforms
mkdir -p "$work"
platform=$work/$nodes.xml hosts=$work/$nodes.hosts
# Written to another file and moved, since another run may be reading it.
if [ ! -e "$hosts" ]; then
    cat >"$platform.$$" <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-$((nodes - 1))" speed="1Gf" core="8" bw="12.5GBps" lat="1us"
           loopback_bw="50GBps" loopback_lat="200ns"/>
</platform>
XML
    for ((rank = 0; rank < nodes * 8; rank++)); do echo "n$((rank / 8))"; done >"$hosts.$$"
    mv "$platform.$$" "$platform"
    mv "$hosts.$$" "$hosts"
fi

# Without computing time, so that all runs are equal.
exec smpirun -np "$ranks" "${preload[@]}" -platform "$platform" -hostfile "$hosts" \
    --cfg=smpi/simulate-computation:no --log=root.thres:warning "$@"
