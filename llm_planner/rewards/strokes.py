"""Strokes: places beside a thing from which closed fingers may begin to move it, and straight ways on from there.

Contact is what random motions seldom find, so where the hand begins is drawn from where it could touch; what comes of
each stroke is decided by rolling it out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from llm_planner.rewards.hand_model import HAND_JOINTS, hand_of
from llm_planner.rewards.program import RewardProgram
from llm_planner.rewards.sampling import SamplingSettings
from llm_planner.rewards.terms import Where
from llm_planner.skills.gripper_shape import TIP, Grip, comfortable_yaw, hand_slices, room
from llm_planner.skills.reach import radius_range
from llm_planner.world.geometry import bottom, half_extents, top
from llm_planner.world.places import REGIONS
from llm_planner.world.propositions import ROBOT
from llm_planner.world.scene import Scene, SceneObject

Array = NDArray[np.float64]

LOW = 0.004  # [m] between the fingertips and what the thing stands on
BELOW_TOP = 0.012  # [m] that the fingertips reach below the top of a thing at the least
GAP = 0.006  # [m] that the hand needs around it where it comes down
BACK_MAX = 0.06  # [m] that it may begin farther away to have that
LENGTHS = (0.02, 0.2)  # [m] of a stroke
SPEED = 0.14  # [m/s] of the hand in a stroke
EASE = 0.4  # [s] in which it comes to about two thirds of that: it touches slowly
AIMED = 0.5  # share of the strokes that go towards or away from a place that the program speaks of
TRIES = 12  # draws for one stroke until it is given up


def draw_strokes(
    program: RewardProgram, scene: Scene, count: int, settings: SamplingSettings, rng: np.random.Generator
) -> Array:
    """At most `count` strokes (n, knots, 6) that the hand can begin in `scene`; fewer where there is little room.

    A stroke is control points of the hand, of which the first is where it begins.
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
    """A stroke in a random direction; none where the hand cannot begin there."""
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


def _beginnings(item: SceneObject, heading: float, scene: Scene, rng: np.random.Generator) -> list[Grip]:
    """The hand behind the thing, seen along `heading` [rad]; nowhere if it does not fit there or is not reached."""
    half = half_extents(item)
    ux, uy = math.cos(heading), math.sin(heading)
    reach = abs(ux) * half[0] + abs(uy) * half[1]
    across = float(rng.uniform(-0.9, 0.9)) * (abs(uy) * half[0] + abs(ux) * half[1])
    low, high = bottom(item) + TIP + LOW, max(bottom(item) + TIP + LOW, top(item) + TIP - BELOW_TOP)
    height = float(rng.choice([low, high, rng.uniform(low, high)]))
    for back in np.arange(0.012, BACK_MAX, 0.008).tolist():
        x = item.position[0] - ux * (reach + back) - uy * across
        y = item.position[1] - uy * (reach + back) + ux * across
        grip = Grip(x, y, height, 0.0)
        grip = replace(grip, yaw=comfortable_yaw(x, y, heading))
        nearest, farthest = radius_range(height)
        if x > 0.0 and nearest <= math.hypot(x, y) <= farthest and room(hand_slices(grip, 0.0), scene)[0] >= GAP:
            return [grip]
    return []


def _places(program: RewardProgram, scene: Scene, item: SceneObject) -> list[tuple[float, float]]:
    """Where the places are that the program names together with the thing."""
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
            places.append(REGIONS[where].anchor)
        elif where != ROBOT and where in scene.names:
            places.append(scene.find(where).position[:2])
    return places
