"""JAX on 64 simulated devices: one of our meshes has them in their places, and JAX programs give the same results on
it."""

import os
import unittest

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=64"

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import cartograph

SHAPE, NAMES = (4, 16), ("expert", "data")


def around(mesh):
    """The data of each device after a sum over its experts and a step around its ring."""

    def step(x):
        ring = [(place, (place + 1) % SHAPE[1]) for place in range(SHAPE[1])]
        return jax.lax.ppermute(jax.lax.psum(x, "expert"), "data", ring) + x

    spec = PartitionSpec(*NAMES)
    values = jax.device_put(np.arange(64.0).reshape(SHAPE), NamedSharding(mesh, spec))
    return jax.jit(jax.shard_map(step, mesh=mesh, in_specs=spec, out_specs=spec))(values)


class Jax(unittest.TestCase):
    def test_a_mesh(self):
        devices = jax.devices()
        found = cartograph.mesh(SHAPE, [("all", 8), ("ring", 1)], topology=[18, 18, 18, 10])
        mesh = Mesh(found.of(devices), NAMES)
        placed = [[device.id for device in row] for row in mesh.devices]
        self.assertEqual(placed, found.order.tolist())
        self.assertNotEqual(placed, np.arange(64).reshape(SHAPE).tolist())
        result = around(mesh)
        # Each part is on the device that the mesh names.
        for shard in result.addressable_shards:
            place = tuple(side.start for side in shard.index)
            self.assertEqual(shard.device.id, found.order[place])
        np.testing.assert_array_equal(result, around(Mesh(np.array(devices).reshape(SHAPE), NAMES)))
        values = np.arange(64.0).reshape(SHAPE)
        np.testing.assert_array_equal(result, np.roll(values.sum(0), 1) + values)


if __name__ == "__main__":
    unittest.main()
