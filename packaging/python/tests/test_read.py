"""Reads a recording of a 2 x 2 grid and its report, given as arguments."""

import sys

import cartograph

recording = cartograph.read_recording(sys.argv[1])
assert recording.processes == 4 and len(recording.nodes) == 4, recording
grids = [(grid.function, grid.dims) for grid in recording.grids]
assert grids == [("MPI_Cart_create", (2, 2)), ("MPI_Dims_create", (2, 2))], recording.grids
assert any(edge.bytes > 0 for edge in recording.edges), recording.edges
report = cartograph.read_report(sys.argv[2])
assert report.job.processes == 4 and report.topologies[0].dims == (2, 2), report
assert report.topologies[0].kept, report
try:
    cartograph.read_recording(sys.argv[2])
except cartograph.CartographError as error:
    print(error)
else:
    raise SystemExit("a report is no recording")
