"""The scripted skills with a hand that is always where it should be: what they do, and how they fail."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import MotionReference
from llm_planner.scene import predicates
from llm_planner.scene.scene import Scene
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.hand_geometry import rest_pose
from llm_planner.skills.library import SkillLibrary

PANDA = arm_model("panda")


def carry(scene_of: Any, thing: Any, *others: Any) -> Scene:
    """The red block hangs in the hand at home."""
    return scene_of(thing("red block", 0.307, 0.0, z=0.487), *others, held="red block")


def run(library: SkillLibrary, hand: Any, name: str, **arguments: Any) -> SkillResult:
    return hand.run(library.find(name).start(arguments, hand.observation()))


def test_pick_approaches_closes_and_lifts_over_everything(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.0), thing("vase", 0.4, 0.3)))
    result = run(library, hand, "pick", object="red block")

    assert result == SkillResult(SkillErrorCode.SUCCEEDED)
    assert hand.phases == ["approach", "close", "lift"]
    assert hand.scene.held == "red block"
    assert hand.scene.find("red block").position[2] - 0.02 > 0.12


def test_the_hand_never_passes_lower_than_what_it_passes(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    vase = thing("vase", 0.45, 0.15)
    hand = ghost(scene_of(thing("red block", 0.5, 0.3), vase, thing("blue block", 0.45, -0.2)))
    run(library, hand, "pick", object="red block")
    run(library, hand, "place_on", object="blue block")

    near = [pose for reference in hand.references for pose in reference.poses
            if math.dist(pose.position[:2], vase.position[:2]) < 0.06]  # fmt: skip
    assert near
    assert min(pose.position[2] for pose in near) - 0.02 > 0.12


def test_references_follow_each_other_on_one_path(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.0)))
    run(library, hand, "pick", object="red block")

    for before, after in zip(hand.references, hand.references[1:], strict=False):
        gap = min(math.dist(pose.position, after.poses[0].position) for pose in before.poses)
        assert gap < 0.02
        assert after.start_time > before.start_time


def test_fingers_that_close_on_nothing_try_once_more_and_then_say_so(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.0)), grasps=False)
    result = run(library, hand, "pick", object="red block")

    assert result.code is SkillErrorCode.NO_GRASP
    assert result.message == "the fingers closed without taking hold of the red block"
    assert hand.phases.count("close") == 2
    assert hand.phases[-1] == "retreat"
    assert hand.pose.position[2] > 0.1


class Hindrance:
    """Changes the scene, once, when the skill reaches a phase."""

    def __init__(self, run: Any, hand: Any, phase: str, change: Any) -> None:
        self.run, self.hand, self.when, self.change = run, hand, phase, change

    @property
    def phase(self) -> str:
        return str(self.run.phase)

    def step(self, observation: Any) -> Any:
        outcome = self.run.step(observation)
        if self.phase == self.when:
            self.when = ""
            self.hand.scene = self.change(self.hand.scene)
        return outcome


def without(name: str) -> Any:
    return lambda scene: replace(scene, held="", objects=tuple(i for i in scene.objects if i.name != name))


def shifted(scene: Scene) -> Scene:
    items = [replace(item, position=(0.45, 0.05, 0.02)) if item.name == "red block" else item for item in scene.objects]
    return replace(scene, objects=tuple(items))


def dropped(scene: Scene) -> Scene:
    return replace(shifted(scene), held="")


@pytest.mark.parametrize(
    ("phase", "change", "message"),
    [
        ("approach", without("red block"), "the red block is no longer in the scene"),
        ("approach", shifted, "the red block moved while the hand was on its way; try again"),
        ("lift", dropped, "the red block slipped out of the fingers"),
    ],
)
def test_a_thing_that_gets_lost_on_the_way_is_told(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any, phase: str, change: Any, message: str
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.0), thing("blue block", 0.4, -0.3)))
    skill = library.find("pick").start({"object": "red block"}, hand.observation())
    result = hand.run(Hindrance(skill, hand, phase, change))

    assert (result.code, result.message) == (SkillErrorCode.OBJECT_LOST, message)
    assert hand.phases[-1] == "retreat"


def test_a_thing_that_stays_behind_when_the_hand_rises_is_told(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    class Glued(ghost):  # type: ignore[misc]
        def _obey(self, reference: Any) -> None:
            super()._obey(reference)
            items = [thing("red block", 0.5, 0.0) if item.name == "red block" else item for item in self.scene.objects]
            self.scene = replace(self.scene, objects=tuple(items))

    hand = Glued(scene_of(thing("red block", 0.5, 0.0)))
    result = run(library, hand, "pick", object="red block")

    assert result.message == "the red block stayed behind when the hand rose"


@pytest.mark.parametrize(
    ("name", "arguments", "done"),
    [
        ("place_on", {"object": "blue block"}, lambda s: predicates.on(s, "red block", "blue block")),
        ("place_on", {"object": "green bowl"}, lambda s: predicates.in_(s, "red block", "green bowl")),
        ("place_in", {"object": "green bowl"}, lambda s: predicates.in_(s, "red block", "green bowl")),
        ("place_at", {"place": "bottom right corner"}, lambda s: predicates.at(s, "red block", "bottom right corner")),
        ("place_at", {"place": (0.45, 0.3, 0.0)}, lambda s: predicates.at(s, "red block", (0.45, 0.3))),
        (
            "place_beside",
            {"object": "green bowl", "direction": "right", "distance": 0.1},
            lambda s: predicates.beside(s, "red block", "green bowl", "right", 0.1),
        ),
        (
            "place_offset",
            {"direction": "left", "distance": 0.1},
            lambda s: predicates.displaced((0.4, 0.2, 0.02), s, "red block", "left", 0.1),
        ),
    ],
)
def test_a_held_block_ends_where_it_is_wanted(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any, name: str, arguments: dict[str, Any], done: Any
) -> None:
    others = thing("blue block", 0.5, -0.2), thing("green bowl", 0.5, 0.1)
    hand = ghost(carry(scene_of, thing, *others), width=0.04, origins={"red block": (0.4, 0.2, 0.02)})
    result = run(library, hand, name, **arguments)

    assert result == SkillResult(SkillErrorCode.SUCCEEDED)
    assert hand.phases == ["carry", "release", "retreat"]
    assert done(hand.scene)


@pytest.mark.parametrize(
    ("name", "arguments", "code", "message"),
    [
        ("place_on", {"object": "blue block"}, "PRECONDITION_FAILED", "the pink block already stands on the blue"),
        ("place_offset", {"direction": "left", "distance": 0.1}, "PRECONDITION_FAILED", "nobody saw where the red"),
        ("place_at", {"place": (0.5, 0.1, 0.0)}, "NO_FREE_SPACE", r"no room .* at \(0.50, 0.10\); the green bowl"),
        ("place_at", {"place": (0.9, 0.1, 0.0)}, "UNREACHABLE", r"cannot reach the place at \(0.90, 0.10\)"),
        ("place_beside", {"object": "green bowl", "direction": "top", "distance": 0.3}, "UNREACHABLE", "cannot reach"),
    ],
)
def test_a_place_that_cannot_be_used_is_told_before_anything_moves(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any, name: str, arguments: dict[str, Any], code: str,
    message: str,
) -> None:  # fmt: skip
    others = thing("blue block", 0.5, -0.2), thing("pink block", 0.5, -0.2, z=0.06), thing("green bowl", 0.5, 0.1)
    hand = ghost(carry(scene_of, thing, *others), width=0.04)
    result = run(library, hand, name, **arguments)

    assert result.code is SkillErrorCode[code]
    assert not hand.references
    assert re.search(message, result.message)


def test_a_full_region_is_told(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    bowls = [thing(f"n{i}{j} bowl", 0.3 + 0.06 * i, 0.14 + 0.06 * j) for i in range(3) for j in range(6)]
    hand = ghost(carry(scene_of, thing, *bowls), width=0.04)
    result = run(library, hand, "place_at", place="bottom left corner")

    assert result.code is SkillErrorCode.NO_FREE_SPACE
    assert result.message.startswith("there is no room for the red block in that part of the table; the n")


def test_a_block_that_slips_while_it_is_carried_is_told(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(carry(scene_of, thing, thing("blue block", 0.5, -0.2)), width=0.04)
    skill = library.find("place_on").start({"object": "blue block"}, hand.observation())
    result = hand.run(Hindrance(skill, hand, "carry", dropped))

    assert result == SkillResult(SkillErrorCode.OBJECT_LOST, "the red block slipped out of the fingers")


def test_a_block_that_falls_off_is_told(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    hand = ghost(carry(scene_of, thing, thing("blue block", 0.5, -0.2)), width=0.04)
    skill = library.find("place_on").start({"object": "blue block"}, hand.observation())
    result = hand.run(Hindrance(skill, hand, "retreat", shifted))

    assert result.code is SkillErrorCode.EFFECT_MISSING
    assert result.message == "the red block did not stay where it was put; it lies at (0.45, 0.05)"


def test_a_block_that_sticks_to_the_fingers_is_told(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(carry(scene_of, thing, thing("blue block", 0.5, -0.2)), width=0.04)
    skill = library.find("place_on").start({"object": "blue block"}, hand.observation())
    result = hand.run(Hindrance(skill, hand, "retreat", lambda scene: replace(scene, held="red block")))

    assert result == SkillResult(SkillErrorCode.EFFECT_MISSING, "the red block did not leave the fingers")


def test_push_goes_behind_the_thing_and_straight_ahead(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    class Pushing(ghost):  # type: ignore[misc]
        def _obey(self, reference: Any) -> None:
            super()._obey(reference)
            _, y, z = self.pose.position
            if z < 0.03:
                block = thing("red block", 0.45, max(self.scene.find("red block").position[1], y + 0.02 + 0.00875))
                self.scene = scene_of(block)

    hand = Pushing(scene_of(thing("red block", 0.45, 0.0)), grasps=False)
    result = run(library, hand, "push", object="red block", direction="left", distance=0.1)

    assert result == SkillResult(SkillErrorCode.SUCCEEDED)
    assert hand.phases == ["close", "approach", "push", "retreat"]
    low = [pose.position for reference in hand.references for pose in reference.poses if pose.position[2] < 0.015]
    assert min(y for _, y, _ in low) == pytest.approx(-0.02 - 0.02 - 0.00875, abs=0.002)
    assert max(y for _, y, _ in low) == pytest.approx(0.1 - 0.02 - 0.00875, abs=0.002)
    assert all(x == pytest.approx(0.45, abs=0.002) for x, _, _ in low)


def test_a_thing_that_does_not_follow_a_push_is_told(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.45, 0.0)), grasps=False)  # passes through things
    result = run(library, hand, "push", object="red block", direction="left", distance=0.1)

    assert result == SkillResult(SkillErrorCode.EFFECT_MISSING, "the red block moved 0.0 cm instead of 10.0 cm")
    assert max(reference.poses[-1].position[1] for reference in hand.references) < 0.12


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ((0.45, 0.09), "the blue block stands in the way of the red block; move it away or push another way"),
        (
            (0.45, -0.06),
            "the fingers do not fit behind the red block to push it that way: the blue block is in the way",
        ),
    ],
)
def test_a_push_that_has_no_room_is_told(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any, other: tuple[float, float], message: str
) -> None:
    hand = ghost(scene_of(thing("red block", 0.45, 0.0), thing("blue block", *other)))
    result = run(library, hand, "push", object="red block", direction="left", distance=0.1)

    assert result == SkillResult(SkillErrorCode.NO_FREE_SPACE, message)


def test_nothing_is_pushed_off_the_table(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.35)))
    result = run(library, hand, "push", object="red block", direction="left", distance=0.22)
    assert result.code is SkillErrorCode.UNREACHABLE
    assert "the red block would fall off the table" in result.message
    assert hand.phases == []


def test_nothing_is_put_down_beyond_the_edge_of_the_table(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.4, 0.3, z=0.2), held="red block"))
    result = run(library, hand, "place_at", place=(0.4, 0.6, 0.0))
    assert result.code is SkillErrorCode.UNREACHABLE
    assert "the table ends before the place at (0.40, 0.60)" in result.message


def test_a_push_out_of_reach_is_told(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    hand = ghost(scene_of(thing("red block", 0.32, 0.0)))
    result = run(library, hand, "push", object="red block", direction="top", distance=0.1)

    assert result.code is SkillErrorCode.UNREACHABLE
    assert result.message.startswith("the place behind the red block at (0.27, 0.00) is out of reach")


def test_the_fingers_open_and_close_where_the_hand_is(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(), width=0.03)
    assert run(library, hand, "open_gripper").code is SkillErrorCode.SUCCEEDED
    assert hand.width == 0.08
    assert run(library, hand, "close_gripper").code is SkillErrorCode.SUCCEEDED
    assert hand.width == 0.0
    assert hand.pose.position == pytest.approx(rest_pose(PANDA.shape).pose().position)


def test_what_the_hand_holds_is_kept_on_the_way_home(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(carry(scene_of, thing), width=0.04)
    hand.pose = replace(hand.pose, position=(0.5, 0.2, 0.1))
    hand.scene = scene_of(thing("red block", 0.5, 0.2, z=0.1), held="red block")

    assert run(library, hand, "go_home").code is SkillErrorCode.SUCCEEDED
    assert hand.scene.held == "red block"
    assert hand.pose == rest_pose(PANDA.shape).pose()
    assert all(reference.gripper_width < 0.035 for reference in hand.references)


def test_a_hand_waits_where_it_is(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    hand = ghost(carry(scene_of, thing), width=0.04)
    before = hand.pose
    assert run(library, hand, "wait", seconds=2.0).code is SkillErrorCode.SUCCEEDED
    assert (hand.pose, hand.scene.held) == (before, "red block")
    assert len(hand.references) > 1


def test_a_hand_that_does_not_move_gives_up(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    class Stuck(ghost):  # type: ignore[misc]
        def _obey(self, reference: Any) -> None:
            self.time += 0.1

    result = run(library, Stuck(scene_of(thing("red block", 0.5, 0.0))), "pick", object="red block")

    assert result.code is SkillErrorCode.UNREACHABLE
    assert "something is in the way or it is out of reach" in result.message


def blocked(ghost: Any, floor: float) -> Any:
    """A ghost hand that something solid stops at the height `floor` [m]."""

    class Blocked(ghost):  # type: ignore[misc]
        def _obey(self, reference: Any) -> None:
            super()._obey(reference)
            x, y, z = self.pose.position
            self.pose = replace(self.pose, position=(x, y, max(z, floor)))

    return Blocked


def test_a_hand_that_is_stopped_short_of_its_grasp_says_how_far(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = blocked(ghost, 0.05)(scene_of(thing("red block", 0.5, 0.0)))
    result = run(library, hand, "pick", object="red block")

    assert result.code is SkillErrorCode.UNREACHABLE
    assert result.message.startswith("the hand stopped 3.0 cm short during 'approach'")


def test_a_hand_that_sets_its_load_down_a_little_early_lets_go(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = blocked(ghost, 0.03)(carry(scene_of, thing), width=0.04)
    assert run(library, hand, "place_at", place="middle").code is SkillErrorCode.SUCCEEDED
    assert hand.scene.held == ""


def test_a_skill_that_takes_too_long_ends_with_a_timeout(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.0)))
    skill = library.find("pick").start({"object": "red block"}, hand.observation())
    skill.step(hand.observation())
    hand.time = 25.1
    result = skill.step(hand.observation())

    assert result == SkillResult(SkillErrorCode.TIMEOUT, "pick was not done after 25 s, during 'approach'")


def test_a_hand_that_is_made_to_go_slower_has_as_much_longer(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.0)))
    skill = library.find("pick").start({"object": "red block"}, hand.observation())
    skill.step(hand.observation())
    hand.time = 50.0
    assert isinstance(skill.step(replace(hand.observation(), speed_limit=0.1)), MotionReference)
    hand.time = 76.0
    assert skill.step(hand.observation()).code is SkillErrorCode.TIMEOUT


@pytest.mark.parametrize("limit", [0.0, 1e-12])
def test_at_a_speed_of_nothing_the_hand_stands_and_the_skill_waits(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any, limit: float
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.0)))
    skill = library.find("pick").start({"object": "red block"}, hand.observation())
    for _ in range(600):  # a minute, in which the hand does not move
        outcome = skill.step(replace(hand.observation(), speed_limit=limit))
        hand.time += 0.1
        assert isinstance(outcome, MotionReference)
        assert len(outcome.poses) <= 21
        assert math.dist(outcome.poses[-1].position, hand.pose.position) < 0.06


def test_a_shift_in_a_bowl_is_no_larger_than_its_wall_bears(
    library: SkillLibrary, ghost: Any, scene_of: Any, thing: Any
) -> None:
    hand = ghost(carry(scene_of, thing, thing("green bowl", 0.5, 0.1)))
    assert run(library, hand, "place_in", object="green bowl").code is SkillErrorCode.SUCCEEDED
    assert 0.003 < min(reference.slack for reference in hand.references) < 0.012
    hand = ghost(carry(scene_of, thing, thing("green bowl", 0.5, 0.1)))
    assert run(library, hand, "place_at", place=(0.5, -0.2, 0.0)).code is SkillErrorCode.SUCCEEDED
    assert min(reference.slack for reference in hand.references) == math.inf
