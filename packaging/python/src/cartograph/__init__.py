"""The process-topology chapter of MPI as a separate library.

``plan`` and ``mesh`` find which process or device should have which position; ``read_report`` and
``read_recording`` read the files of runs; and ``import cartograph.mpi`` before mpi4py loads the library.
"""

from ._files import (
    Effect,
    Edge,
    GridTraffic,
    Job,
    Recording,
    Report,
    Topology,
    read_recording,
    read_report,
)
from ._plan import Edges, Mesh, Plan, mesh, plan
from ._tree import CartographError

__all__ = [
    "CartographError",
    "Edge",
    "Edges",
    "Effect",
    "GridTraffic",
    "Job",
    "Mesh",
    "Plan",
    "Recording",
    "Report",
    "Topology",
    "mesh",
    "plan",
    "read_recording",
    "read_report",
]
