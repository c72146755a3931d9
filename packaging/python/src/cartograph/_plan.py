"""Plans for grids of processes and meshes of devices."""

from __future__ import annotations

import math
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._tree import CartographError, answer

Order = npt.NDArray[np.int64]
# The sizes of segments, each of which may be divided in the same way.
Topology = Union[str, Sequence["int | Topology"]]


@dataclass(frozen=True)
class Edges:
    """The weights of edges between nodes; both directions count."""

    #: All edges between nodes.
    between: int
    #: Edges that leave the busiest node.
    busiest: int


@dataclass(frozen=True)
class Plan:
    """The result of ``plan``."""

    #: The process with the old rank ``order[r]`` becomes rank ``r``.
    order: Order
    before: Edges
    after: Edges
    #: A lower bound on the edges between nodes; 0 if unknown.
    bound: int
    #: The algorithm that found it.
    algorithm: str
    #: Processes on each node.
    node_sizes: tuple[int, ...]
    #: The picture of both orders, for notebooks.
    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True)
class Mesh:
    """The result of ``mesh``."""

    #: The number of the device at each place of the mesh.
    order: Order
    #: Edges between the innermost segments.
    before: Edges
    after: Edges
    #: A lower bound on the edges between them; 0 if unknown.
    bound: int
    #: The picture of both orders, for notebooks.
    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def of(self, devices: Iterable[Any]) -> npt.NDArray[Any]:
        """The devices in mesh order, for ``jax.sharding.Mesh``."""
        listed = list(devices)
        if len(listed) != self.order.size:
            raise CartographError(f"the mesh has {self.order.size} places, but there are {len(listed)} devices")
        placed = np.empty(self.order.shape, dtype=object)
        for place, device in np.ndenumerate(self.order):
            placed[place] = listed[device]
        return placed


def plan(
    dims: Sequence[int],
    nodes: int | Sequence[int] | None = None,
    *,
    weights: Sequence[int] | None = None,
    periodic: bool | Sequence[bool] = False,
    levels: Sequence[int] | None = None,
    topology: Topology | None = None,
) -> Plan:
    """Finds which process should have which position in a grid.

    The machine is ``nodes``, a number of equal nodes or the number of processes on each; or ``levels``, such as
    ``(4, 8, 32)`` for four switches with eight nodes of 32 processes; or a ``topology``, as for ``mesh``. ``weights``
    are the relative amounts of data along each dimension; without them, an order is used only if it does not increase
    the traffic for unequal weights either.
    """
    dims = [int(side) for side in dims]
    if isinstance(periodic, (bool, np.bool_)):
        periodic = [bool(periodic)] * len(dims)
    arguments = _grid(dims, periodic, weights)
    total = math.prod(dims)
    given = [where for where in (nodes, levels, topology) if where is not None]
    if len(given) != 1:
        raise CartographError("specify the machine with one of nodes, levels and topology")
    with _Machine() as machine:
        if isinstance(nodes, (int, np.integer)):
            if nodes < 1 or total % nodes:
                raise CartographError(
                    f"{total} processes cannot be divided evenly among {nodes} nodes: list the number on each"
                )
            arguments += ["--nodes", str(nodes), "--ppn", str(total // nodes)]
        elif levels is not None:
            arguments += ["--layout", "x".join(str(int(level)) for level in levels)]
        else:
            arguments += machine.arguments(nodes if nodes is not None else topology)  # type: ignore[arg-type]
        found = machine.plan(*arguments)
    return Plan(
        order=np.array(found["old_rank"], dtype=np.int64),
        before=_edges(found["before"]),
        after=_edges(found["after"]),
        bound=found["lower_bound"],
        algorithm=found["algorithm"],
        node_sizes=tuple(found["node_sizes"]),
        svg=found["svg"],
    )


def mesh(
    shape: Sequence[int],
    axes: Sequence[str | tuple[str, int]],
    topology: Topology,
) -> Mesh:
    """Finds which device should have which position in a mesh.

    Each axis is ``"ring"`` (each position sends to the next, and the last to the first), ``"line"`` (the same without
    the last), or ``"all"`` (all pairs of positions along the axis exchange data, like experts), with a weight:
    ``("ring", 4)``.

    ``topology`` lists the segments of the machine in the order of the devices: ``[18, 18, 18, 10]`` for devices on four
    switches, ``[[8, 8], [8, 8, 8]]`` for two switches with nodes of eight devices, or a text as in CARTOGRAPH_LAYOUT.
    Edges between the outer segments count ten times those between inner ones of one outer segment.
    """
    shape = [int(side) for side in shape]
    if len(axes) != len(shape):
        raise CartographError(f"the mesh has {len(shape)} axes, but {len(axes)} are described")
    kinds, weights = [], []
    for axis in axes:
        kind, weight = (axis, 1) if isinstance(axis, str) else axis
        if kind not in ("ring", "line", "all"):
            raise CartographError(f'invalid axis {kind!r} (expected "ring", "line" or "all")')
        if int(weight) != weight or weight < 1:
            raise CartographError(f"invalid axis weight {weight!r} (expected a whole number of at least 1)")
        kinds.append(kind)
        weights.append(int(weight))
    if any(side < 1 for side in shape):
        raise CartographError("all sides of a mesh must be at least 1")
    # All pairs of two or three places are a line or a ring.
    kinds = [{2: "line", 3: "ring"}.get(side, kind) if kind == "all" else kind for side, kind in zip(shape, kinds)]
    with _Machine() as machine:
        where = machine.arguments(topology)
        found = [machine.plan("--graph", "-", *where, stdin=_metis(shape, kinds, weights))]
        # Grids have their own algorithms. Neither result is always better.
        if "all" not in kinds:
            grid = _grid(shape, [kind == "ring" for kind in kinds], weights)
            found.append(machine.plan(*grid, *where))
    best = min(found, key=_cost)
    if best["ranks"] != math.prod(shape):
        raise CartographError(f"the mesh has {math.prod(shape)} places, but the topology has {best['ranks']}")
    return Mesh(
        order=np.array(best["old_rank"], dtype=np.int64).reshape(shape),
        before=_edges(best["before"]),
        after=_edges(best["after"]),
        bound=max(one["lower_bound"] for one in found),
        svg=best["svg"],
    )


def _cost(found: dict[str, Any]) -> tuple[int, int]:
    """The cost of a result: over all levels, if there are some above the nodes."""
    inner: int = found["after"]["inter_node_edges"]
    outer: int = found["weighted"]["after"] if found["weighted"] else inner
    return outer, inner


def _edges(found: dict[str, int]) -> Edges:
    return Edges(between=found["inter_node_edges"], busiest=found["max_node_edges"])


def _grid(dims: Sequence[int], periodic: Sequence[bool], weights: Sequence[int] | None) -> list[str]:
    arguments = ["--dims", "x".join(str(side) for side in dims)]
    arguments += ["--periodic", "".join("1" if wraps else "0" for wraps in periodic)]
    if weights is not None:
        arguments += ["--weights", ",".join(str(int(weight)) for weight in weights)]
    return arguments


def _pairs(kind: str, side: int) -> Iterator[tuple[int, int]]:
    """The pairs of places along an axis that exchange data."""
    if kind == "all":
        yield from ((one, other) for other in range(side) for one in range(other))
        return
    yield from ((one, one + 1) for one in range(side - 1))
    if kind == "ring" and side > 1:
        yield side - 1, 0


def _metis(shape: Sequence[int], kinds: Sequence[str], weights: Sequence[int]) -> str:
    """The graph of a mesh, in METIS format."""
    places = np.arange(math.prod(shape)).reshape(shape)
    neighbors: list[defaultdict[int, int]] = [defaultdict(int) for _ in range(places.size)]
    for axis, (kind, weight) in enumerate(zip(kinds, weights)):
        along = np.moveaxis(places, axis, 0).reshape(shape[axis], -1)
        for one, other in _pairs(kind, shape[axis]):
            for a, b in zip(along[one].tolist(), along[other].tolist()):
                neighbors[a][b] += weight
                neighbors[b][a] += weight
    lines = [" ".join(f"{other + 1} {weight}" for other, weight in sorted(own.items())) for own in neighbors]
    edges = sum(map(len, neighbors)) // 2
    return "\n".join([f"{places.size} {edges} 001", *lines]) + "\n"


class _Machine:
    """A context manager with the machine as arguments of the command, and the command's results."""

    def __enter__(self) -> _Machine:
        self._directory = tempfile.TemporaryDirectory(prefix="cartograph-")
        return self

    def __exit__(self, *_: object) -> None:
        self._directory.cleanup()

    def plan(self, *arguments: str, stdin: str | None = None) -> Any:
        """A result of ``cartograph plan``, with its picture."""
        picture = Path(self._directory.name, "plan.svg")
        found = answer("plan", "--json", "--svg", str(picture), *arguments, stdin=stdin)
        found["svg"] = picture.read_text(encoding="utf-8")
        return found

    def arguments(self, topology: Topology) -> list[str]:
        if isinstance(topology, str):
            return ["--layout", topology]
        segments = list(topology)
        if all(isinstance(segment, (int, np.integer)) for segment in segments):
            return ["--node-sizes", ",".join(str(segment) for segment in segments)]
        # A line for each device, with the path of its segment.
        paths = [path for path, count in _segments(segments) for _ in range(count)]
        if len({path.count("/") for path in paths}) > 1:
            raise CartographError("all segments of a topology must be divided equally often")
        layout = Path(self._directory.name, "layout")
        layout.write_text("\n".join(paths) + "\n", encoding="ascii")
        return ["--layout", str(layout)]


def _segments(segments: Sequence[int | Topology], above: str = "") -> Iterator[tuple[str, int]]:
    """The innermost segments, each with its path and its devices. Names include their path, so that they are unique."""
    for number, segment in enumerate(segments):
        path = f"{above}{above.replace('/', '.')}s{number}"
        if isinstance(segment, (int, np.integer)):
            yield path, int(segment)
        elif isinstance(segment, str):
            raise CartographError("a text describes a whole topology, not a segment of it")
        else:
            yield from _segments(segment, path + "/")
