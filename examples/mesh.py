"""Places the devices of a mesh on uneven switches, and draws the traffic between switches, before and after.

    pip install mpi_cartograph-*.whl
    python3 examples/mesh.py mesh.svg

64 devices on four switches, 18, 18, 18 and 10; groups of four exchange data all to all, like experts, in rings of 16.
"""
import sys

import cartograph

# 8 and 1 are relative amounts of data.
mesh = cartograph.mesh((4, 16), [("all", 8), ("ring", 1)], topology=[18, 18, 18, 10])
# For JAX: jax.sharding.Mesh(mesh.of(jax.devices()), ("expert", "data")).

with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write(mesh.svg)
print(f"{mesh.before.between} -> {mesh.after.between}")
