"""Reports and recordings as dataclasses."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Union

from ._plan import Edges
from ._tree import CartographError, answer

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Job:
    """The job of a report."""

    mpi: str
    processes: int
    #: Processes on each node, if known.
    node_sizes: tuple[int, ...] | None
    #: The job's name, user, host, program and date, in reports that a site collects.
    origin: dict[str, str] | None


@dataclass(frozen=True)
class Effect:
    """The effect of a mapping, whether it was applied or not."""

    before: Edges
    after: Edges
    bound: int
    algorithm: str


@dataclass(frozen=True)
class Topology:
    """Topology communicators of the same kind."""

    function: str
    #: The number of these communicators.
    count: int
    #: "cart", "graph" or "dist_graph".
    kind: str
    #: For a grid.
    dims: tuple[int, ...]
    periodic: tuple[bool, ...]
    processes: int
    #: Why every process kept its rank, as text; None if ranks were reordered.
    kept: str | None
    #: The same as a code, such as "one_node".
    kept_code: str | None
    effect: Effect | None
    seconds: float


@dataclass(frozen=True)
class Report:
    """A report written with ``CARTOGRAPH_REPORT=name.json``."""

    version: str
    job: Job | None
    topologies: tuple[Topology, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Edge:
    """The messages from one rank to another."""

    source: int
    target: int
    messages: int
    bytes: int


@dataclass(frozen=True)
class GridTraffic:
    """The messages along the dimensions of grids of the same kind."""

    function: str
    dims: tuple[int, ...]
    periodic: tuple[bool, ...]
    #: Messages and bytes along each dimension.
    along: tuple[tuple[int, int], ...]
    #: Messages and bytes between other ranks of the grids.
    elsewhere: tuple[int, int]


@dataclass(frozen=True)
class Recording:
    """A recording by ``cartograph exec --record``."""

    program: str
    mpi: str
    processes: int
    #: The name of each rank's node; None if the rank's part is missing.
    nodes: tuple[str | None, ...]
    edges: tuple[Edge, ...]
    grids: tuple[GridTraffic, ...]
    #: Calls of collectives whose messages are not counted, by function.
    collectives: dict[str, int]
    #: Seconds that a rank waited for another, or for an unknown rank.
    waits: tuple[tuple[int, int | None, float], ...]


def read_report(path: PathLike) -> Report:
    """Reads a JSON report: the file of one process."""
    found = answer("show", "--json", os.fspath(path))
    job = found["job"]
    return Report(
        version=found["cartograph"],
        job=job and Job(job["mpi"], job["processes"], _sizes(job["nodes"], job["processes"]), job.get("origin")),
        topologies=tuple(_topology(one) for one in found["topologies"]),
        warnings=tuple(one["text"] for one in found["warnings"]),
    )


def _sizes(runs: list[tuple[int, int]] | None, processes: int) -> tuple[int, ...] | None:
    if runs is None:
        return None
    if sum(nodes for nodes, _ in runs) > processes:
        raise ValueError(f"a report of {processes} processes on more nodes than that")
    return tuple(size for nodes, size in runs for _ in range(nodes))


def _edges(found: dict[str, int]) -> Edges:
    return Edges(between=found["inter_node_edges"], busiest=found["max_node_edges"])


def _topology(found: dict[str, Any]) -> Topology:
    effect, shape, kept = found["effect"], found["topology"], found["kept"]
    return Topology(
        function=found["function"],
        count=found["count"],
        kind=shape["kind"],
        dims=tuple(shape.get("dims", ())),
        periodic=tuple(shape.get("periodic", ())),
        processes=found["comm_size"],
        kept=kept and kept["text"],
        kept_code=kept and kept["code"],
        effect=effect
        and Effect(_edges(effect["before"]), _edges(effect["after"]), effect["lower_bound"], effect["algorithm"]),
        seconds=found["seconds"],
    )


def read_recording(path: PathLike) -> Recording:
    """Reads a recording: a directory, or one file with all parts."""
    found = answer("show", "--json", os.fspath(path))
    if "edges" not in found:
        raise CartographError(f"{os.fspath(path)} is a report, not a recording")
    return Recording(
        program=found["program"],
        mpi=found["mpi"],
        processes=found["processes"],
        nodes=tuple(found["nodes"]),
        edges=tuple(Edge(*edge) for edge in found["edges"]),
        grids=tuple(
            GridTraffic(
                grid["function"],
                tuple(grid["dims"]),
                tuple(grid["periodic"]),
                tuple((messages, size) for messages, size in grid["along"]),
                (grid["elsewhere"][0], grid["elsewhere"][1]),
            )
            for grid in found["topologies"]
        ),
        collectives=found["collectives"],
        waits=tuple((rank, on, seconds) for rank, on, seconds in found["waits"]),
    )
