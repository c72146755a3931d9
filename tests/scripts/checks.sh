# checks.sh: what the test scripts share; they source it before anything else. They run in $top, the source, and $work
# is a directory that goes when they end. Of the host that is their first argument, if there is one: $cc compiles,
# $launch with a number starts so many processes, and $lib is where its libraries are.
set -euo pipefail
export LC_ALL=C
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$top"
host=${1:-}
if [ -n "$host" ]; then
    cc=$(scripts/host.sh "$host" cc)
    launch="timeout -k 5 120 $(scripts/host.sh "$host" exec)"
    lib=$top/build/$host/lib
fi

passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check WHAT COMMAND...: counts whether the command succeeds. If not, what it printed is shown, and the
# files named in $evidence.
evidence=()
check() {
    local what=$1 code=0
    shift
    "$@" >"$work/why" 2>&1 || code=$?
    if [ "$code" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED ($code): $what"
        tail -q -n 40 "$work/why" "${evidence[@]}" 2>/dev/null | sed 's/^/    /'
    fi
}

# verdict NAME: the last line, and the exit code of the script.
verdict() {
    echo "$1: $passed passed, $failed failed"
    [ "$failed" = 0 ]
}
