# Cartograph's interface for people; `make help` lists it.
#
# cargo builds for one host at a time. The Makefile loops over hosts, runs programs, inspects files and installs them.
# Each host has its own directory below build/.

# Taken from the command line only: shells and tools use variables with these names.
$(foreach variable,HOST HOSTS NAME,$(if $(filter environment%,$(origin $(variable))),$(eval override $(variable) :=)))
# `make install HOSTS="..."` selects hosts; other targets take all of them.
CHOSEN := $(HOSTS)
# Runs programs of another host with its library.
RUNTIMES := intel
override HOSTS := $(filter-out $(RUNTIMES),$(shell scripts/host.sh))
LIBRARY_intel := mpich5
TOP := $(CURDIR)
# The directory for everything except tests; the source may then be read-only.
BUILD := $(TOP)/build
override BUILD := $(abspath $(BUILD))
PREFIX ?= /usr/local

# HOST is one of the hosts above; MPICC is the compiler wrapper of any MPI. Without both, `make lib` takes the mpicc
# on the PATH, and `make test` takes all hosts. NAME names the host of MPICC.
ifneq ($(HOST),)
  ifeq ($(filter $(HOST),$(HOSTS) $(RUNTIMES)),)
    $(error there is no host '$(HOST)'; HOST is one of $(HOSTS) $(RUNTIMES))
  endif
  ONE := $(or $(LIBRARY_$(HOST)),$(HOST))
  TESTED := $(HOST)
  override MPICC := $(shell scripts/host.sh $(HOST) cc)
else
  ifeq ($(origin MPICC),undefined)
    MPICC := $(if $(shell command -v mpicc),mpicc,$(or $(notdir $(shell command -v mpicc.mpich)),mpicc))
  endif
  # mpicc.NAME is Debian's wrapper of the host NAME; any other wrapper gets a separate directory.
  ifneq ($(filter $(NAME),$(HOSTS) $(RUNTIMES)),)
    $(error NAME=$(NAME) is one of the hosts that are known: say HOST=$(NAME), or another NAME for the MPI of MPICC)
  endif
  ONE := $(or $(NAME),$(filter $(HOSTS),$(patsubst mpicc.%,%,$(filter mpicc.%,$(notdir $(MPICC))))),mpicc-$(firstword $(shell readlink -f "$$(command -v $(MPICC) || echo $(MPICC))" | cksum)))
  TESTED := $(HOSTS) $(RUNTIMES)
endif
KNOWN := $(filter $(ONE),$(HOSTS))
OUT := $(BUILD)/$(ONE)
LIB := $(OUT)/lib
# The recorder is only for hosts where each rank is a process.
RECORDED := $(filter-out smpi mini,$(ONE))
PURE := CARGO_TARGET_DIR=$(BUILD)/pure
# The target of a cross build, if any; cargo's runner for it runs the programs.
CROSS := $(CARGO_BUILD_TARGET:%=%/)
BOUND := CARGO_TARGET_DIR=$(OUT) MPICC=$(MPICC) $(if $(KNOWN),scripts/with-env.sh $(ONE))

.PHONY: all help demo test check packages hosts lib lib-path preload tool install install-lib uninstall clean
## make [all]                       the libraries for all MPIs found, the one to preload, and the command
# All hosts except mini, which is for tests only; an mpicc of another MPI comes last.
FOUND = $(shell scripts/found.sh $(filter-out mini,$(HOSTS)))
all: tool preload
	@test -n "$(FOUND)" || { echo "There is no MPI here: install one with its compiler wrapper mpicc, or run make lib MPICC=path/to/mpicc" >&2; exit 1; }
	set -e; for mpi in $(FOUND); do $(MAKE) --no-print-directory lib $$mpi; done
	@echo; echo "Preload $(BUILD:$(TOP)/%=%)/lib/libcartograph.so, or start programs with $(BUILD:$(TOP)/%=%)/bin/cartograph exec."

## make help                        this list
help:
	@sed -n 's/^## //p' Makefile

## make demo [HOST=]                a Poisson solver in C and in Fortran, without and under Cartograph, and in jobs that learn
demo: override HOST := $(or $(HOST),openmpi)
demo:
	@scripts/setup.sh $(HOST) $(if $(and $(filter openmpi,$(HOST)),$(filter 0,$(shell id -u))),$(NETWORK))
	@$(MAKE) -s --no-print-directory lib tool preload HOST=$(HOST)
	@scripts/demo.sh $(HOST)

## make test [HOST=]                everything, on all hosts or on one
test:
	scripts/setup.sh
	$(MAKE) --no-print-directory -j$(shell nproc) --output-sync=target check command-tested preload $(TESTED:%=tested-%)
	$(PURE) CARTOGRAPH_TEST_HOST="$(TESTED)" cargo test $(CHECKED) --test hosts

# The hosts and the packages for their tests, while `check` runs.
.PHONY: tested-hosts
tested-hosts:
	scripts/setup.sh timeout:coreutils pkg-config:pkg-config valgrind:valgrind cmake:cmake $(TESTED)

# The library of a host for tests. Later hosts reuse the build of the first. Two hosts have lints, for which all code
# is compiled: MPICH has all optional functions, and handles that are integers; Open MPI 4 has none of these
# functions, and handles that are pointers.
LINTED := $(or $(HOST),mpich openmpi)
.PHONY: $(TESTED:%=tested-%)
$(patsubst %,tested-%,$(filter-out intel,$(TESTED))): tested-%: | tested-hosts
	$(MAKE) --no-print-directory $(if $(filter $(LINTED),$*),lint,lib) HOST=$*
# Both binary interfaces, after the hosts that own them.
tested-intel: | tested-hosts $(filter tested-mpich5 tested-abi,$(TESTED:%=tested-%))
	$(MAKE) --no-print-directory lib HOST=mpich5
	$(MAKE) --no-print-directory lib HOST=abi
$(patsubst %,tested-%,$(wordlist 2,$(words $(TESTED)),$(TESTED))): | tested-$(firstword $(TESTED))

## make check                       format, lints, tests of the pure layers, links of the pages; needs no MPI
# One profile and one command for related crates, so that the features of shared crates agree, and each crate is
# compiled once. Features of the library that bind an MPI are left out.
CHECKED := --profile unwind --no-default-features -p mpi-cartograph -p cartograph-cli -p cartograph-core -p cartograph-jobs \
    -p cartograph-lab -p cartograph-shim -p cartograph-traffic
# Tests of the command wait for other processes half of the time, so two tests run at once for each processor.
check:
	scripts/setup.sh
	cargo fmt --all --check
	$(if $(shell command -v python3),packaging/try.sh static)
	$(PURE) cargo clippy $(CHECKED) --features cartograph-jobs/fuzz --all-targets -- -D warnings
	$(PURE) cargo clippy --release -p cartograph-preload -- -D warnings
	$(PURE) RUST_TEST_THREADS=$$((2 * $$(nproc))) cargo test $(CHECKED) -p cartograph-preload --lib --bins \
	    --test cli --test deadlock --test docs --test headers --test hosts --test imports
	$(PURE) cargo test $(CHECKED) --doc
	$(PURE) RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps $(CHECKED)

## make hosts                       installs every missing host
hosts:
	scripts/setup.sh $(HOSTS) $(RUNTIMES)

## make lib [HOST=|MPICC= NAME=] [BUILD=]  builds libcartograph.so and libcartograph.a, and the recorder
lib:
	@$(if $(HOST),scripts/setup.sh $(ONE))
	@scripts/preflight.sh $(MPICC)
	scripts/seed.sh $(OUT)
	$(BOUND) cargo build --release --lib
	$(if $(RECORDED),$(BOUND) cargo build --release -p cartograph-record)
	scripts/finish-lib.sh $(OUT)
	$(if $(RECORDED),$(BOUND) $(MPICC) -O2 $(CFLAGS) $(LDFLAGS) -o $(LIB)/halo examples/halo.c)
	install -d $(BUILD)/lib/cartograph
	ln -sfn ../../$(ONE)/lib $(BUILD)/lib/cartograph/$(ONE)

## make preload                     builds the libraries to preload for every MPI: build/lib/libcartograph.so, and recorders
preload:
	@scripts/preflight.sh
	set -e; for kind in : record:cartograph/record-3.so record,mpi4:cartograph/record-4.so record,mpi4c:cartograph/record-4c.so; do \
	    $(PURE) cargo build --release -p cartograph-preload --features "$${kind%%:*}"; \
	    to=$${kind#*:}; \
	    install -C -D -m 755 $(BUILD)/pure/$(CROSS)release/libcartograph_preload.so $(BUILD)/lib/$${to:-libcartograph.so.0}; \
	done
	ln -sf libcartograph.so.0 $(BUILD)/lib/libcartograph.so

# Lints of the code that binds a host, and the recorder's unit tests.
.PHONY: lint
lint: lib
	$(BOUND) cargo clippy --release --lib --no-deps -- -D warnings
	$(if $(filter mpich openmpi,$(ONE)),$(BOUND) cargo test --release --quiet -p cartograph-record --lib)
	$(if $(RECORDED),$(BOUND) cargo clippy --release -p cartograph-record -p cartograph-shim --no-deps -- -D warnings)

## make -s lib-path [HOST=|MPICC=]  prints the path of that libcartograph.so
lib-path:
	@echo $(LIB)/libcartograph.so

## make tool                        builds the command, build/bin/cartograph; needs no MPI
tool:
	@scripts/preflight.sh
	$(PURE) cargo build --profile tool -p cartograph-cli
	install -C -D -m 755 $(BUILD)/pure/$(CROSS)tool/cartograph $(BUILD)/bin/cartograph

# The command as compiled for its tests, with checked arithmetic.
.PHONY: command-tested
command-tested: check
	install -C -D -m 755 $(BUILD)/pure/$(CROSS)unwind/cartograph $(BUILD)/bin/cartograph

## make install [HOSTS=|HOST=|MPICC= NAME=] [PREFIX= DESTDIR= BUILD=]  libraries, command, manuals, module file and more
# Root often has no cargo: then the earlier build is installed.
CARGO := $(shell command -v cargo)
WANTED = $(if $(CHOSEN),$(CHOSEN:%=HOST=%),$(if $(HOST)$(filter command,$(origin MPICC)),MPICC=$(MPICC),$(FOUND)))
install: $(if $(CARGO),tool preload)
	@test -n "$(WANTED)" || { echo "There is no MPI here: say HOST=, or MPICC=path/to/mpicc" >&2; exit 1; }
	set -e; for mpi in $(WANTED); do $(MAKE) --no-print-directory HOSTS= install-lib $$mpi; done
	scripts/install.sh common $(BUILD) "$(DESTDIR)" "$(PREFIX)"

# The library of one host.
install-lib: $(if $(CARGO),lib)
	scripts/install.sh $(ONE) $(BUILD) "$(DESTDIR)" "$(PREFIX)"

## make packages [PARTS=]           makes a release, builds it twice offline, and tries each recipe of packaging/; as root, long
packages:
	packaging/try.sh $(PARTS)

## make uninstall [PREFIX= DESTDIR=]  removes the files of make install
uninstall:
	scripts/install.sh uninstall $(BUILD) "$(DESTDIR)" "$(PREFIX)"

## make dist [DIRECTORY=build/dist]  a tarball for Linux machines of this kind with glibc 2.17 or newer, even without Rust
DIRECTORY ?= build/dist
.PHONY: dist wheel sdist
dist:
	@scripts/preflight.sh
	scripts/dist.sh $(DIRECTORY)

## make wheel [DIRECTORY=build/dist] the same as a package for pip: pip install build/dist/mpi_cartograph-*.whl
wheel: dist
	scripts/wheel.sh build/dist$(CARGO_BUILD_TARGET:%=-%)/tree $(DIRECTORY)

## make sdist [DIRECTORY=build/dist] the source of the commit for pip, which builds a wheel for the mpicc on the PATH with Rust
sdist:
	scripts/wheel.sh --source $(DIRECTORY)

## make clean                       removes all builds except the hosts
clean:
	rm -rf book
	for host in $(HOSTS) pure bin lib bench threads dist; do rm -rf $(TOP)/build/$$host; done

## make lab                         further measurements and tests for developers, as make lab-NAME
include lab/lab.mk
