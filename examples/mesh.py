"""Places the devices of a mesh on uneven switches, and draws the switch of each place, before and after.

    pip install mpi_cartograph-*.whl matplotlib
    python3 examples/mesh.py mesh.png

64 devices on four switches, 18, 18, 18 and 10; groups of four exchange all with all, as experts do, in rings of 16.
"""
import sys

import matplotlib
import numpy as np

import cartograph

matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402

switches = [18, 18, 18, 10]
mesh = cartograph.mesh((4, 16), [("all", 8), ("ring", 1)], topology=switches)
# For JAX: jax.sharding.Mesh(mesh.of(jax.devices()), ("expert", "data")).

switch_of = np.repeat(range(len(switches)), switches)
places = [("in the order of devices", np.arange(64).reshape(4, 16), mesh.before), ("as placed", mesh.order, mesh.after)]
figure, axes = pyplot.subplots(2, 1, figsize=(7, 5))
for axis, (title, order, edges) in zip(axes, places):
    axis.imshow(switch_of[order], cmap="tab10", vmax=9)
    axis.set_title(f"{title}: {edges.between} between switches, {edges.busiest} of the busiest")
    axis.set(xlabel="ring", ylabel="group", xticks=[], yticks=[])
figure.tight_layout()
figure.savefig(sys.argv[1])
print(f"{mesh.before.between} -> {mesh.after.between}")
