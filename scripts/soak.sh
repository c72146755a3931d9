#!/usr/bin/env bash
# soak.sh [SECONDS] [HOST...]: random calls, right and wrong, and random collectives with new seeds, on all of these hosts at
# once, for an hour or the seconds that are given. Says at the end what was done, and stops a host at its first failure, whose command it
# prints. SEED is the first seed.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
seconds=${1:-3600}
shift || true
hosts=("$@")
[ ${#hosts[@]} -gt 0 ] || hosts=(mpich openmpi mpich5 openmpi5)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
ulimit -c 0

settings=('' CARTOGRAPH_CHECK=all 'CARTOGRAPH_LAYOUT=2x2 CARTOGRAPH_REORDER=all' 'CARTOGRAPH_REORDER=scramble:3'
    'CARTOGRAPH_LAYOUT=2x2 CARTOGRAPH_COMBINE=on' CARTOGRAPH_NEIGHBOR=graph)

# soak HOST: its last line is what it has done.
soak() {
    local host=$1 seed=${SEED:-1} runs=0 checks=0 end=$((SECONDS + seconds)) cc exec shared entry program n setting out
    local -A rounds=([random_calls]=150 [neighbor_random]=30)
    cc=$(scripts/host.sh "$host" cc) exec=$(scripts/host.sh "$host" exec)
    for program in errors/random_calls neighbor/neighbor_random; do
        $cc -g -O1 -w -pthread -o "$work/$host.${program#*/}" "c_tests/$program.c" -lm
    done
    shared=$top/build/$host/lib/libcartograph.so
    for entry in $(scripts/host.sh "$host" tests); do
        case $entry in
        *=*) export "${entry?}" ;;
        *) cc -shared -fPIC -o "$work/$host.yield.so" "$entry" -ldl && shared+=:$work/$host.yield.so ;;
        esac
    done
    while [ $SECONDS -lt $end ]; do
        for program in random_calls neighbor_random; do
            n=$((seed % 5 + 1))
            setting=${settings[seed / 2 % ${#settings[@]}]}
            # These layouts are of four.
            case $setting in *LAYOUT*) n=4 ;; esac
            out=$work/$host.out
            # shellcheck disable=SC2086
            if ! timeout -k 5 180 $exec $n env LD_PRELOAD="$shared" $setting "$work/$host.$program" $seed ${rounds[$program]} \
                >"$out" 2>&1; then
                echo "$host: FAILED after $runs runs: $exec $n env $setting $program $seed ${rounds[$program]}"
                tail -n 20 "$out"
                return 1
            fi
            runs=$((runs + 1))
            checks=$((checks + $(sed -n 's/^\([0-9]*\) passed, 0 failed$/\1/p' "$out" | head -n 1 | grep . || echo 0)))
            seed=$((seed + 1))
        done
    done
    echo "$host: $runs runs with seeds ${SEED:-1} to $((seed - 1)), $checks checks passed, 0 failed"
}

pids=() status=0
for host in "${hosts[@]}"; do
    soak "$host" &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || status=1; done
exit $status
