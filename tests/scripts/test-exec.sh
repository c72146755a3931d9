#!/usr/bin/env bash
# test-exec.sh HOST: `cartograph exec` with this host's programs. What it preloads serves whatever MPI a process loads, and
# none where there is none; of several libraries it takes the one that was built for the MPI; only files that others cannot
# have written; and no rank ends alone.
. "$(dirname "$0")/checks.sh"
unset CARTOGRAPH_REPORT CARTOGRAPH_MPI LD_LIBRARY_PATH
export UCX_LOG_LEVEL=error
sources=$top/c_tests/preload
command=$top/build/bin/cartograph
steps() { "$1" -g -O1 -w -DLINKED -o "$2" "$sources/steps.c" "$sources/plugin.c" -ldl; }
steps "$cc" "$work/linked"
$cc -g -O1 -w -fPIC -shared -Wl,--no-as-needed -o "$work/module.so" "$sources/plugin.c"
$cc -g -O1 -w -o "$work/record" "$top/c_tests/record/record_grid.c"
gcc -g -O1 -w -o "$work/steps" "$sources/steps.c" -ldl

evidence=("$work/out" "$work/said")
# runs PROCESSES [OPTION...] PROGRAM...
runs() {
    local processes=$1
    shift
    $launch "$processes" env ${YIELD:+"LD_PRELOAD=$YIELD"} "$command" exec "$@" >"$work/out" 2>"$work/said"
}
# prints EXPECTED [OPTION...] PROGRAM...: one process prints these lines, and nothing is said.
prints() {
    local expected=$1
    shift
    runs 1 "$@" && diff <(printf '%b\n' "$expected") "$work/out" && ! grep -i cartograph "$work/said"
}
# says PATTERN: one line of Cartograph, which matches.
says() { [ "$(grep -c '^cartograph: ' "$work/said")" = 1 ] && grep -q "^cartograph: .*$1" "$work/said"; }

# ---- One way for all processes ----

check "a linked program" prints 'self: Cartograph' "$work/linked" self
check "a program without MPI loads none" prints 'mapped: 0 MPI, 1 of ours' "$work/steps" mpis
check "so does what a script starts" prints 'mapped: 0 MPI, 1 of ours\nself: Cartograph' \
    sh -c '"$1" mpis && exec "$2" self' sh "$work/steps" "$work/linked"
cat >"$work/late.py" <<PY
import ctypes
module = ctypes.CDLL("$work/module.so")
module.answers.restype = ctypes.c_char_p
print(module.answers().decode())
module.finish()
PY
check "Python with this MPI" prints Cartograph python3 "$work/late.py"
for other in mpich openmpi mpich5 openmpi5; do
    [ $other != "$host" ] && [ -e "$top/build/$other/lib/libcartograph.so" ] || continue
    steps "$(scripts/host.sh $other cc)" "$work/linked-$other"
    # The run alone is without the launcher, whose settings are for another MPI.
    alone=$(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 "$work/linked-$other" self 2>/dev/null) || true
    if [ "$alone" = 'self: the host' ]; then
        both() {
            test "$(timeout 60 "$command" exec sh -c '"$1" self; "$2" self' sh "$work/linked-$other" "$work/linked")" = \
                'self: Cartograph
self: Cartograph'
        }
        check "a helper on $other, each its own" both
    fi
done

for word in 1 on true yes; do
    reports() {
        CARTOGRAPH_REPORT=$word runs 1 "$work/linked" self && grep -q '^MPI_Cart_create: grid 1 x 1' "$work/said"
    }
    check "CARTOGRAPH_REPORT=$word" reports
done

# ---- Recordings, by the same way ----

check "a program without MPI loads none when it is recorded" \
    prints 'mapped: 0 MPI, 0 of ours' --record "$work/none.steps" "$work/steps" mpis
test ! -e "$work/none.steps" || check "nothing is recorded of it" false
shown() { "$command" show "$work/$1" | grep -q 'MPI_Cart_create: grid'; }
check "a linked program is recorded" runs 4 --record "$work/recorded.linked" "$work/record"
check "its grid is there" shown recorded.linked
check "so is what a script starts" runs 4 --record "$work/recorded.script" sh -c '"$1" mpis && exec "$2"' sh "$work/steps" "$work/record"
check "its grid is there" shown recorded.script
check "Python is recorded" runs 1 --record "$work/recorded.python" python3 "$work/late.py"
check "its grid is there" shown recorded.python
# Programs ask whether functions are there.
asks() {
    local name=$1 there=found code=0
    nm -D --defined-only "$mpi" | grep " $name$" >/dev/null || there='not found'
    timeout 60 "$command" exec --record "$work/asks.$name" "$work/linked" missing "$name" >"$work/out" 2>&1 || code=$?
    grep -q "^$name is $there$" "$work/out"
}
mpi=$(ldd "$work/linked" | sed -nE 's/.*lib(mpi|mpich|mpi_abi)\.so[.0-9]* => ([^ ]*) .*/\2/p')
for name in MPI_Isendrecv MPI_Send_c; do check "$name is there if the MPI has it" asks $name; done

# ---- The library that was built for the MPI ----

# site NAME LIBRARY...: an installation, with libraries NAME=HOST.
site() {
    local site=$work/$1 library
    shift
    mkdir -p "$site/cartograph"
    cp "$top/build/lib/libcartograph.so.0" "$site"
    cp "$top"/build/lib/cartograph/record-*.so "$site/cartograph"
    for library in "$@"; do
        mkdir "$site/cartograph/${library%=*}"
        cp "$top/build/${library#*=}/lib/"*.so* "$site/cartograph/${library%=*}"
    done
}
at() { CARTOGRAPH_LIB_DIR=$work/$1 "${@:2}"; }
refused() { at "$1" runs 2 "${@:3}" "$work/linked" self && [ "$(sort -u "$work/out")" = 'self: the host' ] && says "$2"; }
case $host in
openmpi) other=openmpi5 ;;
openmpi5) other=openmpi ;;
*) other= ;;
esac
if [ -n "$other" ] && [ -e "$top/build/$other/lib/libcartograph.so" ]; then
    site named "a=$other" "b=$host" "c=$other"
    check "names of one's own" at named prints 'self: Cartograph' "$work/linked" self
    site other "a=$other"
    check "another version's library is none" refused other 'has no library for libmpi.so.40 of Open MPI'
fi
site own "$host=$host"
check "named by --mpi" at own prints 'self: Cartograph' --mpi "$host" "$work/linked" self
check "no such name" refused own 'there is no library for --mpi nothing; there are: ' --mpi nothing
for kind in mpich openmpi; do
    case $host:$kind in mpich*:mpich | openmpi*:openmpi) continue ;; esac
    [ -e "$top/build/$kind/lib/libcartograph.so" ] || continue
    site pinned "$host=$host" "$kind=$kind"
    check "another MPI's by --mpi" refused pinned "$kind of CARTOGRAPH_MPI does not fit" --mpi $kind
done

# ---- What others may have written is not loaded ----

for mode in 775 757; do
    chmod $mode "$work/own/cartograph/$host"/*
    check "a library that others can write ($mode)" refused own 'has no library for lib'
    check "a recorder that others can write ($mode)" at own runs 2 --record "$work/untrusted.$mode" "$work/record"
    check "it is said" says 'has no library for lib'
    check "nothing is recorded" test ! -e "$work/untrusted.$mode"
    chmod 755 "$work/own/cartograph/$host"/*
    chmod $mode "$work/own/libcartograph.so.0"
    bare() { at own runs 1 "$work/linked" self && grep -qx 'self: the host' "$work/out" && says 'the program runs without'; }
    check "a library to preload that others can write ($mode)" bare
    chmod 755 "$work/own/libcartograph.so.0"
done

# ---- No rank ends alone, and the job says a thing once ----

unwritable() { runs 4 --report=/nonexistent/x.json "$work/linked" self && [ "$(wc -l <"$work/out")" = 4 ]; }
check "a report that cannot be written" unwritable
check "it is said" grep -q -- '^cartograph: --report=/nonexistent/x.json: .* runs anyway$' "$work/said"
wrong() { ! runs 4 --raport "$work/linked" self && says "'--report'"; }
check "a wrong argument" wrong

# A program of many gigabytes is not read.
cp "$work/steps" "$work/large" && truncate -s 8G "$work/large"
large() { (ulimit -v 1000000 && "$command" exec "$work/large" mpis); }
check "a large program" large

verdict "test-exec, $host"
