"""The network that ships, on plain sentences: what people say every day is read right."""

from __future__ import annotations

import pytest

from llm_planner.corrections.edits import AddRule, Operation, Rebind
from llm_planner.corrections.reading import open_reader
from llm_planner.corrections.situation import Situation
from llm_planner.language.embedded.model import load_model
from llm_planner.language.embedded.reader import WEIGHTS
from llm_planner.language.understanding.understand import understand
from llm_planner.planning.planning import plan_command
from llm_planner.plans.plan import Plan, PlanStep, StepStatus
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.library import load_skills

PUT = "put the red block in the green bowl"


@pytest.fixture(scope="module")
def on_table() -> Scene:
    return open_world("tabletop", 0, parse_objects("red block, blue block, green bowl, vase")).scene()


def steps(command: str, scene: Scene) -> list[str]:
    skills = load_skills().for_scene(scene).signatures
    return list(map(str, plan_command(command, scene, skills, load_model()).plan.steps))


def corrected(words: str, scene: Scene) -> tuple[Operation, ...]:
    """What is to be changed while the red block is being picked up for the bowl."""
    skills = {skill.name: skill for skill in load_skills(learned=False).for_scene(scene).signatures}
    plan = Plan(PUT, "", (PlanStep("1", "pick", {"object": "red block"}, 1, StepStatus.RUNNING),
                          PlanStep("2", "place_in", {"object": "green bowl"}, 2)))  # fmt: skip
    return open_reader().read(words, Situation(plan, scene, skills)).operations


def test_a_thing_is_put_into_another(on_table: Scene) -> None:
    assert steps(PUT, on_table) == ['pick("red block")', 'place_in("green bowl")']


def test_blocks_are_stacked(on_table: Scene) -> None:
    (picks, puts) = steps("stack the blocks", on_table)
    assert {picks, puts} in (
        {'pick("red block")', 'place_on("blue block")'},
        {'pick("blue block")', 'place_on("red block")'},
    )


def test_a_room_is_forbidden() -> None:
    scene = open_world("rooms", 0, parse_things("parcel, Anna")).scene()
    understood = understand("never enter the kitchen", scene, load_model())
    assert (understood.task, [str(one.formula) for one in understood.constraints]) == ("", ["G !in(robot, kitchen)"])


def test_another_thing_is_meant(on_table: Scene) -> None:
    assert corrected("no, the blue one", on_table) == (Rebind("1", "object", "blue block"),)


def test_it_goes_slower_near_a_thing(on_table: Scene) -> None:
    (rule,) = corrected("go a bit slower near the vase", on_table)
    assert rule == AddRule("G (near(robot, vase) -> speed(robot) < 0.15)", "slower near the vase")


def test_talk_changes_nothing(on_table: Scene) -> None:
    assert corrected("what a lovely day it is", on_table) == ()


def test_the_weights_stay_small() -> None:
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) < 40e6
