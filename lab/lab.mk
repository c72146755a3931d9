# Targets only for developers of Cartograph: measurements, long tests and checks that need more tools. `make lab` lists
# it. Included by the Makefile, whose variables it uses.

.PHONY: lab
lab:
	@sed -n 's/^## //p' lab/lab.mk

## make lab-book                        the pages of docs/ as a book, book/index.html; needs mdbook
lab-book:
	@command -v mdbook >/dev/null || { echo "There is no mdbook: cargo install mdbook" >&2; exit 1; }
	mdbook build docs

## make lab-fuzz [SECONDS=60]           each body of jobs/src/fuzz under libFuzzer; needs a nightly Rust and cargo-fuzz
SECONDS ?= 60
lab-fuzz:
	set -e; for body in $(notdir $(wildcard lab/fuzz/seeds/*)); do \
	    mkdir -p lab/fuzz/corpus/$$body; \
	    CARGO_TARGET_DIR=$(TOP)/build/fuzz cargo +nightly fuzz run --fuzz-dir lab/fuzz -a -s none $$body lab/fuzz/corpus/$$body lab/fuzz/seeds/$$body \
	        -- -max_total_time=$(SECONDS) -timeout=60 -print_final_stats=1; \
	done

## make lab-miri [TESTS=]              quick tests of the pure layers under Miri; needs a nightly Rust with miri
TESTS ?= engine::check engine::digest engine::policy mapping::model::csr mapping::model::lattice mapping::model::order \
    draw::matrix draw::slices
lab-miri:
	CARGO_TARGET_DIR=$(TOP)/build/miri MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=2 \
	    cargo +nightly miri test -p cartograph-core -p cartograph-jobs --lib -- $(TESTS)

## make lab-mutants [FILES=]            changes the code, one place at a time, where a test should fail; needs cargo-mutants
FILES ?= core/src/topology/graph.rs core/src/topology/neighbors.rs core/src/topology/dist_graph.rs
lab-mutants:
	mkdir -p $(BUILD)
	cargo mutants -p cartograph-core $(FILES:%=-f %) --profile unwind --baseline skip --timeout 300 -o $(BUILD) -- --lib

## make lab-orders                      all orders of messages of many topologies of four and five processes; long
lab-orders:
	$(PURE) cargo test --profile unwind -p cartograph-core --lib -- --ignored --nocapture orders

## make lab-hostile                     400 calls into the MPI fail, one per run, in each program that runs on mini; long
lab-hostile:
	$(MAKE) --no-print-directory lib HOST=mini
	$(PURE) CARTOGRAPH_TEST_HOST=mini CARTOGRAPH_TEST_HOSTILE=all cargo test $(CHECKED) --test hosts -- ' hostile'

## make lab-soak [SECONDS=3600]         random calls, collectives and topologies on four hosts at once, counted
LONG := $(PURE) cargo test $(CHECKED) --test hosts -- --ignored --test-threads 4
lab-soak: SECONDS = 3600
lab-soak:
	set -e; for host in mpich openmpi mpich5 openmpi5; do $(MAKE) -s --no-print-directory lib HOST=$$host; done
	CARTOGRAPH_TEST_SECONDS=$(SECONDS) CARTOGRAPH_TEST_HOST="mpich openmpi mpich5 openmpi5" $(LONG) /soak

## make lab-old-glibc [HOST=mpich]      checks that a host's library needs no glibc newer than 2.17
# Linked by Zig's linker, a Python package, which knows the symbols of every glibc version.
OLD := $(or $(HOST),mpich)
lab-old-glibc:
	@$(MAKE) -s --no-print-directory lib HOST=$(OLD)
	[ -x $(BUILD)/zig/bin/python ] || python3 -m venv $(BUILD)/zig
	$(BUILD)/zig/bin/pip install --quiet --disable-pip-version-check ziglang==0.17.1
	rm -rf $(BUILD)/old-glibc && mkdir $(BUILD)/old-glibc
	$(BUILD)/zig/bin/python -m ziglang cc -target x86_64-linux-gnu.2.17 -shared -o $(BUILD)/old-glibc/$(OLD).so -Wl,--allow-shlib-undefined \
	    -Wl,--whole-archive $(BUILD)/$(OLD)/lib/libcartograph.a -Wl,--no-whole-archive -lunwind -ldl -lpthread -lm
	packaging/glibc.sh 2.17 $(BUILD)/old-glibc

## make lab-symbols [HOST=]             compares what the library exports and needs with what it should
lab-symbols:
	set -e; for host in $(filter $(HOSTS),$(TESTED)); do $(MAKE) --no-print-directory lib HOST=$$host; done
	$(PURE) CARTOGRAPH_TEST_HOST="$(filter $(HOSTS),$(TESTED))" cargo test $(CHECKED) --test hosts -- /symbols

## make lab-bench [HOST=]               the time, instructions and memory of each host and of Cartograph, side by side
MEASURED := $(or $(HOST),$(filter-out smpi mini,$(HOSTS)))
BENCH := $(PURE) cargo run --quiet --profile tool -p cartograph-lab --no-default-features --bin bench --
lab-bench:
	set -e; for host in $(MEASURED); do $(MAKE) -s --no-print-directory lib HOST=$$host; $(BENCH) --run $$host; done
	$(if $(word 2,$(MEASURED)),$(BENCH) --keep $(MEASURED))

## make lab-kit                         build/mpi-topology-kit.tar.gz: faults of MPIs, one program per file, for any MPI
lab-kit:
	rm -rf $(BUILD)/mpi-topology-kit && mkdir -p $(BUILD)/mpi-topology-kit
	cp c_tests/kit/* LICENSE-MIT LICENSE-APACHE $(BUILD)/mpi-topology-kit
	cd $(BUILD)/mpi-topology-kit && sed -i -e '/^#include "tap.h"/{r tap.h' -e 'd}' *.c && rm tap.h
	tar -C $(BUILD) --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - mpi-topology-kit | gzip -n >$(BUILD)/mpi-topology-kit.tar.gz

## make lab-faults [SECTION=programs|versions|arguments]  what each MPI does wrong, without and with Cartograph; an hour
lab-faults:
	set -e; for host in mpich openmpi mpich5 openmpi5; do $(MAKE) -s --no-print-directory lib preload HOST=$$host; done
	set -e; for section in $(or $(SECTION),programs versions arguments); do \
	    $(PURE) cargo run --quiet --profile tool -p cartograph-lab --no-default-features --bin faults -- $$section; \
	done

## make lab-instances                   build/cartograph-instances.tar.gz: grids, graphs of up to 40,000 vertices, and the plans for them
lab-instances:
	rm -rf $(BUILD)/cartograph-instances
	$(PURE) cargo run --quiet --profile tool -p cartograph-lab --bin quality -- instances $(BUILD)/cartograph-instances
	tar -C $(BUILD) -czf $(BUILD)/cartograph-instances.tar.gz cartograph-instances
	@ls -lh $(BUILD)/cartograph-instances.tar.gz

## make lab-quality [SECTION=everyday|grids|weights|levels|tori|costs|devices|graphs|patterns]  measures the quality of mappings, for lab/results
# Only `quality` needs SharedMap and KaHIP, in a separate environment.
lab-quality:
	mkdir -p $(BUILD)
	[ -x $(BUILD)/rivals/bin/python ] || python3 -m venv $(BUILD)/rivals
	$(BUILD)/rivals/bin/python -m pip install --quiet --disable-pip-version-check chszlablib==0.5.27
	$(PURE) cargo run --release -p cartograph-lab --bin quality -- $(SECTION)

# Measures and tests on simulated nodes of this machine; REPETITIONS, RATE and ONLY affect only the measurements.
NETWORK := ip:iproute2 tc:iproute2
EX45 := '/usr/share/petsc/*/share/petsc/examples/src/ksp/ksp/tutorials/ex45.c'
PROGRAMS := lmp:lammps pkg-config:pkg-config $(EX45):libpetsc-real-dev $(EX45):libpetsc3.18-dev-examples
SLURM := munged:munge srun:slurm-client slurmctld:slurmctld slurmd:slurmd /usr/include/slurm/spank.h:libslurm-dev /usr/include/slurm/pmi2.h:libpmi2-0-dev
NODES := $(PURE) cargo run --quiet --profile tool -p cartograph-lab --no-default-features --bin nodes --
## make lab-cluster [SECTION=switches]  exchanges on four nodes, without and with Cartograph; needs root
lab-cluster:
	@scripts/setup.sh openmpi $(NETWORK)
	@$(MAKE) -s --no-print-directory lib HOST=openmpi
	$(NODES) $(or $(SECTION),cluster)
	@$(MAKE) -s --no-print-directory lab-results

## make lab-collectives                 every collective of Open MPI 5 on four nodes, with ranks in several orders; needs root
lab-collectives:
	@scripts/setup.sh openmpi5 $(NETWORK)
	@$(MAKE) -s --no-print-directory lib tool HOST=openmpi5
	$(NODES) collectives

## make lab-slurm                       levels, rank files, relays and recordings under a real Slurm of eight daemons here; needs root
lab-slurm:
	@scripts/setup.sh mpich openmpi intel $(NETWORK) $(SLURM)
	@set -e; for host in mpich openmpi; do $(MAKE) -s --no-print-directory lib tool HOST=$$host; done
	$(NODES) slurm

## make lab-numa                        bindings before and after placement, on a virtual machine of two sockets; needs root
lab-numa:
	@scripts/setup.sh mpich openmpi openmpi5 qemu-system-x86_64:qemu-system-x86 busybox:busybox-static
	@$(MAKE) -s --no-print-directory tool preload
	mkdir -p $(BUILD)/numa
	set -e; for host in openmpi openmpi5 mpich; do \
	    $$(scripts/host.sh $$host cc) -O1 -w -DPAUSE=30000 -o $(BUILD)/numa/$$host c_tests/record/pairs.c; \
	done
	lab/numa/start $(BUILD)/numa lab/numa/table $(BUILD)/numa

## make lab-results                     puts the tables of lab/results into the pages
lab-results:
	$(PURE) cargo run --quiet --profile tool -p cartograph-lab --no-default-features --bin results

## make lab-programs [BUILT=DIRECTORY]  public programs on four nodes: baseline, reordered, tuned, and under cartograph try; needs root
# LAMMPS comes from Debian; the directory has the programs that you have built.
lab-programs:
	@scripts/setup.sh openmpi $(NETWORK) $(PROGRAMS)
	@$(MAKE) -s --no-print-directory lib tool preload HOST=openmpi
	$(NODES) programs "$(BUILT)"
	$(NODES) try "$(BUILT)"
	@$(MAKE) -s --no-print-directory lab-results

## make lab-jobs [BUILT=DIRECTORY] [HOST=openmpi5|mpich5]  the same programs in six jobs with cartograph run and six without; needs root
lab-jobs: HOST := $(or $(HOST),openmpi)
lab-jobs:
	@scripts/setup.sh openmpi $(HOST) $(NETWORK) $(PROGRAMS)
	@$(MAKE) -s --no-print-directory lib tool preload HOST=openmpi
	@[ $(HOST) = openmpi ] || $(MAKE) -s --no-print-directory lib HOST=$(HOST)
	HOST=$(HOST) $(NODES) jobs "$(BUILT)"
	@$(MAKE) -s --no-print-directory lab-results

## make lab-recording [BUILT=DIRECTORY]  the same programs on two processes with and without the recorder of cartograph run
lab-recording:
	@scripts/setup.sh openmpi $(PROGRAMS)
	@$(MAKE) -s --no-print-directory lib tool preload HOST=openmpi
	$(NODES) recording "$(BUILT)"

## make lab-policy                      gains and losses of cartograph run in simulated histories, for lab/results
lab-policy:
	$(PURE) cargo run --quiet --profile tool -p cartograph-lab --no-default-features --bin policy
	@$(MAKE) -s --no-print-directory lab-results

## make lab-simulate [SECTION=levels]  exchanges on up to 4,096 simulated processes, for lab/results
lab-simulate:
	$(MAKE) --no-print-directory lib HOST=smpi
	$(PURE) cargo run --release -p cartograph-lab --bin simulate -- $(SECTION)

## make lab-scale [TRACES="bt ft"]       traces of public programs (lab/traces) on simulated networks of today, for lab/results
lab-scale:
	@$(MAKE) -s --no-print-directory tool
	$(PURE) cargo run --quiet --profile tool -p cartograph-lab --no-default-features --bin scale -- $(TRACES)
	@$(MAKE) -s --no-print-directory lab-results
