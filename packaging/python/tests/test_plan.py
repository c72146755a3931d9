"""Plans and meshes: the command's results are right, according to a separate count and to trying all placements."""

import itertools
import math
import random
import unittest

import numpy as np

import cartograph


def pairs(shape, axes):
    """The pairs of places that exchange data, each with its weight, computed independently of the package."""
    for place in itertools.product(*map(range, shape)):
        for axis, (kind, weight) in enumerate(axes):
            for step in range(1, shape[axis]):
                other = list(place)
                other[axis] += step
                if kind == "all" and other[axis] < shape[axis]:
                    yield place, tuple(other), weight
                elif kind != "all" and step == 1 and other[axis] < shape[axis]:
                    yield place, tuple(other), weight
                elif kind == "ring" and step == 1:
                    other[axis] = 0
                    yield place, tuple(other), weight


def cost(shape, axes, segment_of):
    """The weight of the edges between segments, in both directions."""
    return 2 * sum(weight for one, other, weight in pairs(shape, axes) if segment_of[one] != segment_of[other])


def least(shape, axes, sizes):
    """The minimum over all placements."""
    places = list(itertools.product(*map(range, shape)))
    between = list(pairs(shape, axes))

    def all_of(left, rest):
        if not rest:
            yield {}
            return
        # The first free place is in one of the segments; segments of equal size are equivalent.
        for chosen in itertools.combinations(left, rest[0]):
            if len(set(rest)) == 1 and left[0] not in chosen:
                continue
            others = [place for place in left if place not in chosen]
            for further in all_of(others, rest[1:]):
                yield {**dict.fromkeys(chosen, len(rest)), **further}

    return min(
        2 * sum(weight for one, other, weight in between if segment[one] != segment[other])
        for segment in all_of(places, list(sizes))
    )


class Plans(unittest.TestCase):
    def test_a_grid(self):
        plan = cartograph.plan((8, 8), nodes=4, weights=(1, 1))
        self.assertEqual((plan.before.between, plan.after.between, plan.bound), (48, 32, 32))
        self.assertEqual((plan.before.busiest, plan.after.busiest), (16, 8))
        self.assertEqual(sorted(plan.order), list(range(64)))
        self.assertEqual(plan.node_sizes, (16,) * 4)
        segment = {place: plan.order[8 * place[0] + place[1]] // 16 for place in itertools.product(range(8), range(8))}
        self.assertEqual(cost((8, 8), [("line", 1)] * 2, segment), plan.after.between)

    def test_other_machines(self):
        levels = cartograph.plan((8, 8), levels=(2, 2, 16), weights=(1, 1))
        topology = cartograph.plan((8, 8), topology=[[16, 16], [16, 16]], weights=(1, 1))
        self.assertEqual(levels.after, topology.after)
        sizes = cartograph.plan((12, 10), nodes=[40, 35, 25, 20], weights=(1, 1), periodic=(True, False))
        self.assertEqual(sizes.node_sizes, (40, 35, 25, 20))
        self.assertLess(sizes.after.between, sizes.before.between)
        self.assertEqual(sizes, sizes)

    def test_what_is_wrong_is_said(self):
        for words, call in [
            ("nodes, levels and topology", lambda: cartograph.plan((4, 4))),
            ("nodes, levels and topology", lambda: cartograph.plan((4, 4), 4, levels=(2, 2, 4))),
            ("cannot be divided evenly", lambda: cartograph.plan((4, 4), 3)),
            ("--weights", lambda: cartograph.plan((4, 4), 4, weights=(1, 2, 3))),
            ("invalid axis 'tree'", lambda: cartograph.mesh((4, 4), ["tree", "ring"], [8, 8])),
            ("1 are described", lambda: cartograph.mesh((4, 4), ["ring"], [8, 8])),
            ("at least 1", lambda: cartograph.mesh((4, 4), [("ring", 0), "all"], [8, 8])),
            ("equally often", lambda: cartograph.mesh((4, 4), ["ring", "all"], [8, [4, 4]])),
            ("there are 3 devices", lambda: cartograph.mesh((2, 2), ["ring", "all"], [2, 2]).of("abc")),
        ]:
            with self.assertRaisesRegex(cartograph.CartographError, words):
                call()
        with self.assertRaises(cartograph.CartographError):
            cartograph.mesh((4, 4), ["ring", "all"], [8, 9])


class Meshes(unittest.TestCase):
    def check(self, shape, axes, sizes):
        """Checks the result's own count; returns it, and that of the given order."""
        mesh = cartograph.mesh(shape, axes, sizes)
        self.assertEqual(mesh.order.shape, tuple(shape))
        self.assertEqual(sorted(mesh.order.flat), list(range(math.prod(shape))))
        ends = np.cumsum(sizes)
        segment = {place: int(np.searchsorted(ends, device, side="right")) for place, device in np.ndenumerate(mesh.order)}
        self.assertEqual(cost(shape, axes, segment), mesh.after.between, (shape, axes, sizes))
        self.assertLessEqual(mesh.after.between, mesh.before.between)
        return mesh

    def test_no_placement_of_a_small_mesh_is_better(self):
        chance = random.Random(27)
        shapes = [(2, 4), (4, 2), (3, 3), (8,), (2, 2, 2), (2, 5), (3, 4), (2, 2, 3)]
        worse = []
        for _ in range(60):
            shape = chance.choice(shapes)
            axes = [(chance.choice(["ring", "line", "all"]), chance.choice([1, 1, 2, 8])) for _ in shape]
            places = math.prod(shape)
            first = chance.randrange(1, places)
            sizes = [first, places - first]
            if places <= 9 and places - first > 2 and chance.random() < 0.5:
                sizes = [first, 1, places - first - 1]
            found = self.check(shape, axes, sizes).after.between
            best = least(shape, axes, sizes)
            self.assertGreaterEqual(found, best)
            if found > best:
                worse.append((shape, axes, sizes, found, best))
        self.assertEqual(worse, [])

    def test_uneven_switches(self):
        # Groups of four that exchange all with all, in rings of 16: no group of four needs more than two switches.
        mesh = self.check((16, 4), [("ring", 1), ("all", 8)], [18, 18, 18, 10])
        self.assertLessEqual(mesh.after.between, mesh.before.between)
        # With the axes swapped, rank order is bad.
        mesh = self.check((4, 16), [("all", 8), ("ring", 1)], [18, 18, 18, 10])
        self.assertLess(2 * mesh.after.between, mesh.before.between)

    def test_levels(self):
        mesh = cartograph.mesh((8, 8), ["ring", "line"], [[8] * 4, [8] * 4])
        self.assertLess(mesh.after.between, mesh.before.between)
        # Each switch has whole halves of the mesh.
        halves = mesh.order // 32
        self.assertEqual(cost((8, 8), [("ring", 1), ("line", 1)], dict(np.ndenumerate(halves))), 2 * 8)

    def test_devices_are_placed(self):
        mesh = cartograph.mesh((4, 2), [("all", 3), "ring"], [4, 4])
        devices = mesh.of(f"d{number}" for number in range(8))
        self.assertEqual(devices.shape, (4, 2))
        self.assertEqual(devices[2, 1], f"d{mesh.order[2, 1]}")


if __name__ == "__main__":
    unittest.main()
