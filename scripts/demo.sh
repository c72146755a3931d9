#!/usr/bin/env bash
# demo.sh HOST: the Poisson solver of the MPI-1.1 chapter, in C and in Fortran, alone and under
# Cartograph: what it computes each time, and whose functions the loader gave it. Fails unless the
# results are the same to the last bit and all of the chapter came from Cartograph.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
host=${1:?usage: demo.sh HOST}
processes=8
library=$top/build/$host/lib/libcartograph.so
out=$top/build/$host/demo
read -ra launch <<<"$("$top/scripts/host.sh" "$host" exec)"
mkdir -p "$out"
failed=0

# Starts a program and keeps what it prints in NAME.out and what the loader did in NAME.loader.PID.
run() { # NAME PRELOADED PROGRAM
    rm -f "$out/$1.loader".*
    if ! timeout -k 5 60 "${launch[@]}" $processes env LD_PRELOAD="$2" LD_DEBUG=bindings \
        LD_DEBUG_OUTPUT="$out/$1.loader" "$3" >"$out/$1.out" 2>"$out/$1.err"; then
        cat "$out/$1.out" "$out/$1.err" >&2
        echo "demo.sh: $3 failed" >&2
        exit 1
    fi
}

# The functions of the chapter that the program asked for, in all processes, and the libraries that
# they came from: "MPI_Cart_create libmpich.so.12".
bindings() { # NAME PROGRAM
    sed -n "s|.*binding file $2 \[0\] to \([^ ]*\) \[0\]: normal symbol \`\([^']*\)'.*|\2 \1|p" \
        "$out/$1.loader".* | sed 's| .*/| |' |
        awk 'NR == FNR { chapter[tolower($1)] = 1; next }
             { plain = tolower($1); sub(/_+$/, "", plain); sub(/^p/, "", plain) }
             plain in chapter' "$top/include/exports.txt" - | sort -u
}

show() { # LANGUAGE WRAPPER SOURCE
    local name program
    name=$(basename "$3") program=$out/${name%.*}_$1
    (cd "$out" && "$2" -g -O1 -o "$program" "$top/$3" -lm)
    run "$1.alone" "" "$program"
    run "$1.cartograph" "$library" "$program"

    printf '\n%s, %d processes on %s\n\n' "$3" $processes "$host"
    printf '  alone\n' && sed 's/^/    /' "$out/$1.alone.out"
    printf '  under Cartograph\n' && sed 's/^/    /' "$out/$1.cartograph.out"
    if [ -s "$out/$1.alone.out" ] && cmp -s "$out/$1.alone.out" "$out/$1.cartograph.out"; then
        printf '  The results are the same to the last bit.\n\n'
    else
        printf '  THE RESULTS DIFFER.\n\n'
        failed=1
    fi

    bindings "$1.alone" "$program" >"$out/$1.alone.bindings"
    bindings "$1.cartograph" "$program" >"$out/$1.cartograph.bindings"
    printf '  %-18s %-24s %s\n' "the loader's word" alone "under Cartograph"
    join "$out/$1.alone.bindings" "$out/$1.cartograph.bindings" |
        awk '{ printf "  %-18s <- %-21s <- %s\n", $1, $2, $3 }'
    # As many functions in both runs, each from one place: from the host alone, from us otherwise.
    if [ ! -s "$out/$1.cartograph.bindings" ] || grep -q libcartograph "$out/$1.alone.bindings" ||
        grep -qv libcartograph "$out/$1.cartograph.bindings" ||
        ! cmp -s <(cut -d' ' -f1 "$out/$1.alone.bindings") \
            <(cut -d' ' -f1 "$out/$1.cartograph.bindings"); then
        printf '  NOT ALL CALLS WENT WHERE THEY SHOULD.\n'
        failed=1
    fi
}

show c "$("$top/scripts/host.sh" "$host" cc)" c_tests/topology/poisson.c
fortran=$("$top/scripts/host.sh" "$host" fc)
if [ -n "$fortran" ]; then
    show fortran "$fortran" fortran/topology/poisson.f90
else
    printf '\n%s has no Fortran compiler wrapper.\n' "$host"
fi

# The effect of reorder = 1: the program, its processes distributed over three nodes as a round-robin
# launch does, and what Cartograph reports of it.
nodes=$top/c_tests/reorder/three_nodes.layout
printf '\nc_tests/poisson.c with reorder = 1, ranks round-robin over three nodes: %s\n\n' "$(cat "$nodes")"
if ! timeout -k 5 60 "${launch[@]}" $processes env CARTOGRAPH_LAYOUT=$nodes CARTOGRAPH_REPORT=1 \
    LD_PRELOAD="$library" "$out/poisson_c" >"$out/reordered.out" 2>"$out/reordered.err"; then
    cat "$out/reordered.out" "$out/reordered.err" >&2
    echo "demo.sh: the program failed with its processes moved" >&2
    exit 1
fi
sed 's/^/    /' "$out/reordered.err"
if cmp -s "$out/c.alone.out" "$out/reordered.out" && grep -q '; between nodes .* -> ' "$out/reordered.err"; then
    printf '  Processes were moved; the results are the same to the last bit.\n'
else
    printf '  THE RESULTS DIFFER, OR NOBODY WAS MOVED.\n'
    failed=1
fi

# A job script that learns, on two nodes of made-up names, which take root.
learns() {
    local agent=$out/agent program=$out/pairs job words=("${launch[@]}")
    printf '%s\n' '#!/bin/bash' 'while [[ $1 == -* ]]; do shift; done' 'node=$1' 'shift' \
        'exec unshare --uts bash -c "hostname $node; $*"' >"$agent"
    chmod +x "$agent"
    "$("$top/scripts/host.sh" "$host" cc)" -O1 -o "$program" "$top/c_tests/record/pairs.c"
    unset 'words[-1]'
    case $host in
    mpich*) words+=(-launcher ssh -launcher-exec "$agent" -hosts) ;;
    *) words+=(--mca plm_rsh_agent "$agent" --mca plm_rsh_no_tree_spawn 1 --host) ;;
    esac
    rm -rf "$out/store"
    printf '\ncartograph run: each process exchanges with the one half the job away\n\n'
    for job in a:2,b:2 c:2,d:2 e:2,f:2; do
        printf '  on %s: ' "$job"
        CARTOGRAPH_STORE=$out/store timeout -k 5 60 "$top/build/bin/cartograph" run "${words[@]}" "$job" -n 4 "$program" 2>&1 |
            grep -E 'apart|^cartograph' | sed '2s/^/    /'
    done
    printf '\n'
    CARTOGRAPH_STORE=$out/store "$top/build/bin/cartograph" known | sed 's/^/  /'
}
case $host in
mpich | mpich5 | openmpi) ! unshare --uts true 2>/dev/null || learns ;;
esac
[ "$host" != mpich ] || printf "  MPICH 4's launcher cannot place ranks; make demo HOST=openmpi shows jobs that are placed.\n"

printf '\nA larger grid, before it is run: cartograph plan --dims 16x12 --nodes 16 --ppn 12\n\n'
"$top/build/bin/cartograph" plan --dims 16x12 --nodes 16 --ppn 12
exit $failed
