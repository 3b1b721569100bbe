"""Motions of a level hand: towards an object from the side, up with it, and away from where it was put.

A level hand descends beside its goal and comes forward, and leaves by the same way backwards. `followed` checks by
inverse kinematics, from where the arm is, that the arm follows such a path without touching anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from llm_planner.control.inverse_kinematics import IkSettings, InverseKinematics
from llm_planner.control.reach_map import SolidBox, Touches
from llm_planner.control.safety_filter.bodies import Body
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.robots.arm_model import ArmShape, arm_model, arm_shape
from llm_planner.robots.gripper import Gripper
from llm_planner.robots.limits import LimitShare
from llm_planner.robots.motion import Array
from llm_planner.scene.geometry import straight_down
from llm_planner.scene.predicates import is_solid
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm_paths import cruise_height, way_over
from llm_planner.skills.footprints import footprint
from llm_planner.skills.hand_geometry import HandPose, rest_pose, solids
from llm_planner.skills.motion import Leg, MotionLimits, plan_path

TALL = 0.12  # [m] farther back from an object that the hand does not pass over
AWAY = 0.03  # [m] between the fingertips and an object before the hand comes forward
WRIST = 0.03  # [m] of the arm below a level palm, at most
SLOWLY = 0.6  # share of full speed beside an object
SHARP = 0.4  # blend of the corner above it
PLACED, TURNED = 1e-3, 0.05  # [m], [rad] error of a pose that counts as reached
UNFOLDED = 0.008  # [m] between links that are no neighbours; the safety filter brakes an arm that folds more
LEAP = 0.4  # [rad] change of a joint between two poses of a path that is no smooth motion
EVERY = 2  # poses of a path of which one is checked


@dataclass(frozen=True)
class Begins:
    """Where a motion begins: the hand, and the joints `qpos` [rad]."""

    hand: HandPose
    qpos: tuple[float, ...]

    @classmethod
    def at_rest(cls, scene: Scene) -> Begins:
        """Return the rest posture of the arm that the scene shows."""
        return cls(rest_pose(arm_shape(scene.arm)), arm_model(scene.arm).home)


def standoff(item: SceneObject, gripper: Gripper) -> float:
    """Return how far a level hand moves forward to an object that it takes, or back from it [m]."""
    return footprint(item).radius + gripper.tip + AWAY


def clearance_behind(item: SceneObject, shape: ArmShape) -> float:
    """Return how far a level hand goes back from what it has put down [m]; farther if it is too tall to cross."""
    tall = item.size[2] > shape.heights.cruise_max - shape.gripper.tip
    return standoff(item, shape.gripper) + (TALL if tall else 0.0)


def level_cruise(scene: Scene, hanging: float, ignore: str, higher: float = 0.0) -> float:
    """Return the height of a level grip [m] at which hand and load, `hanging` [m] below it, pass over objects."""
    return cruise_height(scene, max(hanging, arm_shape(scene.arm).gripper.palm[0] + WRIST), ignore, higher)


def coming(
    begins: HandPose, grip: HandPose, back: float, height: float, scene: Scene, zones: tuple[Zone, ...] = ()
) -> list[Leg]:
    """Return legs up, over at `height` [m], down to `back` [m] behind the grip, and forward to it.

    Raises SkillError (NO_FREE_SPACE) if no path keeps out of `zones`.
    """
    before = grip.advanced(-back)
    *risen, over = way_over(scene, begins, before, height, zones)
    # The hand turns where it rises; a wrist that turns while it swings may come to lie at the other end of its range.
    down = [Leg(before, SLOWLY, SHARP)] if over.z > before.z else []
    return [*map(Leg, (*risen, over)), *down, Leg(grip, SLOWLY, 0.0)]


def lowering(begins: HandPose, grip: HandPose, height: float, scene: Scene, zones: tuple[Zone, ...] = ()) -> list[Leg]:
    """Return legs up, over at `height` [m] and down to where a level hand releases what it holds; see `coming`."""
    *risen, over = way_over(scene, begins, grip, height, zones)
    return [*map(Leg, (*risen, over)), Leg(grip, SLOWLY, SHARP)]


def leaving(grip: HandPose, back: float, height: float, lift: float = 0.0) -> list[Leg]:
    """Return legs that rise by `lift` [m], go back by `back` [m], and rise to `height` [m]."""
    lifted = grip.raised(grip.z + lift)
    away = lifted.advanced(-back)
    return [*([Leg(lifted, SLOWLY)] if lift else []), Leg(away, SLOWLY, 0.0), Leg(away.raised(max(height, away.z)))]


def followed(scene: Scene, begins: Begins, legs: Sequence[Leg], ignore: str = "") -> Begins | None:
    """Return where the arm ends that follows `legs`; None if it does not, or touches itself or objects but `ignore`.

    Its links keep from each other as in the model of the safety filter, which brakes an arm that folds.
    """
    arm = arm_model(scene.arm)
    if len(begins.qpos) != arm.nq:
        return None
    touches, poses = _touches(scene.arm, _boxes(scene, ignore)), plan_path(begins.hand, legs, MotionLimits())
    ik, qpos, postures = _solver(scene.arm), np.array(begins.qpos), list[Array]()
    for pose in (*poses[::EVERY], poses[-1]):
        found = ik.solve(pose, qpos)
        if found.position_error > PLACED or found.rotation_error > TURNED:
            return None
        if np.abs(found.qpos - qpos).max() > LEAP or touches.at(found.qpos):
            return None
        qpos = found.qpos
        postures.append(qpos)
    apart = _least_gap(_body(scene.arm), np.array(postures)) >= UNFOLDED
    return Begins(legs[-1].to, tuple(qpos.tolist())) if apart else None


def _least_gap(body: Body, postures: Array) -> float:
    """Return the least distance [m] at `postures` (n, nq) [rad] of links that the safety filter keeps apart."""
    (inner, outer), points = body.pairs, body.place(postures).points
    apart = np.linalg.norm(points[:, :, inner] - points[:, :, outer], axis=0) - body.radii[inner] - body.radii[outer]
    return float(apart.min(initial=np.inf))


@lru_cache(maxsize=4)
def _body(name: str) -> Body:
    return arm_body(arm_model(name))


@lru_cache(maxsize=4)
def _solver(name: str) -> InverseKinematics:
    arm = arm_model(name)
    return InverseKinematics(arm.kinematics(), LimitShare().tracking(arm.limits), IkSettings.of(arm))


@lru_cache(maxsize=8)
def _touches(name: str, boxes: tuple[SolidBox, ...]) -> Touches:
    return Touches(arm_model(name), boxes)


def _boxes(scene: Scene, ignore: str) -> tuple[SolidBox, ...]:
    """Return the solids of the objects as boxes; positions are rounded, so that a resting scene has one model."""
    found: list[SolidBox] = []
    for item in scene.objects:
        if item.name != ignore and is_solid(item):
            for shape, low, high in solids(item):
                half = round(shape.half[0], 3), round(shape.half[1], 3), round((high - low) / 2, 3)
                x, y, z = round(shape.center[0], 3), round(shape.center[1], 3), round((low + high) / 2, 3)
                down = straight_down(x, y, z, round(shape.yaw, 3))
                found.append((down, half))
    return tuple(found)
