"""Maps graphs with SharedMap, as `make lab-quality` asks: a request a line, an answer a line, both in JSON.

A request has a graph as the arrays `starts`, `targets` and `weights`, a `hierarchy` and its `distances` from the
innermost level outward, and a `mode`. The answer has the element of the machine of each vertex, and the processor
seconds that it took on one thread.
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
    begin = time.process_time()
    found = Decomposition.process_map(
        graph,
        hierarchy=request["hierarchy"],
        distance=request["distances"],
        mode=request["mode"],
        imbalance=0.0,
        threads=1,
        seed=1,
    )
    seconds = time.process_time() - begin
    print(json.dumps({"part": found.assignment.tolist(), "seconds": seconds}), flush=True)
