#!/usr/bin/env bash
# test-wheel.sh HOST: the wheel of what is built for this host is installed as by somebody whose group may write all that
# is theirs; then the command, the Python package and mpi4py after it work, and mpi4py's own tests of topologies.
. "$(dirname "$0")/checks.sh"
mkdir -p build/hosts
flock build/hosts/mpi4py.lock scripts/setup.sh mpi4py
flock build/hosts/mpi4py.lock scripts/wheel.sh --tools
mpi4py=$top/build/hosts/mpi4py
# Intel MPI runs what is built for MPICH.
case $host in
openmpi*) family=openmpi library=$host ;;
*) family=mpich library=mpich5 ;;
esac
path=$(scripts/host.sh "$host" path)
path=${path:-$(dirname "$(dirname "$cc")")/lib}
libmpi=$path/libmpi.so.$([ "$family" = mpich ] && echo 12 || echo 40)
export LD_LIBRARY_PATH=$path

tree=$work/tree
scripts/install.sh "$library" "$top/build" "$tree" /opt && scripts/install.sh common "$top/build" "$tree" /opt
wheel=$(scripts/wheel.sh "$tree/opt" "$work")
python3 -m venv --without-pip "$work/venv"
python=$work/venv/bin/python
# What it needs is there already, and what comes with it as well.
echo "$mpi4py"/lib/python3*/site-packages >"$($python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/needs.pth"
installs() { (umask 002 && "$mpi4py/bin/pip" --python "$python" install --no-deps --no-index --disable-pip-version-check "$wheel"); }
check "pip installs it" installs
PATH=$work/venv/bin:$PATH
prints() {
    local pattern=$1
    shift
    "$@" >"$work/said" 2>&1 && cat "$work/said" && grep -q -- "$pattern" "$work/said"
}
check "the command is there" prints "^  $library " cartograph info
check "as a module too" prints '^9x8$' "$python" -m cartograph dims 72 2
# With a report, so that it is seen who answers.
mpi() {
    $launch "$1" env "MPI4PY_MPIABI=$family" "MPI4PY_LIBMPI=$libmpi" CARTOGRAPH_REPORT=1 ${YIELD:+"LD_PRELOAD=$YIELD"} \
        "${@:2}" </dev/null
}
cat >"$work/program.py" <<'END'
import cartograph.mpi
from mpi4py import MPI

grid = MPI.COMM_WORLD.Create_cart(MPI.Compute_dims(4, 2), periods=[True, False], reorder=True)
# In a file: lines that several ranks print are torn.
answers = grid.gather(sum(grid.neighbor_allgather(grid.rank)[:2]))
if grid.rank == 0:
    with open(f"{__file__}.answers", "w") as file:
        print(answers, file=file)
END
answers() { [ "$(cat "$work/program.py.answers")" = '[4, 6, 0, 2]' ]; }
check "import cartograph.mpi" prints '^MPI_Cart_create: grid 2 x 2' mpi 4 "$python" "$work/program.py"
check "its answers" answers
sed -i 1d "$work/program.py"
rm -f "$work/program.py.answers"
check "cartograph exec of a script" prints '^MPI_Cart_create: grid 2 x 2' mpi 4 cartograph exec "$work/program.py"
check "its answers then" answers
printf '%s\n' 'from mpi4py import MPI' 'import cartograph.mpi' >"$work/late.py"
late() { ! mpi 1 "$python" "$work/late.py" >"$work/said" 2>&1 && grep -q 'import cartograph.mpi before mpi4py' "$work/said"; }
check "an import that is too late is an error" late
records() {
    CARTOGRAPH_REPORT= mpi 4 cartograph exec --mpi "$library" --record "$work/run.traffic" "$python" "$work/program.py" >/dev/null &&
        mpi 4 cartograph exec --report="$work/report.json" "$python" "$work/program.py" >/dev/null &&
        echo '{"schema":1,"program":"app","processes":4,"node_sizes":[2],"order":"in turn","moves_grids":false,"orders_world":true}
{"new_ranks":[0,2,1,3],"node_of_rank":[0,1,0,1]}' >"$work/profile.json" &&
        "$python" - "$work/run.traffic" "$work/report.json" "$work/profile.json" <<'END'
import sys
import cartograph

recording = cartograph.read_recording(sys.argv[1])
assert recording.processes == 4 and len(recording.nodes) == 4, recording
assert [grid.dims for grid in recording.grids] == [(2, 2)], recording.grids
assert any(edge.bytes > 0 for edge in recording.edges), recording.edges
report = cartograph.read_report(sys.argv[2])
assert report.job.processes == 4 and report.topologies[0].dims == (2, 2), report
assert report.topologies[0].kept, report
profile = cartograph.read_profile(sys.argv[3])
assert (profile.processes, profile.orders_world, profile.foretold) == (4, True, None), profile
try:
    cartograph.read_recording(sys.argv[2])
    raise SystemExit("a report is no recording")
except cartograph.CartographError as error:
    print(error)
END
}
check "recordings, reports and profiles are read" records
check "plans and meshes" "$python" python/tests/test_plan.py

# topologies WHAT [LINE]: mpi4py's own tests, after the line; those that pass, of rank 0.
topologies() {
    timeout -k 5 200 $launch 3 env "MPI4PY_MPIABI=$family" "MPI4PY_LIBMPI=$libmpi" ${YIELD:+"LD_PRELOAD=$YIELD"} sh -c '
        exec >"$1.${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" 2>&1
        exec "$2" -c "$3
import runpy, sys
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition(\"/\")[0])
runpy.run_path(sys.argv[0], run_name=\"__main__\")" "$4"/source-*/test/main.py -v -i test_comm_topo -i _ngh_' \
        sh "$work/$1" "$python" "${2:-}" "$mpi4py" </dev/null >"$work/why" 2>&1 || true
    sed -nE 's/^(test[A-Za-z0-9_]+ \([A-Za-z0-9_.]+\))( .*)?\.\.\. ok$/\1/p' "$work/$1.0" | sort -u
}
topologies ours 'import cartograph.mpi' >"$work/passed"
evidence=("$work/ours.0")
check "mpi4py's tests run" test "$(wc -l <"$work/passed")" -gt 20
if grep -qE '\.\.\. (FAIL|ERROR)' "$work"/ours.*; then
    topologies bare >"$work/bare"
    check "all that pass on the bare MPI" test -z "$(comm -23 "$work/bare" "$work/passed")"
fi
verdict "test-wheel, $host, $(wc -l <"$work/passed") of mpi4py's tests"
