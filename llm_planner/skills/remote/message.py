"""What a policy server is asked and what it answers, as JSON.

POST {"skill": "pick", "instruction": "pick up the red block", "arguments": {"object": "red block"}, "time": 12.3,
      "state": {"hand": [x, y, z, yaw], "width": 0.08, "qpos": [...]},
      "scene": {"held": "", "objects": [{"name", "kind", "color", "position", "orientation", "size", "state"}, ...]},
      "image": "..."}                                      the camera's picture, PNG in base64, where it is declared
200  {"actions": [[x, y, z, yaw, width, done], ...], "dt": 0.1}

Metres, radians and seconds in the base frame; a hand points down, and action k is where it is to be (k + 1) dt after it
was asked. `done` is 1 where the policy takes itself for done; what comes after that is not heard.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from llm_planner.skills.contract import Argument, Observation
from llm_planner.skills.gripper_shape import OPENING_MAX, Grip, grip_of
from llm_planner.skills.server_contract import ServerContract
from llm_planner.world.names import worded

ACTIONS_MAX, DT_MAX = 200, 1.0  # [s]
HUGE = 1e6
NEARLY = 0.01  # [m] that a width may be beyond what the fingers can, and is taken for that


class AnswerError(Exception):
    """An answer cannot be used; the message says what is wrong with it."""


@dataclass(frozen=True)
class Actions:
    """Where the hand is to be each `dt` s and how far apart its fingertips [m]; `done` when it has been at the last."""

    grips: tuple[Grip, ...]
    widths: tuple[float, ...]
    dt: float
    done: bool


def question(
    skill: str, contract: ServerContract, arguments: Mapping[str, Argument], seen: Observation, picture: bytes
) -> dict[str, Any]:
    """What the server is asked; `picture` is a PNG, empty where it is not to see one."""
    hand = grip_of(seen.T_base_gripper)
    asked: dict[str, Any] = {
        "skill": skill,
        "instruction": worded(contract.instruction, **arguments),
        "arguments": dict(arguments),
        "time": seen.time,
        "state": {
            "hand": [hand.x, hand.y, hand.z, hand.yaw],
            "width": float(seen.gripper_width),
            "qpos": list(map(float, seen.qpos)),
        },
        "scene": {"held": seen.scene.held, "objects": [asdict(item) for item in seen.scene.objects]},
    }
    return asked | ({"image": base64.b64encode(picture).decode("ascii")} if picture else {})


def read_answer(body: bytes) -> Actions:
    """The actions in an answer, up to the first that is done; raises AnswerError for anything else."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"its answer is no JSON: {error}") from error
    if not isinstance(answer, dict) or not isinstance(answer.get("actions"), list) or "dt" not in answer:
        raise AnswerError('its answer is not {"actions": [[x, y, z, yaw, width, done], ...], "dt": 0.1}')
    actions, dt = answer["actions"], answer["dt"]
    if not _is_number(dt) or not 0.0 < dt <= DT_MAX:
        raise AnswerError(f"dt in its answer is {dt!r}, not above 0 and at most {DT_MAX:g} s")
    if not 0 < len(actions) <= ACTIONS_MAX:
        raise AnswerError(f"its answer has {len(actions)} actions, not 1 to {ACTIONS_MAX}")
    for number, row in enumerate(actions):
        _check(number, row)
    last = next((number for number, row in enumerate(actions) if row[5] > 0.5), len(actions) - 1)
    kept = actions[: last + 1]
    widths = tuple(min(max(float(row[4]), 0.0), OPENING_MAX) for row in kept)
    return Actions(tuple(Grip(*map(float, row[:4])) for row in kept), widths, float(dt), actions[last][5] > 0.5)


def _check(number: int, row: object) -> None:
    if not isinstance(row, list) or len(row) != 6 or not all(map(_is_number, row)):
        raise AnswerError(f"action {number} of its answer is {str(row)[:120]}, not six finite numbers")
    if not -NEARLY <= row[4] <= OPENING_MAX + NEARLY:
        raise AnswerError(f"the width of action {number} is {row[4]:g} m; the fingers open from 0 to {OPENING_MAX:g} m")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and abs(value) < HUGE  # neither infinite nor NaN, which is never less
