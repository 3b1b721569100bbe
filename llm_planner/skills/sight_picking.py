"""Picking by sight: move out of view, look, go where the network points, close, feel for the object, and lift.

A small network reads the grasp from the camera's picture. From the scene the skill takes only name, kind and colour of
the object, no poses. After a failed attempt it looks again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmShape
from llm_planner.robots.motion import MotionReference
from llm_planner.scene.names import the
from llm_planner.skills.arm import SQUEEZE, Arm, Camera, Picture, Script, seen
from llm_planner.skills.arm_paths import way_to
from llm_planner.skills.contract import Arguments, SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import Aim, HandPose, comfortable_yaw, into_reach
from llm_planner.skills.learned.velocity_field import spec_from_table
from llm_planner.skills.learned.weights_file import read_tensors, refuse_unknown, write_tensors
from llm_planner.skills.motion import Leg
from llm_planner.skills.sight_network import (
    BINS,
    CELL,
    CELL_ROWS,
    LENGTH,
    LOOKOUT,
    ROWS,
    X_MIN,
    Y_MIN,
    Image,
    Likely,
    SightNetwork,
    SightSpec,
    laid_out,
)
from llm_planner.skills.skill_code import Mover

SIDE = CELL * ROWS / CELL_ROWS  # [m] side of a network cell
NARROWEST = 0.004  # [m] least width of an object


@dataclass(frozen=True)
class Glimpse:
    """Grasp read from a picture: `aim`, with opening and width [m], and the probability `sure` of visibility."""

    aim: Aim
    sure: float


def glimpse(network: SightNetwork, picture: Image, kind: str, color: str, shape: ArmShape) -> Glimpse:
    """Locate the grasp of an object of that kind and colour in a picture of the overview camera.

    The grasp is moved into the reach of `shape`. Raises InputError for words that the network has not learned.
    """
    likely = network.likely(laid_out(picture), kind, color)
    return Glimpse(_aim(likely, shape), 1.0 - likely.nowhere)


def _aim(likely: Likely, shape: ArmShape) -> Aim:
    bin_, row, column = (int(i) for i in np.unravel_index(int(likely.places.argmax()), likely.places.shape))
    dx, dy, z, width, opening = (LENGTH * likely.numbers[:, row, column]).tolist()
    x, y = X_MIN + (row + 0.5) * SIDE + dx, Y_MIN + (column + 0.5) * SIDE + dy
    near = likely.places[[(bin_ + k) % BINS for k in (-1, 0, 1)], row, column]
    yaw = (bin_ + float(near[2] - near[0]) / max(float(near.sum()), 1e-9)) * math.pi / BINS
    yaw = comfortable_yaw(x, y, yaw, shape.neutral)
    grip = into_reach(HandPose(x, y, max(z, shape.gripper.tip + 0.001), yaw), shape)
    width = max(width, NARROWEST)
    return Aim(grip, {"opening": min(max(opening, width), shape.gripper.widest), "width": width})


def save_sight(path: Path, network: SightNetwork, notes: Mapping[str, object]) -> None:
    """Write a network to `path` atomically in half precision, with `notes` in the metadata."""
    tensors = {name: value.astype(np.float16) for name, value in network.weights.items()}
    metadata = {"sight": json.dumps(asdict(network.spec)), "notes": json.dumps(dict(notes), sort_keys=True)}
    write_tensors(path, tensors, metadata)  # type: ignore[arg-type]  # which takes any precision


def load_sight(path: Path) -> SightNetwork:
    """Load a network; raises InputError if the file is invalid."""
    tensors, metadata = read_tensors(path)
    try:
        network = SightNetwork(spec_from_table(SightSpec, json.loads(metadata["sight"])), tensors)
        refuse_unknown(tensors, tuple(network.weights))
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise InputError(f"{path}: not the weights of a sight network: {error}") from error
    return network


ATTEMPTS = 3
SURE = 0.3  # least probability of visibility to grasp an object
CRUISE = 0.34  # [m] travel height, above anything that may stand on the table
LIFT = 0.36  # [m] lift height
THERE = 0.03  # [m] tolerance of the lookout
REST = 0.4  # [s] rest before looking, so that no older picture is used
FELT = 0.003  # [m] excess over the commanded width that indicates a held object


def picking_by_sight(name: str, network: SightNetwork, camera: Camera) -> Mover:
    """Return the script of the skill `name`, which picks up and lifts `object`.

    The script raises SkillError before it moves if there is no picture or the words were not learned
    (PRECONDITION_FAILED), and later if the object is not in the picture (OBJECT_LOST) or was not grasped (NO_GRASP).
    """

    def pick_by_sight(arm: Arm, arguments: Arguments) -> Script:
        thing = str(arguments["object"])
        kind, color = _words(arm, thing)
        if arm.scene.held == thing:
            yield from _lift(arm)
            return
        try:
            network.spec.words(kind, color)
        except InputError as error:
            raise SkillError(SkillErrorCode.PRECONDITION_FAILED, str(error)) from error
        yield from seen(arm, camera, name)  # before anything moves

        def look(picture: Picture) -> Glimpse:
            return glimpse(network, picture, kind, color, arm.shape)

        for _ in range(ATTEMPTS):
            yield from _look_out(arm)
            glimpsed = look((yield from seen(arm, camera, name)))
            if glimpsed.sure < SURE:
                raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(thing)} is not in the camera's picture")
            if (yield from _taken(arm, glimpsed.aim)):
                return
        raise SkillError(SkillErrorCode.NO_GRASP, f"the fingers closed {ATTEMPTS} times without {the(thing)}")

    return pick_by_sight


def _words(arm: Arm, name: str) -> tuple[str, str]:
    """Return kind and colour of the object; raises SkillError if they do not identify it."""
    item = arm.find(name)
    alike = [one.name for one in arm.scene.objects if (one.kind, one.color) == (item.kind, item.color)]
    if len(alike) > 1:
        message = f"in a picture {' and '.join(map(the, alike))} cannot be told apart; use pick"
        raise SkillError(SkillErrorCode.PRECONDITION_FAILED, message)
    return item.kind, item.color


def _look_out(arm: Arm) -> Script:
    """Move up and out of the camera's view, and wait at rest."""
    hand = arm.grip
    if math.dist((hand.x, hand.y, hand.z), (LOOKOUT.x, LOOKOUT.y, LOOKOUT.z)) > THERE:
        corners = way_to(hand, LOOKOUT, LOOKOUT.z, arm.shape, arm.observation.zones)
        yield from arm.move("look out", [Leg(corner) for corner in corners])
    began = arm.observation.time
    while arm.observation.time - began < REST:
        yield arm.hold()


def _taken(arm: Arm, aim: Aim) -> Generator[MotionReference, None, bool]:
    """Try to grasp and lift at `aim`; return whether the fingers hold something."""
    cruise = {"cruise": CRUISE - aim.grip.z, "lift": LIFT - aim.grip.z}
    arm.aim = replace(aim, numbers={**aim.numbers, **cruise})
    arm.width = aim.numbers["opening"]
    try:
        yield from arm.move("approach", arm.travel(aim.grip, CRUISE), stop_early=True)
    except SkillError as failure:
        if failure.code is not SkillErrorCode.UNREACHABLE:
            raise
        yield from arm.retreat()  # it came down on something; the next picture may differ
        return False
    wanted = max(0.0, aim.numbers["width"] - SQUEEZE)
    yield from arm.fingers("close", wanted)
    if _feels(arm, wanted):
        yield from _lift(arm)
        if _feels(arm, wanted):
            return True
    yield from arm.fingers("open", aim.numbers["opening"])
    return False


def _feels(arm: Arm, wanted: float) -> bool:
    """Return whether something keeps the fingers from closing to `wanted` [m]."""
    return arm.observation.gripper_width > wanted + FELT


def _lift(arm: Arm) -> Script:
    yield from arm.move("lift", [arm.rise(max(arm.grip.z, LIFT))])
