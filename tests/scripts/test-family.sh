#!/usr/bin/env bash
# test-family.sh HOST: programs of this host with the library of each other host that is built. Hosts of
# one family have one binary interface, so all answers must be right; with another family's library a
# call is answered right or ends the program with a message that names both, but never crashes and
# never gives a wrong answer.
set -euo pipefail
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
host=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# A family as src/host/family.rs calls it.
family() {
    case $1 in
    mpich | mpich5) echo 'the MPICH ABI' ;;
    openmpi | openmpi5) echo 'Open MPI' ;;
    abi) echo 'the MPI-5 standard ABI' ;;
    esac
}
verdict() {
    if [ "$1" = ok ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $2" && tail -n 12 "$work/out"
    fi
}

functions="Cart_create Dist_graph_create_adjacent Cart_map Cart_rank Graphdims_get Topo_test Dims_create"
refusal='error while loading shared libraries\|symbol lookup error'
launch="timeout -k 5 60 $("$top/scripts/host.sh" "$host" exec) 1"
$("$top/scripts/host.sh" "$host" cc) -w -o "$work/first" "$top/c_tests/tool/tool_first.c"

# asked FUNCTION: the program calls it; what it says is in $work/FUNCTION, and its code beside it.
asked() {
    local code
    # Open MPI 5's launcher may fail by itself on a busy machine: then it is asked again.
    for _ in 1 2 3 4 5; do
        code=0
        $launch env "${loads[@]}" "$work/first" "$1" >"$work/$1" 2>&1 || code=$?
        grep -q "PMIx server's listener thread failed to start" "$work/$1" || break
    done
    echo "$code" >"$work/$1.code"
}

for other in mpich openmpi mpich5 abi openmpi5; do
    library=$top/build/$other/lib/libcartograph.so
    [ "$other" != "$host" ] && [ -e "$library" ] || continue
    ours=$(family "$host") theirs=$(family "$other")

    # A library whose own MPI is not where the loader looks is shown where that is. The loader may still
    # refuse, where two MPIs bring the same library in two versions.
    loads=("LD_PRELOAD=$library")
    if ! env "${loads[@]}" true 2>"$work/out"; then
        grep -q "$refusal" "$work/out" && verdict ok || verdict no "$other: the loader does not say why"
        "$("$top/scripts/host.sh" "$other" cc)" -w -o "$work/other" "$top/c_tests/tool/tool_first.c"
        mpi=$(ldd "$work/other" | sed -nE 's/.*libmpi[a-z_]*\.so[^ ]* => ([^ ]*) .*/\1/p')
        loads=("LD_LIBRARY_PATH=$(dirname "$mpi")" "LD_PRELOAD=$library")
    fi
    if ! env "${loads[@]}" "$work/first" loads >"$work/out" 2>&1 && grep -q "$refusal" "$work/out"; then
        verdict ok
        continue
    fi

    # All at once: most of it is waiting for launchers.
    for function in $functions; do asked "$function" & done
    wait
    for function in $functions; do
        cp "$work/$function" "$work/out"
        code=$(cat "$work/$function.code")
        message=$(grep -m1 '^cartograph: this library was built for' "$work/out" || true)
        if [ "$code" = 0 ] && grep -qx right "$work/out"; then
            # To make a communicator without a look at the host would be luck.
            case $ours:$function in
            "$theirs":* | *:Cart_map | *:Topo_test | *:Dims_create) verdict ok ;;
            *) verdict no "$other: $function does not say that the library is another host's" ;;
            esac
        elif [ "$ours" != "$theirs" ] && [ "$code" != 0 ] && [[ $message == *"built for $theirs"*"runs on $ours"* ]] &&
            ! grep -qi 'segmentation' "$work/out"; then
            verdict ok
        else
            verdict no "the library of $other in a program of $host: $function ends with code $code"
        fi
    done
done

if [ $((passed + failed)) = 0 ]; then echo "ignored: no other host's library is built" && exit; fi
echo "$passed passed, $failed failed"
test "$failed" = 0
