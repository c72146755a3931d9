"""The command and the libraries in this package."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

TREE = Path(__file__).parent / "_tree"
COMMAND = TREE / "bin" / "cartograph"
LIBRARY = TREE / "lib" / "libcartograph.so.0"


class CartographError(ValueError):
    """An error message of the command about its arguments or files."""


def trust() -> None:
    """Removes the write permission of other users: pip sets it by the umask, and libraries that a group can write are
    not loaded into programs."""
    others = stat.S_IWGRP | stat.S_IWOTH
    if not LIBRARY.stat().st_mode & others:
        return
    for path in [COMMAND, *TREE.rglob("*.so*"), *TREE.rglob("halo")]:
        status = path.stat()
        if status.st_uid == os.getuid() and status.st_mode & others:
            path.chmod(stat.S_IMODE(status.st_mode) & ~others)


def answer(*arguments: str, stdin: str | None = None) -> Any:
    """The command's output, parsed as JSON."""
    run = subprocess.run(
        [str(COMMAND), *arguments], input=stdin, capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        raise CartographError(run.stderr.strip().removeprefix("cartograph: "))
    return json.loads(run.stdout)
