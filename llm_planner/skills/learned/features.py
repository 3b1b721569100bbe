"""What a learned skill may be shown, by the names that manifests use, and how it becomes numbers.

Places are in the frame of the aim. Each is given twice, plain and squeezed, so that a millimetre counts where the hand
is near and half a metre does not drown it.

A learned skill's actions: ten a second, each a place for the hand, a width for the fingers, and whether it is done.

Places are in the frame of the aim, so that what matters most, to be there, is the same small numbers each time;
given as ways from the hand, they missed the rim of a plate five times as often. These sizes are the library's, not a
skill's: policies that are composed share them.

The frame that a learned skill sees and acts in: at its aim, with x along the direction that counts there.

The robot turns about its base's axis, so seen from there the same things look the same all around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from llm_planner.errors import InputError
from llm_planner.programs.values import Argument
from llm_planner.robots.motion import Observation
from llm_planner.scene.geometry import rotation_matrix, top
from llm_planner.scene.predicates import clean
from llm_planner.scene.scene import Pose, SceneObject, Vector3
from llm_planner.skills.hand_geometry import TIP, Aim, Grip, grip_of, wrap
from llm_planner.skills.learned.velocity_field import Array, Normaliser
from llm_planner.skills.motion import PATH_DT

Place = tuple[float, float, float, float]  # x, y, z [m] and turn [rad] of a hand in a frame


@dataclass(frozen=True)
class Frame:
    """`origin` [m] and `heading` [rad] in the base frame; `turn` [rad] is the aim's against its azimuth.

    A hand's turn is counted against the direction from the base to the hand, which its wrist does not feel.
    """

    origin: Vector3
    heading: float
    turn: float

    def to_frame(self, point: Vector3) -> Vector3:
        """A point of the base frame [m]."""
        dx, dy = point[0] - self.origin[0], point[1] - self.origin[1]
        c, s = math.cos(self.heading), math.sin(self.heading)
        return c * dx + s * dy, c * dy - s * dx, point[2] - self.origin[2]

    def place_of(self, hand: Grip) -> Place:
        """The hand as this frame has it."""
        turn = wrap(hand.yaw - math.atan2(hand.y, hand.x)) - self.turn
        return (*self.to_frame((hand.x, hand.y, hand.z)), turn)

    def grip_at(self, place: Place) -> Grip:
        """The inverse of `place_of`."""
        x, y, z, turn = place
        c, s = math.cos(self.heading), math.sin(self.heading)
        bx, by = self.origin[0] + c * x - s * y, self.origin[1] + s * x + c * y
        return Grip(bx, by, self.origin[2] + z, turn + self.turn + math.atan2(by, bx))


def frame_of(aim: Aim) -> Frame:
    """At the aim's grip."""
    grip = aim.grip
    azimuth = math.atan2(grip.y, grip.x)
    heading = azimuth if aim.heading is None else aim.heading
    return Frame((grip.x, grip.y, grip.z), heading, wrap(grip.yaw - azimuth))


NEAR, NEAR_TURN = 0.02, 0.1  # [m], [rad] around the aim where small differences count
THING = "thing:"  # with the name of a parameter: the object that it names


@dataclass(frozen=True)
class View:
    """What features are made of: what is seen, for which aim, and with which arguments the skill was called."""

    observation: Observation
    aim: Aim
    arguments: Mapping[str, Argument]

    @cached_property
    def frame(self) -> Frame:
        """At the aim."""
        return frame_of(self.aim)

    def thing(self, parameter: str) -> SceneObject:
        """The object that the parameter names; raises KeyError when it has left the scene."""
        return self.observation.scene.find(str(self.arguments[parameter]))


def _hand(view: View) -> list[float]:
    return _hand_from(view, view.frame)


def _start(view: View) -> list[float]:
    """The hand, seen from where it must be first."""
    if view.aim.start is None:
        raise InputError("a policy cannot observe 'start': its demonstrator says no start of what it does")
    return _hand_from(view, frame_of(Aim(view.aim.start, heading=view.frame.heading)))


def _hand_from(view: View, frame: Frame) -> list[float]:
    x, y, z, turn = frame.place_of(grip_of(view.observation.T_base_gripper))
    return [x, y, z, turn, *_near((x, y, z)), math.tanh(turn / NEAR_TURN)]


def _fingers(view: View) -> list[float]:
    return [view.observation.gripper_width]


def _holding(view: View) -> list[float]:
    return [float(bool(view.observation.scene.held))]


def _reach(view: View) -> list[float]:
    x, y, z = view.frame.origin
    swing = view.frame.heading - math.atan2(y, x)
    return [math.hypot(x, y), z, math.cos(swing), math.sin(swing)]


def _thing(view: View, parameter: str) -> list[float]:
    item = view.thing(parameter)
    place = view.frame.to_frame(item.position)
    rows = rotation_matrix(item.orientation)
    yaw = math.atan2(rows[1][0], rows[0][0]) - view.frame.heading
    return [
        *place,
        *_near(place),
        rows[2][2],
        math.cos(yaw),
        math.sin(yaw),
        max(item.size[:2]),
        item.size[2],
        item.state,
    ]


def _beside(view: View, parameter: str) -> list[float]:
    """The hand from the thing's middle, its fingertips from the thing's rim and over its top."""
    item, hand = view.thing(parameter), grip_of(view.observation.T_base_gripper)
    (hx, hy, _), (x, y, _) = view.frame.to_frame((hand.x, hand.y, hand.z)), view.frame.to_frame(item.position)
    away = hx - x, hy - y
    off = math.hypot(*away) - max(item.size[:2]) / 2
    return [*away, *_near(away), off, *_near((off,)), hand.z - TIP - top(item), *_near((hand.z - TIP - top(item),))]


def _clean(view: View, parameter: str) -> list[float]:
    return [float(clean(view.observation.scene, view.thing(parameter).name))]


def _near(place: Sequence[float]) -> list[float]:
    return [math.tanh(value / NEAR) for value in place]


_HAND = ("x", "y", "z", "turn", "near_x", "near_y", "near_z", "near_turn")
_FEATURES: dict[str, tuple[tuple[str, ...], Callable[[View], list[float]]]] = {
    "hand": (_HAND, _hand),
    "start": (_HAND, _start),
    "fingers": (("width",), _fingers),
    "holding": (("holding",), _holding),
    "reach": (("radius", "height", "cos_heading", "sin_heading"), _reach),
}
_BESIDE = ("x", "y", "near_x", "near_y", "off", "near_off", "over", "near_over")
_THING = ("x", "y", "z", "near_x", "near_y", "near_z", "upright", "cos_yaw", "sin_yaw", "breadth", "height", "state")
# With the name of a parameter: of the object that it names.
_OF_THINGS: dict[str, tuple[tuple[str, ...], Callable[[View, str], list[float]]]] = {
    THING: (_THING, _thing),
    "beside:": (_BESIDE, _beside),
    "clean:": (("clean",), _clean),
}


def feature_names(observe: Sequence[str], parameters: Sequence[str]) -> tuple[str, ...]:
    """Of every number that the features give; raises InputError for an unknown one, listing what there is."""
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
    """The numbers of the features, in their order; raises KeyError when a thing has left the scene."""
    numbers: list[float] = []
    for feature in observe:
        kind, parameter = _split(feature)
        numbers += _OF_THINGS[kind][1](view, parameter) if kind else _FEATURES[feature][1](view)
    return np.array(numbers, np.float32)


def _split(feature: str) -> tuple[str, str]:
    """What of a thing the feature is, and the parameter that names the thing; "" and "" for one of the hand."""
    kind, colon, parameter = feature.partition(":")
    return (kind + colon, parameter) if colon else ("", "")


def goal_numbers(wanted: Sequence[str], aim: Aim) -> Array:
    """The numbers of the aim with these names; raises InputError for one that it has not."""
    missing = [name for name in wanted if name not in aim.numbers]
    if missing:
        raise InputError(f"the demonstrator's aim has no {missing[0]!r}; it has: {', '.join(aim.numbers) or 'none'}")
    return np.array([aim.numbers[name] for name in wanted], np.float32)


STEP = 2 * PATH_DT  # [s] from one action to the next
HORIZON = 16
N_ACTION_STEPS = 4
NAMES = ("x", "y", "z", "turn", "width", "done")
ACTIONS = Normaliser(
    np.array([0.0, 0.0, 0.0, 0.0, 0.04, 0.5], np.float32), np.array([0.1, 0.1, 0.1, 0.5, 0.04, 0.5], np.float32)
)


def same_actions(normaliser: Normaliser) -> bool:
    """Whether a policy's actions are in the library's units."""
    pairs = ((normaliser.mean, ACTIONS.mean), (normaliser.scale, ACTIONS.scale))
    return all(bool(np.array_equal(ours, theirs)) for ours, theirs in pairs)


def poses_of(chunk: Array, frame: Frame) -> tuple[Pose, ...]:
    """T_base_gripper along a chunk (horizon, 6)."""
    return tuple(frame.grip_at((x, y, z, turn)).pose() for x, y, z, turn in chunk[:, :4].tolist())
