"""Maps graphs with SharedMap and divides them with KaHIP, for `make lab-quality`: one request per line, one reply per
line, both in JSON.

A request has a graph as the arrays `starts`, `targets` and `weights`, and a `mode`; for SharedMap also a `hierarchy`
and its `distances` from the innermost level outward, for KaHIP the number of `parts`. The reply has the machine element
or the part of each vertex, and the processor seconds used on one thread.
"""

import json
import sys
import time

import numpy
from chszlablib import Decomposition, Graph

for line in sys.stdin:
    request = json.loads(line)
    starts, targets, weights = (
        numpy.array(request[name], dtype=numpy.int64) for name in ("starts", "targets", "weights")
    )
    graph = Graph.from_csr(starts, targets, edge_weights=weights)
    common = {"mode": request["mode"], "imbalance": 0.0, "seed": 1}
    begin = time.process_time()
    if "parts" in request:
        found = Decomposition.partition(graph, num_parts=request["parts"], **common)
    else:
        found = Decomposition.process_map(
            graph, hierarchy=request["hierarchy"], distance=request["distances"], threads=1, **common
        )
    seconds = time.process_time() - begin
    print(json.dumps({"part": found.assignment.tolist(), "seconds": seconds}), flush=True)
