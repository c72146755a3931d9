# nodes.sh: four nodes of four processes with a link each, for scripts that measure with Debian's Open MPI; they
# source it. The nodes are network namespaces of this machine, whose links are limited to $rate. Needs root.
#
# Everything is made in network, mount and process namespaces of the script's own, which the kernel takes
# down with it however it ends: what it makes cannot be seen from outside, and does not stay behind.
nodes=4 ppn=4
processes=$((nodes * ppn))
# A full bucket passes at once, so it is small against what a node sends in an exchange. Nothing is dropped, as
# on the networks of clusters.
bucket="burst 16kb limit 16mb"
# Seconds after which a run is given up.
patience=60

refuse() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# needs PROGRAM...: refuses if one is missing, or the user is not root.
needs() {
    [ "$(id -u)" = 0 ] || refuse "network namespaces need root"
    local program
    for program in ip tc unshare setpriv mpiexec.openmpi "$@"; do
        command -v $program >/dev/null || refuse "there is no $program; scripts/setup.sh openmpi cluster gets it"
    done
}

# in_namespaces COMMAND...: runs it in namespaces of its own, and ends this script with its exit code.
in_namespaces() {
    # If this shell is killed, setpriv's signal ends unshare, and --kill-child all that is inside.
    setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc "$@" &
    local inside=$! status=0
    trap "kill -KILL $inside; wait $inside 2>/dev/null || true; exit 130" INT TERM HUP
    wait $inside || status=$?
    exit $status
}

# Makes the nodes n0, n1, ... with a link each to one switch, beside which mpiexec runs; launch is then its
# command line.
make_nodes() {
    local i
    # All temporary files, the MPI's too; the names of network namespaces; this network's interfaces.
    mount -t tmpfs none /dev/shm
    mount -t tmpfs none /run
    mount -t sysfs none /sys
    export TMPDIR=/dev/shm
    cp /etc/hosts /dev/shm/hosts
    ip link set lo up
    ip link add switch type bridge
    ip address add 10.77.0.254/24 dev switch
    ip link set switch up
    slots=
    for ((i = 0; i < nodes; i++)); do
        ip netns add n$i
        ip link add link$i type veth peer name eth0 netns n$i
        ip link set link$i master switch up
        ip -n n$i address add 10.77.0.$((i + 1))/24 dev eth0
        ip -n n$i link set eth0 up
        ip -n n$i link set lo up
        # What leaves the node. What arrives is as much in all exchanges here; one queue there as well
        # would let some links wait for others, which serve their connections in turn on real networks.
        tc -n n$i qdisc add dev eth0 root tbf rate "$rate" $bucket
        echo "10.77.0.$((i + 1)) n$i" >>/dev/shm/hosts
        slots+=${slots:+,}n$i:$ppn
    done
    mount --bind /dev/shm/hosts /etc/hosts
    # mpiexec starts its daemons by this as by ssh: options, the node, a command.
    cat >/dev/shm/agent <<'END'
#!/usr/bin/env bash
while [[ $1 == -* ]]; do shift; done
node=$1
shift
exec ip netns exec "$node" unshare --uts bash -c "hostname $node; $*"
END
    chmod +x /dev/shm/agent
    launch=(timeout -k 5 "$patience" mpiexec.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1
        --mca plm_rsh_agent /dev/shm/agent --mca plm_rsh_no_tree_spawn 1
        --mca oob_tcp_if_include 10.77.0.0/24 --mca btl_tcp_if_include 10.77.0.0/24
        --mca btl self,vader,tcp --mca pml ob1 --host "$slots" -n $processes)
}

# Limits the links to another rate.
limit() {
    local i
    for ((i = 0; i < nodes; i++)); do tc -n n$i qdisc replace dev eth0 root tbf rate "$1" $bucket; done
}

# Puts the nodes that are named on a switch of their own, which a link of the rate $1 joins to the other.
split_switch() {
    local rate=$1 node
    shift
    ip link add switch2 type bridge
    ip link set switch2 up
    ip link add thin1 type veth peer name thin2
    ip link set thin1 master switch up
    ip link set thin2 master switch2 up
    tc qdisc add dev thin1 root tbf rate "$rate" $bucket
    tc qdisc add dev thin2 root tbf rate "$rate" $bucket
    for node in "$@"; do ip link set "link${node#n}" master switch2; done
}

# Bytes that have crossed the link between the switches, in both directions.
crossed() { cat /sys/class/net/thin1/statistics/[rt]x_bytes | awk '{ sum += $1 } END { print sum }'; }

# Bytes that each node has sent.
sent() { cat /sys/class/net/link[0-9]*/statistics/rx_bytes; }

# result CASE WAY TIME [RUNS]: a line of results: the case, the way, the time, and the bytes on all wires and from the node
# that sends most, by what `sent` wrote to /dev/shm/before and /dev/shm/after, of one of several runs.
result() {
    paste /dev/shm/before /dev/shm/after | awk -v case="$1" -v way="$2" -v time="$3" -v runs="${4:-1}" -v OFS='|' '
        { bytes = ($2 - $1) / runs; all += bytes; if (bytes > most) most = bytes }
        END { print case, way, time, all, most }'
}
