"""Pick by sight: out of the camera's view, look, go where that says, close, feel whether something is held, lift.

Of the scene it reads what the thing is called, its kind and its colour, and no place of anything. What was not taken is
looked at again.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import replace

from llm_planner.control.reference import MotionReference
from llm_planner.errors import InputError
from llm_planner.skills.aim import Aim
from llm_planner.skills.arm import SQUEEZE, Arm, Script
from llm_planner.skills.camera import Camera, Picture, seen
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.motion import Leg
from llm_planner.skills.scripts import ScriptFunction
from llm_planner.skills.sight.network import SightNetwork
from llm_planner.skills.sight.sight import Glimpse, glimpse
from llm_planner.skills.sight.table_view import LOOKOUT
from llm_planner.skills.ways import way_to
from llm_planner.world.names import the

ATTEMPTS = 3
SURE = 0.3  # less sure than this that a thing is in the picture, it is not taken for one
CRUISE = 0.34  # [m] at which the hand travels: higher than anything that may stand there
LIFT = 0.36  # [m] to which it lifts what it has taken
THERE = 0.03  # [m] a hand this near to its lookout stays
REST = 0.4  # [s] for which it holds still there before it looks: no picture is older
FELT = 0.003  # [m] farther apart than told, fingers have something between them


def picking_by_sight(name: str, network: SightNetwork, camera: Camera) -> ScriptFunction:
    """The script of the skill `name`, which leaves `object` in the fingers, lifted.

    Raises SkillError without a picture or for words that were not learned, before anything moves (PRECONDITION_FAILED);
    for what is not in the picture (OBJECT_LOST), or was not taken (NO_GRASP).
    """

    def pick_by_sight(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
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
            return glimpse(network, picture, kind, color)

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
    """The kind and the colour that tell the thing from all others; raises SkillError where they do not."""
    item = arm.find(name)
    alike = [one.name for one in arm.scene.objects if (one.kind, one.color) == (item.kind, item.color)]
    if len(alike) > 1:
        message = f"in a picture {' and '.join(map(the, alike))} cannot be told apart; use pick"
        raise SkillError(SkillErrorCode.PRECONDITION_FAILED, message)
    return item.kind, item.color


def _look_out(arm: Arm) -> Script:
    """Up and out of the camera's view, and still."""
    hand = arm.grip
    if math.dist((hand.x, hand.y, hand.z), (LOOKOUT.x, LOOKOUT.y, LOOKOUT.z)) > THERE:
        corners = way_to(hand, LOOKOUT, LOOKOUT.z, arm.observation.zones)
        yield from arm.move("look out", [Leg(corner) for corner in corners])
    began = arm.observation.time
    while arm.observation.time - began < REST:
        yield arm.hold()


def _taken(arm: Arm, aim: Aim) -> Generator[MotionReference, None, bool]:
    """Whether something is held and lifted after the hand was where the picture says."""
    cruise = {"cruise": CRUISE - aim.grip.z, "lift": LIFT - aim.grip.z}
    arm.aim = replace(aim, numbers={**aim.numbers, **cruise})
    arm.width = aim.numbers["opening"]
    try:
        yield from arm.move("approach", arm.travel(aim.grip, CRUISE), stop_early=True)
    except SkillError as failure:
        if failure.code is not SkillErrorCode.UNREACHABLE:
            raise
        yield from arm.retreat()  # it came down on something: from elsewhere it may look different
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
    """Whether the fingers were kept from closing to the width that they were told [m]."""
    return arm.observation.gripper_width > wanted + FELT


def _lift(arm: Arm) -> Script:
    yield from arm.move("lift", [arm.rise(max(arm.grip.z, LIFT))])
