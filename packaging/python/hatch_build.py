"""Puts the command and the libraries into the wheel, and the project's source into the source distribution."""

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TreeHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the files that scripts/wheel.sh names; a source distribution builds them, for the MPI whose mpicc is on the
    PATH."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        added = build_data["force_include"]
        if self.target_name == "sdist":
            added[os.environ["CARTOGRAPH_SOURCE"]] = "source"
            return
        tree = Path(os.environ.get("CARTOGRAPH_TREE") or self.build())
        wanted = [tree / "bin" / "cartograph", tree / "lib" / "libcartograph.so.0"]
        # Files for compilers, manuals and modules are omitted.
        for pattern in ("*.so*", "halo"):
            wanted += sorted((tree / "lib" / "cartograph").rglob(pattern))
        for path in wanted:
            if not path.is_symlink():
                added[str(path)] = f"cartograph/_tree/{path.relative_to(tree)}"
        for text in ["LICENSE-APACHE", "LICENSE-MIT"]:
            added[str(tree / "share" / "doc" / "cartograph" / text)] = f"cartograph/{text}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ.get('CARTOGRAPH_PLATFORM', f'linux_{platform.machine()}')}"

    def build(self) -> Path:
        """Builds the source next to this file; needs Rust, libclang, a C compiler and make."""
        source = Path(self.root) / "source"
        tree = source / "build" / "tree"
        # Cargo's settings here name the crates that the source distribution contains.
        environment = {**os.environ, "CARGO_HOME": str(source / "build" / "cargo"), "CARGO_NET_OFFLINE": "true"}
        for goal in ("all", "install"):
            subprocess.run(["make", goal, f"PREFIX={tree}"], cwd=source, env=environment, check=True)
        return tree
