"""Each term on courses whose values are known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from llm_planner.programs.reward_program import check_reward
from llm_planner.programs.reward_terms import TERMS, Course, Futures, Start, outlines_of, still
from llm_planner.scene.scene import IDENTITY, Pose, Quaternion, Scene, SceneObject
from llm_planner.skills.rewards.planner import Tally, program_cost, shortfalls


def about_z(degrees: float) -> Quaternion:
    return 0.0, 0.0, math.sin(math.radians(degrees) / 2), math.cos(math.radians(degrees) / 2)


def about_x(degrees: float) -> Quaternion:
    return math.sin(math.radians(degrees) / 2), 0.0, 0.0, math.cos(math.radians(degrees) / 2)


BLOCK = SceneObject("block", "block", "", (0.5, 0.0, 0.02), IDENTITY, (0.04, 0.04, 0.04))
BOWL = SceneObject("bowl", "bowl", "", (0.5, 0.3, 0.0225), IDENTITY, (0.12, 0.12, 0.045))
SCENE = Scene(0.0, (BLOCK, BOWL), robot=Pose((0.4, 0.0, 0.3), (1.0, 0.0, 0.0, 0.0)))


def value(call: str, scene: Scene = SCENE, start: Scene = SCENE) -> float:
    wish = check_reward(f"reach({call} <= 0)", start).wishes[0]
    now = still(scene, ("block", "bowl", "robot"), Start(start))
    return float(wish.term.measure(now, *wish.arguments)[0, 0])


def with_block(position: tuple[float, float, float] = BLOCK.position, turned: Quaternion = IDENTITY) -> Scene:
    return replace(SCENE, objects=(replace(BLOCK, position=position, orientation=turned), BOWL))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("distance('block', 'bowl')", 0.3),
        ("distance('block', 'robot')", 0.1),
        ("distance('block', (0.8, 0.4))", 0.5),
        ("distance('block', 'middle')", 0.04),
        ("gap('block', 'bowl')", 0.3 - 0.02 - 0.06),
        ("height('block')", 0.0),
        ("height('robot')", 0.3),
        ("tilt('block')", 0.0),
        ("facing('block', 'bowl')", 90.0),
        ("off_line('block', 'bowl', 'robot')", 0.3 * math.sin(math.atan2(0.1, 0.3))),
        ("moved('block')", 0.0),
        ("speed('block')", 0.0),
    ],
)  # fmt: skip
def test_a_term_of_a_scene_at_rest(call: str, expected: float) -> None:
    assert value(call) == pytest.approx(expected, abs=1e-9)


def test_terms_of_what_has_been_moved_and_turned() -> None:
    moved = with_block((0.5, 0.04, 0.05), about_z(30))
    assert value("moved('block')", moved) == pytest.approx(0.05)
    assert value("progress('block', 'left')", moved) == pytest.approx(0.04)
    assert value("progress('block', 'right')", moved) == pytest.approx(-0.04)
    assert value("facing('block', 'bowl')", moved) == pytest.approx(60.0)
    assert value("height('block')", moved) == pytest.approx(0.03)
    assert value("gap('block', 'bowl')", moved) == pytest.approx(0.26 - 0.06 - 0.02 * (math.cos(0.5236) + 0.5), 1e-3)
    tipped = with_block(turned=about_x(80))
    assert value("tilt('block')", tipped) == pytest.approx(80.0)


def spun(degrees: list[float]) -> Futures:
    """A block that is turned to these angles, a moment after the other."""
    scenes = [with_block(turned=about_z(angle)) for angle in degrees]
    courses = [still(scene, ("block",), Start(SCENE)).courses["block"] for scene in scenes]
    rotation = np.concatenate([course.rotation for course in courses], axis=1)
    position = np.concatenate([course.position for course in courses], axis=1)
    return Futures({"block": Course(position, rotation)}, outlines_of(SCENE), Start(SCENE), 0.1)


def test_turns_are_counted_on_past_half_a_turn() -> None:
    turned = TERMS["turned"].measure(spun([0, 100, 200, 300, 400]), "block")
    assert turned[0] == pytest.approx([0, 100, 200, 300, 400])


def test_turns_and_rounds_of_a_run_are_tallied_over_its_scenes() -> None:
    program = check_reward("reach(turned('block') >= 540); reach(circled('block', 'bowl') >= 360)", SCENE)
    tally, scene = Tally(program, SCENE), SCENE
    for step in range(1, 28):
        angle = math.radians(20 * step - 90)
        scene = with_block((0.5 + 0.3 * math.cos(angle), 0.3 + 0.3 * math.sin(angle), 0.02), about_z(20 * step))
        tally.see(scene)
    assert not shortfalls(program, scene, tally.start)
    assert shortfalls(program, scene, Start(SCENE))  # without the count it is not so


def test_speed_is_measured_along_the_course() -> None:
    position = np.array([[[0.0, 0.0, 0.0], [0.01, 0.0, 0.0], [0.05, 0.0, 0.0]]])
    rotation = np.broadcast_to(np.eye(3), (1, 3, 3, 3))
    futures = Futures({"block": Course(position, rotation)}, {}, Start(SCENE), 0.1)
    assert TERMS["speed"].measure(futures, "block")[0] == pytest.approx([0.1, 0.1, 0.4])


def test_a_future_costs_nothing_where_all_is_as_wished_and_more_the_farther_it_is() -> None:
    program = check_reward("reach(turned('block') == 90)", SCENE)
    costs = [program_cost(program, spun([angle, angle]))[0] for angle in (0, 60, 90)]
    # Angles are counted from the start of the futures: nothing has turned there, whatever the angle.
    assert costs[0] == pytest.approx(costs[1])
    turning = [program_cost(program, spun([0, angle]))[0] for angle in (0, 60, 90)]
    assert turning[0] > turning[1] > turning[2]
    assert program_cost(program, replace_start(spun([90, 90]), 90.0))[0] == pytest.approx(0.0)


def replace_start(futures: Futures, degrees: float) -> Futures:
    return replace(futures, start=Start(SCENE, {("turned", "block"): math.radians(degrees)}))


def test_what_is_to_be_kept_counts_all_the_way_and_a_weight_multiplies() -> None:
    reach = program_cost(check_reward("reach(turned('block') == 90)", SCENE), spun([0, 45, 45]))[0]
    double = program_cost(check_reward("reach(turned('block') == 90, weight=2)", SCENE), spun([0, 45, 45]))[0]
    assert double == pytest.approx(2 * reach)
    kept = check_reward("reach(turned('block') == 0); keep(turned('block') <= 5)", SCENE)
    there_and_back, stayed = program_cost(kept, spun([0, 60, 0]))[0], program_cost(kept, spun([0, 0, 0]))[0]
    assert there_and_back > stayed == pytest.approx(0.0)


def test_what_is_not_reached_is_told_with_what_is_so_instead() -> None:
    (left,) = shortfalls(check_reward("reach(tilt('block') >= 80)", SCENE), SCENE, Start(SCENE))
    assert str(left) == "tilt('block') >= 80 was asked for, and it is 0 deg"
