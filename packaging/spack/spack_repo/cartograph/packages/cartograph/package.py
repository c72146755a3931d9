# SPDX-License-Identifier: MIT OR Apache-2.0

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Cartograph(MakefilePackage):
    """The process-topology chapter of MPI as a library of its own, preloaded under existing
    programs: neighbors in grids and graphs are placed on the same node."""

    url = "@URL@"

    license("MIT OR Apache-2.0")

    version("@VERSION@", sha256="@SHA256@")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("rust@1.88:", type="build")
    # libclang, by which mpi.h is read.
    depends_on("llvm+clang", type="build")
    depends_on("binutils", type="build")
    depends_on("mpi")

    # The archive becomes one object of which others may define the MPI_ names again.
    conflicts("platform=darwin", msg="Cartograph is for Linux")
    conflicts("platform=windows", msg="Cartograph is for Linux")

    @property
    def host(self):
        """What the library is called that is built for this MPI."""
        mpi = self.spec["mpi"]
        return f"{mpi.name}-{mpi.version}"

    def setup_build_environment(self, env: EnvironmentModifications) -> None:
        env.set("CARGO_HOME", join_path(self.stage.path, "cargo"))
        # All crates are in the release.
        env.set("CARGO_NET_OFFLINE", "true")
        env.set("LIBCLANG_PATH", join_path(self.spec["llvm"].prefix, "lib"))

    def build(self, spec: Spec, prefix: Prefix) -> None:
        make("tool", "preload")
        make("lib", f"MPICC={spec['mpi'].mpicc}", f"NAME={self.host}")

    def install(self, spec: Spec, prefix: Prefix) -> None:
        make("install", f"MPICC={spec['mpi'].mpicc}", f"NAME={self.host}", f"PREFIX={prefix}")

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        # The command is what a user of this prefix asks for; LD_PRELOAD is for him to set.
        env.set("CARTOGRAPH_ROOT", self.prefix)
