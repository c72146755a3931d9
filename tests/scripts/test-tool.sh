#!/usr/bin/env bash
# test-tool.sh HOST: a profiling tool in front of Cartograph counts each call once, and what it calls
# on to, the PMPI_ names, is Cartograph's. The tool is c_tests/tool/tool.c, in C.
. "$(dirname "$0")/checks.sh"
fc=$(scripts/host.sh "$host" fc)
launch+=" 2"


# The tool knows the functions that make and query topologies.
functions=$(grep -E '^MPI_(Cart|Graph|Dist_graph|Dims|Topo)' "$top/include/exports.txt")
$cc -g -O1 -Wall -Wextra -fPIC -shared -o "$work/tool.so" "$top/c_tests/tool/tool.c"
$cc -g -O1 -Wall -Wextra -c -o "$work/tool.o" "$top/c_tests/tool/tool.c"
$cc -g -O1 -Wall -Wextra -o "$work/calls" "$top/c_tests/tool/tool_calls.c"
$cc -g -O1 -Wall -Wextra -o "$work/calls.static" "$top/c_tests/tool/tool_calls.c" "$work/tool.o" "$lib/libcartograph.a" -lm
preload="LD_PRELOAD=$work/tool.so $lib/libcartograph.so${YIELD:+ $YIELD}"

# The same names on both sides: a function that is new in exports.txt belongs into the tool.
same() { diff <(echo "$1") <(echo "$2"); }
names_of() { nm --defined-only "$1" | awk '$2 == "T" && $3 ~ /^MPI_/ && $3 != "MPI_Finalize" { print $3 }' | sort; }
check "the tool defines what exports.txt lists of them" same "$(sort <<<"$functions")" "$(names_of "$work/tool.so")"

# counted OUTPUT: both processes ran to their end, and the tool counted in each what the program says
# that it called, all functions of the chapter.
counted() {
    local said told
    grep -q ' 0 failed$' "$1" || { cat "$1" && return 1; }
    said=$(sed -n 's/^rank 0 called: //p' "$1" | sort)
    same "$functions" "$(cut -d' ' -f1 <<<"$said")" || return 1
    told=$(sed -n 's/^tool: \(MPI_.*\)/\1/p' "$1" | sort)
    same "$(printf '%s\n%s\n' "$said" "$said" | sort)" "$told" || return 1
    test "$(grep -c '^tool: reports at MPI_Finalize$' "$1")" = 2
}

# 1. Preloaded: the loader says who calls whom.
bound() {
    local from=$1 to=$2 prefix=$3 name
    for name in $functions; do
        grep -qE "binding file [^ ]*$from .* to [^ ]*$to .*symbol .$prefix$name'" "$work/bindings" \
            || { echo "$from: $prefix$name is not bound to $to" && return 1; }
    done
}
env LD_TRACE_LOADED_OBJECTS=1 LD_WARN=1 LD_BIND_NOW=1 LD_DEBUG=bindings "$preload" \
    "$work/calls" >/dev/null 2>"$work/bindings"
check "preloaded: the program calls the tool" bound "$work/calls" "$work/tool.so" ""
check "preloaded: the tool calls Cartograph" bound "$work/tool.so" libcartograph.so P
$launch env "$preload" "$work/calls" >"$work/preloaded" 2>&1 || true
check "preloaded: each call is counted once and answered by Cartograph" counted "$work/preloaded"

# 2. Linked statically: the linker took the tool's MPI_ names and the archive's PMPI_ names.
defined() {
    local name
    for name in $functions; do
        grep -q " T $name$" "$work/symbols" && grep -q " T P$name$" "$work/symbols" \
            || { echo "$name or P$name is not defined in the program" && return 1; }
    done
}
nm --defined-only "$work/calls.static" >"$work/symbols"
check "static: MPI_ and PMPI_ names are in the program" defined
$launch "$work/calls.static" >"$work/static" 2>&1 || true
check "static: each call is counted once and answered by Cartograph" counted "$work/static"

# 3. From Fortran. Cartograph's Fortran names do not call its C names, so a tool that knows the C names
# only sees no call, certainly not two; such tools bring Fortran wrappers of their own. (MPICH alone
# shows them calls from mpif.h and use mpi, but none from mpi_f08; Open MPI alone shows them none.)
seen() {
    local total
    grep -q 'wrong answer' "$1" && { cat "$1" && return 1; }
    test "$(grep -c '^tool: reports at' "$1")" = 2 || { cat "$1" && return 1; }
    total=$(sed -n 's/^tool: MPI_[A-Za-z_]* //p' "$1" | sort -nu | tr '\n' ' ')
    echo "the tool counted for each function: $total"
    test "$total" = "0 "
}
if [ -n "$fc" ]; then
    modules=("include 'mpif.h'" "use mpi" "use mpi_f08")
    for module in 0 1 2; do
        $fc -g -O1 -Wall -DMODULE=$module -o "$work/fortran$module" "$top/c_tests/tool/tool_fortran.F90"
        if $launch env "$preload" "$work/fortran$module" >"$work/fortran" 2>&1; then
            check "${modules[module]}: a tool in C sees no call from Fortran twice, nor once" seen "$work/fortran"
        else
            check "${modules[module]}: the Fortran program succeeds" sh -c "cat '$work/fortran'; false"
        fi
    done
fi

verdict "test-tool, $host"
