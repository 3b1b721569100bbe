"""Arguments and preconditions: what is checked before anything moves."""

import math
from typing import Any

import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import Observation
from llm_planner.scene.scene import Scene
from llm_planner.skills.contract import OriginTracker, SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import rest_pose
from llm_planner.skills.library import SkillLibrary

PANDA = arm_model("panda")


def start(library: SkillLibrary, name: str, scene: Scene, **arguments: Any) -> Any:
    return library.find(name).start(arguments, Observation(0.0, scene, (0.0,) * 7, rest_pose(PANDA.shape).pose(), 0.04))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("pick", {}, "pick needs the object 'object'"),
        ("pick", {"object": "mug"}, "pick cannot take 'mug' as object; choose one of: red block, blue block"),
        ("pick", {"object": "red block", "speed": 2}, "pick has no parameter 'speed'; its parameters: object"),
        ("go_home", {"object": "red block"}, "go_home has no parameter 'object'; its parameters: none"),
        ("push", {"object": "red block", "direction": "up", "distance": 0.1}, "choose one of: top, left, bottom"),
        ("push", {"object": "red block", "direction": "top", "distance": 3.0}, "needs a number from 0.02 to 0.3 m for"),
        ("push", {"object": "red block", "direction": "top", "distance": True}, "needs a number from .* not True"),
        ("push", {"object": "red block", "direction": "top", "distance": math.nan}, "needs a number from .* not nan"),
        ("place_at", {"place": "the sky"}, "place_at cannot take 'the sky' as place; choose one of: top left corner"),
        ("place_at", {"place": (0.4, math.inf, 0.0)}, "needs a point of three finite numbers .* for place"),
        ("place_at", {"place": (0.4, 0.1)}, r"needs a point of three finite numbers \[m\] for place, not \(0.4, 0.1\)"),
    ],
)
def test_a_wrong_argument_is_named_with_the_choices(
    library: SkillLibrary, thing: Any, scene_of: Any, name: str, arguments: dict[str, Any], message: str
) -> None:
    scene = scene_of(thing("red block", 0.5, 0.0), thing("blue block", 0.5, 0.2))
    with pytest.raises(SkillError, match=message) as error:
        start(library, name, scene, **arguments)
    assert error.value.code is SkillErrorCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("name", "held", "arguments", "message"),
    [
        ("pick", "blue block", {"object": "red block"}, "the gripper still holds the blue block; put it down first"),
        ("pick", "", {"object": "green bowl"}, "something stands on or in the green bowl; move that away first"),
        ("push", "blue block", {"object": "red block", "direction": "top", "distance": 0.1}, "put it down first"),
        ("place_on", "", {"object": "red block"}, "place_on cannot start: the gripper holds nothing; pick"),
        ("place_on", "red block", {"object": "red block"}, "the red block cannot be put on itself"),
        ("place_in", "red block", {"object": "blue block"}, "the blue block is not a container; use place_on"),
        ("place_at", "", {"place": "middle"}, "the gripper holds nothing"),
        ("place_beside", "", {"object": "red block"}, "the gripper holds nothing"),
        ("place_offset", "", {"direction": "left", "distance": 0.1}, "the gripper holds nothing"),
    ],
)
def test_a_skill_that_cannot_begin_says_what_to_do(
    library: SkillLibrary, thing: Any, scene_of: Any, name: str, held: str, arguments: dict[str, Any], message: str
) -> None:
    scene = scene_of(
        thing("red block", 0.5, 0.0), thing("blue block", 0.5, 0.2), thing("green bowl", 0.4, -0.2),
        thing("pink block", 0.4, -0.2, z=0.026), held=held,
    )  # fmt: skip
    with pytest.raises(SkillError, match=message) as error:
        start(library, name, scene, **arguments)
    assert error.value.code is SkillErrorCode.PRECONDITION_FAILED


def test_defaults_are_filled_in(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    scene = scene_of(thing("red block", 0.5, 0.0), thing("blue block", 0.307, 0.0, z=0.487), held="blue block")
    hand = ghost(scene, width=0.04)
    run = library.find("place_beside").start({"object": "red block"}, hand.observation())

    assert hand.run(run).code is SkillErrorCode.SUCCEEDED
    assert hand.scene.find("blue block").position[:2] == pytest.approx((0.42, 0.0), abs=0.002)


def test_origins_are_where_things_lay_before_they_were_picked_up(thing: Any, scene_of: Any) -> None:
    tracker = OriginTracker()
    tracker.update(scene_of(thing("red block", 0.5, 0.0), thing("blue block", 0.4, 0.1)))
    origins = tracker.update(
        scene_of(thing("red block", 0.3, 0.3, z=0.4), thing("blue block", 0.4, 0.15), held="red block")
    )

    assert origins["red block"] == (0.5, 0.0, 0.02)
    assert origins["blue block"] == (0.4, 0.15, 0.02)
