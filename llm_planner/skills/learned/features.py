"""Observation features, actions and frame of learned skills.

Features have the names that manifests use. Positions are in a frame at the aim, with x along the direction that matters
there, so a scene rotated about the base axis looks the same. Each position is given plain and squashed, so that
millimetres count near the aim while large distances stay bounded.

Actions come ten a second: a hand pose in the frame of the aim, a finger width, and a done flag. Poses relative to the
hand missed the rim of a plate five times as often. All skills share these sizes, so that policies can be composed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.motion import Observation
from llm_planner.scene.geometry import rotation_matrix, top, yaw_of
from llm_planner.scene.predicates import clean
from llm_planner.scene.scene import Pose, SceneObject, Vector3
from llm_planner.skills.contract import Arguments
from llm_planner.skills.footprints import turned
from llm_planner.skills.hand_geometry import Aim, HandPose, grip_of, gripper_of, wrap
from llm_planner.skills.learned.velocity_field import Array, Normaliser
from llm_planner.skills.motion import PATH_DT

Place = tuple[float, float, float, float]  # x, y, z [m] and turn [rad] of the hand in a frame


@dataclass(frozen=True)
class Frame:
    """Frame at an aim: `origin` [m] and `heading` [rad] in the base frame, `turn` [rad] of the aim from its azimuth.

    Turns of the hand are relative to its azimuth, which the wrist joint does not see.
    """

    origin: Vector3
    heading: float
    turn: float

    def to_frame(self, point: Vector3) -> Vector3:
        """Transform a point [m] from the base frame to this frame."""
        x, y = turned((point[0] - self.origin[0], point[1] - self.origin[1]), -self.heading)
        return x, y, point[2] - self.origin[2]

    def place_of(self, hand: HandPose) -> Place:
        """Return the pose of the hand in this frame."""
        turn = wrap(hand.yaw - math.atan2(hand.y, hand.x)) - self.turn
        return (*self.to_frame((hand.x, hand.y, hand.z)), turn)

    def grip_at(self, place: Place) -> HandPose:
        """Return the grip at a pose in this frame: the inverse of `place_of`."""
        dx, dy = turned(place[:2], self.heading)
        x, y = self.origin[0] + dx, self.origin[1] + dy
        return HandPose(x, y, self.origin[2] + place[2], place[3] + self.turn + math.atan2(y, x))


def frame_of(aim: Aim) -> Frame:
    """Return the frame at the aim's grip."""
    grip = aim.grip
    azimuth = math.atan2(grip.y, grip.x)
    heading = azimuth if aim.heading is None else aim.heading
    return Frame((grip.x, grip.y, grip.z), heading, wrap(grip.yaw - azimuth))


NEAR, NEAR_TURN = 0.02, 0.1  # [m], [rad] scale of the squashed features
THING = "thing:"  # prefix of a parameter that names an object


@dataclass(frozen=True)
class View:
    """Input of features: observation, aim, and arguments of the skill."""

    observation: Observation
    aim: Aim
    arguments: Arguments

    @cached_property
    def frame(self) -> Frame:
        """Frame of the aim."""
        return frame_of(self.aim)

    def thing(self, parameter: str) -> SceneObject:
        """Return the object that a parameter names; raises KeyError if it has left the scene."""
        return self.observation.scene.find(str(self.arguments[parameter]))


def _start(view: View) -> list[float]:
    """Return the hand relative to where it must be first."""
    if view.aim.start is None:
        raise InputError("a policy cannot observe 'start': its demonstrator sets no start")
    return _hand_from(view, frame_of(Aim(view.aim.start, heading=view.frame.heading)))


def _hand_from(view: View, frame: Frame) -> list[float]:
    x, y, z, turn = frame.place_of(grip_of(view.observation.T_base_gripper))
    return [x, y, z, turn, *_near((x, y, z)), math.tanh(turn / NEAR_TURN)]


def _reach(view: View) -> list[float]:
    x, y, z = view.frame.origin
    swing = view.frame.heading - math.atan2(y, x)
    return [math.hypot(x, y), z, math.cos(swing), math.sin(swing)]


def _thing(view: View, parameter: str) -> list[float]:
    item = view.thing(parameter)
    place = view.frame.to_frame(item.position)
    yaw = yaw_of(item) - view.frame.heading
    return [
        *place,
        *_near(place),
        rotation_matrix(item.orientation)[2][2],
        math.cos(yaw),
        math.sin(yaw),
        max(item.size[:2]),
        item.size[2],
        item.state,
    ]


def _beside(view: View, parameter: str) -> list[float]:
    """Return the hand relative to the object's centre, and its fingertips relative to the rim and the top."""
    item, hand = view.thing(parameter), grip_of(view.observation.T_base_gripper)
    (hx, hy, _), (x, y, _) = view.frame.to_frame((hand.x, hand.y, hand.z)), view.frame.to_frame(item.position)
    away = hx - x, hy - y
    off = math.hypot(*away) - max(item.size[:2]) / 2
    over = hand.z - gripper_of(view.observation.scene).tip - top(item)
    return [*away, *_near(away), off, *_near((off,)), over, *_near((over,))]


def _near(place: Sequence[float]) -> list[float]:
    return [math.tanh(value / NEAR) for value in place]


_HAND = ("x", "y", "z", "turn", "near_x", "near_y", "near_z", "near_turn")
_FEATURES: dict[str, tuple[tuple[str, ...], Callable[[View], list[float]]]] = {
    "hand": (_HAND, lambda view: _hand_from(view, view.frame)),
    "start": (_HAND, _start),
    "fingers": (("width",), lambda view: [view.observation.gripper_width]),
    "holding": (("holding",), lambda view: [float(bool(view.observation.scene.held))]),
    "reach": (("radius", "height", "cos_heading", "sin_heading"), _reach),
}
_BESIDE = ("x", "y", "near_x", "near_y", "off", "near_off", "over", "near_over")
_THING = ("x", "y", "z", "near_x", "near_y", "near_z", "upright", "cos_yaw", "sin_yaw", "breadth", "height", "state")
# Followed by the name of a parameter that names the object.
_OF_THINGS: dict[str, tuple[tuple[str, ...], Callable[[View, str], list[float]]]] = {
    THING: (_THING, _thing),
    "beside:": (_BESIDE, _beside),
    "clean:": (("clean",), lambda view, name: [float(clean(view.observation.scene, view.thing(name).name))]),
}


def feature_names(observe: Sequence[str], parameters: Sequence[str]) -> tuple[str, ...]:
    """Return a name for each number of the features; raises InputError for an unknown feature."""
    names: list[str] = []
    for feature in observe:
        kind, parameter = _split(feature)
        if feature in _FEATURES:
            names += [f"{feature}.{part}" for part in _FEATURES[feature][0]]
        elif kind in _OF_THINGS and parameter in parameters:
            names += [f"{parameter if kind == THING else feature}.{part}" for part in _OF_THINGS[kind][0]]
        else:
            choices = [*_FEATURES, *(f"{kind}{name}" for kind in _OF_THINGS for name in parameters)]
            raise InputError(f"a policy cannot observe {feature!r}; it can: {', '.join(choices)}")
    return tuple(names)


def observed(observe: Sequence[str], view: View) -> Array:
    """Return the numbers of the features in order; raises KeyError if an object has left the scene."""
    numbers: list[float] = []
    for feature in observe:
        kind, parameter = _split(feature)
        numbers += _OF_THINGS[kind][1](view, parameter) if kind else _FEATURES[feature][1](view)
    return np.array(numbers, np.float32)


def _split(feature: str) -> tuple[str, str]:
    """Split a feature into kind (with colon) and parameter; both are empty for a feature of the hand."""
    kind, colon, parameter = feature.partition(":")
    return (kind + colon, parameter) if colon else ("", "")


def goal_numbers(wanted: Sequence[str], aim: Aim) -> Array:
    """Return the named numbers of the aim; raises InputError if one is missing."""
    missing = [name for name in wanted if name not in aim.numbers]
    if missing:
        raise InputError(f"the demonstrator's aim has no {missing[0]!r}; it has: {', '.join(aim.numbers) or 'none'}")
    return np.array([aim.numbers[name] for name in wanted], np.float32)


STEP = 2 * PATH_DT  # [s] between actions
HORIZON = 16
N_ACTION_STEPS = 4
NAMES = ("x", "y", "z", "turn", "width", "done")
ACTIONS = Normaliser(
    np.array([0.0, 0.0, 0.0, 0.0, 0.04, 0.5], np.float32), np.array([0.1, 0.1, 0.1, 0.5, 0.04, 0.5], np.float32)
)


def same_actions(normaliser: Normaliser) -> bool:
    """Return whether a policy's actions are in the units of this library."""
    pairs = ((normaliser.mean, ACTIONS.mean), (normaliser.scale, ACTIONS.scale))
    return all(bool(np.array_equal(ours, theirs)) for ours, theirs in pairs)


def poses_of(chunk: Array, frame: Frame) -> tuple[Pose, ...]:
    """Return T_base_gripper along a chunk (horizon, 6)."""
    return tuple(frame.grip_at((x, y, z, turn)).pose() for x, y, z, turn in chunk[:, :4].tolist())
