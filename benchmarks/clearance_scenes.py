"""Random scenes in which the way of the hand leads straight through what it has to keep away from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from guarded_arm import Referee

from llm_planner.control.inverse_kinematics import IkSettings, InverseKinematics
from llm_planner.control.motion_constraints import Patch
from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.robots.limits import LimitShare
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.skills.hand_geometry import HandPose, comfortable_yaw
from llm_planner.skills.motion import Leg, MotionLimits, plan_path

PANDA = arm_model("panda")

Array = np.ndarray
SECONDS = 6.0  # of a scene
WIDE = 0.4  # [m] reach from which an arm has scenes of full size
LEANING = 1e-3  # [m] error of the position
FREE_AT_START = 0.06  # [m] between the whole arm and every solid, at both ends of its way
CLEARANCE = 0.02  # [m] at first
TABLE = Zone("the table", Shape.BOX, (0.55, 0.65, 0.1), Pose((0.4, 0.0, -0.1)), 0.005)
LASTING = 1000.0  # [s] that a patch holds


@dataclass(frozen=True)
class ClearanceScene:
    """The arm starts at `qpos`; `poses` every PATH_DT lead to and fro; `patches` are offered at their stamps."""

    qpos: Array
    poses: tuple[Pose, ...]
    solids: tuple[Zone, ...]  # all that ever are zones
    patches: tuple[Patch, ...]


def draw_scene(rng: np.random.Generator, changes: int = 3, arm: ArmModel = PANDA) -> ClearanceScene:
    """A scene of `arm` whose limits change `changes` times, at random moments."""
    while True:
        scene = _drawn(rng, changes, arm)
        if scene is not None:
            return scene


def _drawn(rng: np.random.Generator, changes: int, arm: ArmModel) -> ClearanceScene | None:
    near, far = arm.shape.table_range
    size = min(1.0, (far - near) / WIDE)  # of all lengths, for a short arm
    reach, azimuth = rng.uniform(near + 0.125 * size, far - 0.17 * size), rng.uniform(-1.1, 1.1)
    middle = np.array([reach * np.cos(azimuth), reach * np.sin(azimuth), size * rng.uniform(0.12, 0.4)])
    solids = [_solid(rng, "the thing in the way", middle, size * rng.uniform(0.03, 0.08))]
    for k in range(rng.integers(0, 3)):
        place = middle + size * rng.uniform(-0.35, 0.35, 3)
        place[2] = abs(place[2])
        solids.append(_solid(rng, f"another thing {k}", place, size * rng.uniform(0.03, 0.1)))
    heading, tilt = rng.uniform(0, 2 * np.pi), rng.uniform(-0.4, 0.4)
    along = np.array([np.cos(heading) * np.cos(tilt), np.sin(heading) * np.cos(tilt), np.sin(tilt)])
    ends = [_grip(middle + side * size * rng.uniform(0.22, 0.32) * along, arm) for side in (-1, 1)]
    farthest = max(float(np.hypot(grip.x, grip.y)) for grip in ends)
    if min(grip.z for grip in ends) < 0.1 * size or farthest > far - 0.07 * size:
        return None
    referee = Referee(solids, arm)
    starts = [_posture(grip.pose(), arm) for grip in ends]
    if any(q is None or min(referee.distance(q, z) for z in solids) < size * FREE_AT_START for q in starts):
        return None
    limits = MotionLimits(speed=rng.uniform(0.3, 0.8), acceleration=rng.uniform(1.0, 3.0))
    poses: list[Pose] = []
    while len(poses) * 0.05 < SECONDS:
        for a, b in (ends, ends[::-1]):
            poses.extend(plan_path(a, [Leg(b)], limits, straight=True))
    assert starts[0] is not None
    return ClearanceScene(starts[0], tuple(poses), (TABLE, *solids), _patches(rng, solids, changes, size))


def _patches(rng: np.random.Generator, solids: Sequence[Zone], changes: int, size: float) -> tuple[Patch, ...]:
    zones, speed = [replace(solid, clearance=size * CLEARANCE) for solid in solids], None
    patches = [Patch("operator", 0.0, LASTING, zones=(TABLE,)), Patch("scene", 0.0, LASTING, zones=tuple(zones))]
    for moment in np.sort(rng.uniform(0.5, SECONDS - 1.5, changes)).tolist():
        if rng.random() < 0.5:
            speed = float(rng.uniform(0.1, 0.5))
        else:
            k = int(rng.integers(len(zones)))
            zones[k] = replace(zones[k], clearance=size * float(rng.uniform(0.01, 0.08)))
        patches.append(Patch("scene", moment, LASTING, speed=speed, zones=tuple(zones)))
    return tuple(patches)


def _solid(rng: np.random.Generator, name: str, middle: Array, size: float) -> Zone:
    shape = list(Shape)[rng.integers(len(Shape))]
    sizes = {
        Shape.SPHERE: (size,),
        Shape.CAPSULE: (0.7 * size, size),
        Shape.CYLINDER: (size, size),
        Shape.BOX: tuple((size * rng.uniform(0.5, 1.2, 3)).tolist()),
    }[shape]
    turn = rng.standard_normal(4)
    x, y, z = middle.tolist()
    qx, qy, qz, qw = (turn / np.linalg.norm(turn)).tolist()
    return Zone(name, shape, sizes, Pose((x, y, z), (qx, qy, qz, qw)))


def _grip(place: Array, arm: ArmModel) -> HandPose:
    x, y, z = place.tolist()
    return HandPose(x, y, z, comfortable_yaw(x, y, 0.0, arm.shape.neutral))


def _posture(pose: Pose, arm: ArmModel) -> Array | None:
    found = _inverse_kinematics(arm.name).solve(pose, np.array(arm.home))
    leaning = arm.nq < 6 and found.position_error < LEANING  # such an arm does not reach every orientation
    return found.qpos if found.converged or leaning else None


@cache
def _inverse_kinematics(robot: str) -> InverseKinematics:
    arm = arm_model(robot)
    kinematics = arm.kinematics()
    return InverseKinematics(kinematics, LimitShare().tracking(arm.limits), IkSettings.of(arm))
