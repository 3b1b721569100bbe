"""Skills that a policy server moves: it is shown what is seen and says where the hand goes next.

While a question is on its way the hand follows what is left of the answer before, then holds still. What came of it by
then is left out of the new answer. Nothing moves by an answer that is late, broken, or leads where the hand may not be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol

from llm_planner.skills.arm import SLOWER, Arm, Script
from llm_planner.skills.camera import NO_PICTURE, Camera, blind, seen
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.gripper_shape import Grip, grip_of, wrap
from llm_planner.skills.hand_way import check_way, timed
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.remote.link import PolicyLink
from llm_planner.skills.remote.message import Actions, question
from llm_planner.skills.remote.png import png_of
from llm_planner.skills.scripts import ScriptFunction
from llm_planner.skills.server_contract import ServerContract
from llm_planner.skills.shown import Achieved, until_shown

JUMP, JUMP_TURN = 0.15, 0.6  # [m], [rad] from one action to the next that no policy means
FOLLOWED = 0.5  # share of an answer after which the next one is asked for
WAIT = 0.02  # [s] of real time that a step waits for an answer where there is nothing else to do


class Answer(Protocol):
    """A question on its way; see `remote.link.Pending`."""

    def is_over(self, patience: float = 0.0) -> bool: ...
    def actions(self) -> Actions: ...


class Link(Protocol):
    """A connection to a server; see `remote.link.PolicyLink`."""

    def ask(self, question: Mapping[str, Any]) -> Answer: ...
    def close(self) -> None: ...


def asking(
    skill: str, contract: ServerContract, achieved: Achieved, camera: Camera = blind,
    connect: Callable[[ServerContract], Link] = PolicyLink,
) -> ScriptFunction:  # fmt: skip
    """The script that moves as the server says, until it says that it is done and the scene shows what is `achieved`.

    Raises SkillError for a server that fails (TIMEOUT, CONTROLLER_FAULT), a way out of reach (UNREACHABLE) or into a
    zone (NO_FREE_SPACE), an end without the effect (EFFECT_MISSING), and a picture that nobody takes.
    """

    def ask(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
        if contract.image:
            yield from seen(arm, camera, skill)  # before anybody is asked
        link = connect(contract)
        try:
            yield from _Conversation(arm, lambda: link.ask(asked(arm, arguments))).until_done()
        finally:
            link.close()
        yield from until_shown(arm, arguments, achieved, "the policy server's motion")

    def asked(arm: Arm, arguments: Mapping[str, Argument]) -> Mapping[str, Any]:
        picture = camera(arm.observation) if contract.image else NO_PICTURE
        if contract.image and not picture.size:
            raise SkillError(SkillErrorCode.CONTROLLER_FAULT, f"{skill} sees nothing any more: the camera fell silent")
        return question(skill, contract, arguments, arm.observation, png_of(picture) if picture.size else b"")

    return ask


class _Conversation:
    """Questions, and what the hand does between them. One is always on its way, or has just been answered."""

    def __init__(self, arm: Arm, ask: Callable[[], Answer]) -> None:
        self._arm, self._ask = arm, ask
        self._answer = ask()
        self._moved = 0.0  # [s] that the hand has moved since that was asked

    def until_done(self) -> Script:
        """Up to the end of an answer that is done."""
        done = False
        while not done:
            while not self._answer.is_over(WAIT):
                yield self._arm.hold()
            actions = self._ahead(self._answer.actions())
            yield from self._follow(actions)
            done = actions.done

    def _ahead(self, actions: Actions) -> Actions:
        """What is left of an answer that was asked for while the hand moved; raises SkillError where it may not go."""
        hand = self._hand
        passed = min(int(self._moved / actions.dt), len(actions.grips) - 1)
        first = min(range(passed + 1), key=lambda k: _apart(hand, actions.grips[k])[0])
        grips = actions.grips[first:]
        for start, end in pairwise([hand, *grips]):
            way, turn = _apart(start, end)
            if way > JUMP or turn > JUMP_TURN:
                message = f"the policy server's actions jump by {way:.2f} m and {turn:.2f} rad; nothing moves by them"
                raise SkillError(SkillErrorCode.CONTROLLER_FAULT, message)
        check_way(grips, self._arm.observation.zones, "the policy server")
        return replace(actions, grips=grips, widths=actions.widths[first:])

    def _follow(self, actions: Actions) -> Script:
        """Up to the next answer, or to the end; on the way the next question is asked."""
        arm, began, asked = self._arm, self._arm.observation.time, math.inf
        limit = SLOWER * arm.observation.path_speed
        poses, widths = timed([self._hand, *actions.grips], [arm.width, *actions.widths], actions.dt, limit)
        arm.grip = actions.grips[-1]
        enough = FOLLOWED * PATH_DT * len(poses)
        for reference in arm.follow("follow", poses, widths, stop_early=True):
            yield reference
            now = arm.observation.time
            if math.isinf(asked) and not actions.done and now - began >= enough:
                self._answer, asked = self._ask(), now
            self._moved = max(0.0, now - asked)
            if math.isfinite(asked) and self._answer.is_over():
                return
        if math.isinf(asked) and not actions.done:
            self._answer = self._ask()

    @property
    def _hand(self) -> Grip:
        return grip_of(self._arm.observation.T_base_gripper)


def _apart(a: Grip, b: Grip) -> tuple[float, float]:
    """[m], [rad]."""
    return math.dist((a.x, a.y, a.z), (b.x, b.y, b.z)), abs(wrap(b.yaw - a.yaw))
