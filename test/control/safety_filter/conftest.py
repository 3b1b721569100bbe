"""The arm as the filter sees it, and zones around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter import distances
from llm_planner.control.safety_filter.bodies import SerialArm
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import Array
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import SIZES, Shape, Zone

PANDA = arm_model("panda")

DrawZone = Callable[[np.random.Generator, str, Array], Zone]


@dataclass(frozen=True)
class Surroundings:
    """An arm among zones."""

    body: SerialArm
    qpos: Array
    constraints: MotionConstraints

    def clearance(self, qpos: Array) -> float:
        """The smallest of all [m]."""
        return distances.surroundings(self.body, self.constraints.zones).clearance(qpos)

    def tip(self, qpos: Array) -> Array:
        """The gripper point (3,) [m]."""
        return self.body.place(qpos[None]).points[:, 0, 0]


@pytest.fixture
def home() -> Array:
    return np.array(PANDA.home)


@pytest.fixture(scope="session")
def draw_zone() -> DrawZone:
    """A zone of any shape, turned anyhow, within 35 cm of a point."""

    def draw(rng: np.random.Generator, name: str, near: Array) -> Zone:
        shape = list(Shape)[rng.integers(len(Shape))]
        turned = rng.normal(size=4)
        x, y, z, w = (turned / np.linalg.norm(turned)).tolist()
        a, b, c = (near + rng.uniform(-0.35, 0.35, 3)).tolist()
        size = tuple(rng.uniform(0.03, 0.12, SIZES[shape]).tolist())
        return Zone(name, shape, size, Pose((a, b, c), (x, y, z, w)), float(rng.uniform(0.0, 0.05)))

    return draw


@pytest.fixture
def surroundings(home: Array, draw_zone: DrawZone) -> Callable[..., Surroundings]:
    """By a seed: a posture near home, and zones around the gripper that it does not touch."""

    def draw(seed: int, count: int = 4, speed: float = np.inf) -> Surroundings:
        rng = np.random.default_rng(seed)
        body, qpos = arm_body(PANDA), home + rng.uniform(-0.4, 0.4, 7)
        around = Surroundings(body, qpos, MotionConstraints())
        zones: tuple[Zone, ...] = ()
        while len(zones) < count:
            zone = draw_zone(rng, f"zone {len(zones)}", around.tip(qpos))
            if distances.zone_clearance(body, zone, qpos) > 0.02:
                zones += (zone,)
        return Surroundings(body, qpos, MotionConstraints(speed=speed, zones=zones))

    return draw
