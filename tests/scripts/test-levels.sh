#!/usr/bin/env bash
# test-levels.sh HOST: above the nodes. The library finds by itself on which switch each node is, from what Slurm tells
# its tasks or a file with the names of hosts, and places neighbors on the same one. Eight
# processes are shown four nodes (c_tests/reorder/nodes.c), dealt to two switches in turn. Only with Open MPI all of it is
# run: what is read and dropped does not depend on the host; how processes tell each other, and who has which rank, does.
. "$(dirname "$0")/checks.sh"
lib=$lib/libcartograph.so
program=$work/reorder
$cc -g -O1 -Wall -o "$program" c_tests/reorder/reorder.c
$cc -g -O1 -Wall -o "$work/reported" c_tests/reorder/reported.c
$cc -g -O1 -Wall -shared -fPIC -o "$work/nodes.so" c_tests/reorder/nodes.c
evidence=("$work/out" "$work/err")

cat >"$work/topology.conf" <<'END'
SwitchName=left Nodes=n[0,2]
SwitchName=right Nodes=n[1,3]
SwitchName=top Switches=left,right
END
sed 's/^SwitchName=top.*/& Colour=red/' "$work/topology.conf" >"$work/coloured.conf"
sed 's/\[1,3\]/[1,5]/' "$work/topology.conf" >"$work/partial.conf"
sed 's/n\[/m[/' "$work/topology.conf" >"$work/other.conf"
sed '1s/$/,n1/' "$work/topology.conf" >"$work/twice.conf"
{
    echo "# rank: group, switch, port"
    for rank in 0 1 2 3 4 5 6 7; do echo "$rank: 0 $((rank / 2 % 2)) -1"; done
} >"$work/coordinates"

# run SETTING...: the settings are expanded for each process, whose node is $node.
run() {
    cat >"$work/each" <<END
rank=\${PMI_RANK:-\${OMPI_COMM_WORLD_RANK:-\$PMIX_RANK}}
node=\$((rank / 2))
export TEST_NODE=\$node $*
exec ${start:-$program}
END
    $launch 8 env CARTOGRAPH_REPORT=1 "LD_PRELOAD=$work/nodes.so:$lib${YIELD:+:$YIELD}" \
        sh "$work/each" >"$work/out" 2>"$work/err"
    order=$(sed -n 's/^rank [0-9]* order cart 4x2 00: //p' "$work/out")
}
# Edges of a 4x2 grid that join two switches, where the switch of an old rank is the parity of its node.
crossing() {
    awk '{ for (i = 0; i < 8; i++) p[i] = int($(i + 1) / 2) % 2
           for (i = 0; i < 8; i += 2) n += p[i] != p[i + 1]
           for (i = 0; i < 6; i++) n += p[i] != p[i + 2]
           print n }' <<<"$1"
}
# mapped WHAT KIND SETTING...: by this the processes are mapped through groups of the kind.
mapped() {
    local what=$1 kind=$2
    shift 2
    check "$what" run "$@"
    check "$what: two edges cross: $order" [ "$(crossing "$order")" = 2 ]
    check "$what: the program's checks" grep -q ' 0 failed$' "$work/out"
    check "$what: the report" grep -q "between 2 $kind 12 -> 4 (-67 %), at least 4" "$work/err"
}
# dropped WHAT WORDS SETTING...: what these say is not used, and the report says why, or is silent if there are no words.
dropped() {
    local what=$1 words=$2
    shift 2
    check "$what" run "$@"
    check "$what: stays: $order" [ "$order" = '0 1 2 3 4 5 6 7' ]
    check "$what: no levels" fails grep -Eq "^  between .*(switches|blocks)" "$work/err"
    if [ -n "$words" ]; then
        check "$what: the report" grep -Eq "$words" "$work/err"
    else
        check "$what: silence" fails grep -q warning "$work/err"
    fi
}
fails() { ! "$@"; }
# advised WORDS SETTING...: of a program that passes 0 the report has the command for a rank file with these words.
advised() {
    local words=$1
    shift
    start="$work/reported kept" run "$@"
    grep -qF "cartograph plan --dims 8 --periodic 1 --nodes 4 --ppn 2 --rankfile $words" "$work/err"
}

# Nodes of one name, and a node for each process, as Slurm tells MPICH by PMI-2 where ranks are placed by a file.
apart='warning: the MPI has each of 8 processes on a node of its own, but these are on'
check "on one host" run TEST_NODE=\$rank TEST_HOST=0
check "on one host, which is said" grep -qF "$apart one host by name" "$work/err"
check "on four hosts" run TEST_NODE=\$rank TEST_HOST=\$node
check "on four hosts, which is said" grep -qF "$apart 4 hosts by name" "$work/err"
check "on eight hosts" run TEST_NODE=\$rank
check "on eight hosts, of which nothing is said" fails grep -q "on a node of its own" "$work/err"
# The rank file of the launcher at hand, with the real names.
case $host in openmpi*) launcher=openmpi ;; *) launcher=mpich ;; esac
check "a rank file" advised "$launcher FILE --hosts 'n[0-3].cluster.example'" TEST_NODE='$((rank % 4))'
check "a rank file for srun" advised "slurm FILE --hosts 's[0-3]'" TEST_NODE='$((rank % 4))' \
    SLURM_STEP_NUM_TASKS=8 'SLURM_PROCID=$rank' 'SLURMD_NODENAME=s$((rank % 4))'
check "mpiexec in a step of Slurm" advised "$launcher FILE --hosts 'n[0-3].cluster.example'" TEST_NODE='$((rank % 4))' \
    SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 SLURMD_NODENAME=s0

tree='SLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node SLURM_TOPOLOGY_ADDR='
mapped "a tree" switches "${tree}root.s\$((node % 2)).n\$node"
if [ "$host" != openmpi ]; then
    mapped "topology.conf" switches "CARTOGRAPH_LAYOUT=$work/topology.conf"
    mapped "coordinates" switches "CARTOGRAPH_LAYOUT=$work/coordinates"
    dropped "the launch node's for all" \
        'warning: SLURM_TOPOLOGY_ADDR is the same for ranks [0-7] and [0-7], which are on two nodes: no switches are taken from it' \
        "${tree}root.s0.n0"
    verdict "test-levels, $host"
    exit
fi
mapped "an empty part" switches "${tree}.s\$((node % 2)).n\$node"
mapped "blocks" blocks "SLURM_TOPOLOGY_ADDR_PATTERN=block.node SLURM_TOPOLOGY_ADDR=b\$((node % 2)).n\$node"
mapped "rings" rings "SLURM_TOPOLOGY_ADDR_PATTERN=ring:position.node SLURM_TOPOLOGY_ADDR=r\$((node % 2)):\$node.n\$node"
mapped "tori" tori "SLURM_TOPOLOGY_ADDR_PATTERN=torus:x:y:z.node SLURM_TOPOLOGY_ADDR=p\$((node % 2)):0:\$node:1.n\$node"
for file in topology.conf coordinates; do
    mapped "$file" switches "CARTOGRAPH_LAYOUT=$work/$file"
done
# What a file says comes before what the launcher says.
mapped "a file and Slurm" switches "CARTOGRAPH_LAYOUT=$work/topology.conf ${tree}root.s0.n0"
mapped "a wrong word in a file" switches "CARTOGRAPH_LAYOUT=$work/coloured.conf"
said="CARTOGRAPH_LAYOUT: line 3 of the file: 'Colour=red' is nothing that is known here; it is left out"
check "is said once" [ "$(grep -cF "$said" "$work/err")" = 1 ]
mapped "a node on two switches, Slurm knows better" switches "CARTOGRAPH_LAYOUT=$work/twice.conf ${tree}root.s\$((node % 2)).n\$node"
said="CARTOGRAPH_LAYOUT: line 2 of the file: n1 is in left and in right; the file is not used"
check "is said once" [ "$(grep -cF "$said" "$work/err")" = 1 ]

dropped "no switches" "" "SLURM_TOPOLOGY_ADDR_PATTERN=node SLURM_TOPOLOGY_ADDR=n\$node"
dropped "nothing" "" "SLURM_NODEID=\$node"
dropped "the launch node's for all" \
    'warning: SLURM_TOPOLOGY_ADDR is the same for ranks [0-7] and [0-7], which are on two nodes: no switches are taken from it' \
    "${tree}root.s0.n0"
dropped "a node with two" 'warning: SLURM_TOPOLOGY_ADDR differs between ranks (0 and 1|2 and 3|4 and 5|6 and 7|1 and 0|3 and 2|5 and 4|7 and 6), which share a node' \
    "${tree}root.s\$((node % 2)).n\$rank"
dropped "other depth" 'warning: SLURM_TOPOLOGY_ADDR of rank [23] does not fit its pattern' \
    "${tree}root.s\$((node % 2))\$([ \$node = 1 ] || echo .n\$node)"
dropped "not all" 'warning: SLURM_TOPOLOGY_ADDR is not known for rank [67]' \
    "${tree}\$([ \$node = 3 ] || echo root.s\$((node % 2)).n\$node)"
dropped "a node that the file has not" \
    "CARTOGRAPH_LAYOUT: the place of the node in the file is not known for rank [67]: no switches are taken from it" \
    "CARTOGRAPH_LAYOUT=$work/partial.conf"
dropped "another machine's file" "CARTOGRAPH_LAYOUT: none of the nodes is in the file" "CARTOGRAPH_LAYOUT=$work/other.conf"

verdict "test-levels, $host"
