#!/usr/bin/env bash
# slurm.sh: Cartograph under a real Slurm: a daemon for each of eight nodes, on two switches, MPICH by PMI-2 and Open MPI by
# PMIx. Checks that levels are read, that rank files place ranks, that recordings hold the switches, that what PMI-2 does to
# MPICH is said, that job scripts with `cartograph run` learn, and that packaging/slurm puts it in place of srun. Needs root,
# the library built for both, and the command.
#
# The nodes are those of scripts/nodes.sh, which the kernel takes down with the script however it ends.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/nodes.sh"
nodes=8 ppn=2 rate=50mbit patience=120

if [ "${1:-}" != inside ]; then
    [ "$(id -u)" = 0 ] || refuse "namespaces need root"
    for program in slurmctld slurmd srun munged mpicc.mpich mpicc.openmpi unshare setpriv ip; do
        command -v $program >/dev/null || refuse "there is no $program; scripts/setup.sh mpich openmpi slurm gets it"
    done
    in_namespaces unshare --uts "$0" inside
fi
shift
# Slurm wants the control groups, which the nodes' own /sys does not have.
exec 9</sys/fs/cgroup
make_nodes
mount -c --rbind /proc/self/fd/9 /sys/fs/cgroup
exec 9<&-
. "$top/tests/scripts/checks.sh"
tool=$top/build/bin/cartograph
machine=machine
hostname $machine
echo "10.77.0.254 $machine" >>/dev/shm/hosts

# A key of its own; root may run it in /run.
mkdir -m 755 /run/munge
head -c 128 /dev/urandom >"$work/munge.key"
chmod 400 "$work/munge.key"
munged --force --key-file="$work/munge.key" --log-file="$work/munged.log" --seed-file="$work/munge.seed" 2>"$work/munged.err" ||
    refuse "munged does not start: $(cat "$work/munged.err")"

export SLURM_CONF=$work/slurm.conf
cat >"$SLURM_CONF" <<END
ClusterName=here
SlurmctldHost=$machine(10.77.0.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool.%n
TmpFS=$work/tmp.%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.%n.log
SlurmctldPort=16000
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
TopologyPlugin=topology/tree
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
NodeName=n[0-7] CPUs=4
PlugStackConfig=$work/plugstack.conf
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=FORCE:4
END
cat >"$work/topology.conf" <<'END'
SwitchName=left Nodes=n[0,2,4,6]
SwitchName=right Nodes=n[1,3,5,7]
SwitchName=top Switches=left,right
END
cc -shared -fPIC -Wall -Wextra -Werror -o "$work/cartograph_run.so" packaging/slurm/cartograph_run.c
{ cat packaging/slurm/leave && echo 're*ed'; } >"$work/leave"
echo "optional $work/cartograph_run.so command=$tool leave=$work/leave" >"$work/plugstack.conf"
mkdir "$work/state" "$work"/{spool,tmp}.n{0..7}
evidence=("$work/out" "$work/err")
slurmctld
# Each node has a name of its own.
for ((i = 0; i < nodes; i++)); do nsenter --net=/run/netns/n$i unshare --uts sh -c "hostname n$i && exec slurmd -N n$i"; done
for ((tries = 0; tries < 30; tries++)); do
    [ "$(sinfo -h -o %T 2>"$work/err")" != idle ] || break
    sleep 1
done
[ "$tries" -lt 30 ] || refuse "Slurm does not start: $(cat "$work/err"; tail -n 5 "$work"/*.log)"

for host in ${HOSTS:-mpich openmpi}; do
    for program in reorder reported; do
        "mpicc.$host" -g -O1 -Wall -o "$work/$host.$program" c_tests/reorder/$program.c
    done
done
# Without Open MPI's shared memory: now and then a process ended by a signal while it set that up, on a busy machine.
settings() { scripts/host.sh "$1" tests | tr ' ' '\n' | grep = && echo OMPI_MCA_btl=self,tcp; }
# run HOST OPTIONS... -- PROGRAM...: eight processes of a program, under Cartograph.
run() {
    local host=$1 pmi=pmi2 options=()
    shift
    [ "$host" = mpich ] || pmi=pmix
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    timeout -k 5 "$patience" env CARTOGRAPH_REPORT=1 $(settings "$host") \
        srun --mpi=$pmi -n 8 "${options[@]}" env "LD_PRELOAD=$top/build/$host/lib/libcartograph.so" "$@" \
        >"$work/out" 2>"$work/err"
}
fails() { ! "$@"; }
plan() { "$tool" plan "$@" >"$work/plan"; }
# The node of each rank that is started by the rank file.
places() {
    SLURM_HOSTFILE=$work/ranks timeout -k 5 "$patience" srun --mpi=none -n 8 "${by_file[@]}" -l sh -c 'echo $SLURMD_NODENAME' \
        >"$work/labelled" && sort -n "$work/labelled" | sed 's/^[0-9]*: //' >"$work/placed"
}
four=(-N 4 -w 'n[0-3]' --ntasks-per-node=2)
# Where ranks are placed one by one the options of other distributions must not be there.
by_file=(-N 4 --distribution=arbitrary)
apart='on a separate node, but their names are those of 4 hosts'
for host in ${HOSTS:-mpich openmpi}; do
    check "$host: levels" run $host "${four[@]}" -- "$work/$host.reorder"
    check "$host: the program's checks" grep -q ' 0 failed$' "$work/out"
    check "$host: switches are read" grep -q 'between 2 switches 12 -> 4 (-67 %), at least 4' "$work/err"
    check "$host: shared memory is not missed" fails grep -q 'on a node of its own' "$work/err"

    check "$host: the program passes 0" run $host -N 4 -w 'n[0,2,4,6]' --distribution=cyclic -- "$work/$host.reported" kept
    check "$host: the rank file is srun's, with Slurm's names" grep -qF -- "--rankfile slurm FILE --hosts 'n[0,2,4,6]'" "$work/err"

    check "$host: a recording" run $host "${four[@]}" -- \
        "$tool" exec --record "$work/$host.traffic" "$work/$host.reorder"
    check "$host: a plan by it" plan --traffic "$work/$host.traffic" --json
    check "$host: has the switches" grep -Eq '"name": ?"switches"' "$work/plan"

    check "$host: a rank file" plan --dims 4x2 --layout "$work/topology.conf" --hosts "$(scontrol show hostnames 'n[0-3]')" \
        --ppn 2 --rankfile slurm "$work/ranks"
    check "$host: says what becomes of MPICH by PMI-2" grep -qF 'not for MPICH with srun --mpi=pmi2' "$work/plan"
    check "$host: ranks are started by it" places
    check "$host: where it says" cmp "$work/placed" "$work/ranks"
    SLURM_HOSTFILE=$work/ranks check "$host: the program by it" run $host "${by_file[@]}" -- "$work/$host.reported" kept
    if [ $host = mpich ]; then
        check "mpich: is told of eight nodes, which is said" grep -qF "$apart" "$work/err"
    else
        check "openmpi: has its four nodes" grep -qE '8 of 8 processes on 4 nodes of 2' "$work/err"
    fi
done

# script HOST OPTIONS... -- COMMAND...: a job script of eight processes that has the command before the words that start the
# halo exchange by srun. Leaves what it printed, and the bytes from the node that sent most.
script() {
    local host=$1 pmi=pmi2 options=()
    shift
    [ "$host" = mpich ] || pmi=pmix
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    printf '%s\n' '#!/bin/sh' "exec $* srun --mpi=$pmi -n 8 $program -n 20 262144 4096" >"$work/script"
    sent >/dev/shm/before
    timeout -k 5 "$patience" env $(settings "$host") \
        sbatch --wait -n 8 "${options[@]}" -o "$work/out" -e "$work/err" "$work/script" >"$work/submitted" || return
    sent >/dev/shm/after
    bytes=$(result - - - | cut -d'|' -f5)
    [ "$(cat "$work/out")" = 'a grid of 4 x 2, 0 wrong' ]
}
known() { CARTOGRAPH_STORE=$1 "$tool" known --json >"$work/known"; }
is_placed() { says '/halo in ' && ! grep -q '/halo in the default order' "$work/err"; }
says() { [ "$(grep -c '^cartograph: ' "$work/err")" = 1 ] && grep -qE "^cartograph: .*$1" "$work/err"; }
# Whether the node that sends most has sent less than this part, in percent, of what it was before.
fewer() { echo "$bytes of $2 bytes" && [ $((bytes * 100)) -lt $(($1 * $2)) ]; }

# Job scripts that learn: recorded on four nodes, placed on four others and on three of uneven sizes, with no step between.
for host in ${HOSTS:-mpich openmpi}; do
    program=$top/build/$host/lib/halo
    learns="env CARTOGRAPH_STORE=$work/$host.store $tool run"
    check "$host: the first job" script $host -N 4 -w 'n[0-3]' -- $learns
    first=$bytes
    # Of MPICH it is said at once why it will not be placed.
    check "$host: is recorded" says 'recorded .*/halo on 8 ranks; (the next run will use|when srun places ranks, PMI-2)'
    check "$host: the second job, on other nodes" script $host -N 4 -w 'n[4-7]' -- $learns
    if [ $host = mpich ]; then
        check "mpich: runs unchanged, which is said" says 'PMI-2 reports each rank on a separate node.*; the job ran unchanged'
        continue
    fi
    check "$host: is placed" is_placed
    check "$host: its busiest node sends less" fewer 60 "$first"
    check "$host: a job on uneven nodes, as it was" script $host -N 3 -w 'n[1,3,5]' --
    uneven=$bytes
    check "$host: the third job, on uneven nodes" script $host -N 3 -w 'n[2,4,6]' -- $learns
    check "$host: is placed there" is_placed
    check "$host: its busiest node sends less there" fewer 80 "$uneven"
    check "$host: what is known" known "$work/$host.store"
    check "$host: of three jobs" grep -qE '"program":"halo".*"runs":3' "$work/known"
done

# The plugin puts it in place of srun for those who ask.
host=openmpi
export CARTOGRAPH_STORE=$work/plugin.store
silent() { ! grep -q cartograph "$work/err"; }
check "the plugin, not asked" script $host -N 4 -w 'n[0-3]' --
check "has done nothing" silent
export CARTOGRAPH_RUN=1
check "the plugin's first job" script $host -N 4 -w 'n[0-3]' --
check "is recorded" says 'recorded .*/halo on 8 ranks'
first=$bytes
check "its second job" script $host -N 4 -w 'n[4-7]' --
check "is placed" is_placed
check "sends less" fewer 60 "$first"
cp "$program" "$work/reused"
program=$work/reused
check "a program that the site leaves alone" script $host -N 4 -w 'n[0-3]' --
check "is left alone" silent
cat >"$work/ends" <<'END'
#!/bin/sh
echo hello | srun --mpi=none -N 2 -n 2 sh -c 'cat; exit 3'
echo "code $?"
srun --mpi=none -N 2 -n 2 sleep 100 &
sleep 5
kill -TERM $!
wait $!
echo "code $?"
END
ends() { CARTOGRAPH_RUN=$1 timeout -k 5 "$patience" sbatch --wait -N 2 -o "$work/ends.$1" -e "$work/err" "$work/ends"; }
check "input, an exit code and a signal" ends 0
check "by the plugin" ends 1
check "is heard of" grep -q 'exited with code 3; nothing learned' "$work/err"
check "are as without it" cmp "$work/ends.0" "$work/ends.1"
check "the code" grep -qx 'code 3' "$work/ends.1"
unset CARTOGRAPH_RUN

# What stands for srun in tests refuses what srun refuses.
printf 'n1\nn0\nn1\nn0\n' >"$work/hosts4"
ends() { ("$@" true >"$work/out" 2>"$work/err"; echo $?) || true; }
alike() { [ "$(ends timeout 20 srun --mpi=none "$@")" = "$(ends "$top/tests/launchers/srun" --mpi=none "$@")" ]; }
for options in '-n4 -N 2' '-n 4 --nosuch 3' '-n 4 --distribution=arbitrary'; do
    check "srun $options and its stub" alike $options
done
for options in '-n 4 --distribution=arbitrary' '-n4 -N2 -m arbitrary -l' '--distribution=arbitrary' \
    '-n 4 -N 2 --ntasks-per-node=2 --distribution=arbitrary' '-n 4 -w n0,n1 --distribution=arbitrary' '-n 8 -m arbitrary'; do
    SLURM_HOSTFILE=$work/hosts4 check "srun $options by a host file and its stub" alike $options
done

verdict slurm
