#!/usr/bin/env bash
# test-mini.sh: mini, the MPI of c_tests/mini, and Cartograph over it where no real host can go: with the
# required functions only, as a part of the host, under valgrind and under the sanitizers. The library is
# mini's own and the one of the standard ABI, which is built for another host.
. "$(dirname "$0")/checks.sh"
# lifetime.c makes edges that do not match, and wants the error.
export CARTOGRAPH_CHECK=edges
mini=$top/build/mini
plain=$mini/host
adopted=$mini/adopted
launch="timeout -k 5 60 $plain/bin/mpiexec -n"
ulimit -c 0

# Both builds of the library are for it.
make -s --no-print-directory lib HOST=abi

# compile OUTPUT SOURCE OPTIONS...: with mini's wrapper.
compile() {
    local output=$1 source=$2
    shift 2
    c_tests/mini/mpicc -g -O1 -Wall -pthread -o "$work/$output" "$source" "$@" -lm
}
# Options that link with the shared library in a directory, or with the archive there.
shared() { echo "-Wl,--no-as-needed -L$1 -lcartograph -Wl,-rpath,$1"; }
static() { echo "-Wl,--whole-archive $1/libcartograph.a -Wl,--no-whole-archive"; }

# ---- The launcher: no process stays when another fails or when it is ended itself ----

cat >"$work/job" <<'SH'
# job DIRECTORY [CODE]: waits for the other two, then process 1 ends with the code, if there is one.
echo $$ >"$1/pid.$MINI_RANK"
while [ "$(ls "$1" | wc -l)" -lt 3 ]; do sleep 0.05; done
if [ "$MINI_RANK" = 1 ] && [ $# = 2 ]; then exit "$2"; fi
exec sleep 100
SH
gone() {
    for _ in $(seq 100); do
        if ! kill -0 $(cat "$1"/pid.*) 2>/dev/null; then return 0; fi
        sleep 0.05
    done
    return 1
}
returns() {
    local expected=$1 code=0
    shift
    "$@" || code=$?
    [ $code = "$expected" ]
}
ends_with_signal() {
    local pids=$work/pids.$1 launcher
    mkdir "$pids"
    "$plain/bin/mpiexec" -n 3 sh "$work/job" "$pids" &
    launcher=$!
    while [ "$(ls "$pids" | wc -l)" -lt 3 ]; do sleep 0.05; done
    kill "-$1" $launcher
    ! wait $launcher
    gone "$pids"
}
mkdir "$work/pids"
check 'the exit code is that of the process that failed' returns 7 $launch 3 sh "$work/job" "$work/pids" 7
check 'the others are ended' gone "$work/pids"
check 'SIGTERM ends all processes' ends_with_signal TERM
check 'SIGKILL ends all processes' ends_with_signal KILL
check 'a program that does not exist' returns 127 $launch 2 "$work/none"

# ---- mini itself ----

# Its Makefile lists the parts from the top down: none needs a name that one before it defines.
downward() {
    local part upper=() upward=0
    for part in $(sed -n 's/^PARTS := //p' c_tests/mini/Makefile); do
        if [ ${#upper[@]} -gt 0 ] && join <(nm -u "$plain/$part.o" | awk '{print $2}' | sort -u) \
            <(nm --defined-only "${upper[@]}" | awk 'NF == 3 {print $3}' | sort -u) | grep .; then
            echo "$part needs these of parts above it" && upward=1
        fi
        upper+=("$plain/$part.o")
    done
    [ ${#upper[@]} -gt 5 ] && [ $upward = 0 ]
}
check 'each part of mini uses only those below it' downward
compile host c_tests/mini/host.c
for processes in 1 3 16; do
    check "mini itself, $processes processes" $launch $processes "$work/host"
done

# ---- The library of the standard ABI, built for another host ----

abi=$top/build/abi/lib
only_mini() {
    ! LD_TRACE_LOADED_OBJECTS=1 "$@" | grep libmpi | grep -v "=> $plain/lib/"
}
for way in shared static; do
    for program in required neighbor; do
        compile "$program.$way" "c_tests/mini/$program.c" $($way "$abi")
        check "abi, $way: $program runs on mini" only_mini "$work/$program.$way"
        for processes in 1 2 6; do
            check "abi, $way: $program, $processes processes" $launch $processes "$work/$program.$way"
        done
    done
done

# ---- The commands of docs/design/adopting.md, and programs that know of nothing ----

sed -n '/^```sh$/,/^```$/{/^```/!p}' docs/design/adopting.md >"$work/commands"
check 'docs/design/adopting.md has commands' test -s "$work/commands"
check 'the commands of docs/design/adopting.md' timeout 300 bash -e "$work/commands"
cp "$work/why" "$work/printed"
check 'their program has a result' grep '^checksum -4.78635' "$work/printed"
grep '^MPI_' include/exports.txt | sed 'p; s/^/P/' | sort >"$work/chapter"
exports() {
    diff <(sort "$2") <(nm -D --defined-only --format=posix "$1" | cut -d' ' -f1 | sort | comm -12 - <(sort "$2"))
}
check 'the adopted library exports the chapter' exports "$adopted/lib/libmpi_abi.so.1" "$work/chapter"
for program in required neighbor; do
    MINI=$adopted compile "$program.adopted" "c_tests/mini/$program.c"
    check "adopted: $program" $launch 4 "$work/$program.adopted"
    # The same program on mini as it is, which lacks the chapter, and then has it preloaded.
    without=(env "LD_LIBRARY_PATH=$plain/lib")
    check "without the chapter: $program does not run" returns 127 "${without[@]}" "$work/$program.adopted"
    check "preloaded: $program" $launch 4 "${without[@]}" "LD_PRELOAD=$abi/libcartograph.so" "$work/$program.adopted"
    c_tests/mini/mpicc -c -g -o "$work/$program.o" "c_tests/mini/$program.c"
    cc -o "$work/$program.whole" "$work/$program.o" "$adopted/lib/libmpi_abi.a" -pthread -ldl -lm
    check "adopted, static: $program" $launch 4 "$work/$program.whole"
done

# ---- The required functions and no others ----

awk '/^### /{inside = ($0 == "### Required"); next} inside' docs/design/host-functions.md |
    sed -nE 's/^- `P(MPI_[A-Za-z_]+)`.*/\1\nP\1/p' >"$work/names"
check 'docs/design/host-functions.md lists functions' test -s "$work/names"
printf '%s\n' MPI_Init PMPI_Init MPI_Finalize PMPI_Finalize >>"$work/names"
make -s -C c_tests/mini OUT="$work/required" NAMES="$work/names"
nothing_else() { diff <(sort "$work/names") <(nm -D --defined-only --format=posix "$1" | cut -d' ' -f1 | sort); }
check 'a mini with the required functions only' nothing_else "$work/required/lib/libmpi_abi.so.1"
for library in abi mini; do
    for way in shared static; do
        MINI=$work/required compile "only.$library.$way" c_tests/mini/required.c $($way "$top/build/$library/lib")
        check "required only: $library, $way" $launch 3 "$work/only.$library.$way" classes
    done
done

# ---- valgrind's memcheck: nothing wrong, nothing lost, whoever did it ----

for program in c_tests/mini/host c_tests/mini/required c_tests/mini/neighbor c_tests/tool/tool_calls c_tests/lifetime/lifetime; do
    name=$(basename $program)
    compile "$name.v" $program.c $(shared "$mini/lib")
    arguments=()
    [ "$name" != lifetime ] || arguments=(50)
    check "valgrind: $program" $launch 2 valgrind --quiet --leak-check=full --show-leak-kinds=all \
        --errors-for-leak-kinds=all --error-exitcode=9 "$work/$name.v" "${arguments[@]}"
done

# Processes that are moved, and a report at the end. What the environment says is kept once a process.
moved=(env CARTOGRAPH_LAYOUT=2,1,1 "CARTOGRAPH_REPORT=$work/report.json")
check 'moved and reported: valgrind' $launch 4 "${moved[@]}" valgrind --quiet --leak-check=full \
    --errors-for-leak-kinds=definite,indirect,possible --error-exitcode=9 "$work/required.v"
check 'the report is there' test -s "$work/report.json"

# ---- The sanitizers of the compiler, over mini, the programs and the archive's use of memory ----

sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
make -s -C c_tests/mini OUT="$work/sanitized" SANITIZE="$sanitize"
for program in c_tests/mini/host c_tests/mini/required c_tests/mini/neighbor c_tests/tool/tool_calls c_tests/lifetime/lifetime; do
    name=$(basename $program)
    cc $sanitize -g -O1 -w -I "$work/sanitized/include" -o "$work/$name.s" $program.c \
        $(static "$mini/lib") "$work/sanitized/lib/libmpi_abi.a" -pthread -ldl -lm
    arguments=()
    [ "$name" != lifetime ] || arguments=(500)
    check "sanitizers: $program" $launch 2 env ASAN_OPTIONS=detect_leaks=1 "$work/$name.s" "${arguments[@]}"
done
check 'moved and reported: sanitizers' $launch 4 "${moved[@]}" "$work/required.s"

verdict "test-mini"
