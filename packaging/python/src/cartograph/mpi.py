"""``import cartograph.mpi`` before mpi4py makes it use Cartograph's topology functions, as under ``cartograph exec``.

The library finds mpi4py's MPI when the first of these functions is called. If it is already preloaded, this module
does nothing.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from ._tree import LIBRARY, trust


def _loaded() -> bool:
    """True if the process has already loaded the library, or the one for an MPI."""
    return "/libcartograph.so" in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")


if not _loaded():
    if "mpi4py.MPI" in sys.modules:
        raise ImportError("import cartograph.mpi before mpi4py: it has the MPI's own functions by now")
    trust()
    # Libraries loaded later find these functions before the MPI's.
    ctypes.CDLL(str(LIBRARY), mode=ctypes.RTLD_GLOBAL)
