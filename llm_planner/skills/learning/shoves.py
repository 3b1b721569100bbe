"""What goes wrong in the middle of a skill: the hand is shoved, a thing is moved."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from llm_planner.simulation.objects import spec_of
from llm_planner.simulation.world import World
from llm_planner.skills.footprints import footprint, separation
from llm_planner.skills.reach import reachable
from llm_planner.world.scene import Scene

FORCE = (130.0, 190.0)  # [N] on the hand, sideways: in any direction more than the joints' drives hold
FORCE_TIME = 0.1  # [s]: the hand is thrown off by 2 to 15 cm
MOVED = (0.01, 0.04)  # [m]
TURNED = math.radians(30)
SLID = 0.03  # [m] that a drawer is moved
GAP = 0.02  # [m] that a moved thing keeps from others
TRIES = 20


def shove_hand(world: World, rng: np.random.Generator) -> None:
    """A force on the hand from now on; see `release_hand`."""
    angle, force = rng.uniform(0, 2 * math.pi), rng.uniform(*FORCE)
    world.push_hand((force * math.cos(angle), force * math.sin(angle), rng.uniform(0.0, 0.3) * force))


def release_hand(world: World) -> None:
    """The force on the hand is over."""
    world.push_hand((0.0, 0.0, 0.0))


def shove_thing(world: World, names: Sequence[str], rng: np.random.Generator) -> bool:
    """Moves one of the things that lie freely, to a near free place; whether there was one."""
    scene = world.scene()
    free = [name for name in names if _lies_free(scene, name)]
    for name in rng.permutation(free)[:1]:
        item = scene.find(str(name))
        kind = spec_of(item).shape
        if kind.opens:
            world.slide_part(item.name, item.state + rng.uniform(-SLID, SLID))
            return True
        if kind.fixed:
            return False
        for _ in range(TRIES):
            angle, way, turn = rng.uniform(0, 2 * math.pi), rng.uniform(*MOVED), rng.uniform(-TURNED, TURNED)
            x, y = item.position[0] + way * math.cos(angle), item.position[1] + way * math.sin(angle)
            shape = footprint(item).at((x, y), footprint(item).yaw + turn)
            others = [footprint(other) for other in scene.objects if other.name != item.name]
            if reachable(x, y) and all(separation(shape, other) > GAP for other in others):
                world.shift(item.name, (x, y), turn)
                return True
    return False


def _lies_free(scene: Scene, name: str) -> bool:
    """Whether it is not in the hand, and the hand is not around it."""
    if scene.held == name or scene.robot is None:
        return False
    return math.dist(scene.robot.position, scene.find(name).position) > 0.10
