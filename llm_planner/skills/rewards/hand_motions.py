"""Motions of the hand drawn for a reward program, and their costs besides the program's own.

Random motions rarely make contact, so strokes start at places beside an object from which closed fingers can push it,
and continue straight. A rollout decides the effect of each stroke.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from llm_planner.programs.reward_program import RewardProgram
from llm_planner.programs.reward_terms import Futures, Where
from llm_planner.robots.arm_model import ArmShape, arm_shape
from llm_planner.scene.geometry import bottom, half_extents, top
from llm_planner.scene.places import REGIONS, Rectangle
from llm_planner.scene.propositions import ROBOT
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.scene.zones import Zone
from llm_planner.simulation.objects import object_kind
from llm_planner.skills.arm_paths import least_gap
from llm_planner.skills.hand_geometry import HandPose, comfortable_yaw, gripper_of, hand_slices, room
from llm_planner.skills.rewards.hand_model import HAND_JOINTS, TIMESTEP, HandModel, hand_of
from llm_planner.skills.rewards.planner import KeepOut, Motions
from llm_planner.skills.rewards.sampling import ControlRange, Rolled, SamplingSettings

Array = NDArray[np.float64]

ROLLOUTS, CHEAP_PARTS = 18, 8  # objects with more convex parts get fewer rollouts, to keep planning time constant
HORIZON, KNOTS = 1.0, 6  # [s]
EVERY = 5
FAST, PUSH_FAST, TURNING = 0.25, 0.14, 1.2  # [m/s], [rad/s] of a free and a pushing hand; higher speeds cost extra
LAG = 0.02  # [m] lag of the hand behind its servo beyond which it pushes against something fixed
# Standard deviations of the control points: position, height [m], yaw, tilt [rad].
PUSHING = (0.015, 0.004, 0.1, 0.0)
MOVING = (0.05, 0.05, 0.3, 0.0)
CARRYING = (0.05, 0.05, 0.3, 0.3)
# Growth of the workspace, in shares of its depth towards the base and away from it, and of its width to both sides: to
# where an object stays in reach, and to where the hand may go.
IN_REACH, OF_HAND = (1 / 9, 2 / 9, 0.1), (2 / 9, 4 / 9, 0.25)
YAW, TILT = 7.0, 1.7  # [rad] largest ones of the hand
TOP = 0.92  # greatest height of the hand as a share of that of recorded motions


def push_motions(model: HandModel) -> Motions:
    """Return motions of closed fingers that push objects: small, at constant height."""
    parts = sum(len(object_kind(model.scene.find(name).kind).parts) for name in model.movers)
    count = max(6, round(ROLLOUTS * min(1.0, CHEAP_PARTS / max(parts, 1))))
    return _motions(model, count, PUSHING, PUSH_FAST, 0)


def free_motions(model: HandModel) -> Motions:
    """Return motions of a hand that touches nothing except its load."""
    return _motions(model, ROLLOUTS, CARRYING if model.scene.held else MOVING, FAST, 10)


def hand_keeps_out(model: HandModel, zones: tuple[Zone, ...]) -> KeepOut:
    """Return the keep-out of `zones` for the grip point, or for the whole hand with its load."""
    reach = max(gripper_of(model.scene).reach, model.load)
    return KeepOut(zones, lambda zone: least_gap(zone, reach))


def _motions(model: HandModel, rollouts: int, spreads: Sequence[float], fast: float, elsewhere: int) -> Motions:
    place, height, turn, tilt = spreads
    widest = np.array([place, place, height, turn, tilt, tilt])
    spread = np.tile(widest, (KNOTS, 1))
    shape = arm_shape(model.scene.arm)
    spread[0] = 0.0  # the first control point is the current pose
    sampling = SamplingSettings(rollouts=rollouts, horizon=HORIZON, knots=KNOTS, finest=0.2)
    return Motions(
        sampling, ControlRange(*_bounds(model.scene), spread), EVERY,
        lambda rolled, futures: strain(rolled, fast, shape) + _out_of_reach(futures, model.movers),
        lambda rng: _elsewhere(widest, rng), elsewhere, axes=3,
    )  # fmt: skip


def _grown(area: Rectangle, shares: tuple[float, float, float]) -> Rectangle:
    near, far, aside = shares
    depth, width = area.x_max - area.x_min, area.y_max - area.y_min
    return Rectangle(
        area.x_min - near * depth, area.x_max + far * depth, area.y_min - aside * width, area.y_max + aside * width
    )


def _bounds(scene: Scene) -> tuple[Array, Array]:
    """Return the least and greatest controls of the hand: position [m], yaw and tilts [rad], each (6,)."""
    area, top = _grown(scene.workspace, OF_HAND), TOP * arm_shape(scene.arm).heights.highest
    turned = (YAW, TILT, TILT)
    lower = np.array([area.x_min, area.y_min, arm_shape(scene.arm).gripper.tip + 0.003, *(-angle for angle in turned)])
    return lower, np.array([area.x_max, area.y_max, top, *turned])


def _elsewhere(spread: Array, rng: np.random.Generator) -> Array:
    """Draw a speed-limited motion over the horizon that changes some of position, height, heading and tilt."""
    end = 3.0 * spread * rng.standard_normal(len(HAND_JOINTS))
    end *= np.repeat(rng.random(4) < (0.8, 0.6, 0.3, 0.3), (2, 1, 1, 2))
    most = HORIZON * np.array([FAST, TURNING])
    sizes = np.array([np.linalg.norm(end[:3]), np.abs(end[3:]).max()])
    end *= 10.0 ** rng.uniform(-1.0, 0.0)  # scales from far to fine motion
    shrunk: Array = end * np.repeat(np.minimum(1.0, most / np.maximum(sizes, 1e-9)), (3, 3))
    return shrunk


def strain(rolled: Rolled, fast: float, shape: ArmShape) -> Array:
    """Return the costs (n,) for speeds above `fast` [m/s], leaving the reach of `shape`, and pushing what is fixed."""
    controls, hand = rolled.controls, rolled.qpos[:, :, : len(HAND_JOINTS)]
    rates = np.diff(controls[:, ::10], axis=1) / (10 * TIMESTEP)
    speed = np.linalg.norm(rates[..., :3], axis=-1)
    turning = np.abs(rates[..., 3:]).max(axis=-1)
    hurry = np.maximum(speed / fast - 1.0, 0.0) + np.maximum(turning / TURNING - 1.0, 0.0)
    lag = np.linalg.norm((controls - hand)[..., :3], axis=-1)
    radius = np.linalg.norm(controls[..., :2] - shape.axis, axis=-1)
    nearest, farthest = shape.table_range
    beyond = np.maximum(radius - farthest, 0.0) + np.maximum(nearest + 0.02 - radius, 0.0)
    cost: Array = (
        hurry.mean(axis=1) + 0.05 * speed.mean(axis=1) + 0.02 * turning.mean(axis=1)
        + 20.0 * np.maximum(lag - LAG, 0.0).mean(axis=1) + 20.0 * beyond.mean(axis=1)
    )  # fmt: skip
    return cost


def _out_of_reach(futures: Futures, movers: Sequence[str]) -> Array:
    """Return the cost (n,) of objects pushed to where the arm cannot push them back from."""
    out = np.zeros(len(next(iter(futures.courses.values())).position))
    area = _grown(futures.start.scene.workspace, IN_REACH)
    for name in movers:
        x, y = np.moveaxis(futures.courses[name].position[:, -1, :2], -1, 0)
        out += np.maximum(area.x_min - x, 0) + np.maximum(x - area.x_max, 0)
        out += np.maximum(area.y_min - y, 0) + np.maximum(y - area.y_max, 0)
    return 20.0 * out


LOW = 0.004  # [m] between the fingertips and the surface under the object
BELOW_TOP = 0.012  # [m] depth of the fingertips below the top of an object, at least
GAP = 0.006  # [m] clearance of the hand where it descends
BACK_MAX = 0.06  # [m] greatest distance from the object for that clearance
LENGTHS = (0.02, 0.2)  # [m] range of stroke lengths
SPEED = 0.14  # [m/s] speed of the hand in a stroke
EASE = 0.4  # [s] time constant of the acceleration, for soft contact
AIMED = 0.5  # share of strokes towards or away from a place in the program
TRIES = 12  # attempts for each stroke


def draw_strokes(
    program: RewardProgram, scene: Scene, count: int, settings: SamplingSettings, rng: np.random.Generator
) -> Array:
    """Draw at most `count` strokes (n, knots, 6) that the hand can start in `scene`.

    A stroke consists of control points of the hand, the first at its start.
    """
    drawn = []
    for _ in range(count):
        item = scene.find(program.movers[int(rng.integers(len(program.movers)))])
        places = _places(program, scene, item)
        for _ in range(TRIES):
            strokes = _drawn(item, places, scene, settings, rng)
            drawn += strokes
            if strokes:
                break
    return np.array(drawn).reshape(-1, settings.knots, len(HAND_JOINTS))


def _drawn(
    item: SceneObject,
    places: Sequence[tuple[float, float]],
    scene: Scene,
    settings: SamplingSettings,
    rng: np.random.Generator,
) -> list[Array]:
    heading = float(rng.uniform(-math.pi, math.pi))
    if places and rng.random() < AIMED:
        x, y = places[int(rng.integers(len(places)))]
        towards = math.atan2(y - item.position[1], x - item.position[0]) + float(rng.normal(0.0, 0.2))
        heading = towards if rng.random() < 0.7 else towards + math.pi
    beginnings = _beginnings(item, heading, scene, rng)
    if not beginnings:
        return []
    (grip,) = beginnings
    length = float(rng.uniform(*LENGTHS)) + 0.03
    times = np.linspace(0.0, settings.horizon, settings.knots)
    gone = np.minimum(SPEED * (times - EASE * (1.0 - np.exp(-times / EASE))), length)
    knots = np.tile(hand_of(grip.pose()), (settings.knots, 1))
    knots[:, 0] += gone * math.cos(heading)
    knots[:, 1] += gone * math.sin(heading)
    return [knots]


def _beginnings(item: SceneObject, heading: float, scene: Scene, rng: np.random.Generator) -> list[HandPose]:
    """Return the hand behind the object, seen along `heading` [rad]; empty if it does not fit or reach."""
    half, gripper = half_extents(item), gripper_of(scene)
    ux, uy = math.cos(heading), math.sin(heading)
    reach = abs(ux) * half[0] + abs(uy) * half[1]
    across = float(rng.uniform(-0.9, 0.9)) * (abs(uy) * half[0] + abs(ux) * half[1])
    low, high = bottom(item) + gripper.tip + LOW, top(item) + gripper.tip - BELOW_TOP
    high = max(low, high)
    height = float(rng.choice([low, high, rng.uniform(low, high)]))
    for back in np.arange(0.012, BACK_MAX, 0.008).tolist():
        x = item.position[0] - ux * (reach + back) - uy * across
        y = item.position[1] - uy * (reach + back) + ux * across
        grip = HandPose(x, y, height, 0.0)
        grip = replace(grip, yaw=comfortable_yaw(x, y, heading))
        shape = arm_shape(scene.arm)
        nearest, farthest = shape.radius_range(height)
        if (
            x > 0.0
            and nearest <= shape.radius(x, y) <= farthest
            and room(hand_slices(grip, 0.0, gripper), scene)[0] >= GAP
        ):
            return [grip]
    return []


def _places(program: RewardProgram, scene: Scene, item: SceneObject) -> list[tuple[float, float]]:
    """Return the places that the program names together with the object."""
    named: list[Where] = [
        where
        for wish in program.wishes
        if wish.kind == "reach" and wish.arguments[0] == item.name
        for where in wish.arguments[1:]
    ]
    places = []
    for where in named:
        if isinstance(where, tuple):
            places.append(where)
        elif where in REGIONS:
            places.append(scene.region(where).anchor)
        elif where != ROBOT and where in scene.names:
            places.append(scene.find(where).position[:2])
    return places
