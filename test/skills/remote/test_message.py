import base64
import json
import math
from typing import Any

import pytest

from llm_planner.skills.hand_geometry import HandPose
from llm_planner.skills.manifest import ServerContract
from llm_planner.skills.remote import Actions, AnswerError, question, read_answer

CONTRACT = ServerContract(
    kind="http", url="http://localhost/act", timeout=2.0, instruction="put it {distance} m from the {object}"
)
STAY = [0.5, 0.0, 0.2, 0.1, 0.08, 0]


def answer(**changes: Any) -> bytes:
    return json.dumps({"actions": [STAY], "dt": 0.1, **changes}).encode()


def test_a_question_says_what_is_wanted_and_what_is_seen(thing: Any, scene_of: Any, ghost: Any) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.1), held=""), pose=HandPose(0.4, 0.1, 0.3, 0.2).pose(), width=0.05)
    arguments = {"object": "red block", "distance": 0.1}
    asked = json.loads(json.dumps(question("near", CONTRACT, arguments, hand.observation(), b"")))

    assert asked["instruction"] == "put it 0.1 m from the red block"
    assert (asked["skill"], asked["arguments"], asked["time"]) == ("near", arguments, 0.0)
    assert asked["state"] == {"hand": pytest.approx([0.4, 0.1, 0.3, 0.2]), "width": 0.05, "qpos": [0.0] * 7}
    (block,) = asked["scene"]["objects"]
    assert (block["name"], block["position"], block["size"]) == ("red block", [0.5, 0.1, 0.02], [0.04, 0.04, 0.04])
    assert "image" not in asked


def test_a_picture_goes_along_as_base64(scene_of: Any, ghost: Any) -> None:
    contract = ServerContract(kind="http", url="http://localhost/act", timeout=2.0, instruction="look", image=True)
    asked = question("look", contract, {}, ghost(scene_of()).observation(), b"\x89PNG picture")
    assert base64.b64decode(asked["image"]) == b"\x89PNG picture"


def test_an_answer_is_actions_up_to_the_first_that_is_done() -> None:
    done = [0.5, 0.0, 0.1, 0.1, 0.0, 1]
    assert read_answer(answer(actions=[STAY, done, STAY])) == Actions(
        (HandPose(0.5, 0.0, 0.2, 0.1), HandPose(0.5, 0.0, 0.1, 0.1)), (0.08, 0.0), 0.1, True
    )
    assert not read_answer(answer()).done


def test_a_width_that_is_nearly_possible_is_taken_for_that() -> None:
    assert read_answer(answer(actions=[[*STAY[:4], 0.083, 0], [*STAY[:4], -0.002, 0]])).widths == (0.08, 0.0)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "its answer is not JSON"),
        (b"[" * 100_000, "its answer is not JSON"),
        (b"[]", r'its answer is not \{"actions": \[\[x, y, z, yaw, width, done\], \.\.\.\], "dt": 0\.1\}'),
        (b'{"actions": 3, "dt": 0.1}', "its answer is not"),
        (b'{"actions": [[0.5, 0.0, 0.2, 0.1, 0.08, 0]]}', "its answer is not"),
        (answer(dt=0), "dt in its answer is 0, not above 0 and at most 1 s"),
        (answer(dt="0.1"), "dt in its answer is '0.1'"),
        (answer(actions=[]), "its answer has 0 actions, not 1 to 200"),
        (answer(actions=[STAY] * 201), "its answer has 201 actions, not 1 to 200"),
        (answer(actions=[STAY[:5]]), r"action 0 of its answer is \[0.5, .*\], not six finite numbers"),
        (answer(actions=[STAY, [math.nan, *STAY[1:]]]), r"action 1 of its answer is \[nan, .*\], not six finite"),
        (answer(actions=[[[0.5], *STAY[1:]]]), "action 0 of its answer is .* not six finite numbers"),
        (answer(actions=[[*STAY[:4], 8, 0]]), "the width of action 0 is 8 m; the fingers open from 0 to 0.08 m"),
    ],
)
def test_an_answer_that_is_none_is_refused(body: bytes, message: str) -> None:
    with pytest.raises(AnswerError, match=message):
        read_answer(body)
