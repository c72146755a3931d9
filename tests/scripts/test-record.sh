#!/usr/bin/env bash
# test-record.sh HOST: what the recorder writes is what the program has sent, message by message: in C and Fortran,
# with threads, with tools on either side and Cartograph behind, and of jobs that do not come to their end. What was
# there before stays as it was.
. "$(dirname "$0")/checks.sh"
fc=$(scripts/host.sh "$host" fc)
# What mpi.h declares of the functions that send, and of those that the recorder needs: all are wrapped, by both names.
echo '#include <mpi.h>' | $cc -E -P -x c - | grep -oE '\bMPI_[A-Za-z_]+ *\(' | tr -d ' (' | sort -u >"$work/declared"
grep -E '^MPI_(I[bsr]?send|[BSR]?send|Send|Psend)(_init)?(_c)?$' "$work/declared" >"$work/wanted"
grep -E '^MPI_(Is|S)endrecv(_replace)?(_c)?$' "$work/declared" >>"$work/wanted"
grep -E '^MPI_R?(put|get|accumulate|get_accumulate|Put|Get|Accumulate|Get_accumulate)(_c)?$' "$work/declared" >>"$work/wanted"
grep -E '^MPI_(Fetch_and_op|Compare_and_swap|Start|Startall|Request_free|Cart_create|Cart_sub)$' "$work/declared" >>"$work/wanted"
grep -E '^MPI_(Init|Init_thread|Finalize|Abort)$' "$work/declared" >>"$work/wanted"
grep -E '^MPI_(Irecv|Recv|Recv_init|Precv_init)(_c)?$' "$work/declared" >>"$work/wanted"
grep -E '^MPI_(M?[Pp]robe|(Wait|Test)(all|any|some)?)$' "$work/declared" >>"$work/wanted"
grep -E '^MPI_I?(neighbor_|Neighbor_)?(all|All)(toall|gather|to)[a-z]*(_init)?(_c)?$' "$work/declared" >>"$work/wanted"
grep -E '^MPI_I?([Bb]arrier|[Bb]cast|[Gg]atherv?|[Ss]catterv?|([Aa]ll)?reduce|(All)?[Rr]educe|[Rr]educe_scatter(_block)?|[Ss]can|[Ee]xscan)(_init)?(_c)?$' \
    "$work/declared" >>"$work/wanted"
sed 'p; s/^/P/' "$work/wanted" | sort -u >"$work/names"
# What the header has beyond MPI-3.
has() { grep -qx "$1" "$work/declared"; }
kind=3
if has MPI_Isendrecv; then kind=4; fi
if has MPI_Send_c; then kind=4c; fi
recorder=$top/build/lib/cartograph/record-$kind.so
# exported LIBRARY OTHER: what is wrapped, and another name.
exported() { diff <(sort - "$work/names" <<<"$2") <(nm -D --defined-only --format=posix "$1" | cut -d' ' -f1 | sort -u); }
check "the recorder wraps what sends, and nothing else" exported "$lib/libcartograph_record.so" cartograph_finds_next_by
check "so does the one to preload" exported "$recorder" dlclose
defines=
if has MPI_Psend_init && has MPI_Isendrecv; then defines+=" -DPARTITIONED"; fi
if has MPI_Neighbor_alltoall_init; then defines+=" -DPERSISTENT"; fi
if has MPI_Send_c; then defines+=" -DLARGE_COUNTS"; fi
flags="-g -O1 -w -pthread"
$cc $flags $defines -o "$work/record" "$top/c_tests/record/record.c"
$cc $flags -o "$work/window" "$top/c_tests/record/record_window.c"
$cc $flags -o "$work/more" "$top/c_tests/record/record_more.c"
$cc $flags -fPIC -shared -o "$work/tool.so" "$top/c_tests/record/record_tool.c"

$cc $flags -fPIC -shared -o "$work/clock.so" "$top/c_tests/record/record_clock.c"
$cc $flags -o "$work/fork" "$top/c_tests/record/record_fork.c"
yield=${YIELD:+ $YIELD}

# recorded N PROGRAM...: runs it under the recorder, into $work/traffic.
recorded() {
    rm -rf "$work/traffic"
    again "$@"
}
# again N PROGRAM...: the same, whatever is there.
again() {
    $launch "$1" env ${YIELD:+LD_PRELOAD="$YIELD"} \
        "$top/build/bin/cartograph" exec --record "$work/traffic" "${@:2}" >"$work/out" 2>"$work/err"
}
# parts: writes what each rank recorded in all of its parts together into $work/parts/RANK.jsonl.
parts() {
    rm -rf "$work/parts"
    mkdir "$work/parts"
    cat "$work/traffic"/*.jsonl | awk -v to="$work/parts/" '
        /^\{"process"/ { match($0, /"rank":[0-9]+/); file = to substr($0, RSTART + 7, RLENGTH - 7) ".jsonl" }
        /^\{"(sent|got)"/ {
            key = file " " substr($0, 1, index($0, ",") - 1)
            gsub(/[^0-9]+/, " "); split($0, number, " ")
            messages[key] += number[2]; bytes[key] += number[3]
            next
        }
        NF { print >file }
        END {
            for (key in messages) {
                split(key, word, " ")
                printf "%s,\"messages\":%d,\"bytes\":%d}}\n", word[2], messages[key], bytes[key] >word[1]
            }
        }'
}
# same N: the parts say what the program said.
same() {
    local rank
    parts
    test "$(ls "$work/parts" | wc -l)" = "$1" || { ls "$work/parts" && return 1; }
    for ((rank = 0; rank < $1; rank++)); do
        grep -q "^$rank {" "$work/out" || { echo "rank $rank says nothing" && return 1; }
        diff <(sed -n "s/^$rank {/{/p" "$work/out" | sort) \
            <(grep -E '^\{"(sent|got)"' "$work/parts/$rank.jsonl" | sort) || { echo "rank $rank" && return 1; }
    done
}
evidence=("$work/err" "$work/out")
counted() { recorded "$@" && same "$1" && quiet; }
quiet() { ! grep -i cartograph "$work/err"; }

for processes in 2 4 5; do
    check "each message of $processes processes is counted once" counted $processes "$work/record"
done
collective() {
    grep -qxE '\{"collective":\{"function":"MPI_Allreduce","calls":2,"nanoseconds":[1-9][0-9]*\}\}' "$work/parts/3.jsonl" &&
        grep -qE '"function":"MPI_Bcast","calls":1,' "$work/parts/3.jsonl"
}
check "other collectives are counted as calls" collective
grid='{"grid":{"function":"MPI_Cart_create","dims":\[5\],"periodic":\[true\],"reorder":false,"rank":3,"first":0}}'
check "grids are noted" grep -qx "$grid" "$work/parts/3.jsonl"
check "the part says that it is whole" grep -q '"rank":3,"size":5,.*"part":0,"complete":true' "$work/parts/3.jsonl"
one_file() { test "$(ls -A "$work/traffic" | wc -l)" = 1; }
check "the processes of a node share a file" one_file
# clock OPTIONS: how long each process ran is noted, and nothing else.
clock() {
    rm -rf "$work/clock"
    $launch 2 env ${YIELD:+LD_PRELOAD="$YIELD"} "$top/build/bin/cartograph" exec --clock "$work/clock" "$@" "$work/record" \
        >"$work/out" 2>"$work/err" && quiet &&
        test "$(cat "$work/clock"/*.jsonl | grep -c '"complete":true,"nanoseconds":[1-9][0-9]*,"lines":0}}$')" = 2 &&
        test "$(cat "$work/clock"/*.jsonl | grep -c .)" = 2
}
check "the time of a run is noted alone" clock
check "and with the library behind" clock --reorder on
# The first calls in order, without times and the number of the group; rank 1 is late by 0.3 s.
window() {
    recorded 2 "$work/window" && parts &&
        for rank in 0 1; do
            sed -n 's/^{"window":{"nanoseconds":[0-9]*,//; T; s/\[\([0-9]*\),[0-9]*\]\([],]\)/\1\2/g; s/"group":[0-9]*,//g; p' \
                "$work/parts/$rank.jsonl" >"$work/parts/window$rank"
            diff "$top/c_tests/record/window$rank.json" "$work/parts/window$rank" || return 1
        done
}
check "the first calls are kept in their order" window
late() { test "$(sed -n 's/^{"waited":{"on":1,"nanoseconds":\([0-9]*\)}}$/\1/p' "$work/parts/0.jsonl")" -gt 250000000; }
check "it is known who was waited for" late
recorded 5 "$work/record" && parts
shown() { "$top/build/bin/cartograph" show "$work/traffic" | grep -q 'MPI_Cart_create: grid 5, periodic 1$'; }
check "cartograph show reads it" shown
address() {
    SLURM_TOPOLOGY_ADDR=s0.n0 SLURM_TOPOLOGY_ADDR_PATTERN=switch.node recorded 2 "$work/record" && same 2 &&
        grep -q '"host":"[^"]*","address":{"path":"s0.n0","pattern":"switch.node"},' "$work/parts/1.jsonl"
}
check "the switches that Slurm tells of are noted" address

# What is there stays as it is, whoever wrote it; the program runs.
untouched() {
    local before code=0
    before=$(find "$work/traffic" "$work/mine" -printf '%p %y %s %T@ %l\n' | sort)
    again 2 "$work/record" || code=$?
    diff <(echo "$before") <(find "$work/traffic" "$work/mine" -printf '%p %y %s %T@ %l\n' | sort) && test "$code" = 0 &&
        grep -q '^1 {"sent"' "$work/out" && test "$(grep -c cartograph "$work/err")" = 1 &&
        grep -q "^cartograph: CARTOGRAPH_RECORD: $work/traffic is there already; .*; nothing is recorded$" "$work/err"
}
mkdir "$work/mine"
check "an earlier recording stays" untouched
rm -rf "$work/traffic" && mkdir "$work/traffic"
echo mine | tee "$work/traffic/17.jsonl" >"$work/traffic/0.jsonl"
check "files of others stay" untouched
rm -rf "$work/traffic" && ln -s "$work/mine" "$work/traffic"
check "no link is followed to another directory" untouched
empty() { rm -rf "$work/traffic" && mkdir "$work/traffic" && again 2 "$work/record" && same 2 && quiet; }
check "an empty directory is taken" empty
# A link that comes while the program runs.
planted() {
    echo mine >"$work/mine/thesis"
    recorded 2 "$work/more" planted "$work/traffic" "$work/mine/thesis" && grep -qx mine "$work/mine/thesis" &&
        test "$(grep -c cartograph "$work/err")" = 1 &&
        grep -q '^cartograph: CARTOGRAPH_RECORD: .* cannot be written, so the recording is not whole: ' "$work/err"
}
check "no link is followed to another file, and that is said once" planted

# A program beside others that are not recorded: nobody waits for these.
coupled() {
    local record=(env CARTOGRAPH_RECORD="$work/traffic" LD_PRELOAD="$recorder$yield")
    local bare=(env ${YIELD:+LD_PRELOAD="$YIELD"})
    rm -rf "$work/traffic"
    case $1 in
    first) $launch 2 "${record[@]}" "$work/record" : -n 2 "${bare[@]}" "$work/record" ;;
    last) $launch 2 "${bare[@]}" "$work/record" : -n 2 "${record[@]}" "$work/record" ;;
    esac >"$work/out" 2>"$work/err"
    parts
    test "$(cd "$work/parts" && echo *)" = "$2" && quiet &&
        "$top/build/bin/cartograph" show "$work/traffic" | grep -q '^2 of the 4 parts are missing'
}
check "the first of two programs is recorded" coupled first "0.jsonl 1.jsonl"
check "the last of two programs is recorded" coupled last "2.jsonl 3.jsonl"

threads() { recorded 2 "$work/more" threads && { grep -q '^no threads$' "$work/out" || same 2; }; }
check "threads" threads
forked() { recorded 1 "$work/fork" && grep -qx 'all children ended' "$work/out" && grep -q '"rank":0' "$work/traffic"/*; }
check "children of a process with threads end" forked

# The program sets the clock forward by which parts are written.
hurried() {
    rm -rf "$work/traffic"
    $launch "$1" env CARTOGRAPH_RECORD="$work/traffic" LD_PRELOAD="$recorder $work/clock.so$yield" "${@:2}" \
        >"$work/out" 2>"$work/err"
}
several() {
    hurried 2 "$work/more" parts && same 2 && quiet &&
        test "$(grep -c '"part":[01],' "$work/traffic"/*)" = 4 && test "$(grep -c '"complete":true' "$work/traffic"/*)" = 2 &&
        "$top/build/bin/cartograph" show "$work/traffic" | grep -q '^sent to others: 212 messages, 212 B$'
}
check "parts on the way have what came since the last" several
# The launcher says that processes were killed.
killed() { ! hurried 2 "$work/more" killed && same 2 && ! grep -l '"complete":true' "$work"/traffic/*; }
check "a job that is killed leaves what it had" killed
# A launcher may kill one process as soon as another has ended so: then once more.
ended() {
    local attempt
    for attempt in 1 2 3 4 5; do
        recorded 2 "$work/more" exit || true
        if same 2; then break; fi
    done
    same 2 && ! grep -l '"complete":true' "$work"/traffic/*
}
check "a job that ends without MPI_Finalize leaves all" ended

# Tools on either side, and Cartograph behind. The tool sees each of its calls once.
chained() {
    rm -rf "$work/traffic"
    $launch 4 env CARTOGRAPH_RECORD="$work/traffic" LD_PRELOAD="$1$yield" "$work/record" >"$work/out" 2>"$work/err" &&
        same 4
}
tool_saw() { test "$(sed -n 's/^tool: //p' "$work/out" | sort -u)" = 16; }
check "a tool in front" chained "$work/tool.so $recorder"
check "the tool has seen its calls" tool_saw
check "a tool behind" chained "$recorder $work/tool.so"
check "the tool has seen its calls" tool_saw
check "Cartograph behind" chained "$recorder $lib/libcartograph.so"
check "the library for every MPI behind" chained "$recorder $top/build/lib/libcartograph.so"
check "the recorder itself" chained "$lib/libcartograph_record.so"

# Where nothing can be written the program runs as without, and one process says why.
nowhere() {
    echo >"$work/file"
    $launch 2 env CARTOGRAPH_RECORD="$work/file/x" LD_PRELOAD="$recorder$yield" "$work/record" >"$work/out" 2>"$work/err" &&
        test "$(grep -c 'cartograph: CARTOGRAPH_RECORD: .* cannot be written' "$work/err")" = 1 &&
        grep -q '^1 {"sent"' "$work/out"
}
check "where nothing can be written the program runs" nowhere

# A recording weighs the grids and graphs of the next run.
$cc $flags -o "$work/grid" "$top/c_tests/record/record_grid.c"
# weighed N VARIABLE...: runs it on nodes that have a row of the grid each and even ranks with the next.
weighed() {
    $launch "$1" env ${YIELD:+LD_PRELOAD="$YIELD"} CARTOGRAPH_LAYOUT="$(($1 / 2))x2" "${@:2}" \
        "$top/build/bin/cartograph" exec --report --traffic "$work/learned" "$work/grid" >"$work/out" 2>"$work/err"
}
learned() { recorded 8 "$work/grid" && rm -rf "$work/learned" && cp -r "$work/traffic" "$work/learned"; }
check "a grid and a ring are recorded" learned
check "the next run takes the weights" weighed 8
check "large faces come inside of nodes" grep -q '; between nodes 96 -> 40 .*; weighted 8,1$' "$work/err"
check "those of the graph as well" grep -q '; between nodes 12800 -> 1600 ' "$work/err"
# Each process would read the recording for itself there.
unrecorded() {
    grep '^map ' "$work/out" >"$work/mapped" &&
        $launch 8 env ${YIELD:+LD_PRELOAD="$YIELD"} CARTOGRAPH_LAYOUT=4x2 "$top/build/bin/cartograph" exec "$work/grid" |
        grep '^map ' | cmp - "$work/mapped"
}
check "MPI_Cart_map answers as without the recording" unrecorded
check "what the user says comes first" weighed 8 CARTOGRAPH_WEIGHTS=1,3
check "it is told" grep -q '; weighted 1,3$' "$work/err"
# without WORDS N: the program runs as without the recording, and one line says why.
without() {
    weighed "$2" && grep -q '; weights assumed equal$' "$work/err" &&
        test "$(grep -c "^cartograph: CARTOGRAPH_TRAFFIC: .*learned $1; the program runs as without it$" "$work/err")" = 1 &&
        test "$(grep -c "^cartograph:" "$work/err")" = 1
}
check "of another job" without "is of a job of 8 processes, and this one has 6" 6
recorded 8 "$work/grid" && parts && rm -rf "$work/learned" && mv "$work/parts" "$work/learned"
check "a file for each process is as good" weighed 8
check "the next run takes the weights of these" grep -q '; between nodes 96 -> 40 .*; weighted 8,1$' "$work/err"
mv "$work/learned/3.jsonl" "$work/3.jsonl"
check "parts are missing" without "lacks the parts of 1 processes, such as that of rank 3" 8
head -n 2 "$work/3.jsonl" >"$work/learned/3.jsonl"
check "one that is cut off is missing too" without "lacks the parts of 1 processes, such as that of rank 3" 8
echo "something else" >"$work/learned/3.jsonl"
check "foreign" without "is not a recording: line .* is not an entry of a recording .*" 8
rm -r "$work/learned"/* && check "empty" without "is not a recording: no process has written .*" 8

if [ -n "$fc" ]; then
    modules=("include 'mpif.h'" "use mpi" "use mpi_f08")
    for module in 0 1 2; do
        $fc -g -O1 -w -DMODULE=$module -J "$work" -o "$work/fortran$module" "$top/c_tests/record/record_fortran.F90"
        check "Fortran, ${modules[module]}" counted 4 "$work/fortran$module"
    done
fi

verdict "test-record, $host"
