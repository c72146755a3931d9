"""Reports, recordings and profiles as dataclasses."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
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


@dataclass(frozen=True)
class Profile:
    """A profile written by ``cartograph tune``."""

    program: str
    processes: int
    #: The numbers of processes per node, without repetitions.
    node_sizes: tuple[int, ...]
    #: The name of the rank order.
    order: str
    #: CARTOGRAPH_WEIGHTS, if grids are reordered.
    weights: str | None
    #: CARTOGRAPH_DIMS, if other dims than the standard's are faster.
    dims: str | None
    moves_grids: bool
    #: True if the file has an order of MPI_COMM_WORLD as well.
    orders_world: bool
    #: The predicted speed relative to the default rank order, by replay.
    predicted: float | None
    #: The seconds in the default order and in this one, if measured.
    measured: tuple[float, float] | None


def read_report(path: PathLike) -> Report:
    """Reads a JSON report, with the files of other processes (FILE.RANK)."""
    found = answer("show", "--json", os.fspath(path))
    job = found["job"]
    return Report(
        version=found["cartograph"],
        job=job and Job(job["mpi"], job["processes"], _sizes(job["nodes"]), job.get("origin")),
        topologies=tuple(_topology(one) for one in found["topologies"]),
        warnings=tuple(one["text"] for one in found["warnings"]),
    )


def _sizes(runs: list[tuple[int, int]] | None) -> tuple[int, ...] | None:
    return None if runs is None else tuple(size for nodes, size in runs for _ in range(nodes))


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


def read_profile(path: PathLike) -> Profile:
    """Reads a profile, the first line of its file."""
    with Path(path).open(encoding="utf-8") as file:
        found = json.loads(file.readline())
    if not isinstance(found, dict) or found.get("schema") != 1:
        raise CartographError(f"{os.fspath(path)} is not a profile that this version reads")
    measured = found.get("measured")
    return Profile(
        program=found["program"],
        processes=found["processes"],
        node_sizes=tuple(found["node_sizes"]),
        order=found["order"],
        weights=found.get("weights"),
        dims=found.get("dims"),
        moves_grids=found["moves_grids"],
        orders_world=found.get("orders_world", False),
        predicted=found.get("predicted"),
        measured=None if measured is None else (measured[0], measured[1]),
    )
