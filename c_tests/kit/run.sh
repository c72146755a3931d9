#!/bin/sh
# run.sh [PROGRAM...]: compiles programs of the kit and runs them under the MPI that these variables select. Prints
# failed points, and a verdict for each program: right, wrong, crash (no plan was printed), or no end in $SECONDS_EACH
# seconds. PRELOAD is a library to load before the MPI.
cd "$(dirname "$0")" || exit 2
: "${MPICC=mpicc}" "${MPIFC=mpifort}" "${MPIEXEC=mpiexec -n}" "${SECONDS_EACH=30}" "${PRELOAD=}" "${OUT=out}"
mkdir -p "$OUT"
status=0
[ $# -gt 0 ] || set -- *.c *.f90
for source in "$@"; do
    name=${source%.*} compiler=$MPICC
    case $source in *.f90) compiler=$MPIFC ;; esac
    [ -n "$compiler" ] || { echo "$name: skipped, no compiler" && continue; }
    if ! $compiler -w -o "$OUT/$name" "$source" 2>"$OUT/$name.errors"; then
        echo "$name: does not compile" && status=1 && continue
    fi
    number=$(sed -n 's/.*mpiexec -n \([0-9]*\).*/\1/p' "$source" | head -n 1)
    (ulimit -c 0 && timeout -k 5 "$SECONDS_EACH" $MPIEXEC "$number" env ${PRELOAD:+LD_PRELOAD=$PRELOAD} "$OUT/$name") \
        >"$OUT/$name.tap" 2>"$OUT/$name.errors" </dev/null
    code=$?
    verdict=right
    if [ $code = 124 ] || [ $code = 137 ]; then
        verdict="no end in $SECONDS_EACH s"
    elif ! grep -q '^1\.\.' "$OUT/$name.tap"; then
        verdict=crash
    elif grep -q '^not ok' "$OUT/$name.tap"; then
        verdict=wrong
    fi
    echo "$name: $verdict"
    [ "$verdict" = right ] || status=1
    sed -n 's/^not ok [0-9]* - /    /p' "$OUT/$name.tap"
done
exit $status
