#!/usr/bin/env bash
# host-faults.sh: runs each program of c_tests/faults on each host alone and under Cartograph, and writes what came
# of it to docs/host-faults.md.
set -euo pipefail
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
hosts=(mpich openmpi mpich5 openmpi5)
seconds=10
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ulimit -c 0

# outcome HOST PROGRAM PROCESSES [LIBRARY]: what came of it, in a few words.
outcome() {
    local code=0 wrong
    timeout -k 2 "$seconds" $(scripts/host.sh "$1" exec) "$3" env ${4:+LD_PRELOAD="$4"} "$2" >"$work/out" 2>/dev/null \
        </dev/null || code=$?
    wrong=$(sed -n 's/^[0-9]* passed, \([0-9]*\) failed$/\1/p' "$work/out")
    if [ "$code" = 124 ] || [ "$code" = 137 ]; then
        echo "no end in $seconds s"
    elif [ -z "$wrong" ]; then
        echo crash
    elif [ "$wrong" = 0 ]; then
        echo right
    else
        # Of one function once, whatever rank it was; UCX warns of messages that are left.
        grep -v ' passed, \| UCX ' "$work/out" | sed 's/: got .*//' | sort -u | paste -sd';' | sed 's/;/; /g; s/^/wrong: /'
    fi
}

{
    cat <<END
# What hosts do wrong

Seven small programs, each a file that needs nothing but an MPI: the standard says what they are to print, each of the MPIs below
fails in some of them, mostly without a word, and with Cartograph preloaded all are right on all of them. Each says in its head what
it is about and how many processes it takes. What comes of wrong arguments is in [wrong-arguments.md](wrong-arguments.md),
every difference that the tests know in [differences.txt](../c_tests/differences.txt).

END
    printf '| program | with Cartograph, on each |'
    for host in "${hosts[@]}"; do
        $(scripts/host.sh "$host" cc) -w -pthread -o "$work/errors" c_tests/errors/errors.c
        version=$(timeout 20 $(scripts/host.sh "$host" exec) 1 "$work/errors" version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
        printf ' %s %s |' "$host" "$version"
    done
    printf '\n|---|---|'
    printf -- '---|%.0s' "${hosts[@]}"
    echo
    for source in c_tests/faults/*.c; do
        name=$(basename "$source" .c)
        processes=$(grep -oE 'mpiexec -n [0-9]+' "$source" | head -n 1 | grep -oE '[0-9]+')
        alone=() ours=()
        for host in "${hosts[@]}"; do
            $(scripts/host.sh "$host" cc) -O1 -w -o "$work/$name" "$source"
            alone+=("$(outcome "$host" "$work/$name" "$processes")")
            ours+=("$(outcome "$host" "$work/$name" "$processes" "$top/build/$host/lib/libcartograph.so")")
        done
        all=$(printf '%s\n' "${ours[@]}" | sort -u | paste -sd';')
        printf '| [%s](../%s) | %s |' "$name" "$source" "$all"
        printf ' %s |' "${alone[@]}"
        echo
    done
    cat <<END

On $(date +'%-d %B %Y'), by \`scripts/host-faults.sh\`, which writes this page.
END
} >"$work/page"
mv "$work/page" docs/host-faults.md
