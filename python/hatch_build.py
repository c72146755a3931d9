"""Puts the command and the libraries into the wheel; scripts/wheel.sh says where they are, and for which Linux."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TreeHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds what is below CARTOGRAPH_TREE, but for what compilers, manuals and modules are for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        tree = Path(os.environ["CARTOGRAPH_TREE"])
        wanted = [tree / "bin" / "cartograph", tree / "lib" / "libcartograph.so.0"]
        wanted += sorted(path for path in (tree / "lib" / "cartograph").rglob("*.so*"))
        for path in wanted:
            if not path.is_symlink():
                build_data["force_include"][str(path)] = f"cartograph/_tree/{path.relative_to(tree)}"
        for text in ["LICENSE-APACHE", "LICENSE-MIT"]:
            build_data["force_include"][str(tree / "share" / "doc" / "cartograph" / text)] = f"cartograph/{text}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['CARTOGRAPH_PLATFORM']}"
