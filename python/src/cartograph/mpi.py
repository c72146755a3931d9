"""``import cartograph.mpi`` before mpi4py: its topology functions are Cartograph's then, as under ``cartograph exec``.

The library finds the MPI that mpi4py brings when the first of these functions is called. Where it is preloaded
already, nothing is done.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from ._tree import LIBRARY, trust


def _loaded() -> bool:
    """Whether the process has the library, or the one for an MPI, already."""
    return "/libcartograph.so" in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")


if not _loaded():
    if "mpi4py.MPI" in sys.modules:
        raise ImportError("import cartograph.mpi before mpi4py: it has the MPI's own functions by now")
    trust()
    # What is loaded later finds these functions before the MPI's.
    ctypes.CDLL(str(LIBRARY), mode=ctypes.RTLD_GLOBAL)
