#!/usr/bin/env bash
# test-preload.sh HOST: the one library to preload for every MPI, build/lib/libcartograph.so, with this host's
# programs: MPI that is loaded late, privately, beside another or not at all; tools; what is missing; cost.
# That whole programs run with it is in c_tests/testlist, as "forwarded".
. "$(dirname "$0")/checks.sh"
launch="$launch 1"
one=$top/build/lib/libcartograph.so
# Intel MPI uses the library of the host that builds its programs.
own=$host
[ "$host" != intel ] || own=mpich5
built=$top/build/$own
unset CARTOGRAPH_REPORT LD_LIBRARY_PATH
# UCX warns where two MPIs bring it, which is no concern of ours.
export UCX_LOG_LEVEL=error
sources=$top/c_tests/preload

# runs PRELOADED COMMAND...: one process of the host's launcher; what it prints is in $work/out and $work/said.
evidence=("$work/out" "$work/said")
touch "${evidence[@]}"
runs() {
    local preloaded=$1
    shift
    local code
    # MPICH 4.0.2's mpiexec is now and then killed by SIGPIPE itself where a program without MPI ends at once.
    for _ in 1 2 3 4; do
        code=0
        $launch env "LD_PRELOAD=$preloaded${YIELD:+ $YIELD}" "$@" >"$work/out" 2>"$work/said" || code=$?
        [ "$code" = 141 ] || break
    done
    return "$code"
}
# prints PRELOADED EXPECTED COMMAND...: as runs, and the lines are these; of Cartograph nothing on stderr.
prints() {
    local preloaded=$1 expected=$2
    shift 2
    runs "$preloaded" "$@" && diff <(printf '%b\n' "$expected") "$work/out" && ! grep -i cartograph "$work/said"
}

gcc -g -O1 -Wall -Wextra -o "$work/steps" "$sources/steps.c" -ldl
$cc -g -O1 -Wall -Wextra -DLINKED -o "$work/linked" "$sources/steps.c" "$sources/plugin.c" -ldl
$cc -g -O1 -Wall -Wextra -fPIC -shared -Wl,--no-as-needed -o "$work/module.so" "$sources/plugin.c"
$cc -g -O1 -Wall -Wextra -fPIC -shared -o "$work/next.so" "$sources/next.c" -ldl
$cc -O2 -o "$work/query" "$sources/query.c"
gcc -O1 -Wall -Wextra -o "$work/cost" "$sources/cost.c"
# A module without a needed MPI, loaded by one that has it.
gcc -g -O1 -fPIC -shared -Wl,--no-as-needed -o "$work/outer.so" -x c /dev/null -L"$work" -l:module.so -Wl,-rpath,"$work"

# Compilers do not bear with it.
path=$("$top/scripts/host.sh" "$host" path)
[ -z "$path" ] || export LD_LIBRARY_PATH=$path

# ---- What is in it ----

plain() {
    local names
    names=$(readelf -d "$one" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | sort | paste -sd' ')
    echo "it needs $names" && ! grep -qE 'mpi|gcc_s|stdc' <<<"$names"
}
same_names() {
    diff <({ echo dlclose && nm -D --defined-only --format=posix "$1" | cut -d' ' -f1; } | sort) \
        <(nm -D --defined-only --format=posix "$one" | cut -d' ' -f1 | sort)
}
check "it needs libc and no MPI" plain
check "it exports what the host's library exports, and counts what is unloaded" same_names "$built/lib/libcartograph.so"

# ---- Programs without MPI: nothing is loaded, nothing said, and it costs little ----

quiet() {
    local out
    out=$(LD_PRELOAD=$one bash -c 'echo one | tr o O; /bin/true' 2>&1) && test "$out" = One
}
# memory [LIBRARY]: kB that a process has of files, and kB of its own. Of files only those count that it has not
# without the library: of the others the kernel maps what it happens to have at hand.
memory() {
    env ${1:+LD_PRELOAD=$1} cat /proc/self/smaps | awk -v files="$work/files" -v mark="${1:+1}" '
        BEGIN { if (mark) while ((getline file < files) > 0) usual[file] = 1 }
        /^[0-9a-f]+-[0-9a-f]+ / { file = $6; if (!mark) print file > files }
        /^Rss/ { rss = $2 }
        /^Anonymous/ { own += $2; if (file ~ /^\// && !(file in usual)) shared += rss - $2 }
        END { print shared + 0, own }'
}
# The middle of several, as it differs with where things are loaded.
small() {
    local of_files own own_without
    memory >/dev/null
    own_without=$(for _ in {1..15}; do memory; done | awk '{ print $2 }' | sort -n | sed -n 8p)
    read -r of_files own <<<"$(for _ in {1..15}; do memory "$one"; done | sort -n | sed -n 8p)"
    echo "$of_files kB of files, $own kB of its own where $own_without are usual"
    [ "$of_files" -gt 0 ] && [ $((of_files + own - own_without)) -le 200 ]
}
fast() {
    local line
    line=$("$work/cost" "$one" /bin/true) && echo "$line" && [ "$(sed 's/.*, \(-*[0-9]*\) us more/\1/' <<<"$line")" -le 1000 ]
}
check "a shell and what it starts" quiet
check "no MPI is loaded by it" prints "$one" 'mapped: 0 MPI, 1 of ours' "$work/steps" mpis
check "it takes 200 KB at most" small
check "it takes 1 ms at most" fast

# ---- An MPI: with the program, late and for itself, for everybody, by Python ----

check "linked with the program" prints "$one" 'self: Cartograph\nmapped: 1 MPI, 2 of ours' "$work/linked" self mpis
check "late and private" prints "$one" \
    'module.so: Cartograph\nmodule.so: Cartograph\nmapped: 1 MPI, 2 of ours' \
    "$work/steps" load "$work/module.so" call "$work/module.so" call "$work/module.so" mpis finish "$work/module.so"
check "late and for everybody" prints "$one" 'module.so: Cartograph' \
    "$work/steps" global "$work/module.so" call "$work/module.so" finish "$work/module.so"
check "needed by another module" prints "$one" 'outer.so: Cartograph' \
    "$work/steps" load "$work/outer.so" call "$work/outer.so" finish "$work/outer.so"
check "unloaded and loaded again" prints "$one" 'module.so: Cartograph\nclosed: 0\nmodule.so: Cartograph' "$work/steps" \
    load "$work/module.so" call "$work/module.so" close "$work/module.so" load "$work/module.so" call "$work/module.so" \
    finish "$work/module.so"
cat >"$work/late.py" <<PY
import ctypes
module = ctypes.CDLL("$work/module.so")
module.answers.restype = ctypes.c_char_p
print(module.answers().decode())
module.finish()
PY
check "Python loads it" prints "$one" Cartograph python3 "$work/late.py"

# ---- Names without an underscore: a program's own functions, or else the host's procedures, which call ours ----

$cc -g -O1 -Wall -Wextra -fPIC -shared -Wl,--no-as-needed -o "$work/own.so" "$sources/own_names.c"
for library in "$one" "$built/lib/libcartograph.so"; do
    check "a module's own functions, ${library#"$top/"}" prints "$library" 'own.so: Cartograph' \
        "$work/steps" load "$work/own.so" call "$work/own.so" finish "$work/own.so"
done
fc=$("$top/scripts/host.sh" "$host" fc)
if [ -n "$fc" ]; then
    $fc -fno-underscoring -o "$work/plain" "$sources/plain_names.f90"
    check "Fortran's names are without an underscore" sh -c "nm -u '$work/plain' | grep -x ' *U mpi_cart_rank'"
    for library in "$one" "$built/lib/libcartograph.so"; do
        check "Fortran without underscores, ${library#"$top/"}" prints "$library" ' Cartograph' "$work/plain"
    done
fi

# site NAME LIBRARY...: an installation of its own, with these hosts' libraries; each is HOST or HOST=DIRECTORY.
site() {
    local site=$work/$1 library
    shift
    mkdir -p "$site/cartograph"
    cp "$one" "$site/libcartograph.so"
    for library in "$@"; do ln -s "$top/build/${library#*=}/lib" "$site/cartograph/${library%=*}"; done
}
site site "$own"
mkdir "$work/elsewhere"
relative() {
    cd "$work" && prints ./site/libcartograph.so "chdir: 0\nself: Cartograph" ./linked chdir elsewhere self
}
check "preloaded by a relative name, from another directory" relative

# ---- Tools by RTLD_NEXT, in front and behind ----

check "a tool in front" prints "$work/next.so $one" 'self: Cartograph\nnext: 3' "$work/linked" self
check "a tool behind" prints "$one $work/next.so" 'self: Cartograph\nnext: 0' "$work/linked" self
check "a tool, and MPI late and private" prints "$work/next.so $one" \
    'module.so: Cartograph\nnext: 3' "$work/steps" load "$work/module.so" call "$work/module.so" finish "$work/module.so"

# ---- No library for this MPI, or a wrong one: the MPI's own functions, and a line where a report is asked for ----

# said LINES PATTERN: so many lines of Cartograph on stderr, which match.
said() {
    grep '^cartograph: ' "$work/said" >"$work/lines" || true
    [ "$(wc -l <"$work/lines")" = "$1" ] && [ "$(grep -c "$2" "$work/lines")" = "$1" ] || { cat "$work/said" && return 1; }
}
refused() {
    local site=$work/$1/libcartograph.so
    prints "$site" 'self: the host\nself: the host' "$work/linked" self self && said 0 . || return 1
    CARTOGRAPH_REPORT=1 runs "$site" "$work/linked" self self && said 1 "$2.*; the MPI's own functions are called"
}
# A tool, for which the host's functions come behind.
refused_under_tool() {
    prints "$work/next.so $work/$1/libcartograph.so" 'self: the host\nnext: 3' "$work/linked" self
}
case $host in
openmpi*) wrong=mpich5 ;;
*) wrong=openmpi ;;
esac
site none
check "no library at all" refused none "none/cartograph has no library for lib"
check "no library at all, and a tool" refused_under_tool none
check "no library at all, and MPI late and private" prints "$work/none/libcartograph.so" 'module.so: the host' \
    "$work/steps" load "$work/module.so" call "$work/module.so" finish "$work/module.so"
if [ -e "$top/build/$wrong/lib/libcartograph.so" ]; then
    site wrong "$wrong" "$own=$wrong"
    check "another MPI's library under this one's name" refused wrong "wrong/cartograph has no library for lib"
fi
# A file of the MPI's name is loaded before the MPI, which is needed by its path: what needs the name gets that file.
soname=$(readelf -d "$built/lib/libcartograph.so" | sed -nE 's/.*\(NEEDED\).*\[(lib(mpi|mpich|mpi_abi)\.so.*)\]/\1/p')
mpi=$(ldd "$work/linked" | sed -nE "s|.*$soname => ([^ ]*) .*|\1|p")
env -u LD_LIBRARY_PATH $cc -g -O1 -fPIC -c -o "$work/behind.o" "$sources/plugin.c"
gcc -shared -o "$work/path.so" -x c /dev/null
gcc -shared -Wl,--no-as-needed -o "$work/behind.so" "$work/behind.o" "$work/path.so"
ln -sf "$mpi" "$work/path.so"
gcc -shared "-Wl,-soname,$soname" -o "$work/front.so" -x c /dev/null
# Of the MPI's own files some are found only from where it is.
run=(env "LD_LIBRARY_PATH=$(dirname "$mpi"):$(dirname "$mpi")/mpich" "$work/steps" load "$work/front.so"
    load "$work/behind.so" call "$work/behind.so" finish "$work/behind.so")
behind() {
    prints "$one" 'behind.so: the host' "${run[@]}" || return 1
    CARTOGRAPH_REPORT=1 runs "$one" "${run[@]}" && said 1 'is loaded behind another MPI'
}
# Open MPI alone does not find its own parts then.
if runs "" "${run[@]}"; then check "a second MPI of the name" behind; fi

# ---- What is missing is an error where it is called, and only there ----

# ends CODE PATTERN COMMAND...
ends() {
    local code=0 expected=$1 pattern=$2
    shift 2
    # Without the launcher, which has codes of its own.
    LD_PRELOAD=$one timeout 60 "$@" >"$work/out" 2>"$work/said" || code=$?
    [ $code = "$expected" ] && said 1 "$pattern"
}
check "no MPI in the process" ends 127 'undefined symbol: MPI_Cart_create: no MPI is loaded' \
    "$work/steps" missing MPI_Cart_create
lacks() { ! nm -D --defined-only "$mpi" | grep " $1$" >/dev/null; }
if lacks MPI_Neighbor_alltoall_init_c; then
    one=$work/none/libcartograph.so
    check "neither the host has a function nor a library" ends 127 \
        'undefined symbol: MPI_Neighbor_alltoall_init_c: .* does not have it' "$work/linked" missing MPI_Neighbor_alltoall_init_c
    one=$top/build/lib/libcartograph.so
fi

# ---- Several MPIs in one process: each caller's own ----

for other in mpich openmpi mpich5 abi openmpi5; do
    [ $other != "$own" ] && [ -e "$top/build/$other/lib/libcartograph.so" ] || continue
    env -u LD_LIBRARY_PATH "$("$top/scripts/host.sh" $other cc)" -g -O1 -fPIC -shared -Wl,--no-as-needed -o "$work/other-$other.so" "$sources/plugin.c"
    theirs=$work/other-$other.so
    # What the bare hosts do not bear is not asked of us.
    mine=$work/module.so
    if runs "" "$work/steps" load "$mine" call "$mine" load "$theirs" call "$theirs" call "$mine" finish "$mine"; then
        check "beside $other, each its own" prints "$one" \
            "module.so: Cartograph\nother-$other.so: Cartograph\nmodule.so: Cartograph\nother-$other.so: Cartograph" \
            "$work/steps" load "$mine" call "$mine" load "$theirs" call "$theirs" call "$mine" call "$theirs" \
            finish "$mine"
    else
        echo "beside $other: the hosts alone do not run in one process"
    fi
done

# ---- MPI in the program: its own functions, without a word ----

if [ "$host" = mpich ]; then
    gcc -g -O1 -w -DLINKED -rdynamic $($cc -show | grep -oE -- '-I[^ ]*') -o "$work/static" "$sources"/{steps,plugin}.c \
        "$(gcc -print-file-name=libmpich.a)" -lhwloc -lucp -lucs -lpthread -lm -ldl
    check "MPI in the program" prints "$one" 'self: the host\nmapped: 0 MPI, 1 of ours' "$work/static" self mpis
    check "a function that is not in the program" ends 127 \
        'undefined symbol: MPI_Graph_get: .* linked into the program, does not have it' "$work/static" missing MPI_Graph_get
fi

# ---- A query through it ----

# counted LIBRARY [ARGUMENT]: instructions of one query with it preloaded, rounded; the calls' loop is in it.
query=$work/query
counted() {
    runs "$1" valgrind --quiet --tool=callgrind --toggle-collect=query "--callgrind-out-file=$work/count" "$query" "${@:2}" &&
        awk -v calls="$(cat "$work/out")" '/^(summary|totals):/ { printf "%.0f\n", $2 / calls; exit }' "$work/count"
}
query() {
    local direct through
    direct=$(counted "$built/lib/libcartograph.so") && through=$(counted "$one") || { cat "$work/said" && return 1; }
    echo "$direct instructions directly, $through through it"
    [ "$direct" -gt 0 ] && [ $((through - direct)) -le 4 ]
}
# Under the others it is the same code; valgrind bears these.
# The same program as a module.
late() {
    local direct through
    direct=$(counted "$built/lib/libcartograph.so") && query=$work/late && through=$(counted "$one" "$work/query.so") ||
        { cat "$work/said" && return 1; }
    echo "$direct instructions directly, $through through it, late and private"
    [ "$direct" -gt 0 ] && [ $((through - direct)) -le 100 ]
}
case $host in
mpich | openmpi | mpich5 | openmpi5)
    check "a query takes four instructions more at most" query
    $cc -O2 -fPIC -shared -o "$work/query.so" "$sources/query.c"
    gcc -o "$work/late" -x c - -ldl <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    return ((int (*)(int, char **))dlsym(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), "main"))(argc, argv);
}
END
    check "a late one takes a hundred" late ;;
esac

verdict "test-preload, $host"
